package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config is what is tried.
type Config struct {
	Worker   []string // the command line; {kind} and {command} in it are replaced
	Command  string   // the program behind {command}, which calls Do
	Temp     string   // TMPDIR of the worker, which may be killed before it has cleaned up
	Document []byte   // the API's OpenAPI document
	Rules    []Rule
	Parallel int // rules at a time
	// Tries is how often a rule is tried that looks broken: a busy machine makes
	// workers late. Each try is twice as slow as the one before.
	Tries int
}

// Verdict is what was found about one rule.
type Verdict struct {
	Rule    string   `json:"rule"`
	State   string   `json:"state"` // OK, Broken or NotChecked
	Why     string   `json:"why"`
	Seen    string   `json:"seen"`
	Tries   int      `json:"tries"`
	Seconds float64  `json:"seconds"`
	Tape    []string `json:"tape,omitempty"`   // what was recorded
	Output  []string `json:"output,omitempty"` // the last lines that the worker printed
}

// Run tries the rules on the worker, Parallel at a time, and calls report with each
// verdict, in the order of the rules. An error means that a
// rule could not be tried at all.
func Run(ctx context.Context, c Config, report func(Verdict)) error {
	doc, err := parseDocument(c.Document)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	verdicts := make([]chan Verdict, len(c.Rules))
	slots := make(chan struct{}, max(c.Parallel, 1))
	var wg sync.WaitGroup
	var failed error
	var once sync.Once
	for i := range c.Rules {
		verdicts[i] = make(chan Verdict, 1)
		wg.Go(func() {
			defer close(verdicts[i])
			slots <- struct{}{}
			defer func() { <-slots }()
			v, err := c.verdict(ctx, doc, &c.Rules[i])
			if err != nil {
				once.Do(func() { failed = err })
				cancel()
				return
			}
			verdicts[i] <- v
		})
	}
	for _, one := range verdicts {
		v, ok := <-one
		if !ok {
			break
		}
		report(v)
	}
	wg.Wait()
	return failed
}

func (c Config) verdict(ctx context.Context, doc *document, rule *Rule) (Verdict, error) {
	if err := ctx.Err(); err != nil {
		return Verdict{}, err
	}
	begun := time.Now()
	before := ""
	for try, slow := 1, 1.0; ; try, slow = try+1, slow*2 {
		t, out, err := c.try(ctx, doc, rule, slow)
		if err != nil {
			return Verdict{}, err
		}
		f := t.assessed(rule)
		if try < c.Tries && (f.state == Broken || f.state == NotChecked && rule.unsure) {
			before = "; before: " + f.seen
			continue
		}
		return Verdict{
			Rule: rule.Name, State: f.state, Why: rule.Why, Seen: f.seen + before, Tries: try,
			Seconds: time.Since(begun).Seconds(), Tape: shortened(t.lines()), Output: shortened(out.lines()),
		}, nil
	}
}

// mostLines is how much of a tape or an output is told: its beginning and its end.
const mostLines = 80

func shortened(lines []string) []string {
	if len(lines) <= mostLines {
		return lines
	}
	head, tail := lines[:mostLines/2], lines[len(lines)-mostLines/2:]
	return slices.Concat(head, []string{fmt.Sprintf("… %d lines more …", len(lines)-mostLines)}, tail)
}

// assessed is the rule's finding, with what may be behind a breach: a worker that
// never came, or requests that the API does not take.
func (t *tape) assessed(rule *Rule) finding {
	if len(t.of("claim")) == 0 {
		f := broken("no claim came")
		if !t.exited.IsZero() {
			f.seen += "; the worker ended: " + t.exit
		}
		return f
	}
	f := rule.assess(t)
	if f.state != Broken {
		return f
	}
	for _, c := range t.calls {
		if len(c.faults) > 0 && !strings.Contains(f.seen, c.faults[0]) {
			f.seen += "; " + c.method + " " + c.path + " was refused: " + c.faults[0]
			break
		}
	}
	return f
}

// Select are the rules of these names; all of them if there are none.
func Select(names []string) ([]Rule, error) {
	all := Rules()
	if len(names) == 0 {
		return all, nil
	}
	byName := map[string]Rule{}
	for _, r := range all {
		byName[r.Name] = r
	}
	var some []Rule
	for _, name := range names {
		r, ok := byName[name]
		if !ok {
			return nil, errors.New("there is no rule " + name + "; --list names them")
		}
		some = append(some, r)
	}
	return some, nil
}
