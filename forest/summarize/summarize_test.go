package summarize

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/terms"
)

// said makes sources of texts, all by users.
func said(texts ...string) []Source {
	var src []Source
	for i, s := range texts {
		src = append(src,
			Source{Entry: format.Sum([]byte(fmt.Sprint(i))), Seq: uint64(i), Role: "user",
				Author: "ann", Text: s})
	}
	return src
}

func texts(list []Sentence) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.Text
	}
	return out
}

func TestExtractRanks(t *testing.T) {
	src := said(
		"Hello everyone!",
		"Good morning. Sounds good, thanks.",
		"What do you all think about it then?",
		"I was walking around and thinking about the general shape of our plans for quite a while.",
		"The staging database listens on port 5433.",
		"The fix is in internal/lexer/parser.go, where the list is empty.",
	)
	got := texts(Extract(src, 30))
	want := []string{"The staging database listens on port 5433.",
		"The fix is in internal/lexer/parser.go, where the list is empty."}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestExtractToolOutput(t *testing.T) {
	src := said("ok")
	src[0].Role = "tool"
	src[0].Text =
		"$ go test ./...\nok one 0.1s\nok two 0.2s\n--- FAIL: TestParse\npanic: index out of " +
			"range\nexit status 2\n"
	got := strings.Join(texts(Extract(src, 14)), "|")
	for _, want := range []string{"FAIL", "exit status 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

func TestExtractTakesEverythingThatFits(t *testing.T) {
	src := said("One thing is here. Another thing is there.", "One thing is here.", "", "...")
	got := texts(Order(Extract(src, 1000)))
	if want := []string{"Another thing is there.", "One thing is here."}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := Extract(src, 0); len(got) != 0 {
		t.Errorf("no tokens, got %q", got)
	}
	if got := Extract(src, -5); len(got) != 0 {
		t.Errorf("less than no tokens, got %q", got)
	}
	if got := Extract(nil, 100); got != nil {
		t.Errorf("no sources, got %v", got)
	}
}

func TestSentenceFields(t *testing.T) {
	src := said("First here. Second   one\tthere.\nThird line", "Fourth")
	slices.Reverse(src)
	want := []struct {
		seq  uint64
		pos  int
		text string
	}{{0, 0, "First here."}, {0, 1, "Second one there."}, {0, 2, "Third line"}, {1, 0, "Fourth"}}
	got := Order(Extract(src, 100))
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i, s := range got {
		w := want[i]
		if s.Seq != w.seq || s.Pos != w.pos || s.Text != w.text ||
			s.Entry != src[len(src)-1-int(w.seq)].Entry || s.Weight <= 0 {
			t.Errorf("got %+v, want %+v", s, w)
		}
	}
}

// The properties of every extract.
func TestExtractProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 150 {
		src := randomSources(r)
		limit := r.IntN(400)
		list := Extract(src, limit)
		checkExtract(t, src, list, limit)
		shuffled := slices.Clone(src)
		r.Shuffle(len(shuffled),
			func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if !slices.Equal(list, Extract(shuffled, limit)) {
			t.Fatal("order of sources matters")
		}
	}
}

func checkExtract(t *testing.T, src []Source, list []Sentence, limit int) {
	t.Helper()
	var all []string
	byID := map[format.ID]string{}
	for _, s := range src {
		all = append(all, s.Text)
		byID[s.Entry] = strings.Join(strings.Fields(strings.ToValidUTF8(s.Text, "\uFFFD")), " ")
	}
	out, in := strings.Join(texts(list), "\n"), strings.Join(all, "\n")
	if Tokens(out) > max(limit, 0) || Tokens(out) > Tokens(in) || len(out) > len(in) {
		t.Fatalf("%d tokens, %d bytes from %d tokens, %d bytes at a limit of %d", Tokens(out),
			len(out), Tokens(in), len(in), limit)
	}
	seen := map[string]bool{}
	for i, s := range list {
		if seen[s.Text] || s.Text == "" || strings.ContainsAny(s.Text, "\n\r") {
			t.Fatalf("again, empty or not a line: %q", s.Text)
		}
		seen[s.Text] = true
		if !strings.Contains(byID[s.Entry], s.Text) {
			t.Fatalf("%q is not in %q", s.Text, byID[s.Entry])
		}
		if len(strings.Fields(s.Text)) > maxWords {
			t.Fatalf("too long: %q", s.Text)
		}
		if i > 0 &&
			(list[i-1].Weight < s.Weight || list[i-1].Weight == s.Weight && list[i-1].Seq > s.Seq) {
			t.Fatalf("not in order: %v", list)
		}
	}
}

func randomSources(r *rand.Rand) []Source {
	words := strings.Fields(
		"the deploy failed. Port 5433 is src/a.go! ok thanks? 漢字。 why parseList() 16.2 and " +
			"seconds Berlin ```\n $ \xff …")
	var list []string
	for range r.IntN(30) {
		var b strings.Builder
		for range r.IntN(120) {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(" \n   "[r.IntN(5)])
		}
		list = append(list, b.String())
	}
	src := said(list...)
	for i := range src {
		src[i].Role = []string{"user", "model", "tool"}[r.IntN(3)]
	}
	return src
}

// A prefix of a list is the extract of its length, so a list can be cut later.
func TestBeginningsAreExtracts(t *testing.T) {
	src := said("The build takes 14 minutes. Berlin hosts it.",
		"The cache lives in /var/cache/ctx.", "Use version 1.22 of the linter.")
	list := Extract(src, 1000)
	for n := range list {
		some := texts(list[:n])
		if got := texts(Extract(src, Tokens(strings.Join(some, "\n"))+1)); n > 0 &&
			got[0] != some[0] {
			t.Errorf("%d: got %q, want %q first", n, got, some)
		}
	}
}

func TestBoundedWork(t *testing.T) {
	var many []string
	for i := range 3 * maxSentences / 1000 {
		var b strings.Builder
		for k := range 1000 {
			fmt.Fprintf(&b, "s%dx%d.\n", i, k)
		}
		many = append(many, b.String())
	}
	list := gather(said(many...))
	if len(list) != maxSentences || list[0].text != "s0x0." ||
		list[len(list)-1].text != "s59x999." {
		t.Errorf("%d sentences, from %q to %q", len(list), list[0].text, list[len(list)-1].text)
	}
	// Each takes minutes if anything is quadratic
	for _, s := range []string{".", "ok ", "a.", "(", "漢", "x ", "?! ", "e.g. "} {
		Extract(said(strings.Repeat(s, maxText)), 1000)
	}
}

func TestNods(t *testing.T) {
	for text, want := range map[string]bool{
		"Hello everyone!": true, "Sounds good, thanks": true, "ok": true, "good good good": true,
		"Good port": false, "run it all again": false, "good good 5433": false,
		"makes sense in parser.go": false,
	} {
		if _, got := looks(new(terms.Scanner), nil, text,
			func(h uint64) int32 { return int32(h) }); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// BenchmarkExtract extracts from a cluster with the largest number of sentences that are read.
func BenchmarkExtract(b *testing.B) {
	words := strings.Fields(
		"deploy failed port 5433 src/a.go review cluster parseList 16.2 seconds Berlin token " +
			"list window merge branch")
	r := rand.New(rand.NewPCG(9, 9))
	var list []string
	for i := range maxSentences / 4 {
		var t strings.Builder
		for range 4 {
			for range 12 {
				t.WriteString(words[r.IntN(len(words))] + " ")
			}
			fmt.Fprintf(&t, "w%d. ", i)
		}
		list = append(list, t.String())
	}
	src := said(list...)
	b.ReportAllocs()
	for b.Loop() {
		Extract(src, 20_000)
	}
}

// What is about the focus comes first, within a third of the room, and a pool keeps it there.
func TestExtractOn(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("Port 54%02d is taken by server%d.example.com today.", i, i))
	}
	lines[17] = "We walked about the harbour and somebody talked of the lighthouse."
	lines[40] = "Paint the lighthouse white before the harbour closes."
	src := said(lines...)
	for _, c := range []struct {
		focus string
		first []string
	}{
		{"", nil},
		{"the of", nil},
		{"zeppelins", nil},
		{"lighthouse", []string{lines[40], lines[17]}},
		{"Harbour and zeppelins", []string{lines[40], lines[17]}},
		{"paint the lighthouse", []string{lines[40], lines[17]}},
	} {
		list := ExtractOn(src, 200, c.focus)
		n := 0
		for n < len(list) && list[n].IsOnFocus() {
			n++
		}
		if got := texts(list[:n]); !slices.Equal(got, c.first) {
			t.Errorf("%q: %q comes first, not %q", c.focus, got, c.first)
		}
		if c.first == nil && !slices.Equal(list, Extract(src, 200)) {
			t.Errorf("%q: another list than without a focus", c.focus)
		}
		if got := all(NewPool([][]Sentence{list}, 1000, 200))[:n]; !slices.Equal(got, c.first) {
			t.Errorf("%q: a pool begins with %q", c.focus, got)
		}
	}
	on := 0
	list := ExtractOn(src, 200, "port today")
	for i := range list {
		if list[i].IsOnFocus() {
			on += Tokens(list[i].Text)
		}
	}
	if on == 0 || on > 200/urgentShare {
		t.Errorf("a focus on everything takes %d of 200 tokens", on)
	}
}
