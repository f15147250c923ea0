package adk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxEvent is the most bytes of one event that are read, the same as for a message of a store. A
// longer one is counted and passed over without being kept in memory.
const MaxEvent = 16 << 20

// scanner cuts an input into JSON values and lines. It leaves out NUL bytes, which a crash can
// leave in a file.
type scanner struct {
	r     *bufio.Reader
	keep  bool   // add the bytes to taken
	taken []byte // the bytes that were read while keep was set
	nuls  int    // runs of NUL bytes
	inRun bool
	err   error // of the input; nil for io.EOF
}

var errTooLong = errors.New("too long")

func newScanner(r io.Reader) *scanner { return &scanner{r: bufio.NewReaderSize(r, 64<<10)} }

// take returns the next byte. io.EOF is the end of the input, or an error that is in s.err.
func (s *scanner) take() (byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			if !errors.Is(err, io.EOF) && s.err == nil {
				s.err = readError(err)
			}
			return 0, io.EOF
		}
		if c != 0 {
			s.inRun = false
			if s.keep {
				s.taken = append(s.taken, c)
			}
			return c, nil
		}
		if !s.inRun {
			s.inRun = true
			s.nuls++
		}
	}
}

func readError(err error) error { return fmt.Errorf("read events: %w", err) }

// back unreads the last byte.
func (s *scanner) back() {
	_ = s.r.UnreadByte() // one was read just now
	if s.keep {
		s.taken = s.taken[:len(s.taken)-1]
	}
}

// next returns the next byte that is no white space.
func (s *scanner) next() (byte, error) {
	for {
		c, err := s.take()
		if err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, err
		}
	}
}

// value returns the bytes of the next value. It looks at brackets and quotes only, so the bytes
// need not be JSON. It returns errTooLong for a value over limit bytes, which it passes over, and
// io.EOF if the input ends inside the value.
func (s *scanner) value(limit int) ([]byte, error) {
	c, err := s.next()
	if err != nil {
		return nil, err
	}
	v := valueScanner{limit: limit}
	v.add(c)
	for !v.done {
		if c, err = s.take(); err != nil {
			if v.bare {
				return v.bytes, v.failed()
			}
			return nil, err
		}
		if v.bare && (c == ',' || c == ']' || c == '}' || c <= ' ') {
			s.back()
			break
		}
		v.add(c)
	}
	return v.bytes, v.failed()
}

// valueScanner follows a value byte by byte.
type valueScanner struct {
	limit, depth           int
	quoted, escaped, begun bool
	// Neither an object, nor an array, nor a string: it ends where the next token begins
	bare          bool
	tooLong, done bool
	bytes         []byte
}

func (v *valueScanner) add(c byte) {
	if len(v.bytes) == v.limit {
		v.tooLong, v.bytes = true, nil
	}
	if !v.tooLong {
		v.bytes = append(v.bytes, c)
	}
	switch {
	case v.escaped:
		v.escaped = false
	case v.quoted:
		v.escaped = c == '\\'
		v.quoted = c != '"'
		v.done = !v.quoted && v.depth == 0
	case c == '"':
		v.quoted = true
	case c == '{' || c == '[':
		v.depth++
	case c == '}' || c == ']':
		v.depth--
		v.done = v.depth <= 0
	default:
		v.bare = v.bare || !v.begun
	}
	v.begun = true
}

func (v *valueScanner) failed() error {
	if v.tooLong {
		return errTooLong
	}
	return nil
}
