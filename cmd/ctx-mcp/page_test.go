package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
)

// read follows the cursors of a tool to the end. It holds every page to its budget, and returns the
// texts of entries put together again.
func read(
	t *testing.T, c *mcp.ClientSession, tool string, args object, between func(pages int),
) (ids, texts []string, pages int) {
	t.Helper()
	args = maps.Clone(args)
	most := defaultTokens
	if n, ok := args["max_tokens"].(int); ok {
		most = n
	}
	for {
		text := answer(t, c, tool, args)
		if n := summarize.Tokens(text); n > most {
			t.Fatalf("%s %v: %d tokens, %d is the most", tool, args, n, most)
		}
		var r result
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		items := append(r.Entries, r.Hits...)
		if len(items) == 0 {
			t.Fatalf("%s %v: an empty page: %s", tool, args, text)
		}
		for _, e := range items {
			shown := e.Text
			if e.Cut != nil && e.Cut.From > 0 {
				last := len(ids) - 1
				if ids[last] != e.ID || len(texts[last]) != e.Cut.From {
					t.Fatalf("%s: a piece of %s from %d after %d bytes of %s", tool, e.ID,
						e.Cut.From, len(texts[last]), ids[last])
				}
				texts[last] += shown
				continue
			}
			ids, texts = append(ids, e.ID), append(texts, shown)
		}
		if pages++; r.Next == "" {
			return ids, texts, pages
		}
		if pages > 10_000 {
			t.Fatal("no end")
		}
		args["cursor"] = r.Next
		if between != nil {
			between(pages)
		}
	}
}

// long is a text that costs far more than a page, of all widths, and of what JSON escapes.
func long(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(
			[]string{"plain words ", "\"quoted\" \\ ", "línea ", "漢字", "🙂", "\n\t", "<tag>&amp;",
				"\u2028"}[r.IntN(8)])
	}
	return b.String()
}

// Everything that was said comes back word for word over pages of any size, whatever the order.
func TestPagesHaveAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	dir, s := newStore(t)
	var want []string
	for i := range 40 {
		text := long(r, 1+r.IntN(800))
		if i%13 == 5 {
			text = long(r, 20_000)
		}
		want = append(want, text)
		say(t, s, "work", []string{"user", "model"}[i%2], text)
	}
	c := connect(t, dir)
	for _, size := range []int{leastTokens, 1777, mostTokens} {
		ids, texts, pages := read(t, c, "read_past_messages", object{"session": "work", "max_tokens": size}, nil)
		same(t, texts, want)
		if pages < 2 {
			t.Errorf("%d pages of %d tokens", pages, size)
		}
		backwards, _, _ := read(t, c, "read_past_messages",
			object{"session": "work", "max_tokens": size, "reverse": true}, nil)
		for i, id := range ids {
			if backwards[len(ids)-1-i] != id {
				t.Fatalf("reverse: %d differs", i)
			}
		}
		_, texts, _ = read(t, c, "read_past_messages", object{"max_tokens": size, "limit": 7}, nil)
		same(t, texts, want[len(want)-7:])
	}
	// What is in clusters, by their ids, and what waits, are all.
	all := map[string]int{}
	for _, id := range clustersOf(t, c) {
		_, texts, _ := read(t, c, "read_past_messages",
			object{"id": id, "max_tokens": leastTokens}, nil)
		for _, text := range texts {
			all[text]++
		}
	}
	view, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	tip, err := history.Tip(view, "work", history.MainBranch)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range want {
		if in := uint64(i) < tip.Frontier; in && all[text] == 0 {
			t.Errorf("message %d is in no cluster", i)
		}
	}
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d texts, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("text %d: %.80q, want %.80q", i, got[i], want[i])
		}
	}
}

// A list that is read while the store changes is the list as it was when it was begun; search says
// that it cannot hold to that.
func TestPagesWhileStoreChanges(t *testing.T) {
	dir, s := newStore(t)
	talk(t, s, "work", 120)
	c := connect(t, dir)
	more := func(int) { say(t, s, "work", "user", "and another thing about the postgres port") }
	before, _, _ := read(t, c, "read_past_messages", object{"max_tokens": leastTokens * 9}, nil)
	after, _, pages := read(t, c, "read_past_messages", object{"max_tokens": leastTokens}, more)
	same(t, after, before)
	if pages < 3 {
		t.Fatalf("%d pages", pages)
	}
	first := listOf(t, c, "search_past_sessions",
		object{"query": "postgres port", "limit": 80, "max_tokens": leastTokens})
	if first.Next == "" || first.Changed {
		t.Fatalf("search: next %q, changed %v", first.Next, first.Changed)
	}
	second := listOf(t, c, "search_past_sessions",
		object{"query": "postgres port", "limit": 80, "max_tokens": leastTokens,
			"cursor": first.Next})
	if second.Changed || len(second.Hits) == 0 || second.Hits[0].ID == first.Hits[0].ID {
		t.Errorf("search: changed %v, %d hits", second.Changed, len(second.Hits))
	}
	more(0)
	if again := listOf(t, c, "search_past_sessions",
		object{"query": "postgres port", "limit": 80, "max_tokens": leastTokens,
			"cursor": first.Next}); !again.Changed {
		t.Error("search: the store has changed, and nothing says so")
	}
}

