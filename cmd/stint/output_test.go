package main

import "testing"

func TestACellIsForPeople(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"a\u001b[2J"`:                     "a",
		`{"value":12,"at_least":false}`:    "12",
		`{"value":2000,"at_least":true}`:   "2000+",
		`{"value":12}`:                     `{"value":12}`,
		`{"value":"twelve","at_least":{}}`: `{"value":"twelve","at_least":{}}`,
		`[1]`:                              `[1]`,
		`null`:                             "-",
	} {
		if got := cell([]byte(value), "claimed_jobs"); got != want {
			t.Errorf("%s is shown as %s, want %s", value, got, want)
		}
	}
}
