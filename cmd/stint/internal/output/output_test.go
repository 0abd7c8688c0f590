package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// pipe is a Writer on a pipe that nobody reads yet.
func pipe(t *testing.T) (*Writer, *os.File) {
	t.Helper()
	r, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), to.Close() })
	return New(to), r
}

func line(i int) string { return fmt.Sprintf("line %06d\n", i) }

// A reader that comes back gets whole lines in their order, and learns how many
// are missing between them.
func TestAStuckReaderLosesWholeLinesAndLearnsHowMany(t *testing.T) {
	t.Parallel()
	const sent = 200_000 // 2.4 MB, and the queue holds 1
	w, r := pipe(t)
	for i := range sent { // nobody reads before all is written: a write that waits would wait for ever
		fmt.Fprint(w, line(i))
	}
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(r)
		text <- string(all)
	}()
	w.Flush(time.Minute)
	fmt.Fprint(w, "after\n")
	w.Flush(time.Minute)
	if err := w.to.(*os.File).Close(); err != nil {
		t.Fatal(err)
	}
	got, next, told := strings.SplitAfter(<-text, "\n"), 0, 0
	for ; next < len(got) && got[next] == line(next); next++ {
	}
	rest := strings.Join(got[next:], "")
	if _, err := fmt.Sscanf(rest, "stint: lines missing here: %d;", &told); err != nil || next == 0 {
		t.Fatalf("after %d lines: %.100q", next, rest)
	}
	if next+told != sent || !strings.HasSuffix(rest, "\nafter\n") || strings.Count(rest, "\n") != 2 {
		t.Errorf("%d lines came, %d are told of, %d were sent; then %.200q", next, told, sent, rest)
	}
}

// All that patient writers print reaches a reader who is merely slow, and no line
// of those that do not wait is lost for it.
func TestASlowReaderGetsEveryLine(t *testing.T) {
	t.Parallel()
	const sent = 300_000 // 3.6 MB, and the queue holds 1
	w, r := pipe(t)
	got := make(chan string)
	go func() {
		var all bytes.Buffer
		for {
			if _, err := io.CopyN(&all, r, 32<<10); err != nil {
				got <- all.String()
				return
			}
			<-time.After(time.Millisecond) // this reader is slow
		}
	}()
	patient := w.Patient()
	var want strings.Builder
	for i := range sent {
		fmt.Fprint(patient, line(i))
		want.WriteString(line(i))
		if i%10_000 == 0 {
			fmt.Fprint(w, "log\n")
			want.WriteString("log\n")
		}
	}
	w.Flush(time.Minute)
	if err := w.to.(*os.File).Close(); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != want.String() {
		t.Errorf("%d bytes came of %d", len(text), want.Len())
	}
}

// flaky takes room bytes, and then fails.
type flaky struct {
	mu   sync.Mutex
	room int
	text bytes.Buffer
}

func (f *flaky) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(len(p), f.room)
	f.room -= n
	f.text.Write(p[:n])
	if n < len(p) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func TestAnOutputThatFailsIsTriedAgainWithEachLine(t *testing.T) {
	t.Parallel()
	f := &flaky{room: 6}
	w := New(f)
	say := func(text string) {
		fmt.Fprint(w, text)
		w.Flush(time.Minute)
	}
	say("one\n")
	say("two\n") // its first two bytes find room
	say("three\nfour\n")
	f.mu.Lock()
	f.room = 1 << 20
	f.mu.Unlock()
	say("five\n")
	say("six\n")
	want := "one\ntw\nstint: lines missing here: 3; they were not read in time, or could not be written\nfive\nsix\n"
	if got := f.text.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestALineLargerThanTheQueueIsWritten(t *testing.T) {
	t.Parallel()
	f := &flaky{room: 10 << 20}
	w := New(f)
	long := strings.Repeat("x", 2*capacity) + "\n"
	fmt.Fprint(w, long)
	w.Flush(time.Minute)
	if f.text.String() != long {
		t.Errorf("%d bytes were written of %d", f.text.Len(), len(long))
	}
}

func TestFlushOfAStuckOutputHasABound(t *testing.T) {
	t.Parallel()
	w, _ := pipe(t)
	fmt.Fprint(w, strings.Repeat(line(1), 20_000))
	began := time.Now()
	w.Flush(50 * time.Millisecond)
	if took := time.Since(began); took < 50*time.Millisecond || took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// Others may write to the same pipe, which keeps so much in one piece.
func TestWholeLinesAreWrittenThatStayInOnePiece(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n"
	if n := head([]byte(strings.Repeat(line, 100))); n != atOnce/100*100 {
		t.Errorf("%d bytes are written at once", n)
	}
	if n := head([]byte(strings.Repeat("x", 2*atOnce) + "\n" + line)); n != 2*atOnce+1 {
		t.Errorf("%d bytes of a long line are written at once", n)
	}
}
