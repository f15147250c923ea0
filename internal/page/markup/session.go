package markup

import (
	"crypto/sha256"
	_ "embed" // the style and the script
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// anchorLen is the number of digits of an id that name a message in an address. 48 bits tell
// hundreds of thousands of messages apart.
const anchorLen = 12

// Pages returns the pages of a session: one, or several of at most most bytes each if most is not
// 0. name returns the name of the file of page n, from 0. A page has at least one turn, so it may
// be larger. The entries are left out if they do not fit on the last page; embedded says so.
func (s *Session) Pages(most int, name func(n int) string) (pages [][]byte, embedded bool) {
	cited := s.cited()
	turns := make([][]byte, len(s.Turns))
	w := writer{s: s, cited: cited}
	for i := range s.Turns {
		turns[i] = w.turn(nil, &s.Turns[i])
	}
	if most == 0 {
		l := layout{name: name, of: 1, first: 1}
		b := w.head(nil, l)
		for _, t := range turns {
			b = append(b, t...)
		}
		return [][]byte{w.tail(b, l, true)}, s.Entries != ""
	}
	l := w.split(turns, most, name)
	for n := range l.of {
		l.n, l.first = n, firstOn(s.Turns, l.page, n)
		b := w.head(nil, l)
		for i, t := range turns {
			if l.page[i] == n {
				b = append(b, t...)
			}
		}
		embedded = n == l.of-1 && s.Entries != "" && len(b)+len(s.Entries)+len(script)+4096 <= most
		pages = append(pages, w.tail(b, l, embedded))
	}
	return pages, embedded
}

// layout says which turns are on which page.
type layout struct {
	n, of int
	name  func(n int) string
	page  []int          // by turn
	of16  map[string]int // page of a message; nil for one page
	first uint64         // number of the first message on the page
}

// split distributes turns over pages. The first page has the forest.
func (w *writer) split(turns [][]byte, most int, name func(int) string) layout {
	l := layout{name: name, page: make([]int, len(turns)), of16: map[string]int{}}
	frame := len(style) + len(script) + 4096
	used := frame + len(w.forest(nil, l)) + len(w.timeline(nil))
	for i, t := range turns {
		if used+len(t) > most && used > frame {
			l.n++
			used = frame
		}
		used += len(t)
		l.page[i] = l.n
		for _, it := range w.s.Turns[i].Items {
			l.of16[it.ID[:anchorLen]] = l.n
		}
	}
	l.of = l.n + 1
	return l
}

// firstOn returns the number of the first message on a page.
func firstOn(turns []Turn, page []int, n int) uint64 {
	for i, t := range turns {
		for _, it := range t.Items {
			if page[i] == n && it.Kind == "message" {
				return it.Seq
			}
		}
	}
	return 1
}

// href appends the address of a message.
func (l *layout) href(b []byte, id string) []byte {
	id = id[:anchorLen]
	if n, ok := l.of16[id]; ok && n != l.n {
		return append(append(append(appendHref(b, l.name(n)), '#'), id...), '"')
	}
	return append(append(b, "href=#"...), id...)
}

// appendHref appends the beginning of an attribute with the name of a file beside the page. The
// caller closes it.
func appendHref(b []byte, file string) []byte {
	b = append(b, `href="./`...)
	for _, c := range []byte(file) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' ||
			c == '.' || c == '_' {
			b = append(b, c)
		} else {
			b = fmt.Appendf(b, "%%%02X", c)
		}
	}
	return b
}

type writer struct {
	s     *Session
	cited map[string]bool
	day   string // of the message before
}

// cited returns the messages that sentences come from.
func (s *Session) cited() map[string]bool {
	m := map[string]bool{}
	for _, c := range s.Clusters {
		for _, sum := range c.Summaries {
			for _, sentence := range sum.Sentences {
				m[sentence.From] = true
			}
		}
	}
	return m
}

// source is a source of the Content Security Policy for a text.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func openPage(b []byte, title string, live bool) []byte {
	b = append(b,
		"<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n<meta "+
			"http-equiv=Content-Security-Policy content=\""...)
	b = append(append(b, Policy(live)...),
		"\">\n<meta name=viewport content=\"width=device-width,initial-scale=1\">\n"...)
	b = append(b,
		"<meta name=referrer content=no-referrer><meta name=generator content=ctx>\n<title>"...)
	b = append(appendText(b, title), "</title>\n<style>"...)
	return append(append(b, style...), "</style></head>\n"...)
}

// appendScript appends the script of a page. It stands before the conversation, so that a long page
// can be used while it loads.
func appendScript(b []byte) []byte {
	return append(append(append(b, "<script>"...), script...), "</script>\n"...)
}

func closePage(b []byte, live bool) []byte {
	if live {
		b = append(append(append(b, "<script>"...), liveScript...), "</script>\n"...)
	}
	return append(b, "</body></html>\n"...)
}

// title is what the page is called: the title of the session, or its name.
func (s *Session) title() string {
	if s.Title != "" {
		return s.Title
	}
	return s.Name
}

