package summarize

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// maxLabel is the longest name, in bytes; a longer path is shortened to its base name.
const maxLabel = 60

// Others counts the labels of other clusters, so that a label can prefer names that are rare among
// them. The zero value has no clusters.
type Others struct {
	clusters int64
	with     map[string]int64 // by label in lower case: the number of clusters that have it
}

// Add adds a cluster by its messages, or by what a summary kept of them. It does little harm to add
// also the cluster whose line is made.
func (o *Others) Add(src []Source) {
	o.clusters++
	for _, l := range labels(inOrder(src)) {
		o.count(l.text)
	}
}

// AddLine adds a cluster by its line.
func (o *Others) AddLine(line string) {
	o.clusters++
	if i := strings.LastIndex(line, " ("); i >= 0 {
		line = line[:i]
	}
	if i := strings.Index(line, goalMark); i >= 0 {
		line = line[i+len(goalMark):]
	}
	for l := range strings.SplitSeq(line, ", ") {
		o.count(l)
	}
}

func (o *Others) count(label string) {
	if o.with == nil {
		o.with = map[string]int64{}
	}
	o.with[strings.ToLower(label)]++
}

// rare returns how rare a label is among the clusters, in thousandths: 1000 if all have it, and
// more the fewer have it.
func (o *Others) rare(label string) int64 {
	return rarity(o.clusters+1, o.with[strings.ToLower(label)]+1)
}

// Span returns the end of a tombstone's line, in brackets: the number of messages, and their days
// in UTC. A zero time omits the days.
//
//	(12 messages, 2026-11-20 to 2026-11-21)
func Span(n int, first, last time.Time) string {
	const day = "2006-01-02"
	out := fmt.Sprintf("(%d messages", n)
	if n == 1 {
		out = "(1 message"
	}
	if first.IsZero() || last.IsZero() {
		return out + ")"
	}
	from, to := first.UTC().Format(day), last.UTC().Format(day)
	if from == to {
		return out + ", " + from + ")"
	}
	return out + ", " + from + " to " + to + ")"
}

// label is a possible name of a cluster.
type label struct {
	text    string // as first written
	kind    int64  // how telling its form is
	sources int64  // number of sources that mention it
	seen    int    // index of the last of those sources
	worth   int64
}

// How telling a label is, by its form.
const (
	wordLabel   = 4
	properLabel = 14
	nameLabel   = 20
	pathLabel   = 24
)

// labels returns the distinct labels of src in the order of their first mention.
func labels(src []Source) []*label {
	byKey := make(map[string]*label)
	var list []*label
	add := func(source int, text string, kind int64) {
		key := strings.ToLower(text)
		l := byKey[key]
		if l == nil {
			l = &label{text: text, seen: -1}
			byKey[key] = l
			list = append(list, l)
		}
		l.kind = max(l.kind, kind)
		if l.seen != source {
			l.seen, l.sources = source, l.sources+1
		}
	}
	for _, c := range gather(src) {
		terms.Scan(c.text, func(t terms.Token) {
			if text, kind := labelOf(c.text, t); kind > 0 {
				add(c.src, text, kind)
			}
		})
	}
	return list
}

// labelOf returns the label for a token and how telling its form is, or 0 if the token is no label.
func labelOf(text string, t terms.Token) (string, int64) {
	s := text[t.Start:t.End]
	path := strings.IndexByte(s, '/') >= 0 || strings.IndexByte(s, '\\') >= 0
	if path && len(s) > maxLabel {
		s = s[strings.LastIndexAny(s, `/\`)+1:]
	}
	first, _ := utf8.DecodeRuneInString(s)
	switch {
	case t.Kind == terms.Part || !printable(s):
		return "", 0
	case t.Kind == terms.Name && path:
		return s, pathLabel
	case t.Kind == terms.Name:
		return s, nameLabel
	case strings.HasPrefix(s, "REDACTED"), isNod(strings.ToLower(s)):
		return "", 0
	case t.Kind == terms.Word && utf8.RuneCountInString(s) > 2:
		if unicode.IsUpper(first) && strings.ContainsFunc(text[:t.Start], readable) {
			return s, properLabel
		}
		return s, wordLabel
	}
	return "", 0
}

func printable(s string) bool {
	if s == "" || len(s) > maxLabel {
		return false
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return utf8.ValidString(s) &&
				!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
		}
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// overlaps reports whether head already has the label text in another form, such as an inflected
// word or the base name of a path.
func overlaps(head, text string) bool {
	text = strings.ToLower(text)
	for h := range strings.SplitSeq(strings.ToLower(head), ", ") {
		if h != "" && (strings.Contains(h, text) || strings.Contains(text, h)) {
			return true
		}
	}
	return false
}
