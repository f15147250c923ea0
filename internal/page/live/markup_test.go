package live

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/page"
)

// tag is any markup that the package writes.
var tag = regexp.MustCompile(`</?[a-z][a-z0-9]*( [a-z-]+(=("[^"<>]*"|[^"'<>\s=]+))?)*>`)

// textContent is what a browser takes as the text of markup.
func textContent(b []byte) string {
	return html.UnescapeString(tag.ReplaceAllString(string(b), ""))
}

// piecesOf returns the words of a message as a page has them.
func piecesOf(list ...page.Piece) []byte {
	w := &sheet{t: templates()}
	it := item{Item: &page.Item{ID: strings.Repeat("0", 64), Pieces: list}}
	w.message(&it)
	b := w.execute("pieces", it.Pieces)
	if w.err != nil {
		panic(w.err)
	}
	return b
}

// checkMarkup fails where the text content of markup is not text, or has a sign that could be read
// as markup.
func checkMarkup(t *testing.T, b []byte, text string) {
	t.Helper()
	if got := textContent(b); got != text {
		t.Fatalf("text content %q, not %q, of\n%s", got, text, b)
	}
	rest := tag.ReplaceAllString(string(b), "")
	if i := strings.IndexAny(rest, `<>`); i >= 0 {
		t.Fatalf("%q is not escaped: %q", rest[i], rest)
	}
	for _, m := range tag.FindAllString(string(b), -1) {
		name := strings.FieldsFunc(m,
			func(r rune) bool { return strings.ContainsRune("</ >", r) })[0]
		if !strings.Contains(
			" a article b bdi code del details div h3 i ins mark p q s small span summary time u ",
			" "+name+" ") {
			t.Fatalf("element %s", m)
		}
		if strings.Contains(m, " on") && regexp.MustCompile(`^<[^"]* on[a-z]+=`).MatchString(m) {
			t.Fatalf("a handler: %s", m)
		}
	}
}

// shownText is what a page shows of a text: what sanitizing lets through stays as it is.
func shownText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, s)
}

var hostile = []string{
	"", "plain", "<script>x</script>", "</script>", "<!--", "-->", "<![CDATA[", `" onload="x`,
	"' onload='x", "&lt;", "&#60;", "&amp;amp;", "a\r\nb\rc",
	"\u202e\u2066x\u2069\u200f\u061c", "\x1b[31m\a\x00", "\u0085", "[REDACTED:token]",
	"[REDACTED:<b>]", "[REDACTED:", "`a` **b** `` ** *",
	"# head\n## <i>\n", "```go\n+x\n-y\n</code>\n```\nafter", "```\nnever closed",
	"@@ -1 +1 @@\n+<a>\n-<b>\n c\n--- a\n+++ b", "é 漢字 🙂",
	"**<b>**`</code>`", "\n\nleading", "trailing\n",
}

func TestProse(t *testing.T) {
	for _, s := range hostile {
		checkMarkup(t, appendProse(nil, s), shownText(s))
		checkMarkup(t, appendLines(nil, s), shownText(s))
	}
}

func FuzzProse(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // sanitizing repairs it first
		}
		checkMarkup(t, appendProse(nil, s), shownText(s))
		checkMarkup(t, appendLines(nil, s), shownText(s))
		checkMarkup(t, appendText(nil, s), shownText(s))
	})
}

func TestArgs(t *testing.T) {
	for _, s := range []string{
		`{}`, `{"a":1}`, `{"file_path":"a.go","old_string":"x\ny","new_string":"<b>\t\"q\""}`,
		`{"a":{"b":[1,"}"]},"c":null}`, `[1]`, `"x"`, `{"a":1`,
		`{"a":"\\"}`, `{"a":"\\n\n"}`, `{"</s>":"</p>"}`, `{"a":1}x`, `{"a" :1}`, `{a:1}`, `{"a":}`,
		`{"input":"*** Begin Patch\n+x\n-y\n z"}`, `{"a":"",}`,
	} {
		p := page.Piece{Kind: page.PieceCall, Tool: "edit", Text: "[call edit] " + s}
		checkMarkup(t, piecesOf(p), p.Text)
	}
	got := string(appendArgs(nil, "", `{"path":"a","old_string":"x\ny"}`))
	if !strings.Contains(got, "<p class=del>") || !strings.Contains(got, "<b>path</b>") ||
		!strings.Contains(got, `<q>\n</q>`) {
		t.Errorf("arguments are not laid out: %s", got)
	}
}

