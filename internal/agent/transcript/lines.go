package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// MaxLine is the longest line that is read, in bytes without NULs: the same as for ctx's own JSON
// lines. A longer one is counted and skipped without being kept in memory.
const MaxLine = 64 << 20

// LineReader cuts a stream into lines and knows the offset of each.
type LineReader struct {
	r      *bufio.Reader
	limit  int
	offset int64 // input bytes up to the end of the last line
	buf    []byte
}

// NewLineReader reads lines of at most limit bytes. offset is the number of bytes that were read
// before.
func NewLineReader(r *bufio.Reader, limit int, offset int64) *LineReader {
	return &LineReader{r: r, limit: limit, offset: offset}
}

// Line is one line of the input without its line feed and without NUL bytes. Its bytes hold until
// the next call of Next.
type Line struct {
	Text     []byte
	End      int64 // input bytes up to and with its line feed
	NULs     int   // runs of NUL bytes that were taken out
	TooLong  bool  // Text is not the whole line
	Complete bool  // it ended with a line feed
}

// Next returns the next line. The last one may be incomplete; after it, Next returns io.EOF.
func (lr *LineReader) Next() (Line, error) {
	lr.buf = lr.buf[:0]
	var l Line
	inRun := false
	for {
		chunk, err := lr.r.ReadSlice('\n')
		lr.offset += int64(len(chunk))
		if err == nil {
			chunk, l.Complete = chunk[:len(chunk)-1], true
		}
		if !l.TooLong {
			l.NULs += CountNULRuns(chunk, &inRun)
			lr.buf = appendWithoutNULs(lr.buf, chunk)
			l.TooLong = len(lr.buf) > lr.limit
		}
		if l.TooLong {
			lr.buf = nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.Text, l.End = lr.buf, lr.offset
		if errors.Is(err, io.EOF) && (len(lr.buf) > 0 || l.NULs > 0 || l.TooLong) {
			return l, nil
		}
		return l, err
	}
}

// Each calls do for each line, and returns its first error. If the input cannot be read it returns
// a ReadError.
func (lr *LineReader) Each(do func(Line) error) error {
	for {
		l, err := lr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &ReadError{err}
		}
		if err := do(l); err != nil {
			return err
		}
	}
}

// CountNULRuns counts the runs of NUL bytes that begin in b. *inRun says whether a run is open at
// the beginning of b, and afterwards at its end.
func CountNULRuns(b []byte, inRun *bool) int {
	if !*inRun && bytes.IndexByte(b, 0) < 0 {
		return 0
	}
	n := 0
	for _, c := range b {
		if c == 0 && !*inRun {
			n++
		}
		*inRun = c == 0
	}
	return n
}

func appendWithoutNULs(dst, src []byte) []byte {
	for len(src) > 0 {
		i := bytes.IndexByte(src, 0)
		if i < 0 {
			return append(dst, src...)
		}
		dst, src = append(dst, src[:i]...), src[i+1:]
	}
	return dst
}

// salvageTries bounds the search for whole records behind a torn one on the same line. A line that
// two writers shared has two or three.
const salvageTries = 64

// Values returns the records of a line, as slices of it; clean is false if part of it is not JSON.
// A writer that died in the middle of a record leaves no line feed, so the next record follows on
// the same line: the whole records at the end are found. starts are the beginnings that a record
// can have.
func Values(text []byte, starts []string) (values []json.RawMessage, clean bool) {
	values, tail := decodeAll(text)
	if tail == len(text) {
		return values, true
	}
	damaged := text[tail:]
	var found []json.RawMessage
	end := len(damaged)
	for range salvageTries {
		at := lastStart(damaged[:end], starts)
		if at <= 0 {
			break
		}
		if whole, n := decodeAll(damaged[at:]); n == len(damaged)-at {
			found = whole
		}
		end = at
	}
	return append(values, found...), false
}

// lastStart returns the index of the last beginning of a record in b, or -1. It cannot be inside a
// string, where its quotes would be escaped. If it is inside another record, the rest of that
// record follows and is no JSON.
func lastStart(b []byte, starts []string) int {
	at := -1
	for _, open := range starts {
		at = max(at, bytes.LastIndex(b, []byte(open)))
	}
	return at
}

// decodeAll reads the JSON values in b, and returns them as slices of b. tail is the index at which
// they end, len(b) if all of b is JSON. A mark of UTF-8 may stand before each: PowerShell writes
// one at each time that it adds to a file.
func decodeAll(b []byte) (values []json.RawMessage, tail int) {
	for {
		rest := bytes.TrimLeft(b[tail:], " \t\r\n\ufeff")
		if len(rest) == 0 {
			return values, len(b)
		}
		start := len(b) - len(rest)
		end := jsonvalue.Skip(rest)
		if end < 0 {
			return values, tail
		}
		tail = start + end
		values = append(values, b[start:tail:tail])
	}
}

// valid returns a copy of a text in which U+FFFD stands for each run of bytes that are not UTF-8.
func valid(text []byte) []byte {
	if utf8.Valid(text) {
		return bytes.Clone(text)
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}

// MaxRecord is the most bytes of one record that are read: about what a message of a store may
// have.
const MaxRecord = 15 << 20

// maxDepth is the deepest nesting of a record. A store nests it a few levels deeper.
const maxDepth = 160

// Lines reads JSON lines and calls record for each whole record. It counts damage in stats. starts
// are the beginnings that a record can have.
//
// The agent may still be writing a last line without a line feed. Lines reads the whole records of
// such a line only with whole.
func Lines(
	r io.Reader, stats *Stats, starts []string, whole bool, record func(jsonvalue.Object) error,
) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var b broken
	err := NewLineReader(br, MaxLine, SkipMark(br)).Each(func(l Line) error {
		if o, ok := b.join(l); ok {
			stats.Bytes = l.End
			return stats.each([]json.RawMessage{o}, record)
		}
		return line(l, stats, starts, whole, &b, record)
	})
	b.end(stats)
	return err
}

