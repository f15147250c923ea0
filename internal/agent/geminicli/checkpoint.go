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
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return s.stats, &transcript.ReadError{Err: err}
	}
	if len(data) > maxDocument {
		s.stats.Skip(SkipLongDocument, 1)
		return s.stats, nil
	}
	size := int64(len(data)) // of the input: U+FFFD below is longer than the byte it replaces
	inRun := false
	s.stats.Skip(transcript.SkipNULRun, transcript.CountNULRuns(data, &inRun))
	data = bytes.ToValidUTF8(bytes.TrimPrefix(bytes.ReplaceAll(data, []byte{0}, nil),
		[]byte("\xef\xbb\xbf")), []byte("\uFFFD"))
	turns, ok := checkpointTurns(data)
	if !ok {
		s.stats.Skip(transcript.SkipTornTail, 1)
	}
	counts := transcript.Names{}
	for _, raw := range turns {
		s.stats.Records++
		o, isObject := jsonvalue.ParseObject(raw)
		role := o.Text("role")
		if !isObject || role != "user" && role != "model" {
			s.stats.Skip(transcript.SkipUnknown, 1)
			continue
		}
		name := counts.Next(
			transcript.Derive(24, role, string(normalParts(parseContent(o["parts"])))))
		kind := "user"
		if role == "model" {
			kind = "gemini"
		}
		m := jsonvalue.Object{"id": jsonvalue.Encode("checkpoint:" + name),
			"type": jsonvalue.Encode(kind), "content": o["parts"]}
		if err := s.message(m, false, s.derived); err != nil {
			return s.stats, err
		}
	}
	s.stats.Bytes, s.stats.Session = size, session
	return s.stats, nil
}

// checkpointTurns returns the turns of a checkpoint, as far as they are whole; ok is false where it
// breaks off.
func checkpointTurns(data []byte) (turns []json.RawMessage, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	token, err := dec.Token()
	if err != nil {
		return nil, false
	}
	if token == json.Delim('{') {
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, false
			}
			if name == "history" {
				if token, err = dec.Token(); err != nil {
					return nil, false
				}
				break
			}
			var other json.RawMessage
			if dec.Decode(&other) != nil {
				return nil, false
			}
		}
	}
	if token != json.Delim('[') {
		return nil, false
	}
	for dec.More() {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return turns, false
		}
		turns = append(turns, raw)
	}
	_, err = dec.Token()
	return turns, err == nil
}
