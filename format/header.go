package format

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// timeLayout is the only form of a time in a header: RFC 3339 in UTC, always with three digits of
// milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime returns t in the layout timeLayout. Anything finer than a millisecond is dropped.
func FormatTime(t time.Time) string {
	var room [len(timeLayout)]byte
	return string(appendTime(room[:0], t))
}

// appendTime is FormatTime for the end of a list of bytes.
func appendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(dst, timeLayout)
	}
	dst = append(dst, timeLayout...)
	out := dst[len(dst)-len(timeLayout):]
	putDigits(out[0:4], year)
	putDigits(out[5:7], int(month))
	putDigits(out[8:10], day)
	hour, minute, second := t.Clock()
	putDigits(out[11:13], hour)
	putDigits(out[14:16], minute)
	putDigits(out[17:19], second)
	putDigits(out[20:23], t.Nanosecond()/1e6)
	return dst
}

// putDigits fills a field with a number.
func putDigits(field []byte, n int) {
	for i := len(field) - 1; i >= 0; i-- {
		field[i], n = '0'+byte(n%10), n/10
	}
}

// ParseTime reads a time in the layout timeLayout and refuses every other form.
func ParseTime(s string) (time.Time, error) {
	t, ok := parseTime(s)
	if !ok {
		return time.Time{}, fmt.Errorf("not a time: %.40q", s)
	}
	return t, nil
}

