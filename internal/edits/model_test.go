package edits_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// modelStep is an entry of a branch, as a list in memory has it.
type modelStep struct {
	kind    string // say, amend, mask or replace
	id      format.ID
	of      format.ID   // amend, mask: the message
	targets []format.ID // replace
	text    string      // say, amend, replace
	tool    bool
}

// editModel says what a branch shows, from its entries alone and in the plainest way: by looking
// everything up each time.
type editModel []modelStep

// holds reports whether the mask or replacement at i is still of the newest words.
func (m editModel) holds(i int) bool {
	s := m[i]
	if s.kind == "mask" {
		return !slices.ContainsFunc(m[i:],
			func(later modelStep) bool { return later.kind == "amend" && later.of == s.of })
	}
	for _, t := range s.targets {
		if slices.ContainsFunc(m[i:],
			func(later modelStep) bool { return later.kind == "amend" && later.of == t }) {
			return false
		}
		if at := m.at(t); m[at].kind == "replace" && !m.holds(at) {
			return false
		}
	}
	return true
}

func (m editModel) at(id format.ID) int {
	return slices.IndexFunc(m,
		func(s modelStep) bool { return s.id == id && s.kind != "amend" && s.kind != "mask" })
}

// place is where an entry is shown: a replacement where the first message behind it was said.
func (m editModel) place(id format.ID) int {
	at := m.at(id)
	if m[at].kind == "say" {
		return at
	}
	first := len(m)
	for _, t := range m[at].targets {
		first = min(first, m.place(t))
	}
	return first
}

func (m editModel) hidden(id format.ID) bool {
	for i, s := range m {
		if s.kind == "replace" && slices.Contains(s.targets, id) && m.holds(i) {
			return true
		}
	}
	return false
}

func (m editModel) words(id format.ID) (text string, masked bool) {
	for i, s := range m {
		switch {
		case s.id == id && (s.kind == "say" || s.kind == "replace"),
			s.kind == "amend" && s.of == id:
			text = s.text
		case s.kind == "mask" && s.of == id:
			masked = masked || m.holds(i)
		}
	}
	return text, masked
}

// shown lists what is shown, in order.
func (m editModel) shown() (ids []format.ID) {
	for i, s := range m {
		if s.kind == "say" || s.kind == "replace" && m.holds(i) {
			if !m.hidden(s.id) {
				ids = append(ids, s.id)
			}
		}
	}
	slices.SortStableFunc(ids, func(a, b format.ID) int { return m.place(a) - m.place(b) })
	return ids
}

// state is an entry as it is shown, in one word.
func (m editModel) state(id format.ID) string {
	text, masked := m.words(id)
	return fmt.Sprint(id.Short(8), " ", text, " ", masked)
}

// heldClaim is a claim whose answer comes later.
type heldClaim struct {
	name   string
	ids    []format.ID
	states []string
}

