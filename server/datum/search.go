package datum

import (
	"unicode"
	"unicode/utf8"
)

// MaxSearch is the length of a search text in bytes, at most.
const MaxSearch = 4 << 10

// Fold is text as search texts hold it: two texts that differ only in the case of
// their letters are one.
func Fold(text string) string { return string(appendFolded(nil, []byte(text))) }

// appendLine appends text to a search text as a line, as far as there is room.
func appendLine(to, text []byte) []byte {
	if len(text) == 0 || len(to) >= MaxSearch {
		return to
	}
	if len(to) > 0 {
		to = append(to, '\n')
	}
	return cut(appendFolded(to, cut(text)))
}

// cut is text without what is beyond MaxSearch, and no half character.
func cut(text []byte) []byte {
	if len(text) <= MaxSearch {
		return text
	}
	end := MaxSearch
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

func appendFolded(to, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			to = append(to, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		to = utf8.AppendRune(to, fold(r))
		i += size
	}
	return to
}

// fold is one letter for all that differ only in case, also for the three of
// which one is neither upper nor lower, such as the Kelvin sign.
func fold(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}