func parseTime(s string) (t time.Time, ok bool) {
	if len(s) != len(timeLayout) {
		return t, false
	}
	ok = true
	number := func(from, to int) (n int) {
		for _, c := range []byte(s[from:to]) {
			ok = ok && c >= '0' && c <= '9'
			n = 10*n + int(c) - '0'
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second := number(11, 13), number(14, 16), number(17, 19)
	t = time.Date(year, time.Month(month), day, hour, minute, second, number(20, 23)*1e6, time.UTC)
	// Where a field is out of range, Date takes another day or time; another byte between them is seen
	// here too.
	var again [len(timeLayout)]byte
	return t, ok && string(appendTime(again[:0], t)) == s
}

var errZeroID = errors.New("an id of zeros names nothing")

// headerWriter builds a header line by line. It keeps the first error, so that an encoder checks
// for errors once, at the end.
type headerWriter struct {
	kind string
	buf  bytes.Buffer
	err  error
}

// writers are writers that have ended, for the next headers.
var writers sync.Pool

func newHeader(kind string, version int) *headerWriter {
	w, ok := writers.Get().(*headerWriter)
	if !ok {
		w = &headerWriter{}
		w.buf.Grow(headerRoom)
	}
	w.kind = kind
	w.buf.WriteString(kind)
	w.buf.WriteByte(' ')
	w.buf.WriteString(strconv.Itoa(version))
	w.buf.WriteByte('\n')
	return w
}

// headerRoom is more than the header of most entries has, in bytes. A writer of more than mostRoom
// is not used again.
const (
	headerRoom = 512
	mostRoom   = 32 << 10
)

// line writes a key and its fields. A field with a space or a control character is an error.
func (w *headerWriter) line(key string, fields ...string) {
	w.buf.WriteString(key)
	for _, f := range fields {
		if !isField(f) {
			w.fail(fmt.Errorf("%s: bad field: %.80q", key, f))
		}
		w.buf.WriteByte(' ')
		w.buf.WriteString(f)
	}
	w.buf.WriteByte('\n')
}

// name writes a key and one name, which it percent-encodes.
func (w *headerWriter) name(key, name string) {
	enc, err := EncodeName(name)
	if err != nil {
		w.fail(fmt.Errorf("%s: %w", key, err))
		return
	}
	w.line(key, enc)
}

func (w *headerWriter) number(key string, n uint64) { w.line(key, strconv.FormatUint(n, 10)) }

// id returns an id as a field. The zero id is an error, because it names nothing.
func (w *headerWriter) id(id ID) string {
	if id.IsZero() {
		w.fail(errZeroID)
	}
	return id.String()
}

// time writes a key and a time in milliseconds.
func (w *headerWriter) time(key string, t time.Time) {
	s := FormatTime(t)
	if _, err := ParseTime(s); err != nil {
		w.fail(fmt.Errorf("%s: %w", key, err))
	}
	w.line(key, s)
}

func (w *headerWriter) body(b Body) {
	if err := b.check(); err != nil {
		w.fail(err)
	}
	w.buf.Write(b.appendLine(w.buf.AvailableBuffer()))
}

// checkNonce checks that a stored body has room for a nonce. Encoders do not call it: a header with
// an empty body is made first, because the nonce is derived from that header.
func checkNonce(b Body) error {
	if b.Size < NonceLen {
		return fmt.Errorf("body has %d bytes, its nonce alone has %d", b.Size, NonceLen)
	}
	return nil
}

func (w *headerWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// bytes returns the header, and ends the writer. The error names its kind.
func (w *headerWriter) bytes() ([]byte, error) {
	if w.err == nil && w.buf.Len() > MaxHeader {
		w.err = fmt.Errorf("header of %d bytes, %d is the most", w.buf.Len(), MaxHeader)
	}
	if w.err != nil {
		return nil, fmt.Errorf("%s: %w", w.kind, w.err)
	}
	if w.buf.Cap() > mostRoom {
		return w.buf.Bytes(), nil
	}
	header := bytes.Clone(w.buf.Bytes())
	w.buf.Reset()
	writers.Put(w)
	return header, nil
}

// isField reports whether s may stand between two spaces of a header line.
func isField(s string) bool {
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	return s != "" && (ascii || utf8.ValidString(s))
}

// headerReader reads the lines of a header in their fixed order. It keeps the first error, as
// headerWriter does.
type headerReader struct {
	text   string // the lines that were not taken, without the last newline
	left   bool   // there are such lines; an empty one has no text
	more   []byte // what follows the text, from the start of a line on; nil for nothing
	err    error
	fields [maxFields]string // of the line that was taken last
}

// maxFields is how many fields a line has at most.
const maxFields = 4

// readHeader checks the first line and returns a reader of the other lines.
func readHeader(b []byte, kind string, version int) (r headerReader, err error) {
	if len(b) > MaxHeader {
		return r, fmt.Errorf("header of %d bytes, %d is the most", len(b), MaxHeader)
	}
	k, v, err := HeaderKind(b)
	if err != nil {
		return r, err
	}
	if k != kind {
		return r, fmt.Errorf("kind %q where %q was expected", k, kind)
	}
	if v != version {
		return r, &VersionError{What: kind, Got: v, Known: version}
	}
	if b[len(b)-1] != '\n' {
		return r, errors.New("header does not end with a newline")
	}
	r.more = b[:len(b)-1]
	r.refill()
	r.next()
	return r, nil
}

// pieceSize is how many bytes of a header become text at a time, but for a longer line.
const pieceSize = 64 << 10

// refill makes text of the next piece of the header if no line is left.
func (r *headerReader) refill() {
	if r.left || r.more == nil {
		return
	}
	piece := r.more
	r.more = nil
	if len(piece) > pieceSize {
		end := bytes.LastIndexByte(piece[:pieceSize], '\n')
		if end < 0 {
			end = bytes.IndexByte(piece, '\n')
		}
		if end >= 0 {
			piece, r.more = piece[:end], piece[end+1:]
		}
	}
	r.text, r.left = string(piece), true
}

// next takes a line.
func (r *headerReader) next() (line string) {
	line, r.text, r.left = strings.Cut(r.text, "\n")
	return line
}

// count returns how many lines are left; 0 at the end of a piece.
func (r *headerReader) count() int {
	if !r.left {
		return 0
	}
	n := 1 + strings.Count(r.text, "\n")
	if r.more != nil {
		n += 1 + bytes.Count(r.more, []byte("\n"))
	}
	return n
}

// at reports whether the next line has a key.
func (r *headerReader) at(key string) bool {
	rest, ok := strings.CutPrefix(r.text, key)
	return r.left && ok && (rest == "" || rest[0] == ' ' || rest[0] == '\n')
}

// VersionError says that bytes have a version that this build cannot read.
type VersionError struct {
	What       string
	Got, Known int  // Known is 0 if this build reads no version
	Early      bool // a build wrote them that is from before version 1; then there are no numbers
}

func (e *VersionError) Error() string {
	if e.Early {
		return e.What + " is of a build from before version 1 of the formats"
	}
	if e.Known == 0 {
		return fmt.Sprintf("%s version %d is not known here", e.What, e.Got)
	}
	return fmt.Sprintf("%s version %d is not known here: this build reads version %d", e.What,
		e.Got, e.Known)
}

// take returns the fields of the next line, if the key of that line is key. A number of fields
// other than n, which is maxFields at most, is an error. The fields are good until the next line is
// taken.
func (r *headerReader) take(key string, n int) ([]string, bool) {
	r.refill()
	if r.err != nil || !r.at(key) {
		return nil, false
	}
	line, after, left := strings.Cut(r.text, "\n")
	rest := line[len(key):]
	if count := strings.Count(rest, " "); count != n {
		r.fail(fmt.Errorf("%s: %d fields instead of %d", key, count, n))
		return nil, false
	}
	f := r.fields[:n]
	rest = strings.TrimPrefix(rest, " ")
	for i := range f {
		if f[i], rest, _ = strings.Cut(rest, " "); !isField(f[i]) {
			r.fail(fmt.Errorf("%s: bad field: %.80q", key, f[i]))
			return nil, false
		}
	}
	r.text, r.left = after, left
	return f, true
}

// must is take for a mandatory line.
func (r *headerReader) must(key string, n int) []string {
	f, ok := r.take(key, n)
	if !ok {
		r.fail(fmt.Errorf("no %s line where it belongs", key))
		f = r.fields[:n]
		clear(f)
	}
	return f
}

func (r *headerReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *headerReader) id(s string) ID {
	if r.err != nil {
		return ID{}
	}
	id, err := ParseID(s)
	if err != nil {
		r.fail(err)
	} else if id.IsZero() {
		r.fail(errZeroID)
	}
	return id
}

func (r *headerReader) uint(s string) uint64 {
	if r.err != nil {
		return 0
	}
	n, err := parseUint(s)
	if err != nil {
		r.fail(err)
	}
	return n
}

func (r *headerReader) name(s string) string {
	if r.err != nil {
		return ""
	}
	n, err := DecodeName(s)
	if err != nil {
		r.fail(err)
	}
	return n
}

// optName reads an optional line of one name. It returns "" if there is no such line.
func (r *headerReader) optName(key string) string {
	if f, ok := r.take(key, 1); ok {
		return r.name(f[0])
	}
	return ""
}

// optID reads an optional line of one id. It returns the zero id if there is no such line.
func (r *headerReader) optID(key string) ID {
	if f, ok := r.take(key, 1); ok {
		return r.id(f[0])
	}
	return ID{}
}

func (r *headerReader) time(s string) time.Time {
	if r.err != nil {
		return time.Time{}
	}
	t, err := ParseTime(s)
	if err != nil {
		r.fail(err)
	}
	return t
}

// optBody reads the optional body line, which is always the last line.
func (r *headerReader) optBody() (Body, bool) {
	f, ok := r.take("body", 3)
	if !ok {
		return Body{}, false
	}
	b, err := parseBody(f[0], f[1], f[2])
	if err != nil {
		r.fail(err)
	}
	return b, true
}

func (r *headerReader) mustBody() Body {
	b, ok := r.optBody()
	if !ok {
		r.fail(errors.New("no body line"))
	}
	return b
}

// mustNonceBody is mustBody for a kind whose stored body starts with a nonce.
func (r *headerReader) mustNonceBody() Body {
	b := r.mustBody()
	if r.err == nil {
		r.err = checkNonce(b)
	}
	return b
}

// done checks that no line is left.
func (r *headerReader) done() error {
	r.refill()
	if r.err == nil && r.left {
		r.err = fmt.Errorf("unknown or misplaced line: %.80q", r.next())
	}
	return r.err
}
