package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Document reads an input that may be one JSON document: a list of records, or an object of which a
// member is that list. It reads one value at a time, so that memory grows with the longest one, and
// reads around damage, which it counts. NUL bytes, which a crash can leave in a file, are left out.
type Document struct {
	Stats *Stats
	List  string // the member of the object that is the list of records
	// Within is a member whose members are as good as those of the object: "" for none.
	Within string
	// Is says of the first member of an object that decides it whether the object is a document. A
	// member that decides nothing gives Undecided. An object without a member that decides is none.
	// nil: each member says that it is one.
	Is func(name string) Decision
	// Most is the largest number of bytes of a record or a member, 0 for MaxRecord, and TooLong the
	// key of Stats.Skipped for a longer one, "" for SkipLong, which is not kept in memory.
	Most    int
	TooLong string
	// Member takes a member of the object, and Record a record of the list: whole JSON values that are
	// UTF-8. Member may be nil. The first error of Record ends the reading.
	Member func(name string, raw json.RawMessage)
	Record func(raw json.RawMessage) error

	// What was read: that the input is a document, that this is a list without an object around it,
	// that it was read to its end, and how many bytes it has. Bytes of what is no document are those
	// before its beginning.
	Found, Alone, Whole bool
	Bytes               int64

	r     *bufio.Reader
	nuls  int    // runs of NUL bytes in taken
	inRun bool   // of NUL bytes
	keep  bool   // add the bytes to taken
	taken []byte // what is read again if the input is no document
	inner bool   // Within was met
	err   error  // of the input, or of Record
}

// Decision is what a member says of an object.
type Decision int

// The decisions.
const (
	Undecided Decision = iota
	IsDocument
	IsNone
)

// maxUndecided is the most bytes of an object that are kept until it is clear what it is. A longer
// one is a document.
const maxUndecided = 64 << 20

// errEnd says that there is no further value, errNone that the list or object is at its end.
var (
	errEnd  = errors.New("the input ends")
	errNone = errors.New("no further one")
)

// Read reads a document. rest has what follows it: all of the input if that is none.
func (d *Document) Read(r io.Reader) (rest *bufio.Reader, err error) {
	d.Most, d.TooLong = cmp.Or(d.Most, MaxRecord), cmp.Or(d.TooLong, SkipLong)
	if d.Is == nil {
		d.Is = func(string) Decision { return IsDocument }
	}
	if d.Member == nil {
		d.Member = func(string, json.RawMessage) {}
	}
	d.r = bufio.NewReaderSize(r, 64<<10)
	start := SkipMark(d.r)
	d.Bytes, d.keep = start, true
	c, err := d.next()
	switch {
	case err != nil:
	case c == '[':
		d.Alone = true
		d.found()
		d.Whole = d.list()
	case c == '{':
		d.Whole = d.object()
	}
	if d.err != nil {
		return nil, d.err
	}
	if d.Found {
		return d.r, nil
	}
	d.Bytes = start
	return bufio.NewReaderSize(io.MultiReader(bytes.NewReader(d.taken), d.r), 64<<10), nil
}

// After counts what follows a document that was read to its end.
func (d *Document) After() {
	if _, err := d.next(); err == nil && d.Whole {
		d.Stats.Skip(SkipBadJSON, 1)
	}
}

func (d *Document) found() {
	d.Found, d.keep, d.taken = true, false, nil
	d.Stats.Skip(SkipNULRun, d.nuls)
}

// object reads an object whose bracket was read, if that is a document, to its end.
func (d *Document) object() (whole bool) {
	var waiting []jsonvalue.Member
	for {
		name, err := d.name()
		if err != nil {
			return false
		}
		decision := d.Is(name)
		if decision == Undecided && len(d.taken) > maxUndecided {
			decision = IsDocument
		}
		switch decision {
		case IsNone:
			return false
		case IsDocument:
			d.found()
			for _, m := range waiting {
				d.Member(m.Name, m.Value)
			}
			return d.members(name)
		}
		raw, err := d.value(d.Most)
		if err != nil || !json.Valid(raw) {
			return false
		}
		waiting = append(waiting, jsonvalue.Member{Name: name, Value: utf8Of(raw)})
	}
}

// members reads the members of an object to its end; the name of the first one was read. It returns
// false if the input ends before the object does.
func (d *Document) members(name string) bool {
	for {
		if !d.member(name) {
			return false
		}
		next, err := d.name()
		if err != nil {
			return d.ended(err)
		}
		name = next
	}
}

// ended reports whether a list or an object ended before the input did, and counts it if not.
func (d *Document) ended(err error) bool {
	if errors.Is(err, errNone) {
		return true
	}
	if d.err == nil {
		d.Stats.Skip(SkipTornTail, 1)
	}
	return false
}

