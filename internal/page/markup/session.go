package markup

import (
	"crypto/sha256"
	_ "embed" // the style and the script
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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

// told appends what the model was told before the conversation.
func (w *writer) told(b []byte) []byte {
	if len(w.s.Told) == 0 {
		return b
	}
	b = append(b, "<details class=told><summary>What the model is told first</summary>"...)
	for _, t := range w.s.Told {
		b = append(appendName(append(b, "<h3 class=q>"...), t.Key), "</h3><div class=t>"...)
		b = append(appendText(b, t.Text), "</div>"...)
	}
	return append(b, "</details>\n"...)
}

func (w *writer) forest(b []byte, l layout) []byte {
	if len(w.s.Clusters) == 0 {
		b = append(b,
			"<p class=quiet>No clusters yet: every message is still in the window.</p>"...)
	}
	largest := 1
	for _, c := range w.s.Clusters {
		largest = max(largest, len(c.Members))
	}
	for i := range w.s.Clusters {
		b = w.cluster(b, &w.s.Clusters[i], largest, l)
	}
	if w.s.Others > 0 {
		b = fmt.Appendf(b, "<p class=quiet>%s of other sessions.</p>", count(w.s.Others, "cluster"))
	}
	return b
}

func (w *writer) cluster(b []byte, c *Cluster, largest int, l layout) []byte {
	b = fmt.Appendf(b,
		"<details class=\"k %s\" data-n=%s><summary><svg viewBox=\"0 0 100 3\" "+
			"preserveAspectRatio=none>"+
			"<rect width=%d /></svg><b>", strings.ReplaceAll(c.State, ",", ""), c.ID[:anchorLen],
		max(1, 100*len(c.Members)/largest))
	b = append(appendName(b, c.Label), "</b><small>"...)
	b = fmt.Appendf(b, "%s", count(c.Count, "message"))
	if n := c.Count - len(c.Members); n > 0 {
		b = fmt.Appendf(b, ", %d of other sessions", n)
	}
	b = fmt.Appendf(b, " · %s · %s</small></summary>", days(c.First, c.Last), c.State)
	for _, sum := range c.Summaries {
		b = append(b, "<div class=sum>"...)
		for _, one := range sum.Sentences {
			if one.From == "" {
				b = append(b, "<p class=x tabindex=0>"...)
			} else {
				b = append(l.href(append(b, "<p><a "...), one.From), '>')
			}
			b = appendText(b, one.Text)
			if one.From != "" {
				b = append(b, "</a>"...)
			}
		}
		if len(sum.Sentences) > 0 {
			b = append(b, "</p>"...) // of the last sentence; each other ends where the next begins
		}
		b = append(b, "<small>"...)
		if sum.More > 0 {
			b = fmt.Appendf(b, "%d more in `ctx expand`'s words · ", sum.More)
		}
		b = append(appendName(append(b, "by "...), sum.By), " · <code>"...)
		b = append(append(b, sum.ID[:anchorLen]...), "</code></small></div>"...)
	}
	b = append(b, "<p class=mem>"...)
	for i := 0; i < len(c.Members); {
		end := i + 1
		for end < len(c.Members) && c.Members[end].Seq == c.Members[end-1].Seq+1 {
			end++
		}
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendSeq(l.href(append(b, "<a "...), c.Members[i].ID), c.Members[i].Seq)
		if end > i+1 {
			b = appendSeq(l.href(append(b, "–<a "...), c.Members[end-1].ID), c.Members[end-1].Seq)
		}
		i = end
	}
	return append(append(append(b, "</p><p class=quiet><code>ctx expand "...), c.ID[:anchorLen]...),
		"</code></p></details>\n"...)
}

// appendProof appends hexadecimal digits as base64url. They are what a click on a sentence shows of
// its source beside the words: the rest of its id, and its digest.
func appendProof(b []byte, digits string) []byte {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return b // no digits of ours: nothing is shown
	}
	return base64.RawURLEncoding.AppendEncode(b, raw)
}

func appendSeq(b []byte, seq uint64) []byte {
	return append(strconv.AppendUint(append(b, '>'), seq, 10), "</a>"...)
}

func (w *writer) turn(b []byte, t *Turn) []byte {
	b = append(b, "<section class=T>"...)
	asked, answer, end := shape(t.Items)
	for i := range asked {
		b = w.item(b, &t.Items[i])
	}
	if steps := t.Items[asked:answer]; len(steps) > 0 {
		b = w.folded(b, steps)
	}
	for i := answer; i < end; i++ {
		b = w.item(b, &t.Items[i])
	}
	if rest := t.Items[end:]; len(rest) > 0 {
		b = w.folded(b, rest)
	}
	return append(b, "</section>\n"...)
}

func (w *writer) folded(b []byte, steps []Item) []byte {
	b = append(appendSteps(append(b, "<details class=S><summary>"...), steps), "</summary>"...)
	for i := range steps {
		b = w.item(b, &steps[i])
	}
	return append(b, "</details>"...)
}

// shape says what of a turn is always to be seen: the items before asked, with the prompt, and
// those from answer to end, with the last words.
func shape(items []Item) (asked, answer, end int) {
	for asked < len(items) && (items[asked].Kind != "message" || items[asked].Role == "user") {
		asked++
	}
	answer = len(items)
	for answer > asked && items[answer-1].Kind != "message" {
		answer--
	}
	if answer > asked && isAnswer(&items[answer-1]) {
		return asked, answer - 1, answer
	}
	return asked, len(items), len(items)
}

