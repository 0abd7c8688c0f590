package records_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stint-run/stint/server/records"
)

// A step is a transaction, so fewer checks than rapid's hundred have to do;
// -rapid.checks asks for more.
func init() {
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		_ = flag.Set("rapid.checks", "5")
	}
}

// drawn is a line with few keys and times, so that they meet.
func drawn(t *rapid.T) string {
	stream := rapid.SampledFrom([]string{"notes", "notes", "people", "log"}).Draw(t, "stream")
	key := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key")
	if stream != "log" && rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
		return fmt.Sprintf(`{"stream":"%s","op":"delete","key":"%s"}`, stream, key)
	}
	at := rapid.SampledFrom([]string{`"2024-01-01"`, `"2024-01-01T23:59:59Z"`, `"1969-12-30"`, `1714979289`, `"soon"`, `0`, `true`}).Draw(t, "at")
	emitted := rapid.SampledFrom([]string{"", `,"emitted_at":"2025-01-01T00:00:00Z"`}).Draw(t, "emitted")
	return fmt.Sprintf(`{"stream":"%s","data":{"id":"%s","at":%s,"v":%d}%s}`, stream, key, at, rapid.IntRange(0, 2).Draw(t, "v"), emitted)
}

// expect does to live what a line does to the records of a connection, by the plain rules.
func expect(live map[string]string, text string) {
	l := line(0, text)
	switch {
	case l.Op == records.Delete:
		delete(live, l.Stream+"/"+l.Key)
	case l.Stream == "log":
		live["log/"+string(l.Data)] = ""
	default:
		key := strings.Split(string(l.Data), `"`)[3]
		live[l.Stream+"/"+key] = string(l.Data)
	}
}

func TestFiguresAreThoseOfTheRowsAfterAnyHistory(t *testing.T) {
	each(t, func(f *fixture) {
		rapid.Check(f.T, func(t *rapid.T) {
			f := *f
			f.connection = f.connect(f.Owner, "active")
			live := map[string]string{}
			for range rapid.IntRange(1, 4).Draw(t, "chunks") {
				var texts []string
				for range rapid.IntRange(1, 12).Draw(t, "lines") {
					texts = append(texts, drawn(t))
					expect(live, texts[len(texts)-1])
				}
				f.write(texts...)
				f.recount()
			}
			if n := f.count("records", "deleted_at is null"); n != int64(len(live)) {
				t.Fatalf("%d records live, want %d: %v", n, len(live), live)
			}
			for where, data := range live {
				stream, key, _ := strings.Cut(where, "/")
				if stream != "log" && f.record(stream, key).Data != data {
					t.Fatalf("%s is %s, want %s", where, f.record(stream, key).Data, data)
				}
			}
			if f.Failed() {
				t.Fatal("see above")
			}
		})
	})
}