func (d *Document) member(name string) bool {
	c, err := d.next()
	switch {
	case err != nil:
		return d.ended(err)
	case name == d.Within && c == '{' && !d.inner:
		d.inner = true
		inner, err := d.name()
		if err != nil {
			return d.ended(err)
		}
		return d.members(inner)
	case name == d.List && c == '[':
		return d.list()
	}
	d.back()
	raw, err := d.checked()
	if err != nil {
		return d.ended(err)
	}
	if raw != nil {
		d.Member(name, raw)
	}
	return true
}

// list reads the records of a list whose bracket was read.
func (d *Document) list() bool {
	for first := true; ; first = false {
		c, err := d.next()
		switch {
		case err != nil:
			return d.ended(err)
		case c == ']':
			return true
		case c != ',' || first:
			d.back()
		}
		raw, err := d.checked()
		if errors.Is(err, errNone) { // after a comma with nothing behind it
			d.Stats.Skip(SkipBadJSON, 1)
			return true
		} else if err != nil {
			return d.ended(err)
		}
		if raw != nil {
			if d.err = d.Record(raw); d.err != nil {
				return false
			}
		}
	}
}

// checked reads the next value; nil for one that cannot be used, which it counts.
func (d *Document) checked() (json.RawMessage, error) {
	raw, err := d.value(d.Most)
	switch {
	case err != nil:
		return nil, err
	case raw == nil:
		d.Stats.Skip(d.TooLong, 1)
		return nil, nil
	case string(raw) == "]":
		return nil, errNone
	case !json.Valid(raw):
		d.Stats.Skip(SkipBadJSON, 1)
		return nil, nil
	}
	return utf8Of(raw), nil
}

func utf8Of(raw []byte) json.RawMessage { return bytes.ToValidUTF8(raw, []byte("\uFFFD")) }

// name reads the name of the next member of an object and the colon after it.
func (d *Document) name() (string, error) {
	c, err := d.next()
	if err == nil && c == ',' {
		c, err = d.next()
	}
	switch {
	case err != nil:
		return "", err
	case c == '}':
		return "", errNone
	}
	d.back()
	raw, err := d.value(1 << 10)
	if err != nil {
		return "", err
	}
	name, ok := jsonvalue.Text(raw)
	if !ok || !json.Valid(raw) {
		return "", errEnd
	}
	if c, err = d.next(); err != nil || c != ':' {
		return "", errEnd
	}
	return name, nil
}

// take returns the next byte.
func (d *Document) take() (byte, error) {
	for {
		c, err := d.r.ReadByte()
		if err != nil {
			if !errors.Is(err, io.EOF) && d.err == nil {
				d.err = &ReadError{Err: err}
			}
			return 0, errEnd
		}
		d.Bytes++
		if d.keep {
			d.taken = append(d.taken, c)
		}
		if c != 0 {
			d.inRun = false
			return c, nil
		}
		if !d.inRun && d.keep {
			d.nuls++
		} else if !d.inRun {
			d.Stats.Skip(SkipNULRun, 1)
		}
		d.inRun = true
	}
}

// back unreads the last byte.
func (d *Document) back() {
	_ = d.r.UnreadByte() // one was read just now
	d.Bytes--
	if d.keep {
		d.taken = d.taken[:len(d.taken)-1]
	}
}

// next returns the next byte that is no white space.
func (d *Document) next() (byte, error) {
	for {
		c, err := d.take()
		if err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, err
		}
	}
}

// value returns the bytes of the next value; nil for one over most bytes, which it passes over. It
// looks at brackets and quotes only, so the bytes need not be JSON. The error says that the input
// ends inside the value.
func (d *Document) value(most int) ([]byte, error) {
	c, err := d.next()
	if err != nil {
		return nil, err
	}
	v := value{most: most, bytes: []byte{}}
	v.add(c)
	for !v.done {
		if c, err = d.take(); err != nil {
			if v.bare {
				break
			}
			return nil, err
		}
		if v.bare && (c == ',' || c == ']' || c == '}' || c <= ' ') {
			d.back()
			break
		}
		v.add(c)
	}
	return v.bytes, nil
}

// value follows a JSON value byte by byte.
type value struct {
	most, depth            int
	quoted, escaped, begun bool
	// Neither an object, nor an array, nor a string: it ends where the next token begins
	bare, done bool
	bytes      []byte // nil for one that is too long
}

func (v *value) add(c byte) {
	if len(v.bytes) == v.most {
		v.bytes = nil
	}
	if v.bytes != nil {
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
