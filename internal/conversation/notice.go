package conversation

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation/loop"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// The codes of notices. A notice is a note for programs: one part, with a text for people and the
// same as "_meta".
const (
	codeLoop  = "LOOP_DETECTED"
	codeModel = "MODEL_CHANGED"
)

// notice is the part of a notice.
type notice struct {
	Text string     `json:"text"`
	Meta noticeMeta `json:"_meta"`
}

type noticeMeta struct {
	Code   string `json:"code"`
	Rule   string `json:"rule,omitempty"`   // of a loop
	Period int    `json:"period,omitempty"` // of a loop
	Count  int    `json:"count,omitempty"`  // of a loop
	Model  string `json:"model,omitempty"`  // of a change of model
}

func (s *Reader) noticeOf(text string, meta noticeMeta) (Message, error) {
	parts, err := json.Marshal([]notice{{text, meta}})
	return Message{Note: true, Role: "system", Parts: parts, Time: s.Now()}, err
}

// LoopNotice returns the note that a loop was detected.
func (s *Reader) LoopNotice(v loop.Verdict) (Message, error) {
	text := fmt.Sprintf(
		"Loop detected: the same cycle of tool calls again and again (calls in it: %d).", v.Period)
	if v.Rule == loop.RuleContent {
		text = fmt.Sprintf(
			"Loop detected: the same text again and again (characters from one time to the "+
				"next: %d).", v.Period)
	}
	return s.noticeOf(text,
		noticeMeta{Code: codeLoop, Rule: v.Rule, Period: v.Period, Count: v.Count})
}

// Model returns the model that a branch was switched to since its last prompt or rewind, and the
// note that says so. The name is "" if there is none.
func (s *Reader) Model(
	v *refs.View, session, branch string,
) (name string, id format.ID, err error) {
	tip, err := history.Tip(v, session, branch)
	if err != nil {
		return "", id, err
	}
	var notes []format.ID // newest first
	for e, err := range s.Walk(tip.ID, history.OwnLine) {
		if err != nil {
			return "", id, err
		}
		if e.Kind == format.KindNote && e.Role == "system" && e.Body != nil &&
			e.Body.Media == format.MediaParts {
			notes = append(notes, e.ID)
		}
		if beginsWork(e.Entry) {
			break
		}
	}
	for _, id := range notes {
		shown, err := s.Entry(id)
		if err != nil {
			return "", id, err
		}
		var list []notice
		if json.Unmarshal(shown.Parts, &list) == nil && len(list) == 1 &&
			list[0].Meta.Code == codeModel {
			return list[0].Meta.Model, id, nil
		}
	}
	return "", format.ID{}, nil
}

// SetModel notes that a branch continues with another model until its next prompt. Known says that
// it already does.
func (s *Writer) SetModel(ctx context.Context, session, branch, name string) (Appended, error) {
	if _, err := format.EncodeName(name); err != nil {
		return Appended{}, fmt.Errorf("%w: model: %w", history.ErrInput, err)
	}
	v, err := s.Refs.Read()
	if err != nil {
		return Appended{}, err
	}
	switch now, id, err := s.Model(v, session, branch); {
	case err != nil:
		return Appended{}, err
	case now == name:
		return Appended{ID: id, Known: true}, nil
	}
	m, err := s.noticeOf("Model: "+name, noticeMeta{Code: codeModel, Model: name})
	if err != nil {
		return Appended{}, err
	}
	done, _, err := s.Append(ctx, session, branch, []Message{m}, AppendOptions{})
	if err != nil {
		return Appended{}, err
	}
	return done[0], nil
}
