package eval

import (
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

func TestHolds(t *testing.T) {
	printed := squeeze(
		"<cluster 12ab> 3 messages\nUse  port &lt;5433&gt;\tfor Staging &amp;\nproduction.\n")
	for s, want := range map[string]bool{"port <5433> for staging & production": true, "PORT": true,
		"5433 for": false, "": true} {
		if holds(printed, s) != want {
			t.Errorf("%q: not %v", s, want)
		}
	}
}

func TestFactsOf(t *testing.T) {
	m := []corpus.Message{{Conversation: "a", Seq: 4, Text: "The port is\n5433."},
		{Conversation: "a", Seq: 9, Text: "ok"}}
	set := Set{Facts: []corpus.Fact{
		{Conversation: "a", Query: "port?", Answer: "port is 5433", Evidence: []int{4}},
		{Conversation: "a", Query: "what else?", Answer: "They agreed.", Evidence: []int{9, 77}},
		{Conversation: "a", Query: "gone?", Answer: "gone", Evidence: []int{77}},
		{Conversation: "b", Query: "other?", Answer: "x", Evidence: []int{4}},
	}}
	got := factsOf(set, m)
	if len(got) != 2 || !got[0].verbatim || got[1].verbatim ||
		!slices.Equal(got[1].evidence, []int{1}) {
		t.Errorf("%+v", got)
	}
}

func TestQuoted(t *testing.T) {
	texts := []string{
		"Well, we could ask the porter for a key. Or not.",
		"Yes.",
		"Nobody has asked for that, I think.",
		"",
		"We could ask",
	}
	printed :=
		"[user ann 2026 12ab]\nwe could ask the porter for a key\nyes\nI think that nobody asked"
	if got := quoted(texts, printed); !slices.Equal(got, []bool{true, true, false, false, false}) {
		t.Errorf("%v", got)
	}
}

func TestHeadTail(t *testing.T) {
	text := strings.Repeat("abcdefgh ", 100) + "日本語"
	for budget := 1; budget < 300; budget += 7 {
		got := headTail(text, budget)
		if n := summarize.Tokens(got); n > budget {
			t.Fatalf("%d tokens of %d", n, budget)
		}
		head, tail, cut := strings.Cut(got, gap)
		if got != text && got != "" &&
			(!cut || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail)) {
			t.Fatalf("budget %d: %q", budget, got)
		}
	}
	if got := headTail(text, 100000); got != text {
		t.Error("a text that fits is cut")
	}
	if got := headTail("abcdefghijklmnopqrstuvwxyz0123456789", 6); got != "abcdefg"+gap+"3456789" {
		t.Errorf("%q", got) // 24 quarters, 10 of them for the gap
	}
}

func TestEnding(t *testing.T) {
	for text, want := range map[string]string{"abcdefghijkl": "efghijkl", "日本語abcdefg": "abcdefg",
		"abcdefgh": "abcdefgh"} {
		if got := ending(text, 2); got != want || summarize.Tokens(got) > 2 {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// Two ways over four facts: the second keeps one that the first does not, and loses two.
func TestRetention(t *testing.T) {
	first := &retained{kept: []bool{true, true, false, true}}
	second := &retained{row: Retention{Way: "x", Prose: 2},
		kept: []bool{true, false, true, false}, evidence: 0.75}
	got := second.result(first)
	if got.N != 4 || got.Kept != 2 || got.Share != 500 || got.Lost != 2 || got.Found != 1 ||
		got.P != 1000 || *got.Evidence != 375 {
		t.Errorf("%+v", got)
	}
}
