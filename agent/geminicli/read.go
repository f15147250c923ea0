package geminicli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/gemini-ctx/ctx/agent/transcript"
)

// Read reads a transcript and calls emit for each step, in the order of the bytes. It returns when r ends, when r fails
// ("read transcript: …"), or when emit returns an error, which it returns as it is; the Stats hold in each case for
// what was read.
//
// The same bytes give the same steps. If a transcript has grown since, its steps begin with the ones it gave before:
// what follows the last line feed is not read until it is a whole line (counted as SkipTornTail). Only offsets may
// differ, and only in a transcript that begins as one JSON document (Stats.Document).
//
// Damage is counted in Stats.Skipped and read around: bad lines, lines over MaxLine, NUL bytes, bytes that are not UTF-8
// (each run becomes U+FFFD). Two records on one line are both read, also when the first one is torn. Memory grows with
// the longest record and with what was said, not with the copies the agent makes.
func Read(r io.Reader, emit func(Step) error) (Stats, error) {
	s := newReplay(emit)
	err := s.read(r)
	return s.stats, err
}

func (s *replay) read(r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var start int64
	if mark, _ := br.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		n, _ := br.Discard(3)
		start = int64(n)
	}
	rest, start, err := s.document(br, start)
	if err == nil {
		err = s.lines(transcript.NewLineReader(rest, MaxLine, start))
	}
	return err
}

// lines reads JSON lines to the end.
func (s *replay) lines(lr *transcript.LineReader) error {
	for {
		l, err := lr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read transcript: %w", err)
		}
		if err := s.line(l); err != nil {
			return err
		}
	}
}

func (s *replay) line(l transcript.Line) error {
	s.skip(SkipNULRun, l.NULs)
	text := bytes.TrimSpace(l.Text)
	if !l.Complete {
		if len(text) > 0 || l.TooLong {
			s.skip(SkipTornTail, 1)
		}
		return nil
	}
	s.stats.Bytes, s.offset = l.End, l.End
	if l.TooLong {
		s.stats.Lines++
		s.skip(SkipLongLine, 1)
		return nil
	}
	if len(text) == 0 {
		return nil
	}
	s.stats.Lines++
	values, clean := lineValues(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	if !clean {
		s.skip(SkipBadJSON, 1)
	}
	for _, raw := range values {
		if err := s.record(raw); err != nil {
			return err
		}
	}
	return nil
}

func (s *replay) skip(reason string, n int) {
	if n > 0 {
		s.stats.Skipped[reason] += n
	}
}
