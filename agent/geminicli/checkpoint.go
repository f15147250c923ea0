package geminicli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/gemini-ctx/ctx/agent/transcript"
)

// IsCheckpoint reports whether an input that begins with head is a file of `/chat save`: what a model was told, turn by turn, without ids or times.
func IsCheckpoint(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if bytes.HasPrefix(head, []byte("[")) {
		return true
	}
	rest, ok := bytes.CutPrefix(head, []byte("{"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return ok && (bytes.HasPrefix(rest, []byte(`"history"`)) || bytes.HasPrefix(rest, []byte(`"authType"`)))
}

// ReadCheckpoint reads a file of `/chat save`. Each message is named by what it says and how often that was said before, so that a checkpoint that was saved
// again, with more in it, gives the same steps and then more.
func ReadCheckpoint(r io.Reader, emit func(Step) error) (Stats, error) {
	s := newReplay(emit)
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return s.stats, fmt.Errorf("read transcript: %w", err)
	}
	if len(data) > maxDocument {
		s.skip(SkipLongDocument, 1)
		return s.stats, nil
	}
	inRun := false
	s.skip(SkipNULRun, transcript.CountNULRuns(data, &inRun))
	data = bytes.ToValidUTF8(bytes.TrimPrefix(bytes.ReplaceAll(data, []byte{0}, nil), []byte("\xef\xbb\xbf")), []byte("\uFFFD"))
	turns, ok := checkpointTurns(data)
	if !ok {
		s.skip(SkipTornTail, 1)
	}
	s.stats.Document = true
	counts := map[string]int{}
	for _, raw := range turns {
		s.stats.Lines++
		o, isObject := parseObject(raw)
		role := o.text("role")
		if !isObject || role != "user" && role != "model" {
			s.skip(SkipUnknownRecord, 1)
			continue
		}
		name := transcript.Derive(24, role, string(normalParts(parseContent(o["parts"]))))
		counts[name]++
		if n := counts[name]; n > 1 {
			name += ":" + strconv.Itoa(n)
		}
		kind := "user"
		if role == "model" {
			kind = "gemini"
		}
		m := object{"id": transcript.Encode("checkpoint:" + name), "type": transcript.Encode(kind), "content": o["parts"]}
		if err := s.message(m, false, s.derived); err != nil {
			return s.stats, err
		}
	}
	s.stats.Bytes = int64(len(data))
	return s.stats, nil
}

// checkpointTurns returns the turns of a checkpoint, as far as they are whole; ok is false where it breaks off.
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
