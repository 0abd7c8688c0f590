//go:build !linux

package supervise

func dumpable() bool { return true }
