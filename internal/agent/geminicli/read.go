package geminicli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// ReadAs reads a transcript, or a file of /chat save, and calls emit for each step, as
// transcript.Read describes. A file of /chat save does not name its session: the session has the
// file's name if that begins with "checkpoint-".
//
// What follows the last line feed is not read until it is a whole record (counted as
// transcript.SkipTornTail). Damage is counted in Stats.Skipped and read around: bad
// lines, lines over MaxLine, NUL bytes, bytes that are not UTF-8 (each run becomes U+FFFD). Two
// records on one line are both read, also when the first one is torn. Memory grows with the longest
// record and with what was said, not with the copies the agent makes.
func ReadAs(name string, r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	if head, _ := br.Peek(512); IsCheckpoint(head) {
		return readCheckpoint(checkpointName(name), br, emit)
	}
	s := newReplay(emit)
	err := s.read(br)
	return s.stats, err
}

func (s *replay) read(r io.Reader) error {
	rest, start, err := s.readDocument(r)
	if err == nil {
		err = transcript.NewLineReader(rest, MaxLine, start).Each(s.line)
	}
	if err == nil {
		err = s.release()
	}
	return err
}

func (s *replay) line(l transcript.Line) error {
	s.stats.Skip(transcript.SkipNULRun, l.NULs)
	text := bytes.TrimSpace(l.Text)
	if !l.Complete && !json.Valid(text) {
		if len(text) > 0 || l.TooLong {
			s.stats.Skip(transcript.SkipTornTail, 1)
		}
		return nil
	}
	s.stats.Bytes = l.End
	if l.TooLong {
		s.stats.Records++
		s.stats.Skip(SkipLongLine, 1)
		return nil
	}
	if len(text) == 0 {
		return nil
	}
	s.stats.Records++
	values, clean := lineValues(bytes.ToValidUTF8(text, []byte("\uFFFD")))
	if !clean {
		s.stats.Skip(transcript.SkipBadJSON, 1)
	}
	for _, raw := range values {
		if err := s.record(raw); err != nil {
			return err
		}
	}
	return nil
}
