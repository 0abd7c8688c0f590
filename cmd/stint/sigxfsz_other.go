//go:build !unix

package main

// ignoreFileSizeSignal has nothing to ignore here.
func ignoreFileSizeSignal() {}
