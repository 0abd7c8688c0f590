package datum_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stint-run/stint/server/datum"
)

// The form is that of released hashes: sign, digits without zeros at their ends, and
// the exponent in full, of any length.
func TestFormOfANumberIsThatOfEarlierReleases(t *testing.T) {
	t.Parallel()
	digit := rapid.StringOfN(rapid.SampledFrom([]rune("0019")), 0, 25, -1)
	rapid.Check(t, func(t *rapid.T) {
		sign := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
		first := rapid.SampledFrom([]string{"1", "9"}).Draw(t, "first")
		whole, fraction := first+digit.Draw(t, "whole"), digit.Draw(t, "fraction")
		exponent := rapid.SampledFrom([]string{"", "+", "-"}).Draw(t, "exponent's sign") + digit.Draw(t, "high") + digit.Draw(t, "low") + "0"

		e, _ := new(big.Int).SetString(exponent, 10)
		digits := strings.TrimRight(whole+fraction, "0")
		e.Add(e, big.NewInt(int64(len(whole)-len(digits))))
		want := datum.Sum([]byte("{\x01ad" + sign + digits + "e" + e.String() + ";}"))

		text := sign + whole + strings.TrimSuffix("."+fraction, ".") + "e" + exponent
		d, err := datum.Of([]byte(`{"a":` + text + `}`))
		if err != nil || d.Hash != want {
			t.Fatalf("%s has another form than %s%se%s", text, sign, digits, e)
		}
		if key, err := d.Key([]string{"a"}); err != nil || key == "" {
			t.Fatalf("%s has the key %q, %v", text, key, err)
		}
		d.Instant("a")
	})
}

// Seconds for the exponent of a line would be seconds for the time of all lines
// beside it. A text of this length takes some milliseconds.
func TestANumberCostsItsLength(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", 1<<20)
	for name, number := range map[string]string{
		"exponent": "1e" + long, "negative exponent": "1e-" + long, "carried": "10e" + long, "digits": long, "fraction": "0." + long, "zeros": "1e" + strings.Repeat("0", 1<<20),
	} {
		for _, value := range []string{number, `"` + number + `"`} {
			begun := time.Now()
			d := of(t, `{"a":`+value+`}`)
			_, _ = d.Key([]string{"a"})
			d.Instant("a")
			if took := time.Since(begun); took > time.Second {
				t.Errorf("%s as %.1s…: %s", name, value, took)
			}
		}
	}
}
