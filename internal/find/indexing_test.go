package find_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// loadSome appends n messages and notes with sources. Some are known, and some are later versions.
func loadSome(t *testing.T, s *session.Store, session string, r *rand.Rand, n int) {
	t.Helper()
	batch := make([]conversation.Message, n)
	for i := range batch {
		m := storetest.Sourced("user", wordsFrom(r, 6), fmt.Sprint(r.IntN(10*n)))
		switch r.IntN(8) {
		case 0:
			m.Note = true
		case 1:
			m.Text, m.Parts = "", []byte(fmt.Sprintf(`[{"text":%q}]`, wordsFrom(r, 6)))
		case 2:
			m.Role, m.Author = "model", "Bob"
		}
		batch[i] = m
	}
	if _, _, err := s.Conversation.Append(context.Background(), session, history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
}

// Whatever happens during a load, in this process and in others, the index has what an index that
// is made anew has. If nothing else happens after the load, it lacks nothing.
func TestIndexingIsTheIndex(t *testing.T) {
	for seed := range thirds.Range(t, uint64(24)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 21))
			s := storetest.Create(t)
			other := storetest.Reopen(t, s.Dir, nil)
			if r.IntN(2) == 0 {
				loadSome(t, s, "one", r, 20)
				searched(t, other, find.SearchQuery{Text: "postgres", Limit: 3})
			}
			g := s.Recall.NewIndexing()
			g.SaveAfter(50 + r.IntN(500))
			s.Conversation.Follow = g.Take
			for step := range 12 {
				switch r.IntN(6) {
				case 0:
					searchStep(t, s, r, step, false)
				case 1:
					searchStep(t, other, r, step, false)
				case 2:
					searched(t, storetest.Reopen(t, s.Dir, nil),
						find.SearchQuery{Text: "postgres", Limit: 3})
				case 3:
					appendWords(t, s, "two", r, 200)
				default:
					loadSome(t, s, "one", r, 100+r.IntN(300))
				}
			}
			appendWords(t, s, "three", r, 300)
			g.Finish(0)
			fresh := storetest.Reopen(t, s.Dir, nil)
			view := storetest.View(t, fresh)
			if n := storetest.Must[int](t)(fresh.Recall.Behind(view)); n != 0 {
				t.Errorf("the index lacks %d changes", n)
			}
			got := storetest.Must[[]search.Document](t)(fresh.Recall.Documents(view, false))
			want := storetest.Must[[]search.Document](t)(fresh.Recall.Documents(view, true))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the index has %d documents, and %d if made anew", len(got), len(want))
			}
		})
	}
}

// A small append leaves the index alone.
func TestSmallAppendsAndTheIndex(t *testing.T) {
	s := storetest.Create(t)
	r := rand.New(rand.NewPCG(5, 5))
	load := func(n int) {
		t.Helper()
		g := s.Recall.NewIndexing()
		s.Conversation.Follow = g.Take
		appendWords(t, s, "one", r, n)
		g.Finish(n)
	}
	behind := func(want int) {
		t.Helper()
		if n := storetest.Must[int](t)(s.Recall.Behind(storetest.View(t, s))); n != want {
			t.Errorf("the index lacks %d changes, not %d", n, want)
		}
	}
	load(100)
	behind(-1)
	load(300)
	behind(0)
	load(100)
	behind(100)
	for range 6 {
		load(100)
	}
	behind(700)
}
