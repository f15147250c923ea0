package geminicli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// IsCheckpoint reports whether an input that begins with head is a file of `/chat save`: what a
// model was told, turn by turn, without ids or times.
func IsCheckpoint(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if bytes.HasPrefix(head, []byte("[")) {
		return true
	}
	rest, ok := bytes.CutPrefix(head, []byte("{"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return ok &&
		(bytes.HasPrefix(rest, []byte(`"history"`)) || bytes.HasPrefix(rest, []byte(`"authType"`)))
}

// checkpointSession is the session that the sources of a checkpoint's messages name.
const checkpointSession = "checkpoint"

// checkpointName returns the session for a file of /chat save: name is that of the file without its
// ending.
func checkpointName(name string) string {
	if !strings.HasPrefix(name, "checkpoint-") {
		return checkpointSession
	}
	if plain, err := url.PathUnescape(name); err == nil && format.CheckName(plain) == nil {
		return plain
	}
	return name
}

// readCheckpoint reads a file of /chat save. A message is named by its content and by how often
// that was said before: a checkpoint that was saved again, with more in it, gives the same steps
// and then more.
func readCheckpoint(
	session string, r io.Reader, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	s := newReplay(func(st transcript.Step) error {
		st.Session = session
		return emit(st)
	})
	s.stats.Session = checkpointSession
	counts := transcript.Names{}
	d := &transcript.Document{Stats: &s.stats, List: "history", Most: MaxLine,
		Is: func(name string) transcript.Decision {
			if name == "history" {
				return transcript.IsDocument
			}
			return transcript.Undecided
		},
		Record: func(raw json.RawMessage) error {
			s.stats.Records++
			o, _ := jsonvalue.ParseObject(raw)
			kind := map[string]string{"user": "user", "model": "gemini"}[o.Text("role")]
			if kind == "" {
				s.stats.Skip(transcript.SkipUnknown, 1)
				return nil
			}
			name := counts.Next(transcript.Derive(24, o.Text("role"),
				string(normalParts(parseContent(o["parts"])))))
			return s.message(jsonvalue.NewObject("id", "checkpoint:"+name, "type", kind, "content",
				o["parts"]), false, s.derived)
		}}
	if _, err := d.Read(r); err != nil {
		return s.stats, err
	}
	if !d.Found {
		s.stats.Skip(transcript.SkipTornTail, 1)
	}
	s.stats.Bytes, s.stats.Session = d.Bytes, session
	return s.stats, nil
}
