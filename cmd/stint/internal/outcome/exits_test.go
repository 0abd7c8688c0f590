package outcome

import (
	"maps"
	"strings"
	"testing"
)

func TestExitCodesAreParsed(t *testing.T) {
	t.Parallel()
	e, err := ParseExits([]string{"75=15m", "76 = 720h", "77=0s"}, []string{"65", " 255"})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(e.Snooze, map[int]int64{75: 900, 76: maxSeconds, 77: 0}) || !maps.Equal(e.Final, map[int]bool{65: true, 255: true}) {
		t.Errorf("got %+v", e)
	}
}

func TestWrongExitCodesAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		snooze, final []string
		want          string
	}{
		"in both":                 {[]string{"75=1m"}, []string{"75"}, "75 is in both --snooze-exit and --final-exit"},
		"twice":                   {[]string{"75=1m", "75=2m"}, nil, "--snooze-exit: 75 is given twice"},
		"final twice":             {nil, []string{"65", "65"}, "--final-exit: 65 is given twice"},
		"0 snoozes":               {[]string{"0=1m"}, nil, "--snooze-exit: exit 0 completes the job"},
		"0 is final":              {nil, []string{"0"}, "--final-exit: exit 0 completes the job"},
		"too high":                {nil, []string{"256"}, `an exit code is 1 to 255, not "256"`},
		"negative":                {nil, []string{"-1"}, `an exit code is 1 to 255, not "-1"`},
		"no number":               {[]string{"x=1m"}, nil, `an exit code is 1 to 255, not "x"`},
		"no duration":             {[]string{"75"}, nil, `--snooze-exit is CODE=DURATION, such as 75=15m, not "75"`},
		"an empty duration":       {[]string{"75="}, nil, `in whole seconds, not ""`},
		"a duration too long":     {[]string{"75=721h"}, nil, `0s to 720h, in whole seconds, not "721h"`},
		"a negative duration":     {[]string{"75=-1s"}, nil, `not "-1s"`},
		"not whole seconds":       {[]string{"75=1500ms"}, nil, `not "1500ms"`},
		"a duration with no unit": {[]string{"75=900"}, nil, `not "900"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseExits(tt.snooze, tt.final)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
