package importer_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// treeRecord is a record of a made-up transcript.
type treeRecord struct{ id, parent string }

func (r treeRecord) line() string { return claudeRecord(r.id, r.parent) }

func treeText(list []treeRecord) string {
	var b strings.Builder
	for _, r := range list {
		b.WriteString(r.line())
	}
	return b.String()
}

// chainOf is the line of a record up to the root, by nothing but the parents.
func chainOf(list []treeRecord, id string) (chain []string) {
	parent := map[string]string{}
	for _, r := range list {
		parent[r.id] = r.parent
	}
	for ; id != ""; id = parent[id] {
		chain = append([]string{id}, chain...)
	}
	return chain
}

// entriesOfSession counts the messages and rewinds that a session's branch reaches, what was left
// included, and how often each text is there.
func entriesOfSession(
	t testing.TB, s *session.Store, session string,
) (texts map[string]int, rewinds int) {
	t.Helper()
	texts = map[string]int{}
	for _, text := range reachedIn(t, s, session) {
		if text == "" {
			rewinds++
		} else {
			texts[text]++
		}
	}
	return texts, rewinds
}

// reachedIn returns the messages and rewinds that a session's branch reaches, what was left
// included, with their texts.
func reachedIn(t testing.TB, s *session.Store, session string) map[format.ID]string {
	t.Helper()
	texts := map[format.ID]string{}
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), session,
		history.MainBranch))
	seen := map[format.ID]bool{}
	for todo := []format.ID{tip.ID}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id.IsZero() || seen[id] {
			continue
		}
		seen[id] = true
		e := storetest.Must[*format.Entry](t)(s.History.Header(id))
		todo = append(append(todo, e.Left), e.Parents...)
		switch e.Kind {
		case format.KindMessage:
			texts[id] = strings.TrimPrefix(
				storetest.Must[*history.Shown](t)(s.History.Entry(id)).Text, "says ")
		case format.KindRewind:
			texts[id] = ""
		}
	}
	return texts
}

func leavesOf(list []treeRecord) int {
	parents := map[string]bool{}
	for _, r := range list {
		parents[r.parent] = true
	}
	n := 0
	for _, r := range list {
		if !parents[r.id] {
			n++
		}
	}
	return n
}

// Whatever tree the parents make, each message is stored once, the branch is the chain of the
// newest record, and there is a rewind for each other line.
func TestTreeImportShapes(t *testing.T) {
	const n = 400
	draw := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		parent func(i int) int
	}{
		{"straight", func(i int) int { return i - 1 }},
		{"two lines that alternate", func(i int) int { return max(0, i-2) }},
		{"eight lines that alternate", func(i int) int { return max(0, i-8) }},
		{"any parent", func(i int) int { return draw.IntN(i) }},
		{"all of the first", func(int) int { return 0 }},
		{"one higher each time", func(i int) int {
			if i <= n/2 {
				return i - 1
			}
			return n - i
		}},
	} {
		var list []treeRecord
		for i := range n {
			r := treeRecord{id: fmt.Sprint("r", i)}
			if i > 0 {
				r.parent = fmt.Sprint("r", c.parent(i))
			}
			list = append(list, r)
		}
		s := storetest.Create(t)
		before := storetest.View(t, s).Number
		follow := s.Recall.NewIndexing()
		s.Conversation.Follow = follow.Take
		done := importClaude(t, s, treeText(list), "")
		follow.Finish(0)
		cached := readCache(t, s)
		told := toldOf(t, s)
		if now := readCache(t, s); !maps.Equal(now, cached) {
			t.Errorf("%s: the import has left something to read", c.name)
		}
		if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
			t.Fatal(err)
		}
		if anew := toldOf(t, storetest.Reopen(t, s.Dir, nil)); !slices.Equal(told, anew) {
			t.Errorf("%s: with what the import has learned\n%v\nwithout\n%v", c.name, told, anew)
		}
		texts, rewinds := entriesOfSession(t, s, "s")
		if done.Messages != n || len(texts) != n || done.Rewinds != rewinds ||
			rewinds != leavesOf(list)-1 || storetest.View(t, s).Number != before+1 {
			t.Errorf("%s: %+v, %d texts, %d rewinds for %d lines, %d operations", c.name, done,
				len(texts), rewinds, leavesOf(list), storetest.View(t, s).Number-before)
		}
		for text, times := range texts {
			if times != 1 {
				t.Errorf("%s: %s is there %d times", c.name, text, times)
			}
		}
		if got := spokenIn(t, s, "s"); !slices.Equal(got, chainOf(list, list[n-1].id)) {
			t.Errorf("%s: %v", c.name, got)
		}
		storetest.Check(t, s)
		if again := importClaude(t, s, treeText(list), ""); again.Known != n ||
			again.Messages+again.Rewinds != 0 {
			t.Errorf("%s again: %+v", c.name, again)
		}
	}
}

