package format

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Lines codes the lines of a header. A description of a kind calls a method for each line, and on
// its result one for each field, in their order. The same description writes a header and reads
// one: each method gets the place of a value, and puts there what it has read. Lines keeps the
// first error.
type Lines struct {
	writes bool
	out    []byte // what was written
	text   string // the lines that were not read, without the last newline
	left   bool   // there are such lines; an empty one has no text
	behind []byte // what follows the text, from the start of a line on; nil for nothing

	open   bool   // there is a line, and the next fields are its own
	key    string // of this line
	rest   string // of it, from the next field on
	more   bool   // it has a next field
	fields int    // that were read of it
	within int    // in how many lists this line stands
	err    error
}

// lined is a value with a description of its lines. Its check holds the rules that relate fields.
type lined interface {
	lines(*Lines)
	check() error
}

// encode returns the header of a value.
func encode(kind string, version int, v lined) ([]byte, error) {
	if err := v.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return EncodeLines(kind, version, v.lines)
}

// decode reads a header into a value of zeros, and returns that.
func decode[T lined](b []byte, kind string, version int, v T) (none T, err error) {
	if err := DecodeLines(b, kind, version, v.lines); err != nil {
		return none, err
	}
	if err := v.check(); err != nil {
		return none, fmt.Errorf("%s: %w", kind, err)
	}
	return v, nil
}

// free are Lines that have ended, for the next headers.
var free = sync.Pool{New: func() any { return &Lines{out: make([]byte, 0, headerRoom)} }}

// headerRoom is more than the header of most entries has, in bytes. The room of more than mostRoom
// is not used again.
const (
	headerRoom = 512
	mostRoom   = 32 << 10
)

// EncodeLines returns the header that a description writes. The error names its kind.
func EncodeLines(kind string, version int, lines func(*Lines)) ([]byte, error) {
	c := free.Get().(*Lines)
	c.writes = true
	c.out = append(append(c.out, kind...), ' ')
	c.out = append(strconv.AppendInt(c.out, int64(version), 10), '\n')
	lines(c)
	c.close()
	if c.err == nil && len(c.out) > MaxHeader {
		c.err = fmt.Errorf("header of %d bytes, %d is the most", len(c.out), MaxHeader)
	}
	header, err := c.out, c.err
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	if cap(header) <= mostRoom {
		*c = Lines{out: c.out[:0]}
		header = bytes.Clone(header)
		free.Put(c)
	}
	return header, nil
}

