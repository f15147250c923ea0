// Pages writes pages of HTML: a conversation with its forest, and the sessions of a project. It
// takes values and returns bytes, by the templates in pages.html, which escape every text. What
// people and models said goes through appendText, so that the text content of a page is exactly the
// words. The same value gives the same bytes.

package live

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the templates, the style and the scripts
	"encoding/base64"
	"encoding/hex"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/page"
)

//go:embed pages.html
var source string

//go:embed page.css
var style string

//go:embed page.js
var script string

// templates parses the templates of pages. The end of a line is a space inside a tag, and nothing
// elsewhere.
func templates() *template.Template {
	var joined strings.Builder
	for line := range strings.Lines(source) {
		joined.WriteString(strings.TrimSpace(line))
		if strings.LastIndexByte(line, '<') > strings.LastIndexByte(line, '>') {
			joined.WriteByte(' ')
		}
	}
	t := template.New("pages").Funcs(template.FuncMap{
		"anchor": page.Anchor, "count": page.Count, "thousands": page.Thousands, "file": file,
		"text":   func(s string) template.HTML { return template.HTML(appendText(nil, s)) },
		"name":   func(s string) template.HTML { return template.HTML(appendName(nil, s)) },
		"inline": func(s string) template.HTML { return template.HTML(appendInline(nil, s)) },
		"prose":  func(s string) template.HTML { return template.HTML(appendProse(nil, s)) },
		"head": func(s string) string { // no mark shows there what reorders it
			return strings.Map(func(r rune) rune {
				if reorders(r) {
					return -1
				}
				return r
			}, s)
		},
		"minute": func(t time.Time) string { return t.UTC().Format(page.Minute) },
		"day":    day,
		"days":   days,
		"inc":    func(n int) int { return n + 1 },
		"sub":    func(a, b int) int { return a - b },
		"sum":    sum,
		"state":  func(s string) string { return strings.ReplaceAll(s, ",", "") },
		"policy": func(live bool) template.HTMLAttr {
			return template.HTMLAttr(`content="` + Policy(live) + `"`)
		},
		"style":  func() template.HTML { return template.HTML("<style>" + style + "</style>") },
		"script": func() template.HTML { return inScript(script) },
		"watch":  func() template.HTML { return inScript(liveScript) },
		"entries": func(s string) template.HTML {
			return template.HTML(page.EntriesOpen + s + page.EntriesClose)
		},
	})
	return template.Must(t.Parse(joined.String()))
}

