package jsonvalue

// Tokens reads the tokens of one JSON value.
type Tokens struct {
	scanner
	at    int // after the newest token; -1 if the text is not one value
	depth int
}

// ReadTokens returns the tokens of in.
func ReadTokens(in []byte) Tokens {
	t := Tokens{scanner: scanner{in: in}}
	if end := t.skip(0, 0); end < 0 || t.space(end) < len(in) {
		t.at = -1
	}
	t.checked = true
	return t
}

// Valid reports whether the text is one value. If it is not there are no tokens.
func (t *Tokens) Valid() bool { return t.at >= 0 }

// Depth returns how many arrays and objects are open.
func (t *Tokens) Depth() int { return t.depth }

// Peek returns the first byte of the next token, without commas and colons; 0 after the value.
func (t *Tokens) Peek() byte {
	for ; t.Valid() && t.at < len(t.in); t.at++ {
		switch c := t.in[t.at]; c {
		case ' ', '\n', '\t', '\r', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// Next returns the place of the next token: of a bracket, a string, a number or a literal. There
// has to be one.
func (t *Tokens) Next() (start, end int) {
	c := t.Peek()
	start = t.at
	switch c {
	case '{', '[':
		t.depth, t.at = t.depth+1, t.at+1
	case '}', ']':
		t.depth, t.at = t.depth-1, t.at+1
	default:
		t.at = t.skip(start, 0)
	}
	return start, t.at
}
