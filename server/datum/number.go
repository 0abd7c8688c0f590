package datum

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"
)

// number is a decimal number of any size: digits × 10^exponent, where digits has
// no zero at either end; zero has no digits. Its exponent fits 64 bits, or is big.
type number struct {
	negative bool
	digits   []byte
	exponent int64
	big      *big.Int
}

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
	if len(written) < 18 {
		e, _ := strconv.ParseInt(string(written), 10, 64)
		n.exponent = e + moved
		return
	}
	e, _ := new(big.Int).SetString(string(written), 10)
	if e == nil {
		e = new(big.Int)
	}
	if e.Add(e, big.NewInt(moved)); e.IsInt64() {
		n.exponent = e.Int64()
		return
	}
	n.big = e
}

// append appends the one form that all spellings of the number have.
func (n number) append(to []byte) []byte {
	if n.negative {
		to = append(to, '-')
	}
	to = append(append(to, n.digits...), 'e')
	if n.big != nil {
		return append(n.big.Append(to, 10), ';')
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
	case n.big != nil:
		return sign + digits + "e" + n.big.String()
	case n.exponent >= 0 && point <= max(plainDigits, int64(len(digits))):
		return sign + digits + strings.Repeat("0", int(n.exponent))
	case n.exponent < 0 && point > 0:
		return sign + digits[:point] + "." + digits[point:]
	case n.exponent < 0 && point > -plainDigits:
		return sign + "0." + strings.Repeat("0", int(-point)) + digits
	}
	return sign + digits + "e" + strconv.FormatInt(n.exponent, 10)
}