func FuzzArgs(f *testing.F) {
	f.Add("edit", `{"a":"b\n","c":[1]}`)
	f.Fuzz(func(t *testing.T, tool, s string) {
		if !utf8.ValidString(s) || !utf8.ValidString(tool) {
			return
		}
		p := page.Piece{Kind: page.PieceCall, Tool: tool, Text: "[call " + tool + "] " + s}
		checkMarkup(t, piecesOf(p, page.Piece{Kind: page.PieceText, Text: s}),
			shownText(p.Text)+"\n"+shownText(s))
	})
}

// sample is a session with markup in every field.
func sample(n int) *page.Session {
	bad := `</script><script>x</script><!--" onload='x`
	s := &page.Session{
		Name: bad, Branch: bad, Title: bad, Agent: bad, Store: bad, Left: map[string]int{bad: 2},
		Told: []page.Told{{Key: bad, Text: bad}}, Entries: "AAAA",
		Seen:  []page.Seen{{Tip: 1, Through: 1, Pin: bad + "00000000", Verb: bad}},
		Marks: []page.Mark{{Seq: 1, Kind: "leave", Text: bad}},
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range n {
		it := page.Item{
			ID: fmt.Sprintf("%064x", i+1), Kind: "message", Role: "user", Author: bad, Time: at,
			Seq: uint64(i + 1), Note: bad, Tokens: 9,
			Pieces: []page.Piece{{Kind: page.PieceText, Text: bad},
				{Kind: page.PieceCall, Tool: bad, File: bad, Text: "[call " + bad + "] {}"}},
			Aside: []string{bad},
		}
		it.ID = it.ID[52:] + it.ID[:52]
		s.Turns = append(s.Turns, page.Turn{Items: []page.Item{it}})
		s.Messages++
	}
	from := s.Turns[0].Items[0].ID
	s.Clusters = []page.Cluster{{
		ID: from, Label: bad, State: "live", Count: n, First: at, Last: at,
		Members: []page.Ref{{ID: from, Seq: 1}},
		Summaries: []page.Summary{{ID: from, By: bad,
			Sentences: []page.Sentence{{From: from, Text: bad}, {Text: bad}}}},
	}}
	return s
}

func pagesOf(t *testing.T, s *page.Session, most int, first string) ([][]byte, bool) {
	t.Helper()
	pages, embedded, err := Pages(s, most, first)
	if err != nil {
		t.Fatal(err)
	}
	return pages, embedded
}

func TestSessionEscapes(t *testing.T) {
	pages, embedded := pagesOf(t, sample(3), 0, "x")
	if len(pages) != 1 || !embedded {
		t.Fatalf("%d pages, embedded %v", len(pages), embedded)
	}
	p := string(pages[0])
	for _, sign := range []string{"<script>x", "<!--", `" onload`, "' onload", "onload='"} {
		if strings.Contains(p, sign) {
			t.Errorf("the page has %q", sign)
		}
	}
	if n := strings.Count(p, "<script"); n != 3 {
		t.Errorf("%d scripts: the page has one, what was seen, and the entries", n)
	}
	again, _ := pagesOf(t, sample(3), 0, "x")
	if p != string(again[0]) {
		t.Error("not the same bytes twice")
	}
}

func TestPages(t *testing.T) {
	const most = 64 << 10
	pages, _ := pagesOf(t, sample(400), most, "a b.html")
	if len(pages) < 3 {
		t.Fatalf("%d pages", len(pages))
	}
	messages := 0
	for i, p := range pages {
		if len(p) > most {
			t.Errorf("page %d has %d bytes", i+1, len(p))
		}
		messages += strings.Count(string(p), "<article ")
	}
	if messages != 400 {
		t.Errorf("%d messages on all pages", messages)
	}
	if !strings.Contains(string(pages[0]), `href="./a%20b-2.html"`) {
		t.Error("the first page does not lead to the second")
	}
}

func TestProjectEscapes(t *testing.T) {
	bad := `</script><script>x</script>"'`
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := page.Project{Name: bad, Store: bad, Days: []page.Day{{Day: "2026-01-02", Messages: 3}},
		Files: []page.FileRow{{Name: bad, Last: at}}, Sessions: []page.SessionRow{{
			Name: bad, Title: bad, Agent: bad, Git: bad, Href: bad,
			Lines: []page.Line{{Section: "wanted", Text: bad}},
		}}}
	b, err := Project(&p)
	if err != nil {
		t.Fatal(err)
	}
	if b := string(b); strings.Contains(b, "<script>x") || strings.Count(b, "<script") != 1 {
		t.Errorf("markup got through:\n%s", b)
	}
}