// isAnswer reports whether an item is words for the user, without calls.
func isAnswer(it *Item) bool {
	if it.Kind != "message" || it.Role == "tool" {
		return false
	}
	return !slices.ContainsFunc(it.Pieces, func(p Piece) bool { return p.Kind != PieceText })
}

// appendSteps says in a line what steps are.
func appendSteps(b []byte, steps []Item) []byte {
	calls, failed, said, events := 0, 0, 0, 0
	tools := map[string]int{}
	files := map[string]bool{}
	for i := range steps {
		if steps[i].Kind != "message" {
			events++
			continue
		}
		for _, p := range steps[i].Pieces {
			switch {
			case p.Kind == PieceCall:
				calls++
				tools[p.Tool]++
				if p.File != "" {
					files[p.File] = true
				}
			case p.Kind == PieceText && steps[i].Role != "tool":
				said++
			}
			if p.Failed {
				failed++
			}
		}
	}
	if events == len(steps) {
		b = append(b, count(events, "event")...)
		return b
	}
	if calls == 0 {
		b = append(b, count(len(steps), "step")...)
	} else {
		b = append(b, count(calls, "call")...)
		names := slices.SortedFunc(maps.Keys(tools), func(a, c string) int {
			if tools[a] != tools[c] {
				return tools[c] - tools[a]
			}
			return strings.Compare(a, c)
		})
		b = append(b, " <small>"...)
		for i, name := range names[:min(len(names), 4)] {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendName(b, name)
			if tools[name] > 1 {
				b = fmt.Appendf(b, " ×%d", tools[name])
			}
		}
		if len(names) > 4 {
			b = append(b, ", …"...)
		}
		b = append(b, "</small>"...)
	}
	if len(files) > 0 {
		b = fmt.Appendf(b, " · %s", count(len(files), "file"))
	}
	if said > 0 {
		b = fmt.Appendf(b, " · %s between", count(said, "remark"))
	}
	if events > 0 && calls > 0 {
		b = fmt.Appendf(b, " · %s", count(events, "event"))
	}
	if failed > 0 {
		b = fmt.Appendf(b, " · <em>%s</em>", count(failed, "error"))
	}
	return b
}

func (w *writer) item(b []byte, it *Item) []byte {
	if it.Kind != "message" {
		return w.event(b, it)
	}
	b = append(b, "<article class="...)
	switch role := roleClass(it.Role); {
	case it.Hole != "":
		b = append(append(append(b, '"'), role...), " hole\""...)
	case it.Failed:
		b = append(append(append(b, '"'), role...), " bad\""...)
	default:
		b = append(b, role...)
	}
	b = append(append(b, " id="...), it.ID[:anchorLen]...)
	if w.cited[it.ID] && it.Digest != "" {
		b = appendProof(append(b, " data-c="...), it.ID[anchorLen:]+it.Digest)
	}
	b = append(b, "><h3><b>"...)
	if it.Author != "" {
		b = appendName(b, it.Author)
	} else {
		b = append(b, roleClass(it.Role)...)
	}
	b = append(b, "</b>"...)
	if !it.Time.IsZero() {
		b = append(append(b, ' '), w.clock(it.Time)...)
	}
	if it.Note != "" {
		b = append(appendText(append(b, " <i>"...), it.Note), "</i>"...)
	}
	b = append(b, "</h3>"...)
	for _, thought := range it.Aside {
		b = append(b, "<details class=th><summary>thought</summary><div class=t>"...)
		b = append(appendText(b, thought), "</div></details>"...)
	}
	if it.Hole != "" {
		b = append(appendText(append(b, "<p class=gap>"...), it.Hole), "</p>"...)
	} else {
		b = appendPieces(b, it.Pieces)
	}
	return append(b, "</article>"...)
}

func (w *writer) event(b []byte, it *Item) []byte {
	b = append(append(b, "<div class=\"ev "...), it.Kind...)
	b = append(append(append(b, "\" id="...), it.ID[:anchorLen]...), '>')
	if it.Text != "" {
		b = append(b, "<details><summary>"...)
	}
	b = append(append(append(append(b, "<b>"...), it.Kind...), "</b> "...),
		it.Time.UTC().Format(minute)...)
	if it.Note != "" {
		b = appendName(append(b, " "...), it.Note)
	}
	if it.Text != "" {
		b = append(b, "</summary><div class=t>"...)
		b = append(appendProse(b, it.Text), "</div></details>"...)
	}
	if len(it.Left) > 0 {
		b = fmt.Appendf(b, "<details class=left><summary>%s taken back</summary>",
			count(len(it.Left), "message"))
		for i := range it.Left {
			b = w.item(b, &it.Left[i])
		}
		b = append(b, "</details>"...)
	}
	return append(b, "</div>"...)
}

// roleClass returns a role as a class. Roles are of a closed set; anything else is other.
func roleClass(role string) string {
	switch role {
	case "user", "model", "tool", "system":
		return role
	}
	return "other"
}

// clock returns a time, with its day where that is another one than before.
func (w *writer) clock(t time.Time) string {
	t = t.UTC()
	if day := t.Format(time.DateOnly); day != w.day {
		w.day = day
		return day + " " + t.Format("15:04")
	}
	return t.Format("15:04")
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
