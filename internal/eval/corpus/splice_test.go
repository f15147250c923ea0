package corpus_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

func TestSpliceKeepsOrder(t *testing.T) {
	sessions := corpus.Conversations(corpus.Agents())
	for seed := range uint64(20) {
		got := corpus.Splice(sessions, seed, 8)
		checkConversation(t, got)
		parts := map[string][]string{}
		for _, m := range got {
			parts[m.Topic] = append(parts[m.Topic], m.Text)
		}
		if len(parts) != 8 {
			t.Fatalf("seed %d: %d sessions", seed, len(parts))
		}
		for _, s := range sessions {
			texts, ok := parts[s[0].Conversation]
			if ok &&
				!slices.EqualFunc(s, texts,
					func(m corpus.Message, text string) bool { return m.Text == text }) {
				t.Errorf("seed %d: %s is not whole or not in order", seed, s[0].Conversation)
			}
		}
	}
}

// TestSpliceCutsAtPrompts: the topic changes at messages of the user only, and after no more than
// three exchanges while others are left.
func TestSpliceCutsAtPrompts(t *testing.T) {
	sessions := corpus.Conversations(corpus.Agents())
	for seed := range uint64(20) {
		got := corpus.Splice(sessions, seed, 10)
		run, longest, changes := 0, 0, 0
		for i, m := range got {
			changed := i > 0 && m.Topic != got[i-1].Topic
			if changed && m.Role != "user" {
				t.Fatalf("seed %d: cut before message %d of the %s", seed, i, m.Role)
			}
			if changed {
				run = 0
				changes++
			}
			if m.Role == "user" {
				run++
			}
			if last := got[i:]; slices.ContainsFunc(last,
				func(n corpus.Message) bool { return n.Topic != m.Topic }) {
				longest = max(longest, run)
			}
		}
		if longest > 3 || changes < 12 {
			t.Errorf("seed %d: a run of %d exchanges, %d changes", seed, longest, changes)
		}
	}
}

func TestSpliceIsDeterministic(t *testing.T) {
	sessions := corpus.Conversations(corpus.Agents())
	before, err := json.Marshal(sessions)
	if err != nil {
		t.Fatal(err)
	}
	a, err := json.Marshal(corpus.Splice(sessions, 7, 12))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(corpus.Splice(sessions, 7, 12))
	if err != nil {
		t.Fatal(err)
	}
	c, err := json.Marshal(corpus.Splice(sessions, 8, 12))
	if err != nil {
		t.Fatal(err)
	}
	after, err := json.Marshal(sessions)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) || string(a) == string(c) {
		t.Error("the seed does not decide alone")
	}
	if string(before) != string(after) {
		t.Error("the sessions were changed")
	}
}

// TestSpliceIsTheSameEverywhere pins the order for one seed, so that another platform or Go version
// that differs is noticed.
func TestSpliceIsTheSameEverywhere(t *testing.T) {
	var order []string
	for _, m := range corpus.Splice(corpus.Conversations(corpus.Agents()), 1, 5) {
		if m.Role == "user" {
			order = append(order, strings.TrimPrefix(m.Topic, "agent/")[:2])
		}
	}
	if got, want := strings.Join(order, " "),
		"11 11 03 14 14 05 03 03 05 05 11 06 06 06"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSpliceOfLittle(t *testing.T) {
	sessions := corpus.Conversations(corpus.Agents())
	if got := corpus.Splice(nil, 1, 5); len(got) != 0 {
		t.Errorf("%d messages of nothing", len(got))
	}
	if got := corpus.Splice(sessions, 1, 0); len(got) != 0 {
		t.Errorf("%d messages of no session", len(got))
	}
	if got := corpus.Splice(sessions, 1, 1); len(corpus.Conversations(got)) != 1 ||
		got[0].Topic == "" {
		t.Errorf("one session became %d", len(corpus.Conversations(got)))
	}
	all := corpus.Splice(sessions, 1, len(sessions)+5)
	if len(all) != len(corpus.Agents()) {
		t.Errorf("%d messages, want all %d", len(all), len(corpus.Agents()))
	}
}

func TestLive(t *testing.T) {
	to := func(n int) *int { return &n }
	c := []corpus.Message{{Seq: 0}, {Seq: 1}, {Seq: 2}, {Seq: 3, RewindTo: to(0)}, {Seq: 4},
		{Seq: 5}, {Seq: 6, RewindTo: to(4)}}
	var got []int
	for _, m := range corpus.Live(c) {
		got = append(got, m.Seq)
	}
	if !slices.Equal(got, []int{0, 3, 4, 6}) {
		t.Errorf("left are %v", got)
	}
}
