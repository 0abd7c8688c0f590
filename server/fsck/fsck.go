// Package fsck compares what is maintained of sources with the rows that it is made
// from: the counts of partitions and days, the heads of connections, the sequences
// of owners and the counts of the quarantine. It reads in slices beside running
// servers, and reports no difference that a writer made meanwhile.
package fsck

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// Finding is a figure that is not what its rows give.
type Finding struct {
	OwnerID      string  `json:"owner_id"`
	ConnectionID *string `json:"connection_id"`
	Stream       *string `json:"stream"`
	Figure       string  `json:"figure"`
	Stored       string  `json:"stored"`
	Counted      string  `json:"counted"`
	Repaired     bool    `json:"repaired"`
}

// Report is what a run looked at, and what it found.
type Report struct {
	Connections int       `json:"connections"`
	Partitions  int       `json:"partitions"`
	Owners      int       `json:"owners"`
	Findings    []Finding `json:"findings"`
}

// page is how many connections, partitions or owners are read at a time.
const page = 500

// check is one run.
type check struct {
	store  *store.Store
	repair bool
	seqs   map[string]int64 // of each owner, the highest number of a partition; not of one that was looked at
	Report
}

// Run checks the whole database; with repair it sets what it finds wrong.
func Run(ctx context.Context, s *store.Store, repair bool) (Report, error) {
	c := &check{store: s, repair: repair, seqs: map[string]int64{}, Report: Report{Findings: []Finding{}}}
	// Partitions before owners: a sequence is then at least as new as what it is compared with.
	for _, pass := range []func(context.Context) error{c.connections, c.missing, c.partitions, c.owners} {
		if err := pass(ctx); err != nil {
			return c.Report, err
		}
	}
	return c.Report, nil
}

func (c *check) connections(ctx context.Context) error {
	return walk(func(after string) ([]model.Connection, error) { return sources.Walk(ctx, c.store, after, page) },
		func(row model.Connection) string { return row.ID },
		func(row model.Connection) error { return c.connection(ctx, row) })
}

func (c *check) connection(ctx context.Context, row model.Connection) error {
	c.Connections++
	drifts, err := sources.CheckHeads(ctx, c.store, row, c.repair)
	if err != nil {
		return fmt.Errorf("check %s: %w", row.ID, err)
	}
	rejected, err := records.CheckRejected(ctx, c.store, row, c.repair)
	c.note(Finding{OwnerID: row.OwnerID, ConnectionID: &row.ID}, append(drifts, rejected...))
	return err
}

// missing looks for partitions that have records and no row.
func (c *check) missing(ctx context.Context) error {
	for after := (model.Partition{}); ; {
		next, err := records.NextWithRecords(ctx, c.store, after)
		if next == nil || err != nil {
			return err
		}
		drifts, err := records.CheckPresent(ctx, c.store, *next, c.repair)
		if err != nil {
			return err
		}
		c.note(about(*next), drifts)
		after = *next
	}
}

func (c *check) partitions(ctx context.Context) error {
	return walk(func(after model.Partition) ([]model.Partition, error) {
		return records.WalkPartitions(ctx, c.store, after, page)
	}, func(row model.Partition) model.Partition { return row },
		func(row model.Partition) error { return c.partition(ctx, row) })
}

func (c *check) partition(ctx context.Context, row model.Partition) error {
	c.Partitions++
	c.seqs[row.OwnerID] = max(c.seqs[row.OwnerID], row.LastSeq)
	drifts, err := records.CheckPartition(ctx, c.store, row, c.repair)
	c.note(about(row), drifts)
	return err
}

func about(p model.Partition) Finding {
	return Finding{OwnerID: p.OwnerID, ConnectionID: &p.ConnectionID, Stream: &p.Stream}
}

// owners looks at the owners that have numbers, and then at those whose partitions
// have some that came from no row.
func (c *check) owners(ctx context.Context) error {
	err := walk(func(after string) ([]model.OwnerSeq, error) { return records.WalkOwners(ctx, c.store, after, page) },
		func(row model.OwnerSeq) string { return row.OwnerID },
		func(row model.OwnerSeq) error { return c.owner(ctx, row.OwnerID) })
	if err != nil {
		return err
	}
	for _, ownerID := range slices.Sorted(maps.Keys(c.seqs)) {
		if err := c.owner(ctx, ownerID); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) owner(ctx context.Context, ownerID string) error {
	c.Owners++
	drifts, err := records.CheckOwner(ctx, c.store, records.OwnerIn{OwnerID: ownerID, Highest: c.seqs[ownerID]}, c.repair)
	c.note(Finding{OwnerID: ownerID}, drifts)
	delete(c.seqs, ownerID)
	return err
}

// walk calls look for every row, page by page.
func walk[Row, Place any](read func(after Place) ([]Row, error), place func(Row) Place, look func(Row) error) error {
	var after Place
	for {
		rows, err := read(after)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := look(row); err != nil {
				return err
			}
			after = place(row)
		}
		if len(rows) < page {
			return nil
		}
	}
}

// note adds findings about one thing.
func (c *check) note(about Finding, drifts sources.Drifts) {
	for _, d := range drifts {
		about.Figure, about.Stored, about.Counted, about.Repaired = d.Figure, d.Stored, d.Counted, c.repair
		c.Findings = append(c.Findings, about)
	}
}