func inScript(s string) template.HTML { return template.HTML("<script>" + s + "</script>\n") }

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func days(first, last time.Time) string {
	if day(first) == day(last) {
		return day(first)
	}
	return day(first) + " to " + day(last)
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// file returns the address of a file beside the page.
func file(name string) template.URL { return template.URL("./" + url.PathEscape(name)) }

// sheet is a page of a session while it is written, and what its templates read.
type sheet struct {
	*page.Session
	N, Of    int // the number of this page, from 0, and of all
	Embedded bool
	t        *template.Template
	err      error
	first    string         // file of the first page
	pages    []int          // by turn
	at       map[string]int // page of a message, by its anchor
	cited    map[string]bool
	today    string // of the message before
}

// Pages returns the pages of a session: one, or several of at most most bytes each if most is not
// 0. first is the name of the file of the first page. A page has at least one turn, so it may be
// larger. The entries are left out if they do not fit on the last page; embedded says so.
func Pages(s *page.Session, most int, first string) (pages [][]byte, embedded bool, err error) {
	w := &sheet{Session: s, t: templates(), first: first, at: map[string]int{},
		cited: map[string]bool{}, pages: make([]int, len(s.Turns)), Of: 1}
	for _, c := range s.Clusters {
		for _, sum := range c.Summaries {
			for _, sentence := range sum.Sentences {
				w.cited[sentence.From] = true
			}
		}
	}
	turns := make([][]byte, len(s.Turns))
	for i := range s.Turns {
		turns[i] = w.execute("turn", w.turn(&s.Turns[i]))
	}
	if most > 0 {
		w.split(turns, most)
	}
	for w.N = range w.Of {
		b := w.execute("head", w)
		for i, t := range turns {
			if w.pages[i] == w.N {
				b = append(b, t...)
			}
		}
		w.Embedded = w.N == w.Of-1 && s.Entries != "" &&
			(most == 0 || len(b)+len(s.Entries)+len(script)+frame <= most)
		pages = append(pages, append(b, w.execute("tail", w)...))
	}
	return pages, w.Embedded, w.err
}

// frame is how many bytes of a page are neither turns, nor style, nor script, but for the forest
// and the time line.
const frame = 4096

// split distributes turns over pages. The first page has the forest.
func (w *sheet) split(turns [][]byte, most int) {
	rest := len(style) + len(script) + frame
	used := rest + len(w.execute("line", w)) + len(w.execute("forest", w))
	for i, t := range turns {
		if used+len(t) > most && used > rest {
			w.Of++
			used = rest
		}
		used += len(t)
		w.pages[i] = w.Of - 1
		for _, it := range w.Turns[i].Items {
			w.at[page.Anchor(it.ID)] = w.Of - 1
		}
	}
}

func (w *sheet) execute(name string, data any) []byte {
	var b bytes.Buffer
	w.err = cmp.Or(w.err, w.t.ExecuteTemplate(&b, name, data))
	return b.Bytes()
}

// FirstSeq returns the number of the first message on the page.
func (w *sheet) FirstSeq() uint64 {
	for i, t := range w.Turns {
		for _, it := range t.Items {
			if w.pages[i] == w.N && it.Kind == format.KindMessage {
				return it.Seq
			}
		}
	}
	return 1
}

// File returns the name of the file of page n.
func (w *sheet) File(n int) string { return page.NthName(w.first, n) }

// Href returns the address of a message.
func (w *sheet) Href(id string) template.URL {
	id = page.Anchor(id)
	if n, ok := w.at[id]; ok && n != w.N {
		return file(w.File(n)) + template.URL("#"+id)
	}
	return template.URL("#" + id)
}

// Wide returns the width of the picture of a cluster with so many messages of the branch, of 100.
func (w *sheet) Wide(members int) int {
	most := 1
	for i := range w.Clusters {
		most = max(most, len(w.Clusters[i].Members))
	}
	return max(1, 100*members/most)
}

// Runs returns the first and the last of each run of messages that follow each other.
func (w *sheet) Runs(list []page.Ref) (runs [][]page.Ref) {
	for i, m := range list {
		switch last := len(runs) - 1; {
		case i == 0 || m.Seq != list[i-1].Seq+1:
			runs = append(runs, []page.Ref{m})
		default:
			runs[last] = append(runs[last][:1:1], m)
		}
	}
	return runs
}

// part is a part of a turn as its template reads it.
type part struct {
	*page.Part
	Items []item
}

// item is a message or an event as its template reads it.
type item struct {
	*page.Item
	Class, Who, When string
	// Proof is what a click on a sentence shows of its source beside the words: the rest of its id,
	// and its digest, as base64url. It is "" where no sentence leads to.
	Proof  string
	Pieces []piece
	Left   []item
}

type piece struct {
	page.Piece
	Class string
	Long  bool // it scrolls, so the keyboard has to reach it
	HTML  template.HTML
}

func (w *sheet) turn(t *page.Turn) []part {
	return lists.Map(t.Parts(), func(p page.Part) part { return part{&p, w.items(p.Items)} })
}

func (w *sheet) items(list []page.Item) (out []item) {
	for i := range list {
		it := &list[i]
		one := item{Item: it, Left: w.items(it.Left)}
		if it.Kind == format.KindMessage {
			w.message(&one)
		}
		out = append(out, one)
	}
	return out
}

// message fills in what an item has that is a message.
func (w *sheet) message(it *item) {
	it.Class = "other" // roles are of a closed set
	if slices.Contains([]string{"user", "model", "tool", "system"}, it.Role) {
		it.Class = it.Role
	}
	it.Who = cmp.Or(it.Author, it.Class)
	switch {
	case it.Hole != "":
		it.Class += " hole"
	case it.Failed:
		it.Class += " bad"
	}
	if today := day(it.Time); it.Time.IsZero() {
	} else if it.When = it.Time.UTC().Format("15:04"); today != w.today {
		w.today, it.When = today, today+" "+it.When
	}
	if w.cited[it.ID] && it.Digest != "" {
		raw, _ := hex.DecodeString(strings.TrimPrefix(it.ID, page.Anchor(it.ID)) + it.Digest)
		it.Proof = base64.RawURLEncoding.EncodeToString(raw)
	}
	for _, p := range it.Item.Pieces {
		it.Pieces = append(it.Pieces, pieceOf(p))
	}
	if len(it.Pieces) == 1 {
		it.Pieces[0].Class = "w " + it.Pieces[0].Class
	}
}

// longPiece is from how many bytes on a result is shown in a box that scrolls.
const longPiece = 1200

// pieceOf returns a part of the words of a message. Its text content is exactly the words: what
// makes them readable is markup around them.
func pieceOf(p page.Piece) piece {
	out := piece{Piece: p, Class: p.Kind, Long: len(p.Text) > longPiece && p.Kind != page.PieceText}
	if p.Failed {
		out.Class += " err"
	}
	if out.Long {
		out.Class += " long"
	}
	var b []byte
	switch head := "[call " + p.Tool + "] "; {
	case p.Kind == page.PieceCall && strings.HasPrefix(p.Text, head):
		b = appendIn([]byte("<s>[call </s>"), "b", p.Tool)
		b = appendArgs(b, "] ", p.Text[len(head):])
	case p.Kind == page.PieceText:
		b = appendProse(nil, p.Text)
	default:
		b = appendLines(nil, p.Text)
	}
	out.HTML = template.HTML(b)
	return out
}

// sourceOf is a source of the Content Security Policy for a text.
func sourceOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
