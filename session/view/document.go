package view

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
)

// documentPrinter prints one JSON document. What depends on the tail comes last, so that the rest is a stable prefix. It is
// data, not a prompt: nothing is escaped but as JSON wants it.
type documentPrinter struct{ in Input }

func (p documentPrinter) base() string { return p.prefix(&block{}) }

func (p documentPrinter) prefix(b *block) string {
	head := encode(struct {
		V       int    `json:"v"`
		Session string `json:"session"`
		Branch  string `json:"branch"`
		Pin     string `json:"pin"`
		Through uint64 `json:"through"`
	}{1, p.in.Session, p.in.Branch, orEmpty(p.in.Pin), p.in.Through})
	var w strings.Builder
	w.WriteString(strings.TrimSuffix(head, "}") + epochJSON(p.in))
	if len(b.brief) > 0 {
		w.WriteString(`,"brief":[`)
		for i, l := range b.brief {
			w.WriteString(comma(i) + briefJSON(l))
		}
		w.WriteString("]")
	}
	w.WriteString(`,"clusters":[`)
	for i, s := range b.sections {
		w.WriteString(comma(i) + clusterJSON(s))
	}
	w.WriteString(`],"tombstones":[`)
	for i, t := range b.tombstones {
		w.WriteString(comma(i) + tombstoneJSON(t))
	}
	w.WriteString(`],"older_tombstones":` + encode(b.moreTombstones) + `,"tail":[`)
	return w.String()
}

// epochJSON is the member for the epoch; nothing where there is none, or no room for it. The epoch's id is not in it: every update has another one, and
// the block stays as it is.
func epochJSON(in Input) string {
	if len(in.Epoch) == 0 {
		return ""
	}
	type part struct {
		Key  string `json:"key"`
		Text string `json:"text"`
	}
	var d struct {
		Parts []part `json:"parts"`
	}
	for _, p := range in.Epoch {
		d.Parts = append(d.Parts, part(p))
	}
	return `,"epoch":` + encode(d)
}

// rest ends with the number of tokens of the whole document, that number included.
func (p documentPrinter) rest(r rest) string {
	var w strings.Builder
	for i, m := range r.tail {
		w.WriteString(comma(i) + encode(messageJSON(m)))
	}
	w.WriteString(`],"dropped":` + encode(r.drops) + `,"tokens":`)
	if r.prefix == "" { // only its cost is asked for
		return w.String() + encode(math.MaxInt32) + "}\n"
	}
	tokens := 0
	for range 4 { // a longer number can make the document a token longer, once
		s := w.String() + encode(tokens) + "}\n"
		n := summarize.Tokens(r.prefix + s)
		if n == tokens {
			break
		}
		tokens = n
	}
	return w.String() + encode(tokens) + "}\n"
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

type clusterDocument struct {
	ID       string            `json:"id"`
	Members  int               `json:"members"`
	First    *string           `json:"first"` // null where unknown
	Last     *string           `json:"last"`
	Label    string            `json:"label,omitempty"`
	Summary  any               `json:"summary"` // lines; a text where that is all there is; null where messages stand
	Messages []messageDocument `json:"messages,omitempty"`
	Interim  bool              `json:"interim"`
	Sessions []string          `json:"sessions,omitempty"` // other sessions of which it has messages
}

type lineDocument struct {
	Entry string `json:"entry,omitempty"` // none where it is the text of a summary
	Text  string `json:"text"`
}

type messageDocument struct {
	ID     string          `json:"id"`
	Seq    uint64          `json:"seq"`
	Kind   string          `json:"kind,omitempty"` // "update" or "replacement" of what is no message
	Role   string          `json:"role"`
	Author string          `json:"author"`
	Time   *string         `json:"time"`
	Text   string          `json:"text"`
	Parts  json.RawMessage `json:"parts,omitempty"`
	Gone   string          `json:"gone,omitempty"`

	StandsFor []string           `json:"stands_for,omitempty"`
	Masked    []int              `json:"masked,omitempty"`
	Replaced  []replacedDocument `json:"replaced,omitempty"`
}

func clusterJSON(s section) string {
	d := clusterDocument{ID: s.ID.String(), Members: s.Members, First: instant(s.First), Last: instant(s.Last), Label: s.Label, Sessions: s.Sessions}
	for _, p := range s.Parts {
		d.Interim = d.Interim || p.Interim && !s.expanded
	}
	for _, m := range s.quoted {
		d.Messages = append(d.Messages, messageJSON(m))
	}
	switch {
	case s.expanded:
	case len(s.lines) == 1 && !s.lines[0].sentence:
		d.Summary = s.lines[0].text
	default:
		d.Summary = lineDocuments(s.lines)
	}
	return encode(d)
}

func lineDocuments(lines []line) []lineDocument {
	out := make([]lineDocument, len(lines))
	for i, l := range lines {
		out[i].Text = l.text
		if l.sentence {
			out[i].Entry = l.from.String()
		}
	}
	return out
}

func messageJSON(m said) messageDocument {
	d := messageDocument{ID: m.ID.String(), Seq: m.Seq, Role: m.Role, Author: m.Author, Time: instant(m.Time), Text: m.Text}
	d.edits(m.Message)
	switch {
	case m.Update:
		d.Kind = "update"
	case m.Gone:
		d.Text, d.Gone = "", "forgotten"
	case m.cut:
		d.Text = readableAll(m.items)
	case json.Valid(m.Parts):
		d.Parts = m.Parts
	}
	return d
}

func tombstoneJSON(t Tombstone) string {
	return encode(struct {
		ID      string `json:"id"`
		Members int    `json:"members"`
		Line    string `json:"line"`
	}{t.ID.String(), t.Members, t.Line})
}

func instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := format.FormatTime(t)
	return &s
}

func orEmpty(id format.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// Every piece is charged with a comma, and a heading with brackets around its lines or messages.
func (p documentPrinter) headingCost(s section) int {
	s.lines, s.quoted = nil, nil
	n := cost(clusterJSON(s)) + len(",")
	if s.expanded {
		n += len(`"messages":[],`)
	}
	return n
}

func (p documentPrinter) lineCost(l line) int {
	return cost(encode(lineDocuments([]line{l})[0])) + len(",")
}

func (p documentPrinter) quotedCost(m said) int         { return cost(encode(messageJSON(m))) + len(",") }
func (p documentPrinter) tombstoneCost(t Tombstone) int { return cost(tombstoneJSON(t)) + len(",") }

func (p documentPrinter) briefCost(l brief.Line) int {
	return cost(briefJSON(l)) + len(`,"brief":[],`)
}

func briefJSON(l brief.Line) string {
	return encode(struct {
		Section string `json:"section"`
		Entry   string `json:"entry"`
		Text    string `json:"text"`
	}{string(l.Section), l.Entry.String(), l.Text})
}

func (p documentPrinter) acts() bool       { return false }
func (p documentPrinter) looseLines() bool { return false }
func (p documentPrinter) digests() bool    { return false }

// unlistedCost pays for all digits of the number that stands for them.
func (p documentPrinter) unlistedCost(n int) int { return cost(encode(n)) }
