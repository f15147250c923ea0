package find_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// plainly answers a query from a list of what can be found, without an index that was kept.
func plainly(t *testing.T, docs []search.Doc, q find.SearchQuery) []string {
	t.Helper()
	b := &search.Builder{}
	for _, d := range docs {
		b.Add(d)
	}
	seg, _, err := b.Segment()
	if err != nil {
		t.Fatal(err)
	}
	parsed := storetest.Must[*search.Query](t)(search.Parse(q.Text))
	if q.Alike {
		parsed.Widen()
	}
	most := max(q.Limit, find.ClusterDepth)
	ranked, err := search.Rank([]search.Source{{Segment: seg}}, parsed, search.Options{
		Session: q.Session, Role: q.Role, Since: q.Since, Limit: most, Whole: find.WholeDepth,
	})
	if err != nil {
		t.Fatal(err)
	}
	hits, err := find.ByWords(parsed, ranked, most, func(h search.Hit) (*history.Shown, error) {
		i := slices.IndexFunc(docs,
			func(d search.Doc) bool { return d.ID == h.ID && d.Version == h.Version })
		return &history.Shown{Text: docs[i].Text}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	hits = hits[:min(len(hits), q.Limit)]
	var list []string
	for _, h := range hits {
		list = append(list, fmt.Sprintf("%v %v %s %x", h.ID, h.Version, h.Session, h.Score))
	}
	return list
}

func searched(t *testing.T, s *session.Store, q find.SearchQuery) []string {
	t.Helper()
	var list []string
	for _, h := range storetest.Must[[]find.Hit](t)(s.Recall.Search(storetest.View(t, s), q)) {
		list = append(list, fmt.Sprintf("%v %v %s %x", h.ID, h.Shown.Version, h.Session, h.Score))
		if h.Text != h.Shown.Text || h.Rewound {
			t.Fatalf("hit %+v", h)
		}
	}
	return list
}

// differ says where two answers begin to differ.
func differ(got, want []string) string {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("%d and %d hits, from %d on:\n got %q\nwant %q", len(got), len(want),
				i, got[min(i, len(got)):min(i+3, len(got))],
				want[min(i, len(want)):min(i+3, len(want))])
		}
	}
	return ""
}

// said is everything that branches stand on, with its newest words, as Log and Expand give it.
func said(t *testing.T, s *session.Store, names ...string) []search.Doc {
	t.Helper()
	view := storetest.View(t, s)
	var docs []search.Doc
	seen := map[format.ID]bool{}
	for _, name := range names {
		for _, shown := range storetest.Must[[]*history.Shown](t)(
			s.Recall.Log(view.Get(name).ID, recall.LogOptions{})) {
			if seen[shown.ID] {
				continue
			}
			seen[shown.ID] = true
			e := shown.Entry
			docs = append(docs, search.Doc{
				ID: shown.ID, Version: shown.Version, Session: e.Session, Seq: e.Seq, Role: e.Role,
				Author: e.Author, Note: e.Kind == format.KindNote,
				Time: e.Time, Text: shown.Text,
			})
		}
	}
	return docs
}

// fork makes a branch that starts where another one is.
func fork(t *testing.T, s *session.Store, name, from, to string) {
	t.Helper()
	err := s.Store.Locked(context.Background(), func(x *store.Tx) error {
		v, err := history.Tip(x.View, name, from)
		if err != nil {
			return err
		}
		old := x.View.Get(history.RefName(name, to))
		return x.Commit(&format.Operation{Verb: "fork", Session: name,
			Refs: []format.RefUpdate{{Name: history.RefName(name, to), Old: old, New: v}}})
	})
	if err != nil {
		t.Fatal(err)
	}
}

var searchWords = strings.Fields(
	"postgres migration schema port 5433 index parser lexer token line nil deploy rollback " +
		"traffic retry runner shard parser.go ann bob")

func wordsFrom(r *rand.Rand, n int) string {
	var list []string
	for range n {
		list = append(list, searchWords[r.IntN(len(searchWords))])
	}
	return strings.Join(list, " ")
}

