package session_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// model is the simplest thing that behaves as sessions should: a list of texts each, with an undo
// stack.
type model struct {
	texts map[string][]string
	past  map[string][][]string
	ahead map[string][][]string
}

func newModel() *model {
	return &model{texts: map[string][]string{}, past: map[string][][]string{},
		ahead: map[string][][]string{}}
}

func (m *model) now(session string) []string { return slices.Clone(m.texts[session]) }

func (m *model) exists(session string) bool { return m.texts[session] != nil }

// do makes the session what it is after a new step.
func (m *model) do(session string, texts []string) {
	m.past[session] = append(m.past[session], m.texts[session])
	m.texts[session], m.ahead[session] = texts, nil
}

func (m *model) rewind(t *testing.T, s *session.Store, r *rand.Rand, session string) {
	t.Helper()
	texts := m.now(session)
	if len(texts) == 0 {
		return
	}
	at := r.IntN(len(texts))
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), session,
		history.MainBranch))
	log := storetest.Must[[]*history.Shown](t)(s.Recall.Log(tip.ID, recall.LogOptions{}))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), session,
		history.MainBranch, log[at].ID, conversation.RewindOptions{}))
	m.do(session, append([]string{}, texts[:at]...))
}

func (m *model) undo(t *testing.T, session string, _ conversation.Undone, err error) {
	t.Helper()
	past := m.past[session]
	if len(past) == 0 {
		if err == nil {
			t.Fatal("undid something where nothing was done")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.ahead[session] = append(m.ahead[session], m.texts[session])
	m.texts[session] = past[len(past)-1]
	m.past[session] = past[:len(past)-1]
}

func (m *model) redo(t *testing.T, session string, _ conversation.Undone, err error) {
	t.Helper()
	ahead := m.ahead[session]
	if len(ahead) == 0 {
		if err == nil {
			t.Fatal("redid something where nothing was undone")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.past[session] = append(m.past[session], m.texts[session])
	m.texts[session] = ahead[len(ahead)-1]
	m.ahead[session] = ahead[:len(ahead)-1]
}

func (m *model) compare(t *testing.T, s *session.Store) {
	t.Helper()
	view := storetest.View(t, s)
	for session, want := range m.texts {
		v := view.Get(history.RefName(session, history.MainBranch))
		if !v.Exists() {
			if want != nil {
				t.Fatalf("session %s is gone, want %d messages", session, len(want))
			}
			continue
		}
		var got []string
		for _, shown := range storetest.Must[[]*history.Shown](t)(
			s.Recall.Log(v.ID, recall.LogOptions{})) {
			got = append(got, shown.Text)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("session %s:\n got %q\nwant %q", session, got, want)
		}
	}
}