// broken is the beginning of a record whose writer left line feeds in a string as they were, so
// that the record goes on in the next line.
type broken struct {
	text  []byte
	lines int
	in    bool // the text ends in a string
}

// The most lines and bytes that one record is put together of.
const (
	maxBroken      = 1 << 10
	maxBrokenBytes = 1 << 20
)

// join returns the record that ends with a line.
func (b *broken) join(l Line) (json.RawMessage, bool) {
	end := bytes.TrimSpace(l.Text)
	if b.lines == 0 || l.TooLong || !bytes.HasSuffix(end, []byte("}")) ||
		len(b.text)+len(end) > maxBrokenBytes || inString(end, b.in) {
		return nil, false
	}
	text := append(append(b.text[:len(b.text):len(b.text)], `\n`...), valid(end)...)
	if jsonvalue.Skip(text) != len(text) {
		return nil, false
	}
	*b = broken{}
	return text, true
}

// keep takes a line that is no JSON, if a record may go on with it: the first one ends in a string.
func (b *broken) keep(text []byte) (kept bool) {
	in := inString(text, b.in)
	if b.lines == maxBroken || len(b.text)+len(text) > maxBrokenBytes ||
		b.lines == 0 && (text[0] != '{' || !in) {
		return false
	}
	if b.lines > 0 {
		text = append(append(b.text, `\n`...), text...)
	}
	*b = broken{text, b.lines + 1, in}
	return true
}

// end gives up the record: another one begins.
func (b *broken) end(stats *Stats) {
	stats.Skip(SkipBadJSON, b.lines)
	*b = broken{}
}

// inString reports whether a text ends in a string, if what is before it ends in one or not.
func inString(text []byte, in bool) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
			continue
		}
		in = in != (text[i] == '"')
	}
	return in
}

// SkipMark passes over the mark of UTF-8 that an input may begin with, and returns its length.
func SkipMark(r *bufio.Reader) int64 {
	const mark = "\xef\xbb\xbf"
	if head, _ := r.Peek(len(mark)); string(head) != mark {
		return 0
	}
	n, _ := r.Discard(len(mark))
	return int64(n)
}

// ReadError says that the input could not be read.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return "read transcript: " + e.Err.Error() }

func (e *ReadError) Unwrap() error { return e.Err }

func line(
	l Line, stats *Stats, starts []string, whole bool, b *broken,
	record func(jsonvalue.Object) error,
) error {
	stats.Skip(SkipNULRun, l.NULs)
	text := bytes.TrimSpace(l.Text)
	switch {
	case len(text) == 0 && !l.TooLong:
		stats.Bytes = max(stats.Bytes, l.End)
		if b.lines > 0 {
			b.text = append(b.text, `\n`...)
		}
		return nil
	case !l.Complete:
		return lastLine(l, text, stats, whole, record)
	case l.TooLong:
		stats.Bytes = l.End
		stats.Skip(SkipLong, 1)
		return nil
	}
	stats.Bytes = l.End
	text = valid(text)
	if o, ok := jsonvalue.ParseObject(text); ok { // most lines are one record
		b.end(stats)
		if !stats.fits(text) {
			return nil
		}
		stats.count(text)
		return record(o)
	}
	values, clean := Values(text, starts)
	if !clean && len(values) == 0 && b.keep(text) {
		return nil
	}
	b.end(stats)
	if !clean {
		stats.Skip(SkipBadJSON, 1)
	}
	return stats.each(values, record)
}

// lastLine reads the whole records at the beginning of a line without a line feed. Part of another
// one may follow them.
func lastLine(
	l Line, text []byte, stats *Stats, whole bool, record func(jsonvalue.Object) error,
) error {
	if l.TooLong || !whole {
		stats.Skip(SkipTornTail, 1)
		return nil
	}
	text = valid(text)
	values, tail := decodeAll(text)
	if tail < len(text) {
		stats.Skip(SkipTornTail, 1)
	} else {
		stats.Bytes = l.End
	}
	return stats.each(values, record)
}

// each calls record for each of some values that is a record.
func (s *Stats) each(values []json.RawMessage, record func(jsonvalue.Object) error) error {
	for _, raw := range values {
		if o, ok := s.Parse(raw); ok {
			if err := record(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// Parse parses a record. It counts JSON that is no record, and records that no store takes.
func (s *Stats) Parse(raw json.RawMessage) (jsonvalue.Object, bool) {
	if !s.fits(raw) {
		return nil, false
	}
	o, ok := jsonvalue.ParseObject(raw)
	if !ok {
		s.Skip(SkipUnknown, 1)
		return nil, false
	}
	s.count(raw)
	return o, true
}

// fits reports whether a store takes a record. It counts one that does not fit.
func (s *Stats) fits(raw json.RawMessage) bool {
	switch {
	case len(raw) > MaxRecord:
		s.Skip(SkipLong, 1)
		return false
	case bytes.Count(raw, []byte("{"))+bytes.Count(raw, []byte("[")) > maxDepth &&
		jsonvalue.Depth(raw) > maxDepth:
		s.Skip(SkipDeep, 1)
		return false
	}
	return true
}

// count counts a record that fits.
func (s *Stats) count(raw json.RawMessage) {
	s.Records++
	s.CountAccount(raw)
}