func (w *writer) head(b []byte, l layout) []byte {
	s := w.s
	b = openPage(b, s.title()+" · ctx", s.Live)
	b = append(appendBody(b, s.Live), " class=session data-first="...)
	b = append(strconv.AppendUint(b, l.first, 10), ">\n<header class=top><div><h1>"...)
	b = append(appendName(b, s.title()), "</h1>\n<p class=meta>"...)
	b = append(appendName(append(b, "session "...), s.Name), ' ')
	if s.Branch != "main" {
		b = appendName(append(b, "· branch "...), s.Branch)
	}
	if s.Agent != "" {
		b = appendName(append(b, "· "...), s.Agent)
	}
	b = fmt.Appendf(b, " · %s · about %s tokens", count(s.Messages, "message"), thousands(s.Tokens))
	if !s.First.IsZero() {
		b = fmt.Appendf(b, " · <time>%s</time> to <time>%s</time> UTC",
			s.First.UTC().Format(minute), s.Last.UTC().Format(minute))
	}
	b = append(b, "</p></div><div class=tools hidden>"...)
	if s.Live {
		b = append(b, liveSign+"<a href=\"./\">Project</a>"...)
	}
	b = append(b, "<input id=q type=search placeholder=\"Search  /\" "...)
	b = append(b,
		"aria-label=Search title=\"words, role:tool, tool:bash, file:main.go, error:\"><output "+
			"id=hits></output>"...)
	b = append(b,
		"<button id=openall title=\"e\">Unfold all</button><button id=theme title=\"light or "+
			"dark\">Dark</button></div>"...)
	b = append(b, "</header>\n"...)
	if l.of > 1 {
		b = w.pageLinks(b, l)
	}
	if l.n == 0 {
		b = w.timeline(b)
		b = append(b,
			"<div class=cols><aside><details id=forest open><summary><h2>Forest</h2></summary>"...)
		b = append(w.forest(b, l), "</details></aside>\n"...)
		return w.told(append(appendScript(b), "<main>"...))
	}
	return append(appendScript(b), "<div class=cols><main>"...)
}

const minute = "2006-01-02 15:04"

func (w *writer) pageLinks(b []byte, l layout) []byte {
	b = append(b, "<nav class=pages>"...)
	for n := range l.of {
		if n == l.n {
			b = fmt.Appendf(b, "<b>page %d</b> ", n+1)
			continue
		}
		b = fmt.Appendf(append(appendHref(append(b, "<a "...), l.name(n)), '"'), ">%d</a> ", n+1)
	}
	return append(b, "</nav>\n"...)
}

func (w *writer) tail(b []byte, l layout, embed bool) []byte {
	s := w.s
	b = append(b, "</main></div>\n"...)
	if l.of > 1 {
		b = w.pageLinks(b, l)
	}
	b = append(b, "<footer>"...)
	if n := sum(s.Left); n > 0 {
		b = fmt.Appendf(b, "<p><b>Left out when this page was made:</b> %s", count(n, "finding"))
		for _, class := range slices.Sorted(maps.Keys(s.Left)) {
			b = fmt.Appendf(appendName(append(b, ", "...), class), " %d", s.Left[class])
		}
		b = append(b, "</p>"...)
	} else {
		b = append(b,
			"<p>Nothing was left out when this page was made: the rules for secrets of this "+
				"version found nothing.</p>"...)
	}
	if s.Holes > 0 {
		b = fmt.Appendf(b, "<p>%s without words: they were forgotten, or are lost.</p>",
			count(s.Holes, "message"))
	}
	b = appendOrigin(b, s.Store, s.Operation, s.Live)
	switch {
	case embed && s.Entries != "":
		b = fmt.Appendf(b,
			" It holds %s: <code>ctx import html FILE</code> stores them under the same ids.",
			count(s.Embedded, "object"))
	case s.Entries != "" && l.n == l.of-1:
		b = append(b,
			" The entries did not fit: <code>ctx export</code> without <code>--max-bytes</code> "+
				"embeds them."...)
	}
	b = append(b,
		"</p><p id=keys>Keys: j and k next and previous message, e unfold, / search, ? this "+
			"line.</p></footer>\n"...)
	if embed && s.Entries != "" {
		b = append(append(append(b, EntriesOpen...), s.Entries...), EntriesClose...)
	}
	return closePage(b, s.Live)
}

// appendOrigin says what the page was made from. A live page does not name the operation: that
// changes with everything that is stored, and the page only with what it shows.
func appendOrigin(b []byte, store string, operation uint64, live bool) []byte {
	if live {
		b = appendName(append(b, "<p>Shown by <code>ctx view --serve</code> from store <code>"...),
			store)
		return append(b, "</code>. This page loads nothing but news of itself."...)
	}
	b = appendName(append(b, "<p>Written by ctx from store <code>"...), store)
	return fmt.Appendf(b, "</code> at operation %d. This file loads nothing.", operation)
}

// EntriesOpen and EntriesClose stand around the embedded entries. No text of a page has these
// bytes: it would have &lt; in the place of <.
const (
	EntriesOpen  = `<script type="application/vnd.ctx.entries" id=entries>`
	EntriesClose = "</script>\n"
)

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

func days(first, last time.Time) string {
	a, b := first.UTC().Format(time.DateOnly), last.UTC().Format(time.DateOnly)
	if a == b {
		return a
	}
	return a + " to " + b
}
