package summarize

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// all takes everything from a pool.
func all(p *Pool) (out []string) {
	for {
		k, ok := p.Next()
		if !ok {
			return out
		}
		p.Take(k)
		out = append(out, k.Text)
	}
}

// A sentence of one list is worth little in a second list that says the same. What is rare in its
// list may be common in the forest.
func TestPoolRanksAcrossLists(t *testing.T) {
	list := func(seq int, texts ...string) []Sentence {
		var out []Sentence
		for i, s := range texts {
			out = append(out,
				Sentence{Entry: format.Sum([]byte(s)), Seq: uint64(seq + i), Role: "user",
					Weight: 1, Text: s})
		}
		return out
	}
	lists := [][]Sentence{
		list(0, "The deploy went to cluster seven.", "The port is 5433."),
		list(10, "The deploy went to cluster seven.", "Use sqlglot 23.1."),
		list(20, "The deploy is over.", "Ask Ingrid about deploy keys."),
	}
	got := all(NewPool(lists, 1000, 100))
	if n := len(got); n != 5 || !slices.Contains(got[:2], "The port is 5433.") ||
		!slices.Contains(got[:2], "Use sqlglot 23.1.") || got[n-1] != "The deploy is over." {
		t.Errorf("got %q", got)
	}
}

// What is said elsewhere is not offered, and its terms are worth less.
func TestPoolSaid(t *testing.T) {
	src := said("The port is 5433.", "The port was chosen by Ingrid.", "Use sqlglot 23.1.")
	list := Extract(src, 100)
	p := NewPool([][]Sentence{list}, 1000, 100)
	p.Said(func(entry format.ID, text string) bool {
		return entry == src[0].Entry && text == "The port is 5433."
	})
	if got := all(p); slices.Contains(got, "The port is 5433.") || len(got) != 2 {
		t.Errorf("got %q", got)
	}
}

// For all lists: nothing is offered twice, the best value never rises, the order and the number of
// lists do not change what is taken, and of many sentences only a part is examined.
func TestPoolProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		var lists [][]Sentence
		var union []Sentence
		for i := range 1 + r.IntN(6) {
			src := randomSources(r)
			for k := range src {
				src[k].Entry, src[k].Seq = format.Sum(fmt.Append(nil, i, k)), uint64(100*i+k)
			}
			l := Extract(src, 1+r.IntN(500))
			lists, union = append(lists, l), append(union, l...)
		}
		want := all(NewPool(lists, 1<<20, 200))
		seen := map[string]bool{}
		for _, s := range want {
			if seen[s] {
				t.Fatalf("%q twice", s)
			}
			seen[s] = true
		}
		if got := all(NewPool([][]Sentence{union}, 1<<20, 200)); !slices.Equal(got, want) {
			t.Fatalf("one list: %q\nmany: %q", got, want)
		}
		if few := all(NewPool(lists, 50, 200)); Tokens(strings.Join(few, "\n")) > 50+
			len(lists)*(4*maxRunes/4+1) {
			t.Fatalf("%d tokens of 50", Tokens(strings.Join(few, "\n")))
		}
	}
}

func TestPassages(t *testing.T) {
	long := strings.Repeat("It goes on and on about nothing in particular. ", 12)
	found := []Found{
		{Entry: format.Sum([]byte("a")), Role: "user",
			Text: long + "The import runs every night. It starts at 02:20. " + long, Score: 9},
		{Entry: format.Sum([]byte("b")), Role: "user",
			Text: "The import of Norway is slow.", Score: 7},
		{Entry: format.Sum([]byte("c")), Role: "tool",
			Text: "$ crontab -l\n20 2 * * * /usr/bin/import\n" +
				strings.Repeat("line of output\n", 60), Score: 3},
	}
	got := Passages("When does the nightly import run?", found, QuoteTalk)
	rank := func(part string) int {
		return slices.IndexFunc(got, func(p Passage) bool { return strings.Contains(p.Text, part) })
	}
	if rank("every night") > 2 || rank("02:20") > 3 || rank("Norway") > 3 ||
		got[rank("Norway")].Text != found[1].Text || !got[rank("Norway")].Whole {
		t.Errorf("got %+v", got[:5])
	}
	if rank("/usr/bin/import") < 0 || rank("/usr/bin/import") > rank("line of output") {
		t.Error("output is not read line by line")
	}
	if Passages("x", nil, QuoteTalk) != nil {
		t.Error("passages of nothing")
	}
	if n := len(Passages("", found, QuoteTalk)); n != len(got) {
		t.Errorf("%d passages without a question", n)
	}
}

func TestDecodeSome(t *testing.T) {
	list := []Sentence{{Role: "user", Text: "one"}, {Role: "model", Pos: 1, Text: "two"},
		{Role: "user", Pos: 2, Text: "three"}}
	b := Encode(list)
	for most, want := range []int{0, 1, 1, 1, 2, 2, 2, 3} {
		got, unread, err := DecodeSome(b, most)
		if err != nil || len(got) != want || unread != len(list)-want ||
			!slices.Equal(got, list[:want:want]) && want > 0 {
			t.Errorf("%d bytes: %v and %d more, %v", most, got, unread, err)
		}
	}
	if got, unread, err := DecodeSome(Encode(nil), 0); got != nil || unread != 0 || err != nil {
		t.Errorf("empty: %v, %d, %v", got, unread, err)
	}
}

// BenchmarkPool ranks the largest number of sentences that a rendering examines, from a hundred
// clusters, and takes a tenth.
func BenchmarkPool(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 9))
	words := strings.Fields(
		"deploy failed port 5433 src/a.go review cluster parseList 16.2 seconds Berlin token " +
			"list window merge branch")
	lists := make([][]Sentence, 100)
	for i := range lists {
		for k := range 2000 {
			var t strings.Builder
			for range 4 {
				t.WriteString(words[r.IntN(len(words))] + " ")
			}
			fmt.Fprintf(&t, "w%d.", r.IntN(5000))
			lists[i] = append(lists[i],
				Sentence{Entry: format.Sum(fmt.Append(nil, i, k)), Seq: uint64(k), Role: "user",
					Text: t.String()})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		p := NewPool(lists, 48_000, 4_000)
		for left := 4_000; left > 0; {
			k, ok := p.Next()
			if !ok {
				break
			}
			p.Take(k)
			left -= Tokens(k.Text) + 1
		}
	}
}
