package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
)

// LowGate are settings with which three tool outputs of LongOutput are enough for a mask.
var LowGate = []string{"mask.protected_tokens=100", "mask.gate_tokens=100"}

// CallTool appends call n of a tool to session "s", and its result. It returns the ids of both.
func CallTool(t testing.TB, s *session.Store, n int, output string) (call, result format.ID) {
	t.Helper()
	id := fmt.Sprint("c", n)
	b := Must[[]byte](t)(json.Marshal(output))
	done := add(t, s, "s", history.MainBranch, conversation.AppendOptions{},
		conversation.Message{Role: "model",
			Parts: json.RawMessage(`[{"text":"look"},{"functionCall":{"id":"` + id +
				`","name":"read_file","args":{}}}]`)},
		conversation.Message{Role: "tool",
			Parts: json.RawMessage(`[{"functionResponse":{"id":"` + id +
				`","name":"read_file","response":{"output":` + string(b) + `}}}]`)})
	return done[0].ID, done[1].ID
}

// LongOutput returns a tool output of 300 words.
func LongOutput(n int) string { return strings.Repeat(fmt.Sprint("word", n, " "), 300) }

// Tail returns the messages of session "s" that are rendered word for word.
func Tail(t testing.TB, s *session.Store) []view.Message {
	t.Helper()
	return Must[view.Input](t)(s.Recall.RenderInput(View(t, s), "s", history.MainBranch,
		view.Options{})).Tail
}

// MessageAt returns a message of Tail.
func MessageAt(t testing.TB, s *session.Store, id format.ID) view.Message {
	t.Helper()
	for _, m := range Tail(t, s) {
		if m.ID == id {
			return m
		}
	}
	t.Fatalf("%v is not rendered", id)
	return view.Message{}
}

// MaskAll masks what the settings choose in session "s", or what is named.
func MaskAll(t testing.TB, s *session.Store, named ...edits.MaskTarget) edits.MaskResult {
	t.Helper()
	return Must[edits.MaskResult](t)(s.Edits.ApplyMasks(context.Background(), "s",
		history.MainBranch, named))
}

// IsMasked reports whether a message of Tail is masked. It fails the test if some forms of it
// are masked and others are not.
func IsMasked(t testing.TB, s *session.Store, id format.ID) bool {
	t.Helper()
	m := MessageAt(t, s, id)
	if short := strings.Contains(m.Text, "<tool_output_masked>"); short != (len(m.Masked) > 0) ||
		short != strings.Contains(string(m.Parts), "ctx expand "+id.String()) {
		t.Fatalf("half masked: %+v", m)
	}
	return len(m.Masked) > 0
}

// ExpandedText returns the texts to which an id expands, a line each.
func ExpandedText(t testing.TB, s *session.Store, id format.ID) string {
	t.Helper()
	var texts []string
	err := s.Recall.Expand(View(t, s), id, recall.ExpandOptions{},
		func(shown *history.Shown) error { texts = append(texts, shown.Text); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(texts, "\n")
}

// BeginReplace claims targets in session "s" for a replacement, and returns the name of the claim.
func BeginReplace(t testing.TB, s *session.Store, targets ...format.Target) string {
	t.Helper()
	list, err := s.Edits.BeginReplace(View(t, s), "s", history.MainBranch, targets, nil)
	if err != nil {
		t.Fatal(err)
	}
	return list[0].ID
}

// AnswerOf returns a worker's answer to a claim.
func AnswerOf(claim, text string) []summaries.Answer {
	return []summaries.Answer{{Claim: claim,
		Response: summarize.Response{Text: text, Summarizer: "worker", Version: "1"}}}
}

// CommitReplace commits a worker's answer to a claim.
func CommitReplace(s *session.Store, claim, text string) (edits.Replaced, error) {
	return s.Edits.CommitReplace(context.Background(), AnswerOf(claim, text),
		edits.ReplaceOptions{})
}

// Replace commits a worker's answer to a claim, and returns the new entry.
func Replace(t testing.TB, s *session.Store, claim, text string) format.ID {
	t.Helper()
	done, err := CommitReplace(s, claim, text)
	if err != nil || len(done.Entries) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	return done.Entries[0]
}
