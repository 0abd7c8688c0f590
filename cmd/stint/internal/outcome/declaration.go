package outcome

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxOutcome = 64 << 10 // bytes of the file
	maxCode    = 64       // characters of an error's code
)

// declaration is what a command wrote to STINT_OUTCOME.
type declaration struct {
	Outcome string
	Seconds *int64
	Code    string
	Message string
}

// declared reads the file; nil if the command wrote nothing.
func (f Files) declared() (*declaration, error) {
	text, err := f.read(outcomeFile, maxOutcome+1)
	switch {
	case err != nil:
		return nil, err
	case len(text) == 0:
		return nil, nil
	case len(text) > maxOutcome:
		return nil, fmt.Errorf("is larger than %d KiB", maxOutcome>>10)
	}
	return parseDeclaration(text)
}

func parseDeclaration(text []byte) (*declaration, error) {
	members, err := membersOf(text)
	if err != nil {
		return nil, err
	}
	d := &declaration{}
	fields := map[string]any{"outcome": &d.Outcome, "seconds": &d.Seconds, "code": &d.Code, "message": &d.Message}
	for name, value := range members {
		field, known := fields[name]
		if !known {
			return nil, fmt.Errorf("has the unknown member %.40q", name)
		}
		if err := json.Unmarshal(value, field); err != nil {
			return nil, fmt.Errorf("has a %s of the wrong type: %.40s", name, value)
		}
	}
	return d, d.check()
}

// membersOf reads one JSON object. encoding/json alone would take a member twice,
// and names in another case.
func membersOf(text []byte) (map[string]json.RawMessage, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	dec := json.NewDecoder(bytes.NewReader(text))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') || !json.Valid(text) {
		return nil, errors.New("is not a JSON object")
	}
	members := map[string]json.RawMessage{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, value := token.(string), json.RawMessage{}
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("has %.40q twice", name)
		}
		members[name] = value
	}
	return members, nil
}

func (d *declaration) check() error {
	switch d.Outcome {
	case "snooze":
		if d.Seconds == nil {
			return errors.New("says snooze and not for how many seconds")
		}
	case "complete", "final", "release":
		if d.Seconds != nil {
			return fmt.Errorf("has seconds, which %s does not take", d.Outcome)
		}
	case "fail":
	default:
		return fmt.Errorf("has an outcome that is none of complete, fail, final, snooze and release: %.40q", d.Outcome)
	}
	switch {
	case d.Seconds != nil && (*d.Seconds < 0 || *d.Seconds > maxSeconds):
		return fmt.Errorf("has seconds outside of 0 to %d", maxSeconds)
	case utf8.RuneCountInString(d.Code) > maxCode || strings.ContainsRune(d.Code, 0):
		return fmt.Errorf("has a code that is not 1 to %d characters", maxCode)
	}
	return nil
}

// finish is what was declared; failed is what the end of the command says alone.
func (d *declaration) finish(failed Finish) Finish {
	f := Finish{Action: Action(d.Outcome), Seconds: d.Seconds, Declared: true}
	if f.Action != Fail && d.Outcome != "final" {
		f.Warning = d.note()
		return f
	}
	f.Action, f.Final = Fail, d.Outcome == "final"
	f.Code, f.Message = failed.Code, failed.Message
	if d.Code != "" {
		f.Code = clean(d.Code)
	}
	if d.Message != "" {
		f.Message = clean(d.Message)
	}
	return f
}

// note is what people are told of an outcome that has no error.
func (d *declaration) note() string {
	if d.Code == "" || d.Message == "" {
		return d.Code + d.Message
	}
	return d.Code + ": " + d.Message
}