// toldOf returns what a list of sessions and a search tell of a store.
func toldOf(t *testing.T, s *session.Store) (list []string) {
	t.Helper()
	view := storetest.View(t, s)
	for _, h := range storetest.Must[[]find.Hit](t)(s.Recall.Search(view,
		find.SearchQuery{Text: "says", Rewound: true, Limit: 1000})) {
		list = append(list, fmt.Sprint(h.ID, h.Rewound, h.Branch))
	}
	slices.Sort(list)
	for _, o := range storetest.Must[[]sessions.Overview](t)(s.Recall.Overviews(view)) {
		list = append(list, fmt.Sprintf("%+v", o))
	}
	return list
}

// readCache returns the files of the cache with what lists and searches know.
func readCache(t *testing.T, s *session.Store) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{cache.OverviewsName, cache.SearchName} {
		files[name] = string(storetest.Must[[]byte](t)(
			os.ReadFile(filepath.Join(s.Dir, "cache", name))))
	}
	return files
}

// A transcript that grows record by record, on several lines, and is read between any two of them:
// nothing is stored twice, and the branch is always the chain of the newest record.
func TestTreeImportGrows(t *testing.T) {
	for seed := range uint64(12) {
		draw := rand.New(rand.NewPCG(seed, 7))
		s := storetest.Create(t)
		list := []treeRecord{{id: "r0"}}
		for i := 1; i < 40; i++ {
			parent := i - 1
			switch draw.IntN(4) {
			case 0:
				parent = draw.IntN(i)
			case 1:
				parent = max(0, i-2)
			}
			list = append(list, treeRecord{fmt.Sprint("r", i), fmt.Sprint("r", parent)})
			if draw.IntN(3) > 0 {
				continue
			}
			importClaude(t, s, treeText(list), "")
			if got := spokenIn(t, s, "s"); !slices.Equal(got, chainOf(list, list[i].id)) {
				t.Fatalf("seed %d, %d records: %v, want %v", seed, i+1, got,
					chainOf(list, list[i].id))
			}
			if draw.IntN(2) == 0 {
				storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(context.Background(),
					"s", history.MainBranch))
			}
			number := storetest.View(t, s).Number
			if again := importClaude(t, s, treeText(list),
				""); again.Messages+again.Rewinds+again.Amended != 0 ||
				storetest.View(t, s).Number != number {
				t.Fatalf("seed %d, %d records again: %+v\n%v", seed, i+1, again, list)
			}
		}
		importClaude(t, s, treeText(list), "")
		texts, _ := entriesOfSession(t, s, "s")
		for text, times := range texts {
			if times != 1 {
				t.Errorf("seed %d: %s is there %d times", seed, text, times)
			}
		}
		if len(texts) != len(list) {
			t.Errorf("seed %d: %d of %d messages", seed, len(texts), len(list))
		}
		storetest.Check(t, s)
	}
}

