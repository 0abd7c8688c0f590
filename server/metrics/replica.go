package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/store"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("stint_"+name, help, labels, nil)
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func counter(ch chan<- prometheus.Metric, d *prometheus.Desc, value float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...)
}

func describe(ch chan<- *prometheus.Desc, all ...*prometheus.Desc) {
	for _, d := range all {
		ch <- d
	}
}

var (
	poolMax   = desc("pool_connections_max", "How many connections a pool may have.", "pool")
	poolConns = desc("pool_connections", "Connections a pool has, by whether they are in use.", "pool", "state")
	poolWaits = desc("pool_waits_total", "How often somebody had to wait for a connection.", "pool")
	poolTime  = desc("pool_wait_seconds_total", "Time that was waited for connections.", "pool")
	logBytes  = desc("sqlite_log_bytes", "Size of SQLite's write-ahead log.")
)

// pools collects the state of a store's connections.
type pools struct{ store *store.Store }

func (pools) Describe(ch chan<- *prometheus.Desc) {
	describe(ch, poolMax, poolConns, poolWaits, poolTime, logBytes)
}

func (c pools) Collect(ch chan<- prometheus.Metric) {
	for _, p := range c.store.Pools() {
		gauge(ch, poolMax, float64(p.Max), p.Name)
		gauge(ch, poolConns, float64(p.InUse), p.Name, "in_use")
		gauge(ch, poolConns, float64(p.Open-p.InUse), p.Name, "idle")
		counter(ch, poolWaits, float64(p.Waited), p.Name)
		counter(ch, poolTime, p.WaitedFor.Seconds(), p.Name)
	}
	if c.store.Engine() == store.SQLite {
		gauge(ch, logBytes, float64(c.store.Pool().LogBytes))
	}
}

var (
	loopPasses = desc("loop_passes_total", "Passes of a background loop that ended.", "loop")
	loopFailed = desc("loop_failures_total", "Passes of a background loop that failed.", "loop")
	leaseHeld  = desc("lease_held", "1 if this replica holds the lease of that name, else 0.", "lease")
	loopAge    = desc("loop_last_success_age_seconds", "Time since the end of a loop's last pass that went well; absent before the first.", "loop")
)

// loops collects how the background loops of a replica fare.
type loops struct{ runner *control.Runner }

func (loops) Describe(ch chan<- *prometheus.Desc) {
	describe(ch, loopPasses, loopFailed, loopAge, leaseHeld)
}

func (c loops) Collect(ch chan<- prometheus.Metric) {
	for _, s := range c.runner.Status() {
		counter(ch, loopPasses, float64(s.Passes), s.Name)
		counter(ch, loopFailed, float64(s.Failed), s.Name)
		if s.SuccessAge >= 0 {
			gauge(ch, loopAge, s.SuccessAge.Seconds(), s.Name)
		}
		if s.Lease {
			gauge(ch, leaseHeld, number(s.Held), s.Name)
		}
	}
}

// holds tells whether the replica has the lease of a loop now.
func holds(r *control.Runner, loop string) bool {
	for _, s := range r.Status() {
		if s.Name == loop {
			return s.Held
		}
	}
	return false
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
