package notify

import "testing"

// A probe that was sent twice, or given up, leaves an echo that nobody fetches. It
// must not keep the next one out: the line would be taken for a frozen one.
func TestTheLatestEchoCounts(t *testing.T) {
	t.Parallel()
	b := &Bus{self: "this process"}
	echo := make(chan string, 1)
	for _, id := range []string{"first", "first", "second"} {
		text, err := encode(Hint{Topic: probe, IDs: []string{id}}, b.self)
		if err != nil {
			t.Fatal(err)
		}
		b.hear(t.Context(), text, echo)
	}
	if got := <-echo; got != "second" {
		t.Errorf("the echo of %q is there", got)
	}
}
