package outcome

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxSeconds bounds a snooze, and the wait before the next attempt.
const maxSeconds = 30 * 24 * 60 * 60

// Exits are the exit codes by which a command says more than that it failed.
type Exits struct {
	Snooze map[int]int64 // seconds until the job may be claimed again; the attempt does not count
	Final  map[int]bool  // the job is not tried again
}

// ParseExits reads what --snooze-exit (CODE=DURATION) and --final-exit (CODE) hold.
func ParseExits(snooze, final []string) (Exits, error) {
	e := Exits{Snooze: map[int]int64{}, Final: map[int]bool{}}
	for _, item := range snooze {
		code, seconds, err := parseSnooze(item)
		if err != nil {
			return e, err
		}
		if _, twice := e.Snooze[code]; twice {
			return e, fmt.Errorf("--snooze-exit: %d is given twice", code)
		}
		e.Snooze[code] = seconds
	}
	for _, item := range final {
		code, err := parseExit("--final-exit", item)
		if err != nil {
			return e, err
		}
		if _, both := e.Snooze[code]; both {
			return e, fmt.Errorf("%d is in both --snooze-exit and --final-exit", code)
		}
		if e.Final[code] {
			return e, fmt.Errorf("--final-exit: %d is given twice", code)
		}
		e.Final[code] = true
	}
	return e, nil
}

func parseSnooze(item string) (code int, seconds int64, err error) {
	number, text, ok := strings.Cut(item, "=")
	if !ok {
		return 0, 0, fmt.Errorf("--snooze-exit is CODE=DURATION, such as 75=15m, not %q", item)
	}
	if code, err = parseExit("--snooze-exit", number); err != nil {
		return 0, 0, err
	}
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || d < 0 || d > maxSeconds*time.Second || d%time.Second != 0 {
		return 0, 0, fmt.Errorf("--snooze-exit %s: the duration is 0s to 720h, in whole seconds, not %q", number, text)
	}
	return code, int64(d / time.Second), nil
}

func parseExit(flag, text string) (int, error) {
	code, err := strconv.Atoi(strings.TrimSpace(text))
	switch {
	case err != nil || code < 0 || code > 255:
		return 0, fmt.Errorf("%s: an exit code is 1 to 255, not %q", flag, text)
	case code == 0:
		return 0, fmt.Errorf("%s: exit 0 completes the job and cannot mean anything else", flag)
	}
	return code, nil
}
