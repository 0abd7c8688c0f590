package notify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stint-run/stint/server/store"
)

func TestHintsOfOneOwnerGoTogether(t *testing.T) {
	t.Parallel()
	hint := func(owner string, kinds ...string) Hint { return Hint{Topic: "jobs", Owner: owner, Kinds: kinds} }
	var many []string
	for i := range maxMembers + 1 {
		many = append(many, fmt.Sprint("kind", i))
	}
	for _, tt := range []struct {
		name string
		add  []Hint
		want []Hint
	}{
		{"nothing", nil, nil},
		{"the same twice", []Hint{hint("ada", "a"), hint("ada", "a")}, []Hint{hint("ada", "a")}},
		{"two kinds", []Hint{hint("ada", "b"), hint("ada", "a")}, []Hint{hint("ada", "a", "b")}},
		{"two owners", []Hint{hint("ada", "a"), hint("bob", "a")}, []Hint{hint("ada", "a"), hint("bob", "a")}},
		{"two topics", []Hint{hint("ada", "a"), {Topic: "runs", Owner: "ada", IDs: []string{"run_1"}}},
			[]Hint{hint("ada", "a"), {Topic: "runs", Owner: "ada", IDs: []string{"run_1"}}}},
		{"all of an owner", []Hint{hint("ada", "a"), hint("ada"), hint("ada", "b")}, []Hint{hint("ada")}},
		{"the latest time counts", []Hint{{Topic: "jobs", Owner: "ada", at: 2}, {Topic: "jobs", Owner: "ada", at: 3}, {Topic: "jobs", at: 1}, {Topic: "jobs", Owner: "bob", at: 4}},
			[]Hint{{Topic: "jobs", at: 4}}},
		{"too many kinds", []Hint{hint("ada", many...)}, []Hint{hint("ada")}},
		{"every owner", []Hint{hint("ada", "a"), hint(""), hint("bob", "a")}, []Hint{hint("")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := newOutbox()
			for _, h := range tt.add {
				out.add(h)
			}
			if diff := cmp.Diff(tt.want, out.take(), cmpopts.EquateEmpty(), cmp.AllowUnexported(Hint{})); diff != "" {
				t.Error(diff)
			}
			if left := out.take(); len(left) != 0 {
				t.Errorf("taken, and still there: %v", left)
			}
		})
	}
}

func TestABurstOfManyOwnersIsBounded(t *testing.T) {
	t.Parallel()
	out := newOutbox()
	for i := range 10 * maxOwners {
		out.add(Hint{Topic: "jobs", Owner: fmt.Sprint("owner", i), Kinds: []string{"a"}})
	}
	if got := out.take(); len(got) != 1 || got[0].Owner != "" || got[0].Topic != "jobs" {
		t.Errorf("%d hints wait, the first %+v", len(got), got[0])
	}
}

func TestANotificationFitsIntoPostgreSQL(t *testing.T) {
	t.Parallel()
	h := Hint{Topic: "jobs", Owner: "ada", Kinds: []string{strings.Repeat("é", store.MaxNotification)}}
	text, err := encode(h, "me")
	if err != nil || len(text) > store.MaxNotification {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	if p, err := decode(text); err != nil || p.Owner != "ada" || p.Kinds != nil {
		t.Errorf("%+v, %v: it does not mean all of the owner", p, err)
	}
	h.Owner = strings.Repeat("x", store.MaxNotification)
	if text, err := encode(h, "me"); err == nil {
		t.Errorf("%d bytes of an owner are a notification", len(text))
	}
}

func TestWhatOthersSendIsRead(t *testing.T) {
	t.Parallel()
	p, err := decode(`{"topic":"jobs","owner":"ada","kinds":["a"],"later":{"more":1}}`)
	if want := (payload{Topic: "jobs", Owner: "ada", Kinds: []string{"a"}}); err != nil || !cmp.Equal(p, want) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, text := range []string{"", "hello", "[]", "{}", `{"topic":7}`, `{"topic":"jobs","kinds":"a"}`} {
		if p, err := decode(text); err == nil {
			t.Errorf("%q is %+v", text, p)
		}
	}
}
