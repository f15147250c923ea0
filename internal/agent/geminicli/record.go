package geminicli

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// record applies one record, told apart as the agent's own loader does: the first test that fits
// decides.
func (s *replay) record(raw []byte) error {
	o, ok := jsonvalue.ParseObject(raw)
	if !ok {
		s.stats.Skip(transcript.SkipUnknown, 1)
		return nil
	}
	s.stats.CountAccount(raw)
	if id, ok := jsonvalue.Text(o["$rewindTo"]); ok {
		return s.rewind(id)
	}
	if _, ok := jsonvalue.Text(o["id"]); ok {
		return s.message(o, false, s.derived)
	}
	if set, ok := jsonvalue.ParseObject(o["$set"]); ok {
		return s.update(set)
	}
	_, hasSession := jsonvalue.Text(o["sessionId"])
	_, hasProject := jsonvalue.Text(o["projectHash"])
	if hasSession && hasProject {
		s.back = true
		s.metadata(o)
		return s.each(o, func(m jsonvalue.Object) error { return s.message(m, false, s.derived) })
	}
	if isMessage(o) {
		return s.message(o, false, s.derived)
	}
	s.metadata(o) // of a header without a project
	s.stats.Skip(transcript.SkipUnknown, 1)
	return nil
}

// recordKind returns the kind of a record: its type, or the operation that it is.
func recordKind(o jsonvalue.Object) string {
	kind := o.Text("type")
	for name := range o {
		if kind == "" && len(o) == 1 && strings.HasPrefix(name, "$") {
			kind = name
		}
	}
	return kind
}

// isMessage reports whether a record without an id is a message nevertheless.
func isMessage(o jsonvalue.Object) bool {
	switch recordKind(o) {
	case "":
		return false
	case "user", "gemini", "info", "error", "warning":
		return o["content"] != nil || o["toolCalls"] != nil
	}
	return true // of a kind that is not known: it is kept as it is
}

// update applies a $set. A list of messages replaces the agent's list; nothing that was said leaves
// the conversation.
func (s *replay) update(set jsonvalue.Object) error {
	s.metadata(set)
	if _, ok := set.Array("messages"); !ok {
		return nil
	}
	s.back = true
	s.view.cut(0)
	counts := transcript.Names{}
	return s.each(set, func(m jsonvalue.Object) error { return s.message(m, true, counts) })
}

// each calls apply for each message in o's list, if it has one.
func (s *replay) each(o jsonvalue.Object, apply func(jsonvalue.Object) error) error {
	list, _ := o.Array("messages")
	s.afterSnapshot = false
	for _, raw := range list {
		m, ok := jsonvalue.ParseObject(raw)
		if !ok {
			s.stats.Skip(transcript.SkipUnknown, 1)
			continue
		}
		if err := apply(m); err != nil {
			return err
		}
	}
	return nil
}

// metadata takes the name and the title of the session from a header or a $set.
func (s *replay) metadata(o jsonvalue.Object) {
	s.stats.Session = cmp.Or(s.stats.Session, o.Text("sessionId"))
	if title := o.Text("summary"); title != "" {
		s.stats.After = []json.RawMessage{jsonvalue.Encode(jsonvalue.NewObject("summary", title))}
	}
}

// lineValues returns the records of a line; clean is false if part of it is not JSON.
func lineValues(text []byte) (values []json.RawMessage, clean bool) {
	return transcript.Values(text,
		[]string{`{"id":"`, `{"$set":{`, `{"$rewindTo":"`, `{"sessionId":"`})
}
