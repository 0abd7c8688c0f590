package singer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/stint-run/stint/cmd/stint/internal/ingest"
)

// A tap that reads a table whole gives its records a version, and says with
// ACTIVATE_VERSION that records of other versions are to go. Which version a stream
// has is kept as the stream's own checkpoint; the states of the tap have the one
// without a stream.
//
// Taps name an active version again when they bring only what is new, and go on with
// one that they had begun when they were stopped in the middle of a table. So
// records are removed only after a run that saw the version from its first record
// to an ACTIVATE_VERSION behind its last one: what such a run did not see is not
// there any more. An ACTIVATE_VERSION in front of the records alone does not show
// that the tap came to their end.

// Known is what is known of a stream before the tap begins.
type Known struct {
	Declared bool // by the connector
	Mutable  bool // records can be removed
	Live     int64
	Version  Version
}

// Version is the checkpoint that holds a stream's version.
type Version struct {
	Number *int64 `json:"singer_version"`
	Active bool   `json:"active"` // false: it was begun
}

// VersionOf reads a stream's checkpoint. One of another kind holds no version.
func VersionOf(checkpoint json.RawMessage) (v Version) {
	_ = json.Unmarshal(checkpoint, &v)
	return v
}

// stream is a stream of the tap.
type stream struct {
	Known
	name       string
	version    *int64 // that the tap sends; nil: none
	continued  bool   // the version was begun by an earlier run
	refreshing bool
	mixed      bool // a second version came
	activated  bool // by the last message about the stream
}

// begin is called with each version that a message names.
func (t *Target) begin(ctx context.Context, s *stream, version int64) error {
	if s.version != nil {
		if *s.version != version {
			s.mixed, s.version = true, &version
		}
		return nil
	}
	s.version = &version
	if stored := s.Version.Number; stored != nil && *stored == version {
		s.continued = !s.Version.Active
		return nil
	}
	s.Version = Version{Number: &version}
	if err := t.flush(ctx); err != nil {
		return err
	}
	if s.Mutable && s.Live > 0 {
		s.refreshing = true
		if err := t.to.Refresh(ctx, s.name); err != nil {
			return fmt.Errorf("begin the full refresh of %s: %w", s.name, err)
		}
	}
	return t.add(ctx, checkpointLine{Stream: s.name, Checkpoint: text(s.Version)})
}

func (t *Target) activate(ctx context.Context, m message) error {
	s := t.stream(m.Stream)
	if !s.Declared {
		return t.faultf("ACTIVATE_VERSION of %s, whose SCHEMA did not come", m.Stream)
	}
	if err := t.begin(ctx, s, *m.Version); err != nil {
		return err
	}
	s.activated = true
	return nil
}

// Unfinished says of each refresh why it cannot end; nil lets the run succeed.
func (t *Target) Unfinished() (why []string) {
	for _, s := range t.inOrder() {
		switch {
		case !s.refreshing:
		case s.mixed:
			why = append(why, fmt.Sprintf("records of older versions of %s stay: the tap sent more than one version", s.name))
		case !s.activated:
			why = append(why, fmt.Sprintf("records of older versions of %s stay: no ACTIVATE_VERSION came behind the last record", s.name))
		}
	}
	return why
}

// Activated are lines that record the versions which are active now that the run
// has succeeded; nil if there are none.
func (t *Target) Activated() *ingest.Batch {
	b := t.batch.Next()
	for _, s := range t.inOrder() {
		if s.version == nil || !s.activated || s.mixed || s.Version.Active {
			continue
		}
		if s.Live > 0 && !s.refreshing {
			t.note(fmt.Sprintf("records of older versions of %s stay, if there are any: %s", s.name, s.reason()))
		}
		line := checkpointLine{Stream: s.name, Checkpoint: text(Version{Number: s.version, Active: true})}
		b.Add(t.line, text(line))
	}
	if b.Empty() {
		return nil
	}
	return b
}

func (s *stream) reason() string {
	if s.continued {
		return "an earlier run began this version"
	}
	return "the stream is append_only"
}

func (t *Target) inOrder() (all []*stream) {
	for _, name := range slices.Sorted(maps.Keys(t.streams)) {
		all = append(all, t.streams[name])
	}
	return all
}
