package sessions_test

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/sessions"
)

// TestTurnsSay checks what a turn says was wanted, and how its answer begins.
func TestTurnsSay(t *testing.T) {
	said := func(role, text string) digest.Message { return digest.Message{Role: role, Text: text} }
	look := digest.Message{Role: "model", Calls: []digest.Call{
		{ID: "1", Name: "Read", Args: []byte(`{"file_path":"lamp.go"}`)}}}
	for _, c := range []struct {
		name, wanted, came string
		talk               []digest.Message
	}{
		{"a plan is carried out", "Mend the lamps of the quay", "no result yet",
			[]digest.Message{said("model", "# Mend the lamps of the quay\n\n## Context\n\nTwo are out."),
				look}},
		{"a heading later on", "why?", "The gauge of the quay reads low.", []digest.Message{
			said("user", "why?"), said("model", "# Findings"), look,
			said("model", "The gauge of the quay reads low.")}},
		{"an answer that begins with yes", "would it help?",
			"Yes, for lamps of this kind it could help.", []digest.Message{
				said("user", "would it help?"),
				said("model", "Yes, for lamps of this kind it could help.\n\nFor a long quay:\n\n"+
					"- the `quay.Planner` pays a high cost to learn the chain of lamps,\n"+
					"- and retries of `quay.Push` cut it into chunks.")}},
		{"yes alone", "is there one?", "Yes. The lamp of `quay/east.go` has many.", []digest.Message{
			said("user", "is there one?"),
			said("model", "Yes.\n\nThe lamp of `quay/east.go` has many.")}},
	} {
		for i := range c.talk {
			c.talk[i].Seq = uint64(i + 1)
		}
		list := sessions.TurnsOf(digest.Of(c.talk), brief.Root{})
		if got := &list[len(list)-1]; got.Wanted != c.wanted || got.Came() != c.came {
			t.Errorf("%s: %q → %q, want %q → %q", c.name, got.Wanted, got.Came(), c.wanted, c.came)
		}
	}
}