// A text that has got other words while it was read in pieces is begun anew.
func TestPieceOfOtherWords(t *testing.T) {
	dir, s := newStore(t)
	source := func(text string) conversation.Message {
		return conversation.Message{Role: "user", Text: text,
			Source: &conversation.Source{Agent: "test", Session: "work", Message: "m-1"}}
	}
	put := func(text string) string {
		done, _, err := s.Conversation.Append(context.Background(), "work", history.MainBranch,
			[]conversation.Message{source(text)}, conversation.AppendOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return done[0].ID.String()
	}
	id := put(strings.Repeat("old words ", 2000))
	c := connect(t, dir)
	args := object{"id": id, "max_tokens": leastTokens}
	first := listOf(t, c, "read_past_messages", args)
	args["cursor"] = first.Next
	if piece := listOf(t, c, "read_past_messages", args).Entries[0]; piece.Cut == nil ||
		piece.Cut.From != first.Entries[0].Cut.To {
		t.Fatalf("the second piece: %+v", piece.Cut)
	}
	put(strings.Repeat("new words ", 2000))
	if piece := listOf(t, c, "read_past_messages", args).Entries[0]; piece.Cut == nil ||
		piece.Cut.From != 0 ||
		!strings.HasPrefix(piece.Text, "new") {
		t.Errorf("after the amendment: %+v", piece.Cut)
	}
}

// prefix never promises more than fits, and wastes nothing.
func TestPrefix(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		s := long(r, r.IntN(200))
		room := r.IntN(300)
		n := prefix(s, room)
		cost := func(n int) int {
			b, err := document.Marshal(s[:n])
			if err != nil {
				t.Fatal(err)
			}
			return quarters(b) - 2 // quotes
		}
		if !utf8.ValidString(s[:n]) || cost(n) > room {
			t.Fatalf("%q in %d: %d bytes cost %d", s, room, n, cost(n))
		}
		if n < len(s) {
			_, size := utf8.DecodeRuneInString(s[n:])
			if cost(n+size) <= room {
				t.Fatalf("%q in %d: stops at %d", s, room, n)
			}
		}
	}
}

// A search without a limit gives the hits that have all words, five at least: the others follow on
// the next page, and commands that only look for the words come last.
func TestSearchEndsWhereItAnswers(t *testing.T) {
	dir, s := newStore(t)
	for i := range 4 {
		say(t, s, "work", "model", fmt.Sprintf("the lamp oil is in jar %d", i))
		say(t, s, "work", "model", fmt.Sprintf("the lamp stands at window %d", i))
	}
	parts := `[{"functionCall":{"id":"1","name":"Bash","args":{"command":"grep -rn 'lamp oil' ."}}}]`
	if _, _, err := s.Conversation.Append(context.Background(), "work", history.MainBranch,
		[]conversation.Message{{Role: "model", Parts: []byte(parts)}},
		conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	c := connect(t, dir)
	first := listOf(t, c, "search_past_sessions", object{"query": "lamp oil"})
	if n := len(first.Hits); n != enoughHits || first.Next == "" {
		t.Fatalf("%d hits, next %q", n, first.Next)
	}
	for i, h := range first.Hits {
		if full := len(h.Without) == 0; full != (i < 4) {
			t.Errorf("hit %d lacks %q", i, h.Without)
		}
	}
	rest := listOf(t, c, "search_past_sessions", object{"query": "lamp oil", "cursor": first.Next})
	if n := len(rest.Hits); n != 4 || !strings.Contains(rest.Hits[n-1].Text, "grep") {
		t.Errorf("then: %+v", rest.Hits)
	}
	all := listOf(t, c, "search_past_sessions", object{"query": "lamp oil", "limit": 20})
	if len(all.Hits) != 9 {
		t.Errorf("with a limit: %d hits", len(all.Hits))
	}
}
