package view

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// documentPrinter prints one JSON document. Members that depend on the tail come last, so that the
// rest is a stable prefix. The document is data and not a prompt, so only JSON escapes apply.
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
		w.WriteString(`,"brief":[` + strings.Join(lists.Map(b.brief, briefJSON), ",") + "]")
	}
	w.WriteString(`,"clusters":[` + strings.Join(lists.Map(b.sections, clusterJSON), ","))
	w.WriteString(`],"tombstones":[` + strings.Join(lists.Map(b.tombstones, tombstoneJSON), ","))
	w.WriteString(`],"older_tombstones":` + encode(b.moreTombstones) + `,"tail":[`)
	return w.String()
}

// epochJSON is the member for the epoch; "" if there is none, or no room for it. It does not
// contain the id of the epoch, which changes at every update while the block stays.
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

// suffix ends with the number of tokens of the whole document, including that number.
func (p documentPrinter) suffix(r suffix) string {
	var w strings.Builder
	tail := lists.Map(r.tail, func(m messageItems) string { return encode(messageJSON(m)) })
	w.WriteString(strings.Join(tail, ",") + `],"dropped":` + encode(r.drops) + `,"tokens":`)
	if r.prefix == "" { // only the cost is needed
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

type clusterDocument struct {
	ID      string  `json:"id"`
	Members int     `json:"members"`
	First   *string `json:"first"` // null if unknown
	Last    *string `json:"last"`
	Label   string  `json:"label,omitempty"`
	// Lines; a string for one plain text; null if messages are printed
	Summary  any               `json:"summary"`
	Messages []messageDocument `json:"messages,omitempty"`
	Interim  bool              `json:"interim"`
	Sessions []string          `json:"sessions,omitempty"` // other sessions with messages in it
}

type lineDocument struct {
	Entry string `json:"entry,omitempty"` // none for the text of a summary
	Text  string `json:"text"`
}

type messageDocument struct {
	ID     string          `json:"id"`
	Seq    uint64          `json:"seq"`
	Kind   string          `json:"kind,omitempty"` // "update" or "replacement"; none for a message
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

type replacedDocument struct {
	Part int    `json:"part"`
	By   string `json:"by"`
}

func clusterJSON(s section) string {
	d := clusterDocument{ID: s.ID.String(), Members: s.Members, First: instant(s.First),
		Last: instant(s.Last), Label: s.Label, Sessions: s.Sessions,
		Messages: lists.Map(s.quoted, messageJSON)}
	for _, p := range s.Parts {
		d.Interim = d.Interim || p.Interim && !s.expanded
	}
	switch {
	case s.expanded:
	case len(s.lines) == 1 && !s.lines[0].sentence:
		d.Summary = s.lines[0].text
	default:
		d.Summary = lists.Map(s.lines, documentOf)
	}
	return encode(d)
}

func documentOf(l line) lineDocument {
	if l.sentence {
		return lineDocument{l.from.String(), l.text}
	}
	return lineDocument{Text: l.text}
}

func messageJSON(m messageItems) messageDocument {
	d := messageDocument{ID: m.ID.String(), Seq: m.Seq, Role: m.Role, Author: m.Author,
		Time: instant(m.Time), Text: m.Text}
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

// edits sets the members that say how a message differs from its original.
func (d *messageDocument) edits(m Message) {
	d.Masked = m.Masked
	for _, r := range m.Replaced {
		d.Replaced = append(d.Replaced, replacedDocument{r.Part, r.By.String()})
	}
	if !m.isReplacement() {
		return
	}
	d.Kind, d.StandsFor = "replacement", lists.Map(m.StandsFor, format.Target.String)
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

// Every piece is charged with a comma, and a heading with the brackets around its lines or
// messages.
func (p documentPrinter) headingCost(s section) int {
	s.lines, s.quoted = nil, nil
	n := cost(clusterJSON(s)) + len(",")
	if s.expanded {
		n += len(`"messages":[],`)
	}
	return n
}

func (p documentPrinter) lineCost(l line) int {
	return cost(encode(documentOf(l))) + len(",")
}

func (p documentPrinter) quotedCost(m messageItems) int {
	return cost(encode(messageJSON(m))) + len(",")
}

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

func (p documentPrinter) describesCalls() bool { return false }

func (p documentPrinter) looseLines() bool { return false }

func (p documentPrinter) digests() bool { return false }

// unlistedCost is the cost of the digits of a number.
func (p documentPrinter) unlistedCost(n int) int { return cost(encode(n)) }