// DecodeLines has a description read a header, all of it. The error names its kind.
func DecodeLines(b []byte, kind string, version int, lines func(*Lines)) error {
	err := checkKind(b, kind, version)
	if err == nil {
		c := free.Get().(*Lines)
		c.behind = b[:len(b)-1]
		c.refill()
		c.next()
		lines(c)
		err = c.done()
		*c = Lines{out: c.out}
		free.Put(c)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

// checkKind checks the first line of a header, and its end.
func checkKind(b []byte, kind string, version int) error {
	if len(b) > MaxHeader {
		return fmt.Errorf("header of %d bytes, %d is the most", len(b), MaxHeader)
	}
	k, v, err := HeaderKind(b)
	switch {
	case err != nil:
		return err
	case k != kind:
		return fmt.Errorf("kind %q where %q was expected", k, kind)
	case v != version:
		return &VersionError{What: kind, Got: v, Known: version}
	case b[len(b)-1] != '\n':
		return errors.New("header does not end with a newline")
	}
	return nil
}

// pieceSize is how many bytes of a header become text at a time, but for a longer line.
const pieceSize = 64 << 10

// refill makes text of the next piece of the header if no line is left.
func (c *Lines) refill() {
	if c.left || c.behind == nil {
		return
	}
	piece := c.behind
	c.behind = nil
	if len(piece) > pieceSize {
		end := bytes.LastIndexByte(piece[:pieceSize], '\n')
		if end < 0 {
			end = bytes.IndexByte(piece, '\n')
		}
		if end >= 0 {
			piece, c.behind = piece[:end], piece[end+1:]
		}
	}
	c.text, c.left = string(piece), true
}

// next takes a line.
func (c *Lines) next() (line string) {
	line, c.text, c.left = strings.Cut(c.text, "\n")
	return line
}

// Reads reports whether the description reads.
func (c *Lines) Reads() bool { return !c.writes }

// Fail notes an error.
func (c *Lines) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Must begins a line that every header of the kind has.
func (c *Lines) Must(key string) *Lines {
	if c.Opt(key, true); !c.open {
		c.Fail(fmt.Errorf("no %s line where it belongs", key))
	}
	return c
}

// Opt begins a line that a header may have. has says whether one that is written has it. Without
// the line its fields are passed over.
func (c *Lines) Opt(key string, has bool) *Lines {
	if c.open {
		c.close()
	}
	if c.key = key; c.writes {
		if c.open = has; has {
			c.out = append(c.out, key...)
		}
		return c
	}
	if !c.left {
		c.refill()
	}
	if !strings.HasPrefix(c.text, key) || c.err != nil {
		return c
	}
	line, after, left := strings.Cut(c.text, "\n")
	switch rest := line[len(key):]; {
	case rest == "" && c.left:
		c.rest, c.more = "", false
	case rest != "" && rest[0] == ' ':
		c.rest, c.more = rest[1:], true
	default:
		return c
	}
	c.text, c.left = after, left
	c.fields, c.open = 0, true
	return c
}

// Has reports whether there is the line that was begun last.
func (c *Lines) Has() bool { return c.open }

// close ends a line. Fields of it that nothing has read are an error.
func (c *Lines) close() {
	switch {
	case !c.open:
	case c.writes:
		c.out = append(c.out, '\n')
	case c.more:
		c.Fail(fmt.Errorf("%s: %d fields are too many", c.key,
			c.fields+1+strings.Count(c.rest, " ")))
	}
	c.open = false
}

// done ends a header that was read: no line of it is left.
func (c *Lines) done() error {
	c.close()
	c.refill()
	if c.err == nil && c.left {
		c.err = fmt.Errorf("unknown or misplaced line: %.80q", c.next())
	}
	return c.err
}

// Each codes a list, one line for each element. fields codes the fields of one, and lines that
// belong to it.
func Each[T any](c *Lines, key string, list *[]T, fields func(*Lines, *T) *Lines) {
	if c.writes {
		for i := range *list {
			before := len(c.out)
			if fields(c.Opt(key, true), &(*list)[i]); i == 0 {
				c.out = slices.Grow(c.out, (len(c.out)-before+1)*len(*list))
			}
		}
		return
	}
	for c.Opt(key, true).open {
		if *list == nil && c.within == 0 { // to count the rest at each list in a list is quadratic
			*list = make([]T, 0, min(1+c.ahead(key), mostAhead))
		}
		var one T
		*list = append(*list, one)
		c.within++
		fields(c, &(*list)[len(*list)-1])
		c.within--
	}
}

// ahead returns about how many of the next lines have a key.
func (c *Lines) ahead(key string) int {
	line := "\n" + key + " "
	n := strings.Count(c.text, line) + bytes.Count(c.behind, []byte(line[1:]))
	if strings.HasPrefix(c.text, line[1:]) {
		n++
	}
	return n
}

// mostAhead is for how many elements there is room before they are read.
const mostAhead = 1 << 15

// space reports whether a field is to be written, after the space before it.
func (c *Lines) space() bool {
	if !c.writes || !c.open {
		return false
	}
	c.out = append(c.out, ' ')
	return true
}

// field returns the next field of the line. ok is false if there is none to read.
func (c *Lines) field() (s string, ok bool) {
	if c.writes || !c.open || c.err != nil {
		return "", false
	}
	if !c.more {
		c.Fail(fmt.Errorf("%s: %d fields are too few", c.key, c.fields))
		return "", false
	}
	s, c.rest, c.more = strings.Cut(c.rest, " ")
	c.fields++
	return s, true
}

// Word codes a field without a space or a control character.
func (c *Lines) Word(s *string) *Lines {
	if c.space() {
		c.out = append(c.out, *s...)
	} else if text, ok := c.field(); ok {
		*s = text
	}
	if c.open && !isField(*s) {
		c.Fail(fmt.Errorf("%s: bad field: %.80q", c.key, *s))
	}
	return c
}

// Rest codes all that is left of a line: words with spaces between them.
func (c *Lines) Rest(s *string) *Lines {
	if c.space() {
		c.out = append(c.out, *s...)
	} else if text, ok := c.field(); ok {
		if *s = text; c.more {
			*s += " " + c.rest
		}
		c.more = false
	}
	if c.open && !isLine(*s) {
		c.Fail(fmt.Errorf("%s: bad fields: %.80q", c.key, *s))
	}
	return c
}

func isLine(s string) bool {
	for word := range strings.SplitSeq(s, " ") {
		if !isField(word) {
			return false
		}
	}
	return true
}

// Name codes a name, percent-encoded.
func (c *Lines) Name(s *string) *Lines {
	if c.space() {
		text, err := EncodeName(*s)
		if err != nil {
			c.Fail(fmt.Errorf("%s: %w", c.key, err))
		}
		c.out = append(c.out, text...)
	} else if text, ok := c.field(); ok {
		*s = c.name(text)
	}
	return c
}

// OptName is Name for the last field of a line, which is left out for "".
func (c *Lines) OptName(s *string) *Lines {
	if c.writes && *s == "" || !c.writes && !c.more {
		return c
	}
	return c.Name(s)
}

// Number codes a number.
func (c *Lines) Number(n *uint64) *Lines {
	if c.space() {
		c.out = strconv.AppendUint(c.out, *n, 10)
	} else if text, ok := c.field(); ok {
		*n = c.uint(text)
	}
	return c
}

// Positive is Number where 0 is written by leaving the line out.
func (c *Lines) Positive(n *uint64) *Lines {
	if c.Number(n); c.open && c.err == nil && *n == 0 {
		c.Fail(errors.New("0 is written by leaving the line out"))
	}
	return c
}

// ID codes an id. The zero id is an error, because it names nothing.
func (c *Lines) ID(id *ID) *Lines {
	if c.space() {
		if id.IsZero() {
			c.Fail(errZeroID)
		}
		c.out = hex.AppendEncode(c.out, id[:])
	} else if text, ok := c.field(); ok {
		*id = c.id(text)
	}
	return c
}

// OptID is ID for the last field of a line, which is left out for the zero id.
func (c *Lines) OptID(id *ID) *Lines {
	if c.writes && id.IsZero() || !c.writes && !c.more {
		return c
	}
	return c.ID(id)
}

// IDOr is ID, with a word for the zero id.
func (c *Lines) IDOr(id *ID, none string) *Lines {
	switch {
	case c.writes && c.open && id.IsZero():
		c.out = append(append(c.out, ' '), none...)
	case !c.writes && c.more && (c.rest == none || strings.HasPrefix(c.rest, none+" ")):
		c.field()
		*id = ID{}
	default:
		c.ID(id)
	}
	return c
}

// Either codes a word that is one of two.
func (c *Lines) Either(b *bool, yes, no string) *Lines {
	word := no
	if c.writes && *b {
		word = yes
	}
	if c.Word(&word); !c.writes && c.open && c.err == nil {
		if *b = word == yes; !*b && word != no {
			c.Fail(fmt.Errorf("%s: unknown kind: %.40q", c.key, word))
		}
	}
	return c
}

// Time codes a time in milliseconds.
func (c *Lines) Time(t *time.Time) *Lines {
	if c.space() {
		at := len(c.out)
		c.out = AppendTime(c.out, *t)
		if _, ok := parseTime(string(c.out[at:])); !ok {
			c.Fail(fmt.Errorf("not a time: %.40q", c.out[at:]))
		}
	} else if text, ok := c.field(); ok {
		var err error
		if *t, err = ParseTime(text); err != nil {
			c.Fail(err)
		}
	}
	return c
}

// Hex codes bytes, a fixed number of them.
func (c *Lines) Hex(b []byte) *Lines {
	if c.space() {
		c.out = hex.AppendEncode(c.out, b)
	} else if text, ok := c.field(); ok {
		if got, err := hex.DecodeString(text); err != nil || len(got) != len(b) ||
			!isLowerHex(text) {
			c.Fail(fmt.Errorf("%s: not %d bytes in hexadecimal: %.40q", c.key, len(b), text))
		} else {
			copy(b, got)
		}
	}
	return c
}

// body codes the line of a body, which is the last one of a header. nonce says that the stored body
// begins with a nonce; a header with an empty body is written all the same, because the nonce is
// derived from it.
func (c *Lines) body(b *Body, nonce bool) {
	if c.writes {
		c.close()
		if err := b.check(); err != nil {
			c.Fail(err)
		}
		c.out = b.appendLine(c.out)
		return
	}
	if c.Opt("body", true); !c.open {
		c.Fail(errors.New("no body line"))
		return
	}
	digest, _ := c.field()
	size, _ := c.field()
	media, ok := c.field()
	if c.close(); !ok || c.err != nil {
		return
	}
	var err error
	if *b, err = parseBody(digest, size, media); err == nil && nonce {
		err = checkNonce(*b)
	}
	if err != nil {
		c.Fail(err)
	}
}

// optBody is body for a kind of which not every header has the line.
func (c *Lines) optBody(b **Body, nonce bool) {
	if !c.writes {
		c.close()
		c.refill()
		if !strings.HasPrefix(c.text, "body ") {
			return
		}
		*b = &Body{}
	}
	if *b != nil {
		c.body(*b, nonce)
	}
}

var errZeroID = errors.New("an id of zeros names nothing")

func (c *Lines) id(s string) ID {
	id, err := ParseID(s)
	if err == nil && id.IsZero() {
		err = errZeroID
	}
	if err != nil {
		c.Fail(err)
	}
	return id
}

func (c *Lines) uint(s string) uint64 {
	n, err := parseUint(s)
	if err != nil {
		c.Fail(err)
	}
	return n
}

func (c *Lines) name(s string) string {
	n, err := DecodeName(s)
	if err != nil {
		c.Fail(err)
	}
	return n
}