// TestEditsInRandomOrder says, amends, masks, claims, answers, rewinds, undoes and redoes in random
// order, and compares what is shown with the list after each step; and whether a late answer is
// taken with whether all that was claimed is shown as it was.
func TestEditsInRandomOrder(t *testing.T) {
	histories, steps := 60, 50
	if testing.Short() {
		histories = 8
	}
	taken, late, done := 0, 0, map[string]int{}
	for h := range histories {
		r := rand.New(rand.NewPCG(uint64(h), 17))
		s := storetest.Create(t, "window.graduate_at=100000", "window.evict_at=100000",
			"mask.preview_chars=10")
		c := context.Background()
		states, now := []editModel{nil}, 0 // every state of the branch that undo and redo go to
		var held []heldClaim
		name := 0
		for range steps {
			m := states[now]
			next := slices.Clone(m)
			ids := m.shown()
			what := []string{"say", "say", "say", "amend", "mask", "claim", "answer", "answer",
				"rewind", "undo", "undo", "redo"}[r.IntN(12)]
			if len(ids) == 0 {
				what = "say"
			}
			name++
			switch what {
			case "say":
				text, role, tool := fmt.Sprint("text ", name), "user", r.IntN(2) == 0
				if tool {
					text, role = strings.Repeat(fmt.Sprint("output ", name, " "), 50), "tool"
				}
				id := amendable(t, s, fmt.Sprint("m", name), role, text, "")
				next = append(next, modelStep{kind: "say", id: id, text: text, tool: tool})
			case "amend":
				said := slices.DeleteFunc(slices.Clone(m),
					func(st modelStep) bool { return st.kind != "say" })
				of := said[r.IntN(len(said))]
				e := storetest.Must[*history.Shown](t)(s.History.Entry(of.id)).Entry
				text := strings.Repeat(fmt.Sprint("newer ", name, " "), 50)
				id := amendable(t, s, e.Source.Message, e.Role, text, "")
				if id == of.id {
					t.Fatal("it amends nothing")
				}
				next = append(next, modelStep{kind: "amend", id: id, of: of.id, text: text})
			case "mask":
				id := ids[r.IntN(len(ids))]
				at := m.at(id)
				if m[at].kind != "say" || !m[at].tool {
					continue
				}
				_, masked := m.words(id)
				got := storetest.MaskAll(t, s, edits.MaskTarget{Entry: id, Part: 0})
				if masked != (len(got.Known) == 1) || masked != got.Entry.IsZero() {
					t.Fatalf("masked is %v, got %+v", masked, got)
				}
				if masked {
					continue
				}
				next = append(next, modelStep{kind: "mask", id: got.Entry, of: id})
			case "claim":
				var list heldClaim
				for _, i := range r.Perm(len(ids))[:1+r.IntN(min(3, len(ids)))] {
					list.ids = append(list.ids, ids[i])
				}
				slices.SortFunc(list.ids,
					func(a, b format.ID) int { return slices.Index(ids, a) - slices.Index(ids, b) })
				for _, id := range list.ids {
					list.states = append(list.states, m.state(id))
				}
				list.name = storetest.BeginReplace(t, s, whole(list.ids...)...)
				held = append(held, list)
				continue
			case "answer":
				if len(held) == 0 {
					continue
				}
				i := r.IntN(len(held))
				claim := held[i]
				held = slices.Delete(held, i, i+1)
				fits := true
				for n, id := range claim.ids {
					fits = fits && slices.Contains(ids, id) && m.state(id) == claim.states[n]
				}
				text := fmt.Sprint("instead ", name)
				got, err := storetest.CommitReplace(s, claim.name, text)
				if fits != (err == nil) || !fits && !errors.Is(err, history.ErrStale) {
					t.Fatalf("history %d: an answer that fits is %v: %v", h, fits, err)
				}
				if !fits {
					late++
					continue
				}
				taken++
				next = append(next,
					modelStep{kind: "replace", id: got.Entries[0], targets: claim.ids, text: text})
			case "rewind":
				at := r.IntN(len(m))
				storetest.Must[conversation.Rewound](t)(
					s.Conversation.Rewind(c, "s", history.MainBranch, m[at].id,
						conversation.RewindOptions{}))
				next = next[:at]
			case "undo", "redo":
				to := now - 1
				turn := s.Conversation.Undo
				if what == "redo" {
					to, turn = now+1, s.Conversation.Redo
				}
				if to < 1 || to >= len(states) {
					continue // before the first message there is no session
				}
				storetest.Must[conversation.Undone](t)(turn(c, "s"))
				now = to
			}
			if what != "undo" && what != "redo" {
				states = append(states[:now+1], next)
				now++
			}
			done[what]++
			compareShown(t, s, states[now], fmt.Sprint("history ", h, ", ", what))
		}
		storetest.Check(t, s)
	}
	t.Logf("%d histories, %v, %d answers taken and %d too late, 0 differences", histories,
		done, taken, late)
	if taken < histories/2 || late < histories/2 {
		t.Error("too few answers to say anything")
	}
}

func compareShown(t *testing.T, s *session.Store, m editModel, when string) {
	t.Helper()
	want := m.shown()
	got := storetest.Tail(t, s)
	if len(got) != len(want) {
		t.Fatalf("%s: %d are shown, want %d", when, len(got), len(want))
	}
	for i, id := range want {
		text, masked := m.words(id)
		if got[i].ID != id || masked != (len(got[i].Masked) == 1) ||
			!masked && got[i].Text != text || masked && !strings.Contains(got[i].Text, text[:5]) {
			t.Fatalf("%s: at %d is %v %.40q, masked %v; want %v %.40q, %v", when, i, got[i].ID,
				got[i].Text, got[i].Masked, id, text, masked)
		}
	}
}
