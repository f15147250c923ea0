package geminicli

import (
	"encoding/json"

	"github.com/gemini-ctx/ctx/agent/transcript"
)

// record applies one record, told apart as the agent's own loader does: the first test that fits decides.
func (s *replay) record(raw []byte) error {
	o, ok := parseObject(raw)
	if !ok {
		s.skip(SkipUnknownRecord, 1)
		return nil
	}
	if id, ok := o.str("$rewindTo"); ok {
		return s.rewind(id)
	}
	if _, ok := o.str("id"); ok {
		return s.message(o, false, s.derived)
	}
	if set, ok := o.object("$set"); ok {
		return s.update(set)
	}
	_, hasSession := o.str("sessionId")
	_, hasProject := o.str("projectHash")
	if hasSession && hasProject {
		s.back = true
		s.metadata(o)
		return s.each(o, func(m object) error { return s.message(m, false, s.derived) })
	}
	if isMessage(o) {
		return s.message(o, false, s.derived)
	}
	s.skip(SkipUnknownRecord, 1)
	return nil
}

// isMessage reports whether a record without an id is a message nevertheless.
func isMessage(o object) bool {
	switch o.text("type") {
	case "user", "gemini", "info", "error", "warning":
		return o["content"] != nil || o["toolCalls"] != nil
	}
	return false
}

// update applies a $set. A list of messages replaces the agent's list; nothing that was said leaves the conversation.
func (s *replay) update(set object) error {
	s.metadata(set)
	if _, ok := set.array("messages"); !ok {
		return nil
	}
	s.back = true
	s.view.cut(0)
	counts := map[string]int{}
	return s.each(set, func(m object) error { return s.message(m, true, counts) })
}

// each calls apply for each message in o's list, if it has one.
func (s *replay) each(o object, apply func(object) error) error {
	list, _ := o.array("messages")
	s.afterSnapshot = false
	for _, raw := range list {
		m, ok := parseObject(raw)
		if !ok {
			s.skip(SkipUnknownRecord, 1)
			continue
		}
		if err := apply(m); err != nil {
			return err
		}
	}
	return nil
}

// metadata takes from a header or a $set what Stats reports.
func (s *replay) metadata(o object) {
	if s.stats.Session == "" {
		s.stats.Session = o.text("sessionId")
	}
	if s.stats.ProjectHash == "" {
		s.stats.ProjectHash = o.text("projectHash")
	}
	if kind, ok := o.str("kind"); ok {
		s.stats.Kind = kind
	}
	if summary, ok := o.str("summary"); ok {
		s.stats.Summary = summary
	}
}

// lineValues returns the records of a line; clean is false if part of it is not JSON.
func lineValues(text []byte) (values []json.RawMessage, clean bool) {
	return transcript.Values(text, []string{`{"id":"`, `{"$set":{`, `{"$rewindTo":"`, `{"sessionId":"`})
}
