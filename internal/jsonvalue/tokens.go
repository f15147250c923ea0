package jsonvalue

// Tokens reads the tokens of one JSON value. After an error it returns no more tokens.
type Tokens struct {
	scanner
	at   int
	open []byte // the open brackets
	want expected
}

// expected says what may come next.
type expected byte

const (
	expectValue   expected = iota
	expectElement          // or the end of the array, which has begun
	expectMember           // or the end of the object, which has begun
	expectName             // after a comma
	expectMore             // a comma or the closing bracket
	expectColon
	expectEnd
)

// ReadTokens returns the tokens of in.
func ReadTokens(in []byte) Tokens { return Tokens{scanner: scanner{in: in}} }

// Depth returns how many arrays and objects are open.
func (t *Tokens) Depth() int { return len(t.open) }

// Peek returns the first byte of the next token, without commas and colons. It is 0 after the value
// and where there is no token.
func (t *Tokens) Peek() byte {
	if t.at < 0 {
		return 0
	}
	t.at = t.space(t.at)
	switch {
	case t.at >= len(t.in), t.want == expectEnd:
		return 0
	case t.want == expectColon:
		if t.in[t.at] != ':' {
			return 0
		}
		t.at, t.want = t.space(t.at+1), expectValue
	case t.want == expectMore && t.in[t.at] == ',':
		if t.want = expectValue; t.open[len(t.open)-1] == '{' {
			t.want = expectName
		}
		t.at = t.space(t.at + 1)
	}
	if t.at >= len(t.in) {
		return 0
	}
	return t.in[t.at]
}

// Next returns the place of the next token: of a bracket, a string, a number or a literal. ok is
// false where there is none.
func (t *Tokens) Next() (start, end int, ok bool) {
	c := t.Peek()
	if c == 0 {
		t.at = -1
		return 0, 0, false
	}
	start = t.at
	t.at = t.next(c)
	return start, t.at, t.at >= 0
}

func (t *Tokens) next(c byte) int {
	value := t.want == expectValue || t.want == expectElement
	switch c {
	case '}', ']':
		n := len(t.open)
		if n == 0 || t.open[n-1] != c-2 || t.want == expectValue || t.want == expectName {
			return -1
		}
		t.open = t.open[:n-1]
		t.after()
		return t.at + 1
	case '{', '[':
		if !value || len(t.open) == maxNesting {
			return -1
		}
		if t.open = append(t.open, c); c == '{' {
			t.want = expectMember
		} else {
			t.want = expectElement
		}
		return t.at + 1
	case '"':
		if t.want == expectMember || t.want == expectName {
			t.want = expectColon
			return t.text(t.at)
		}
	}
	if !value {
		return -1
	}
	t.after()
	return t.skip(t.at, len(t.open))
}

// after settles what may follow a value.
func (t *Tokens) after() {
	if t.want = expectMore; len(t.open) == 0 {
		t.want = expectEnd
	}
}

// Ended reports whether the value has been read and nothing follows it.
func (t *Tokens) Ended() bool {
	return t.at >= 0 && t.want == expectEnd && t.space(t.at) == len(t.in)
}
