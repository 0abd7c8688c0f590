package result

import "bytes"

// event is what a byte means to the text that it continues.
type event int

const (
	goesOn  event = iota
	opens         // an object or array begins with the byte
	closes        // one ends with it
	over          // the text had ended before: the byte is not of it
	broken        // no JSON text goes on like this
	tooDeep       // more is open than a parser follows
)

// state is what a parser expects next.
type state int

const (
	value  state = iota
	first        // a value or the array's end
	name         // a member's name
	nameOr       // a member's name or the object's end
	colon
	ended // a value has ended: a comma, a closing bracket, or nothing more
	inString
	escaped  // behind a backslash
	inWord   // within true, false or null
	minus    // a number's first digit
	zero     // no more digits of the whole part
	whole    // digits
	point    // the first digit of the fraction
	fraction // digits
	exponent // a sign or the first digit of the exponent
	sign     // the first digit of the exponent
	power    // digits
)

// maxOpen is how many objects and arrays a parser follows, one in the other.
const maxOpen = 1024

// parser reads one JSON text, byte by byte.
type parser struct {
	state state
	open  []byte // the brackets, '{' or '['
	word  string // what is left of a word
	hex   int    // digits that a \u still needs
	named bool   // the string is a member's name
}

// begins tells whether a JSON text may begin with the byte.
func begins(c byte) bool { return digit(c) || bytes.IndexByte([]byte(`{["-tfn`), c) >= 0 }

func (p *parser) reset() { *p = parser{open: p.open[:0]} }

// complete tells whether the text may end here.
func (p *parser) complete() bool {
	if len(p.open) > 0 {
		return false
	}
	switch p.state {
	case ended, zero, whole, fraction, power:
		return true
	}
	return false
}

// next takes a byte.
func (p *parser) next(c byte) event {
	switch p.state {
	case inString:
		return p.string(c)
	case escaped:
		return p.escape(c)
	case inWord:
		return p.letter(c)
	case minus, zero, whole, point, fraction, exponent, sign, power:
		return p.number(c)
	}
	if p.state == ended && len(p.open) == 0 {
		return over
	}
	if blank(c) || c == '\n' {
		return goesOn
	}
	switch p.state {
	case value, first:
		return p.value(c)
	case name, nameOr:
		return p.name(c)
	case colon:
		return p.follow(c == ':', value)
	}
	return p.after(c)
}

// follow goes on to a state if the byte was right.
func (p *parser) follow(right bool, s state) event {
	if !right {
		return broken
	}
	p.state = s
	return goesOn
}

func (p *parser) value(c byte) event {
	switch {
	case c == '{', c == '[':
		return p.opened(c)
	case c == ']' && p.state == first:
		return p.closed()
	case c == '"':
		p.state, p.named = inString, false
	case c == '-':
		p.state = minus
	case c == '0':
		p.state = zero
	case digit(c):
		p.state = whole
	case c == 't':
		p.state, p.word = inWord, "rue"
	case c == 'f':
		p.state, p.word = inWord, "alse"
	case c == 'n':
		p.state, p.word = inWord, "ull"
	default:
		return broken
	}
	return goesOn
}

func (p *parser) opened(c byte) event {
	if len(p.open) == maxOpen {
		return tooDeep
	}
	p.open = append(p.open, c)
	p.state = first
	if c == '{' {
		p.state = nameOr
	}
	return opens
}

func (p *parser) closed() event {
	p.open = p.open[:len(p.open)-1]
	p.state = ended
	return closes
}

func (p *parser) name(c byte) event {
	switch {
	case c == '"':
		p.state, p.named = inString, true
		return goesOn
	case c == '}' && p.state == nameOr:
		return p.closed()
	}
	return broken
}

// after reads what follows a value within an object or array.
func (p *parser) after(c byte) event {
	object := p.open[len(p.open)-1] == '{'
	switch {
	case c == '}' && object, c == ']' && !object:
		return p.closed()
	case c == ',' && object:
		p.state = name
	case c == ',':
		p.state = value
	default:
		return broken
	}
	return goesOn
}

func (p *parser) string(c byte) event {
	switch {
	case c == '"' && p.named:
		p.state = colon
	case c == '"':
		p.state = ended
	case c == '\\':
		p.state = escaped
	case c < ' ':
		return broken
	}
	return goesOn
}

func (p *parser) escape(c byte) event {
	switch {
	case p.hex > 0:
		if p.hex--; p.hex == 0 {
			p.state = inString
		}
		if !digit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return broken
		}
	case c == 'u':
		p.hex = 4
	default:
		switch c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			p.state = inString
		default:
			return broken
		}
	}
	return goesOn
}

func (p *parser) letter(c byte) event {
	if c != p.word[0] {
		return broken
	}
	if p.word = p.word[1:]; p.word == "" {
		p.state = ended
	}
	return goesOn
}

func (p *parser) number(c byte) event {
	e := c == 'e' || c == 'E'
	switch s := p.state; {
	case s == minus:
		if c == '0' {
			return p.follow(true, zero)
		}
		return p.follow(digit(c), whole)
	case s == point:
		return p.follow(digit(c), fraction)
	case s == exponent && (c == '+' || c == '-'):
		return p.follow(true, sign)
	case s == exponent, s == sign:
		return p.follow(digit(c), power)
	case digit(c) && s != zero:
		return goesOn
	case c == '.' && (s == zero || s == whole):
		return p.follow(true, point)
	case e && s != power:
		return p.follow(true, exponent)
	}
	p.state = ended
	return p.next(c)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// blank is white space within a line.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
