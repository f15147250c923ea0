package eval

import (
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/fixture"
	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
)

// two are two conversations with a prompt each that is long enough.
func two() sets.Set {
	set := sets.Set{Name: "two"}
	for _, c := range []struct{ name, topic string }{
		{"a", "the harbour gauge is stuck again"}, {"b", "the paper crane flies to the moon"},
	} {
		for i, m := range []corpus.Message{
			{Role: "user", Text: c.topic}, {
				Role: "model", Text: fmt.Sprintf("I look at %q.", c.topic),
			}, {Role: "user", Text: "thanks"},
			{Role: "user", Text: "<command>is no prompt of a user</command>"},
		} {
			m.Conversation, m.Seq = c.name, i
			set.Messages = append(set.Messages, m)
		}
	}
	set.Facts = []corpus.Fact{
		{Conversation: "a", Query: "What is stuck?", Answer: "gauge", Evidence: []int{0}},
		{Conversation: "b", Query: "Where does the crane fly?", Answer: "moon", Evidence: []int{0}},
		// the other session answers
		{Conversation: "b", Query: "Which harbour gauge?", Answer: "none", Evidence: []int{0}},
	}
	return set
}

func TestKnownAndSessions(t *testing.T) {
	s := run(t, Options{Only: []string{"known", "sessions"}}, two()).Sets[0]
	if want := (report.Known{
		By: byBM25, N: 2, First: 2, Ten: 2, FirstShare: 1000, TenShare: 1000,
	}); len(s.Known) != 2 || s.Known[1] != want {
		t.Errorf("%+v", s.Known)
	}
	if own := s.Known[0]; own.By != bySearch || own.N != 2 || own.Ten != 2 {
		t.Errorf("%+v", own)
	}
	if len(s.Sessions) != 4 {
		t.Fatalf("%+v", s.Sessions)
	}
	for _, r := range s.Sessions {
		n, first := 2, 2
		if r.Of == ofQuestions {
			n = 3
		}
		if r.N != n || r.First != first || r.Sessions != 2 {
			t.Errorf("%+v", r)
		}
	}
}

func TestRanksAreCounted(t *testing.T) {
	k, s := report.Known{}, report.SessionSearch{}
	for _, rank := range []int{0, 2, 9, -1} {
		k.Add(rank)
		s.Add(rank)
	}
	if want := (report.Known{N: 4, First: 1, Ten: 3, FirstShare: 250, TenShare: 750}); k != want {
		t.Errorf("%+v", k)
	}
	if want := (report.SessionSearch{N: 4, First: 1, Three: 2, FirstShare: 250,
		ThreeShare: 500}); s != want {
		t.Errorf("%+v", s)
	}
}

// One conversation has no other session beside it.
func TestSessionsOfOne(t *testing.T) {
	set := two()
	set.Messages = set.Messages[:4]
	if s := run(t, Options{Only: []string{"known", "sessions"}}, set).Sets[0]; s.Sessions != nil ||
		s.Known[0].N != 1 {
		t.Errorf("%+v, %+v", s.Known, s.Sessions)
	}
}

// As many prompts are drawn as there may be, by the seed alone.
func TestKnownIsDrawn(t *testing.T) {
	set := sets.Set{Name: "many"}
	for i := range 200 {
		set.Messages = append(set.Messages, corpus.Message{
			Conversation: "c", Seq: i, Role: "user", Text: fmt.Sprintf(
				"please look at number%d of the list", i,
			),
		})
	}
	draw := func(seed uint64) (texts []string) {
		stores, err := fixture.NewMaker(fixture.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stores.Close() }()
		b, err := (&runner{stores}).shelve(t.Context(), set, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range b.asked {
			texts = append(texts, m.text)
		}
		return texts
	}
	one, again, other := draw(1), draw(1), draw(2)
	if len(one) != sampledPrompts || fmt.Sprint(one) != fmt.Sprint(again) ||
		fmt.Sprint(one) == fmt.Sprint(other) {
		t.Errorf("%d prompts: %q, %q", len(one), one[0], other[0])
	}
}

// A set is measured in its parts alone.
func TestPartsOfASet(t *testing.T) {
	set := two()
	set.Parts = []string{"known"}
	s := run(t, Options{}, set).Sets[0]
	if s.Known == nil || s.Sessions != nil || s.Clustering != nil || s.Retention != nil {
		t.Errorf("%+v", s)
	}
}
