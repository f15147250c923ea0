package geminicli

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// readDocument reads a transcript that begins as one JSON object with "sessionId" and "messages":
// all of it in old transcripts, one line of it in some. It returns what is to be read as lines, and
// the offset of that: what follows the object, or everything if the input begins with something
// else.
//
// A document that breaks off gives the messages before the break.
func (s *replay) readDocument(r io.Reader) (rest *bufio.Reader, offset int64, err error) {
	var waiting []json.RawMessage // messages before the session has a name
	release := func() error {
		for len(waiting) > 0 {
			raw := waiting[0]
			waiting, s.document = waiting[1:], true
			if o, ok := jsonvalue.ParseObject(raw); !ok {
				s.stats.Skip(transcript.SkipUnknown, 1)
			} else if err := s.message(o, false, s.derived); err != nil {
				return err
			}
		}
		return nil
	}
	d := &transcript.Document{Stats: &s.stats, List: "messages", Most: MaxLine,
		Is: func(name string) transcript.Decision {
			switch name {
			case "$rewindTo", "id", "$set":
				return transcript.IsNone
			case "messages":
				return transcript.IsDocument
			}
			return transcript.Undecided
		},
		Member: func(name string, raw json.RawMessage) {
			if name == "sessionId" || name == "summary" {
				s.metadata(jsonvalue.Object{name: raw})
			}
		},
		Record: func(raw json.RawMessage) error {
			if waiting = append(waiting, raw); s.stats.Session == "" {
				return nil
			}
			return release()
		}}
	if rest, err = d.Read(r); err == nil && d.Found {
		s.stats.Records++
		s.stats.Bytes = d.Bytes
		err = release()
	}
	return rest, d.Bytes, err
}
