// Package share is what stores write to a remote: heads, and pushes in segments of a log.
// docs/format/remote.md describes the bytes. The functions are pure: values in, values out.
//
// Begin with Push, one step of what a store shares, and Head, the one file of a store that is ever
// replaced.
package share

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Version is that of heads, pushes and the file format.
const Version = 1

// The limits that a reader holds to before it trusts a file, in bytes: a head, a push, and a
// segment before compression.
const (
	MaxHead    = 4 << 20
	MaxPush    = 16 << 20
	MaxSegment = 64 << 20
)

// Format returns the content of the file format of a remote with these features, sorted.
func Format(features ...string) []byte {
	b := fmt.Appendf(nil, "remote %d\n", Version)
	for _, f := range features {
		b = fmt.Appendf(b, "feature %s\n", f)
	}
	return b
}

// CheckFormat returns an error unless b is the file format of a remote that this version knows,
// with no features but the known ones. The error is a *format.VersionError for a later version.
func CheckFormat(b []byte, known ...string) error {
	first, rest, _ := strings.Cut(string(b), "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(first, "remote "))
	switch {
	case strings.HasPrefix(first, "ctx-remote "): // before there was a release
		return &format.VersionError{What: "remote", Early: true}
	case err != nil || n < 1 || !strings.HasPrefix(first, "remote "):
		return errors.New("this is no remote of ctx: the file format is of another kind")
	case n != Version:
		return &format.VersionError{What: "remote", Got: n, Known: Version}
	}
	for line := range strings.Lines(rest) {
		feature, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "feature ")
		if !ok {
			return fmt.Errorf("the remote's file format has a line that is not known: %.80q", line)
		}
		found := false
		for _, k := range known {
			found = found || k == feature
		}
		if !found {
			return fmt.Errorf("the remote has a feature that this version does not know: %.80q",
				feature)
		}
	}
	return nil
}

// writer builds lines, and keeps the first error.
type writer struct {
	buf bytes.Buffer
	err error
}

func (w *writer) line(key string, fields ...string) {
	w.buf.WriteString(key)
	for _, f := range fields {
		w.buf.WriteByte(' ')
		w.buf.WriteString(f)
	}
	w.buf.WriteByte('\n')
}

func (w *writer) name(s string) string {
	enc, err := format.EncodeName(s)
	if err != nil && w.err == nil {
		w.err = err
	}
	return enc
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// reader takes the fields of lines, and keeps the first error.
type reader struct{ err error }

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		r.fail(fmt.Errorf("not a number: %.40q", s))
	}
	return n
}

func (r *reader) id(s string) format.ID {
	id, err := format.ParseID(s)
	if err != nil {
		r.fail(err)
	}
	return id
}

func (r *reader) name(s string) string {
	name, err := format.DecodeName(s)
	if err != nil {
		r.fail(err)
	}
	return name
}

func (r *reader) time(s string) time.Time {
	t, err := format.ParseTime(s)
	if err != nil {
		r.fail(err)
	}
	return t
}

// lines calls each for the lines of b, cut at spaces. The last line ends with a newline.
func lines(b []byte, each func(key string, fields []string) error) error {
	if len(b) == 0 || b[len(b)-1] != '\n' {
		return errors.New("does not end with a line")
	}
	for line := range strings.SplitSeq(string(b[:len(b)-1]), "\n") {
		key, rest, more := strings.Cut(line, " ")
		var fields []string
		if more {
			fields = strings.Split(rest, " ")
		}
		if err := each(key, fields); err != nil {
			return err
		}
	}
	return nil
}
