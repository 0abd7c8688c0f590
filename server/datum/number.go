package datum

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// number is a decimal number of any size: digits × 10^exponent, where digits has
// no zero at either end; zero has no digits. An exponent of more than nearDigits
// digits is far, a text: no arithmetic on it may cost more than its length.
type number struct {
	negative bool
	digits   []byte
	exponent int64
	far      string // empty, or the exponent
}

// nearDigits is how long an exponent may be written that is calculated with: what
// is added to it, the length of a text, never leads out of 64 bits.
const nearDigits = 18

// plainDigits is up to how many digits a number is spelled out in a key.
const plainDigits = 40

// numberLength is the length of the text that looks like a number at the
// beginning of b. The gate has checked its grammar.
func numberLength(b []byte) int {
	for i, c := range b {
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return i
		}
	}
	return len(b)
}

func parseNumber(text []byte) (n number) {
	n.negative = text[0] == '-'
	text = bytes.TrimLeft(text, "+-")
	exponent := []byte(nil)
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		text, exponent = text[:i], text[i+1:]
	}
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	n.digits = whole
	if len(fraction) > 0 {
		n.digits = append(bytes.Clone(whole), fraction...)
	}
	n.digits = bytes.TrimLeft(n.digits, "0")
	trimmed := bytes.TrimRight(n.digits, "0")
	moved := int64(len(n.digits) - len(trimmed) - len(fraction))
	if n.digits = trimmed; len(trimmed) == 0 {
		return number{}
	}
	n.raise(exponent, moved)
	return n
}

// raise sets the exponent to the one that is written, and moved.
func (n *number) raise(written []byte, moved int64) {
	text := bytes.TrimLeft(written, "+-")
	text = bytes.TrimLeft(text, "0")
	negative := len(written) > 0 && written[0] == '-'
	if len(text) <= nearDigits {
		e, _ := strconv.ParseInt(string(text), 10, 64)
		if negative {
			e = -e
		}
		n.exponent = e + moved
		return
	}
	if negative {
		n.far = "-" + string(raised(text, -moved))
	} else {
		n.far = string(raised(text, moved))
	}
}

// raised is the sum of a number of more than nearDigits digits and a smaller one.
// Only its last digits are calculated; the ones before them take what is carried.
func raised(text []byte, by int64) []byte {
	const part = 1_000_000_000_000_000_000 // 10^nearDigits
	high := bytes.Clone(text[:len(text)-nearDigits])
	low, _ := strconv.ParseInt(string(text[len(text)-nearDigits:]), 10, 64)
	low += by
	switch {
	case low >= part:
		low -= part
		high = carry(high, '9', '0', 1)
	case low < 0:
		low += part
		high = carry(high, '0', '9', -1)
	}
	return bytes.TrimLeft(fmt.Appendf(high, "%0*d", nearDigits, low), "0")
}

// carry adds by, 1 or -1, to a number above zero: to its last digit that is not
// full; those behind it begin anew.
func carry(digits []byte, full, anew byte, by int8) []byte {
	i := len(digits) - 1
	for ; i >= 0 && digits[i] == full; i-- {
		digits[i] = anew
	}
	if i < 0 {
		return append([]byte{'1'}, digits...)
	}
	digits[i] += byte(by)
	return digits
}

// append appends the one form that all spellings of the number have.
func (n number) append(to []byte) []byte {
	if n.negative {
		to = append(to, '-')
	}
	to = append(append(to, n.digits...), 'e')
	if n.far != "" {
		return append(append(to, n.far...), ';')
	}
	return append(strconv.AppendInt(to, n.exponent, 10), ';')
}

// String spells the number as people do, up to plainDigits digits; with an
// exponent beyond.
func (n number) String() string {
	sign := ""
	if n.negative {
		sign = "-"
	}
	digits := string(n.digits)
	point := int64(len(digits)) + n.exponent // where the point stands among the digits
	switch {
	case digits == "":
		return "0"
	case n.far != "":
		return sign + digits + "e" + n.far
	case n.exponent >= 0 && point <= max(plainDigits, int64(len(digits))):
		return sign + digits + strings.Repeat("0", int(n.exponent))
	case n.exponent < 0 && point > 0:
		return sign + digits[:point] + "." + digits[point:]
	case n.exponent < 0 && point > -plainDigits:
		return sign + "0." + strings.Repeat("0", int(-point)) + digits
	}
	return sign + digits + "e" + strconv.FormatInt(n.exponent, 10)
}
