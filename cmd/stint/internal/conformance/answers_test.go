package conformance

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stint-run/stint/server"
)

// A worker that passes here must find nothing else at the real server.
func TestAnswersAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	text, err := server.New(server.Config{Version: "v1", Log: slog.Default()}, nil, make([]byte, 32)).Document()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parseDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	j := newJob("127.0.0.1:1", Instructions{})
	j.claim(now, usualLease, time.Hour)
	refused := problem("validation_failed", plan{retryAfter: 2})
	refused.body["errors"] = items([]string{"/colour: unknown member"})
	for name, body := range map[string]any{
		"ClaimAnswer":     map[string]any{"jobs": []any{j.claimed("w-1")}, "poll_after_ms": 0},
		"HeartbeatAnswer": j.renewed("continue", now),
		"LogAnswer":       j.logged(1),
		"Finished":        j.finished("complete"),
		"Problem":         refused.body,
	} {
		var value any
		if err := json.Unmarshal(encoded(body), &value); err != nil {
			t.Fatal(err)
		}
		if doc.Components.Schemas[name] == nil {
			t.Errorf("the document has no %s", name)
		}
		for _, fault := range doc.faults(doc.Components.Schemas[name], name, value) {
			t.Error(fault)
		}
	}
}
