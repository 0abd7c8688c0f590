package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/stint-run/stint/server/notify"
)

var (
	hintsSent     = desc("notifications_sent_total", "Notifications that were sent to other replicas.")
	hintsFailed   = desc("notifications_failed_total", "Statements that failed to send notifications.")
	hintsReceived = desc("notifications_received_total", "Notifications of other replicas that arrived.")
	hintsHeard    = desc("notifications_listening", "1 if notifications arrive; 0 if this replica finds the work of others by polling.")
)

// hints collects what a replica tells the others, and hears of them.
type hints struct{ bus *notify.Bus }

func (hints) Describe(ch chan<- *prometheus.Desc) {
	describe(ch, hintsSent, hintsFailed, hintsReceived, hintsHeard)
}

func (c hints) Collect(ch chan<- prometheus.Metric) {
	f := c.bus.Figures()
	counter(ch, hintsSent, float64(f.Sent))
	counter(ch, hintsFailed, float64(f.Failed))
	counter(ch, hintsReceived, float64(f.Received))
	gauge(ch, hintsHeard, number(c.bus.State() == notify.OK))
}
