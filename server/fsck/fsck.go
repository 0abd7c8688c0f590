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
	ctx    context.Context
	store  *store.Store
	repair bool
	kept   records.Quarantine
	seqs   map[string]int64 // the highest number of the partitions of each owner not yet looked at
	Report
}

// Run checks the whole database; with repair it sets what it finds wrong.
func Run(ctx context.Context, s *store.Store, repair bool) (Report, error) {
	c := &check{ctx: ctx, store: s, repair: repair, seqs: map[string]int64{}, Report: Report{Findings: []Finding{}}}
	var err error
	if c.kept, err = records.CountQuarantine(ctx, s); err != nil {
		return c.Report, err
	}
	// Partitions before owners: a sequence is then at least as new as what it is compared with.
	for _, pass := range []func() error{c.connections, c.partitions, c.owners} {
		if err := pass(); err != nil {
			return c.Report, err
		}
	}
	return c.Report, nil
}

func (c *check) connections() error {
	return walk(func(after string) ([]model.Connection, error) { return sources.Walk(c.ctx, c.store, after, page) },
		func(row model.Connection) string { return row.ID }, c.connection)
}

func (c *check) connection(row model.Connection) error {
	c.Connections++
	drifts, err := sources.CheckHeads(c.ctx, c.store, row, c.repair)
	if err != nil {
		return fmt.Errorf("check %s: %w", row.ID, err)
	}
	rejected, err := records.CheckRejected(c.ctx, c.store, row, c.kept, c.repair)
	c.note(Finding{OwnerID: row.OwnerID, ConnectionID: &row.ID}, append(drifts, rejected...))
	return err
}

func (c *check) partitions() error {
	return walk(func(after model.Partition) ([]model.Partition, error) {
		return records.WalkPartitions(c.ctx, c.store, after, page)
	}, func(row model.Partition) model.Partition { return row }, c.partition)
}

func (c *check) partition(row model.Partition) error {
	c.Partitions++
	c.seqs[row.OwnerID] = max(c.seqs[row.OwnerID], row.LastSeq)
	drifts, err := records.CheckPartition(c.ctx, c.store, row, c.repair)
	c.note(Finding{OwnerID: row.OwnerID, ConnectionID: &row.ConnectionID, Stream: &row.Stream}, drifts)
	return err
}

func (c *check) owners() error {
	err := walk(func(after string) ([]model.OwnerSeq, error) { return records.WalkOwners(c.ctx, c.store, after, page) },
		func(row model.OwnerSeq) string { return row.OwnerID }, c.owner)
	for _, missing := range slices.Sorted(maps.Keys(c.seqs)) { // has partitions, and no sequence
		if err == nil {
			err = c.owner(model.OwnerSeq{OwnerID: missing})
		}
	}
	return err
}

func (c *check) owner(row model.OwnerSeq) error {
	c.Owners++
	drifts, err := records.CheckOwner(c.ctx, c.store, row, c.seqs[row.OwnerID], c.kept, c.repair)
	delete(c.seqs, row.OwnerID)
	c.note(Finding{OwnerID: row.OwnerID}, drifts)
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
