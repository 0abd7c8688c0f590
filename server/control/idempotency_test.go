package control_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// reserve takes a key and, if it is free, keeps answer under it.
func reserve(ctx context.Context, s *store.Store, k control.Key, answer control.Kept) (kept *control.Kept, err error) {
	err = s.Tx(ctx, func(q model.Querier) error {
		if kept, err = control.Reserve(ctx, q, dbtest.T0, control.DefaultKeyTTL, k); err != nil || kept != nil {
			return err
		}
		return control.Keep(ctx, q, k, answer)
	})
	return kept, err
}

func TestAKeyHoldsItsFirstAnswer(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		k := control.Key{OwnerID: dbtest.Owner(t, s, "ada").ID, Principal: "tok_1", Route: "POST /v1/jobs", Key: "k", Fingerprint: "f"}
		first := control.Kept{Status: 201, Body: "{\"a\":1}\n"}
		if kept, err := reserve(t.Context(), s, k, first); err != nil || kept != nil {
			t.Fatalf("a free key: %v, %v", kept, err)
		}
		kept, err := reserve(t.Context(), s, k, control.Kept{Status: 200, Body: "{}"})
		if diff := cmp.Diff(&first, kept); err != nil || diff != "" {
			t.Errorf("%v: %s", err, diff)
		}
		kept, err = control.Peek(t.Context(), s, dbtest.T0, control.DefaultKeyTTL, k)
		if diff := cmp.Diff(&first, kept); err != nil || diff != "" {
			t.Errorf("peek: %v: %s", err, diff)
		}
	})
}

func TestAKeyIsScopedAndStandsForOneRequest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		base := control.Key{OwnerID: dbtest.Owner(t, s, "ada").ID, Principal: "tok_1", Route: "POST /v1/jobs", Key: "k", Fingerprint: "f"}
		bob := dbtest.Owner(t, s, "bob").ID
		if _, err := reserve(t.Context(), s, base, control.Kept{Status: 200}); err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(k *control.Key){
			"owner": func(k *control.Key) { k.OwnerID = bob }, "principal": func(k *control.Key) { k.Principal = "tok_2" },
			"route": func(k *control.Key) { k.Route = "POST /v1/runs" }, "key": func(k *control.Key) { k.Key = "K" },
		} {
			other := base
			change(&other)
			if kept, err := reserve(t.Context(), s, other, control.Kept{Status: 200}); err != nil || kept != nil {
				t.Errorf("another %s: %v, %v", name, kept, err)
			}
		}
		reused := base
		reused.Fingerprint = "g"
		var f *fault.Fault
		if _, err := reserve(t.Context(), s, reused, control.Kept{}); !errors.As(err, &f) || f.Code != "idempotency_key_reused" {
			t.Errorf("another request: %v", err)
		}
		if _, err := control.Peek(t.Context(), s, dbtest.T0, control.DefaultKeyTTL, reused); !errors.As(err, &f) || f.Code != "idempotency_key_reused" {
			t.Errorf("peek of another request: %v", err)
		}
	})
}

func TestARolledBackKeyIsFree(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		k := control.Key{OwnerID: dbtest.Owner(t, s, "ada").ID, Principal: "tok_1", Route: "POST /v1/jobs", Key: "k", Fingerprint: "f"}
		undone := errors.New("undone")
		err := s.Tx(t.Context(), func(q model.Querier) error {
			if _, err := control.Reserve(t.Context(), q, dbtest.T0, control.DefaultKeyTTL, k); err != nil {
				return err
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		if kept, err := control.Peek(t.Context(), s, dbtest.T0, control.DefaultKeyTTL, k); err != nil || kept != nil {
			t.Errorf("peek: %v, %v", kept, err)
		}
		k.Fingerprint = "g"
		if kept, err := reserve(t.Context(), s, k, control.Kept{Status: 200}); err != nil || kept != nil {
			t.Errorf("the key is taken: %v, %v", kept, err)
		}
	})
}

func TestAnAnswerIsKeptOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		k := control.Key{OwnerID: dbtest.Owner(t, s, "ada").ID, Principal: "tok_1", Route: "POST /v1/jobs", Key: "k", Fingerprint: "f"}
		if _, err := reserve(t.Context(), s, k, control.Kept{Status: 200, Body: "first"}); err != nil {
			t.Fatal(err)
		}
		err := s.Tx(t.Context(), func(q model.Querier) error {
			return control.Keep(t.Context(), q, k, control.Kept{Status: 200, Body: "second"})
		})
		if err == nil {
			t.Error("an answer was replaced")
		}
	})
}
