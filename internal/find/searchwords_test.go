package find_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

func foundIDs(t *testing.T, s *session.Store, q find.SearchQuery) []format.ID {
	t.Helper()
	var ids []format.ID
	for _, h := range storetest.Must[[]find.Hit](t)(s.Recall.Search(storetest.View(t, s), q)) {
		ids = append(ids, h.ID)
	}
	return ids
}

// A message is found first by its exact words, though hundreds of others have all of these words,
// and more of them.
func TestExactWordsComeFirst(t *testing.T) {
	s := storetest.Init(t, storetest.Env(t.TempDir(), nil))
	for i := range 200 {
		text := fmt.Sprintf(
			"Upload %d: retry the upload, and retry again; check the upload, check twice.", i)
		storetest.Say(t, s, "talk", []string{"user", "model"}[i%2], text)
	}
	want := storetest.Say(t, s, "talk", "user", "can you check the retry upload again?")
	longer := storetest.Say(t, s, "talk", "model",
		"You said: can you check the retry upload again? I have checked.")
	for _, query := range []string{"can you check the retry upload again?",
		"CAN you check the retry upload again"} {
		got := foundIDs(t, s, find.SearchQuery{Text: query, Limit: 5})
		if len(got) != 5 || got[0] != want {
			t.Errorf("%q: %v, want %v first", query, got, want.Short(8))
		}
	}
	quoted := find.SearchQuery{Text: `"can you check the retry upload again"`,
		Phrases: true, Limit: 5}
	if got := foundIDs(t, s, quoted); !slices.Equal(got, []format.ID{want, longer}) {
		t.Errorf("in quotes: %v", got)
	}
}

// Quotes demand nothing where Phrases is false: what a user asks in passing is rendered, whatever
// it quotes.
func TestQuotesDemandNothingUnlessAsked(t *testing.T) {
	s := storetest.Init(t, storetest.Env(t.TempDir(), nil))
	id := storetest.Say(t, s, "talk", "user", "The pool of connections was refused.")
	query := find.SearchQuery{Text: `why "connection refused"`, Limit: 5}
	if got := foundIDs(t, s, query); !slices.Equal(got, []format.ID{id}) {
		t.Errorf("%v", got)
	}
	query.Phrases = true
	if got := foundIDs(t, s, query); len(got) > 0 {
		t.Errorf("found without the phrase: %v", got)
	}
}

// A pattern is looked for in order of time, the newest first; grep finds the same messages in the
// order in which they were said.
func TestPatternAndGrep(t *testing.T) {
	s := storetest.Init(t, storetest.Env(t.TempDir(), nil))
	one := storetest.Say(t, s, "a", "user", "port 1\nno\nport 2")
	two := storetest.Say(t, s, "b", "tool", "port 3")
	copied := storetest.Say(t, s, "b", "user", "Port 3!") // the same words
	view := storetest.View(t, s)
	q := find.SearchQuery{Pattern: regexp.MustCompile(`(?i)port \d`), Limit: 9}
	hits := storetest.Must[[]find.Hit](t)(s.Recall.Search(view, q))
	if len(hits) != 2 || hits[0].ID != copied && hits[0].ID != two || hits[0].Copies != 1 ||
		hits[1].ID != one || hits[1].Excerpt != "port 1 no port 2" {
		t.Errorf("hits %+v", hits)
	}
	var lines []string
	grep := func(q find.SearchQuery) []string {
		lines = nil
		if err := s.Recall.Grep(view, q, func(l find.Line) error {
			lines = append(lines,
				fmt.Sprintf("%s:%d:%s", l.Session, l.Number, l.Text[l.At[0]:l.At[1]]))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return lines
	}
	if got := grep(q); !slices.Equal(got,
		[]string{"a:1:port 1", "a:3:port 2", "b:1:port 3", "b:1:Port 3"}) {
		t.Errorf("%q", got)
	}
	q.Role = "tool"
	if got := grep(q); !slices.Equal(got, []string{"b:1:port 3"}) {
		t.Errorf("%q", got)
	}
	q.Session = "nobody"
	if err := s.Recall.Grep(view, q, nil); err == nil {
		t.Error("a session that does not exist is looked through")
	}
}

// A short session about something is before a long one that mentions it now and then.
func TestSessionsAreComparedByLength(t *testing.T) {
	s := storetest.Init(t, storetest.Env(t.TempDir(), nil))
	for i := range 120 {
		storetest.Say(t, s, "long", "user",
			fmt.Sprintf("Round %d of the talk about the garden, the lawn, the hedge and the roof.",
				i))
		if i%40 == 0 {
			storetest.Say(t, s, "long", "user", "The lexer of the parser has a bug, too.")
		}
	}
	best := storetest.Say(t, s, "short", "user",
		"The lexer of the parser has a bug: it loses the last token.")
	storetest.Say(t, s, "short", "user",
		"Then the parser of the lexer is right, and the bug is in the token.")
	hits := storetest.Must[[]find.SessionHit](t)(s.Recall.SearchSessions(storetest.View(t, s),
		find.SearchQuery{Text: "bug in lexer token", Limit: 5}))
	if len(hits) != 2 || hits[0].Best.Session != "short" || hits[0].Best.ID != best ||
		hits[0].Matches != 2 || hits[1].Matches < 3 {
		t.Errorf("%+v", hits)
	}
	if hits[0].Score > 1 || hits[0].Score <= hits[1].Score {
		t.Errorf("scores %v and %v", hits[0].Score, hits[1].Score)
	}
}

// The index of another version is replaced, and kept: the search after the next one finds it again.
func TestIndexOfAnotherVersionIsReplaced(t *testing.T) {
	s := storetest.Init(t, storetest.Env(t.TempDir(), nil))
	for i := range 40 {
		storetest.Say(t, s, "talk", "user", fmt.Sprintf("message %d about ports", i))
	}
	foundIDs(t, s, find.SearchQuery{Text: "ports", Limit: 1})
	view := storetest.View(t, s)
	payload, stamp, ok := s.History.Cache.Load("search")
	if !ok {
		t.Fatal("no index was kept")
	}
	old := slices.Clone(payload)
	old[0]--
	if err := s.History.Cache.Replace("search", stamp, old); err != nil {
		t.Fatal(err)
	}
	again := storetest.Reopen(t, s.Dir, nil)
	if got := storetest.Must[[]find.Hit](t)(
		again.Recall.Search(view, find.SearchQuery{Text: "ports", Limit: 50})); len(got) != 40 {
		t.Errorf("%d hits", len(got))
	}
	if now, _, ok := again.History.Cache.Load("search"); !ok || now[0] != payload[0] {
		t.Error("the index of another version is still there")
	}
}