// searchStep makes one change that a search must notice. A session has either forks or amended
// messages, because another test covers which text counts when branches amend the same message.
func searchStep(t *testing.T, s *session.Store, r *rand.Rand, step int, forks bool) {
	t.Helper()
	c := context.Background()
	session := []string{"one", "two", "three"}[r.IntN(3)]
	view := storetest.View(t, s)
	branches := view.Names("sessions/" + session + "/")
	branch := history.MainBranch
	if len(branches) > 0 {
		branch = strings.TrimPrefix(branches[r.IntN(len(branches))], "sessions/"+session+"/")
	}
	switch n := r.IntN(20); {
	case n < 11 || len(branches) == 0:
		var batch []conversation.Message
		for i := range 1 + r.IntN(12) {
			m := conversation.Message{
				Note: r.IntN(12) == 0, Role: []string{"user", "model", "tool"}[r.IntN(3)],
				Author: []string{"", "ann", "bob", "Grad C"}[r.IntN(4)],
				Text:   wordsFrom(r, 1+r.IntN(9)),
			}
			// Few message ids, so that some come again with other words
			if !forks && r.IntN(3) > 0 {
				m.Source = &conversation.Source{Agent: "test", Session: session,
					Message: fmt.Sprint(branch, 12*r.IntN(3)+i), Record: fmt.Append(nil, step, i)}
			}
			batch = append(batch, m)
		}
		if _, _, err := s.Conversation.Append(c, session, branch, batch,
			conversation.AppendOptions{NoGraduation: true}); err != nil {
			t.Fatal(err)
		}
	case n < 14:
		log := storetest.Must[[]*history.Shown](t)(
			s.Recall.Log(view.Get(history.RefName(session, branch)).ID, recall.LogOptions{}))
		if len(log) > 0 {
			storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(c, session, branch,
				log[len(log)-1-r.IntN(min(len(log), 8))].ID, conversation.RewindOptions{}))
		}
	case n < 16:
		_, _ = s.Conversation.Undo(c, session)
	case n < 17:
		_, _ = s.Conversation.Redo(c, session)
	case n < 18:
		if forks && len(branches) < 3 {
			fork(t, s, session, branch, fmt.Sprint("side", step))
		}
	case n < 19 && r.IntN(4) == 0:
		storetest.Must[int](t)(s.Conversation.RemoveSession(c, session))
	}
}

// After any history, a search finds the entries of branches with their latest text, as if the index
// had just been made. The index in memory, the one that another process loads from the cache, and
// an index without a cache give the same answers.
func TestSearchIsAsIfJustIndexed(t *testing.T) {
	const histories = 16
	for seed := range thirds.Range(t, uint64(histories)) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := storetest.Create(t, storetest.Small...)
		for step := range 60 {
			searchStep(t, s, r, step, seed%2 == 1)
			if r.IntN(3) > 0 {
				continue
			}
			view := storetest.View(t, s)
			q := find.SearchQuery{Text: wordsFrom(r, 1+r.IntN(4)), Limit: 1 + r.IntN(80),
				Alike: step%2 == 1, Role: []string{"", "", "user"}[r.IntN(3)]}
			if r.IntN(4) == 0 {
				q.Since = time.Date(2026, 3, 1, 9, 0, 10+r.IntN(50), 0, time.UTC)
			}
			names := view.Names("sessions/")
			if len(names) > 0 && r.IntN(3) == 0 {
				q.Session, _, _ = strings.Cut(strings.TrimPrefix(names[r.IntN(len(names))],
					"sessions/"), "/")
				names = view.Names("sessions/" + q.Session + "/")
				if r.IntN(2) == 0 {
					name := names[r.IntN(len(names))]
					q.Branch, names = strings.TrimPrefix(name, "sessions/"+q.Session+"/"),
						[]string{name}
				}
			}
			want := plainly(t, said(t, s, names...), q)
			if d := differ(searched(t, s, q), want); d != "" {
				t.Fatalf("seed %d, step %d, %+v: %s", seed, step, q, d)
			}
			other := storetest.Reopen(t, s.Dir, nil, storetest.Small...)
			if d := differ(searched(t, other, q), want); d != "" {
				t.Fatalf("seed %d, step %d, %+v: another process %s", seed, step, q, d)
			}
			other.Recall.DropSearch()
			if q.Branch == "" {
				sameRewound(t, s, q, seed, step)
			}
			if r.IntN(10) == 0 {
				damageSearch(t, s, r)
				if d := differ(searched(t, storetest.Reopen(t, s.Dir, nil, storetest.Small...), q),
					want); d != "" {
					t.Fatalf("seed %d, step %d, %+v: damaged cache %s", seed, step, q, d)
				}
			}
		}
	}
}

// sameRewound checks that the kept index and a new index find the same rewound entries.
func sameRewound(t *testing.T, s *session.Store, q find.SearchQuery, seed uint64, step int) {
	t.Helper()
	q.Rewound = true
	bare := storetest.Reopen(t, s.Dir, nil, storetest.Small...)
	bare.History.Cache = cache.Open(durabletest.TempDir(t), nil)
	view := storetest.View(t, s)
	var lists [2][]string
	for i, store := range []*session.Store{s, bare} {
		for _, h := range storetest.Must[[]find.Hit](t)(store.Recall.Search(view, q)) {
			lists[i] = append(lists[i],
				fmt.Sprintf("%v %v %v %s %x", h.ID, h.Shown.Version, h.Rewound, h.Session, h.Score))
		}
	}
	if d := differ(lists[0], lists[1]); d != "" {
		t.Fatalf("seed %d, step %d, %+v: %s", seed, step, q, d)
	}
	bare.Recall.DropSearch()
}

// damageSearch deletes, cuts or changes a file of the index.
func damageSearch(t *testing.T, s *session.Store, r *rand.Rand) {
	t.Helper()
	names := storetest.Must[[]string](t)(s.History.Cache.Names(cache.SearchName))
	if len(names) == 0 {
		return
	}
	path := filepath.Join(s.Dir, "cache", names[r.IntN(len(names))])
	b := storetest.Must[[]byte](t)(os.ReadFile(path))
	switch r.IntN(3) {
	case 0:
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	case 1:
		b = b[:r.IntN(len(b))]
	case 2:
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