// Records that are written after those that follow them are in the order of their parents, whether
// the transcript is read at once or between any two lines, and nothing of that is a rewind.
func TestTreeImportOutOfOrder(t *testing.T) {
	chain := []treeRecord{{"a", ""}, {"b", "a"}, {"c", "b"}, {"d", "c"}, {"e", "d"}, {"f", "e"}}
	for _, lines := range [][]int{{0, 1, 4, 2, 3, 5}, {0, 3, 1, 2, 4, 5}, {0, 1, 5, 4, 3, 2},
		{0, 4, 3, 1, 2, 5}, {0, 1, 3, 4, 2, 5}} {
		for split := 0; split <= len(lines); split++ {
			for second := split; second <= len(lines); second++ {
				s := storetest.Create(t)
				var list []treeRecord
				for n, i := range lines {
					list = append(list, chain[i])
					if n+1 == split || n+1 == second {
						importClaude(t, s, treeText(list), "")
					}
				}
				done := importClaude(t, s, treeText(list), "")
				_, rewinds := entriesOfSession(t, s, "s")
				if got := strings.Join(spokenIn(t, s, "s"), " "); got != "a b c d e f" ||
					rewinds != 0 {
					t.Errorf("%v read at %d and %d: %s, %d rewinds, %+v", lines, split, second, got,
						rewinds, done)
				}
				storetest.Check(t, s)
			}
		}
	}
}

// What a person has said and rewound in the store besides stays where it is when the transcript
// goes on.
func TestTreeImportBesideOthers(t *testing.T) {
	ctx := context.Background()
	s := storetest.Create(t)
	list := []treeRecord{{"a", ""}, {"b", "a"}}
	importClaude(t, s, treeText(list), "")
	must2 := func(text string) {
		t.Helper()
		if _, _, err := s.Conversation.Append(ctx, "s", history.MainBranch,
			[]conversation.Message{{Role: "user", Text: text}},
			conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	must2("mine")
	list = append(list, treeRecord{"c", "b"})
	importClaude(t, s, treeText(list), "")
	if got := strings.Join(spokenIn(t, s, "s"), " "); got != "a b mine c" {
		t.Errorf("%s", got)
	}
	// The transcript goes back behind it: it leaves with the line that it was said on, and is
	// not lost.
	list = append(list, treeRecord{"d", "a"})
	importClaude(t, s, treeText(list), "")
	if got := strings.Join(spokenIn(t, s, "s"), " "); got != "a d" {
		t.Errorf("%s", got)
	}
	if texts, rewinds := entriesOfSession(t, s, "s"); texts["mine"] != 1 || rewinds != 1 {
		t.Errorf("%v, %d rewinds", texts, rewinds)
	}
	storetest.Check(t, s)
}

// An undo takes back what an import brought, the line that it came to as well, and the next import
// brings it again.
func TestTreeImportUndone(t *testing.T) {
	ctx := context.Background()
	s := storetest.Create(t)
	list := []treeRecord{{"a", ""}, {"b", "a"}, {"c", "b"}}
	importClaude(t, s, treeText(list), "")
	storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(ctx, "s", history.MainBranch))
	list = append(list, treeRecord{"d", "a"}, treeRecord{"e", "c"})
	importClaude(t, s, treeText(list), "")
	want := strings.Join(spokenIn(t, s, "s"), " ")
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(ctx, "s"))
	if got := strings.Join(spokenIn(t, s, "s"), " "); got != "a b c" {
		t.Errorf("undone: %s", got)
	}
	storetest.Check(t, s)
	storetest.Must[conversation.Undone](t)(s.Conversation.Redo(ctx, "s"))
	if got := strings.Join(spokenIn(t, s, "s"), " "); got != want || want != "a b c e" {
		t.Errorf("redone: %s, was %s", got, want)
	}
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(ctx, "s"))
	importClaude(t, s, treeText(list), "")
	if got := strings.Join(spokenIn(t, s, "s"), " "); got != want {
		t.Errorf("again: %s, was %s", got, want)
	}
	storetest.Check(t, s)
}

// The steps of a transcript of any shape are as many as its records and its lines, and no step
// looks far: what the import writes follows from them.
func BenchmarkTreeImport(b *testing.B) {
	const n = 5000
	for name, parent := range map[string]func(int) int{"straight": func(i int) int { return i - 1 },
		"zigzag": func(i int) int { return max(0, i-2) }} {
		var list []treeRecord
		for i := range n {
			r := treeRecord{id: fmt.Sprint("r", i)}
			if i > 0 {
				r.parent = fmt.Sprint("r", parent(i))
			}
			list = append(list, r)
		}
		in := treeText(list)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := storetest.Create(b)
				importClaude(b, s, in, "")
			}
		})
	}
}
