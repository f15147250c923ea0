package session

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// model is the simplest thing that behaves as sessions should: a list of texts each, with an undo stack.
type model struct {
	texts map[string][]string
	past  map[string][][]string
	ahead map[string][][]string
}

func newModel() *model {
	return &model{texts: map[string][]string{}, past: map[string][][]string{}, ahead: map[string][][]string{}}
}

func (m *model) now(session string) []string { return slices.Clone(m.texts[session]) }

func (m *model) exists(session string) bool { return m.texts[session] != nil }

// do makes the session what it is after a new step.
func (m *model) do(session string, texts []string) {
	m.past[session] = append(m.past[session], m.texts[session])
	m.texts[session], m.ahead[session] = texts, nil
}

func (m *model) rewind(t *testing.T, s *Store, r *rand.Rand, session string) {
	t.Helper()
	texts := m.now(session)
	if len(texts) == 0 {
		return
	}
	at := r.IntN(len(texts))
	tip := must[format.Value](t)(Tip(s.mustView(t), session, MainBranch))
	log := must[[]*Shown](t)(s.Log(tip.ID, LogOptions{}))
	must[Rewound](t)(s.Rewind(context.Background(), session, MainBranch, log[at].ID, RewindOptions{}))
	m.do(session, append([]string{}, texts[:at]...))
}

func (m *model) undo(t *testing.T, session string, _ Undone, err error) {
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

func (m *model) redo(t *testing.T, session string, _ Undone, err error) {
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

func (m *model) compare(t *testing.T, s *Store) {
	t.Helper()
	view := s.mustView(t)
	for session, want := range m.texts {
		v := view.Get(RefName(session, MainBranch))
		if !v.Exists() {
			if want != nil {
				t.Fatalf("session %s is gone, want %d messages", session, len(want))
			}
			continue
		}
		var got []string
		for _, shown := range must[[]*Shown](t)(s.Log(v.ID, LogOptions{})) {
			got = append(got, shown.Text)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("session %s:\n got %q\nwant %q", session, got, want)
		}
	}
}
