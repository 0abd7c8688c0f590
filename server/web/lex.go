package web

import (
	"strconv"
	"unicode/utf16"
)

// numberLength is the length of the JSON number that b begins with; 0 if it
// begins with none.
func numberLength(b []byte) int {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	whole := digits(b[i:])
	if whole == 0 || (whole > 1 && b[i] == '0') {
		return 0
	}
	i += whole
	if i < len(b) && b[i] == '.' {
		n := digits(b[i+1:])
		if n == 0 {
			return 0
		}
		i += 1 + n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := digits(b[i:])
		if n == 0 {
			return 0
		}
		i += n
	}
	return i
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}

// stringLength is the length of the JSON string that b begins with, quotes
// included; 0 if it is malformed. detail says what may not be stored in it.
func stringLength(b []byte) (n int, escaped bool, detail string) {
	for i := 1; i < len(b); {
		switch c := b[i]; {
		case c > '"' && c != '\\': // most bytes
			i++
		case c == '"':
			return i + 1, escaped, detail
		case c < ' ':
			return 0, false, ""
		case c != '\\':
			i++
		default:
			escaped = true
			size, wrong := escape(b[i:])
			if size == 0 {
				return 0, false, ""
			}
			if wrong != "" {
				detail = wrong
			}
			i += size
		}
	}
	return 0, false, ""
}

// escape is the length of the escape sequence that b begins with (a surrogate
// pair counts as one); 0 if it is malformed.
func escape(b []byte) (size int, detail string) {
	if len(b) < 2 {
		return 0, ""
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, ""
	case 'u':
	default:
		return 0, ""
	}
	r, ok := hex4(b)
	switch {
	case !ok:
		return 0, ""
	case r == 0:
		return 6, "the text contains NUL"
	case !utf16.IsSurrogate(r):
		return 6, ""
	}
	if low, ok := hex4(b[6:]); ok && utf16.DecodeRune(r, low) != '\ufffd' {
		return 12, ""
	}
	return 6, "the text contains a lone surrogate"
}

// hex4 is the code unit of a \uXXXX that b begins with.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
		default:
			return 0, false
		}
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(v), err == nil
}
