package main

import (
	"log/slog"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tellSystemd passes a state on, if systemd waits for it (Type=notify).
func tellSystemd(state string, log *slog.Logger) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("systemd was not told", "state", state, "error", err)
	}
}
