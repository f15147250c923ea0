package adk

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// draft is an event that is being made.
type draft struct {
	id, invocation, branch string
	author                 string
	content                []json.RawMessage
	role                   string // of content
	rest                   object
	hints                  *hints // nil for none
	model                  string
	tokens                 uint64
	m                      *transcript.Message
}

// draft makes the event of one message.
func (w *writer) draft(it item, id string) *draft {
	if it.Origin.Agent == Agent && it.Gone == "" && !it.Orphan && it.Set == nil {
		if d := w.foreign(it, id); w.readsBack(d, it) {
			return d
		}
	}
	d := w.own(it, id)
	if it.Gone == "" && !w.o.Bare && !w.readsBack(d, it) {
		// Somebody put a part into it that looks like what is kept with a message.
		d.rest = nil
		d.hints.whole(&it.Message)
	}
	return d
}

// foreign makes the event of a message that ADK said first.
func (w *writer) foreign(it item, id string) *draft {
	m := &it.Message
	d := newDraft(it, id)
	d.content, d.rest = wordsOf(m)
	d.author = m.Author
	if d.author == "" {
		d.author = transcript.RoleUser
	}
	d.role = contentRole(m.Role)
	d.tokens = m.Tokens
	return d
}

func newDraft(it item, id string) *draft {
	return &draft{id: id, invocation: it.Turn, branch: it.branch, m: &it.Message}
}

// readsBack reports whether a reader makes exactly these messages of an event. The branch does not
// count: it belongs to the fork, not to the message.
func (w *writer) readsBack(d *draft, items ...item) bool {
	alone := *d
	alone.branch = ""
	o, _ := parseObject(jsonvalue.Compact(w.print(&alone)))
	r := newReader(ReadOptions{Unit: w.o.Unit}, nil)
	r.stats.Session = w.Session
	list := r.decode(o).messages
	return len(list) == len(items) && !slices.ContainsFunc(items, func(it item) bool {
		m := list[0]
		list = list[1:]
		return !same(&m, &it.Message)
	})
}

func same(a, b *transcript.Message) bool {
	return a.Origin == b.Origin && a.Note == b.Note && a.Role == b.Role && a.Author == b.Author &&
		a.Time.Equal(b.Time) && a.Invocation == b.Invocation &&
		a.Text == b.Text && string(a.Parts) == string(b.Parts) && slices.Equal(a.Calls, b.Calls) &&
		slices.Equal(a.Results, b.Results) &&
		a.Tokens == b.Tokens
}

// own makes the event of a message of any other origin, with hints.
func (w *writer) own(it item, id string) *draft {
	m := &it.Message
	d := newDraft(it, id)
	h := &hints{V: 1, Note: m.Note, Gone: m.Gone, Set: it.Set, From: w.from(m.Origin, id)}
	h.name(it)
	d.hints = h
	_, d.rest = wordsOf(m)
	words := *m
	if m.Gone != "" {
		words.Text, words.Parts = "["+m.Gone+"]", nil
	}
	d.content = h.content(&words, it.tool)
	if (m.Note || it.Orphan) && len(d.content) > 0 {
		// No model may see it.
		all := transcript.Message{Text: m.Text}
		if m.Parts != nil {
			said, _ := wordsOf(m)
			all.Parts = jsonvalue.Array(said)
		}
		h.whole(&all)
		d.content = nil
	}
	d.author, d.role = w.o.Agent, contentRole(m.Role)
	if m.Role == transcript.RoleUser && len(d.content) > 0 {
		d.author = transcript.RoleUser
	}
	if m.Role == transcript.RoleModel && !m.Note {
		d.model = m.Author
	}
	d.tokens = m.Tokens
	explain(h, d, m)
	return d
}

// name notes the name that a message has for its invocation.
func (h *hints) name(it item) {
	h.Invocation = it.Invocation != ""
	if h.Invocation && it.Invocation != it.Turn {
		h.Named = it.Invocation
	}
}

// explain adds hints for the fields that do not follow from the event.
func explain(h *hints, d *draft, m *transcript.Message) {
	r := &decoder{parts: d.content, author: d.author}
	if len(d.content) > 0 {
		r.role = d.role
	}
	role, author := r.derivedRole(), ""
	if role == transcript.RoleModel {
		author = d.model
	}
	if m.Role != role {
		h.Role = m.Role
	}
	if m.Author != author {
		h.Author = &m.Author
	}
	said, _ := wordsOf(m)
	calls, results := transcript.LinksOf(said)
	if !slices.Equal(calls, m.Calls) || !slices.Equal(results, m.Results) {
		h.Calls, h.Results = m.Calls, m.Results
	}
}

// from returns the fields of an origin that do not follow from the event's id and session; nil for
// none.
func (w *writer) from(o transcript.Origin, id string) *transcript.Origin {
	from := o
	if o.Agent == transcript.Own {
		from.Agent = ""
	}
	if o.Session == w.Session && (o.Agent == transcript.Own || o.Agent == Agent) {
		from.Session = ""
	}
	if o.Message == id && o.Agent == transcript.Own {
		from.Message = ""
	}
	if from == (transcript.Origin{}) {
		return nil
	}
	return &from
}

// print encodes an event. A field that was kept with the message takes precedence.
func (w *writer) print(d *draft) json.RawMessage {
	rest := d.rest
	var out object
	set := func(name string, value json.RawMessage) {
		if kept := rest.get(name); kept != nil {
			value = kept
		}
		out = append(out, field{name, value})
	}
	set("id", jsonvalue.Encode(d.id))
	set("invocationId", jsonvalue.Encode(d.invocation))
	set("author", jsonvalue.Encode(d.author))
	if content := d.contentWith(rest.get("content")); content != nil {
		out = append(out, field{"content", content})
	}
	out = append(out, field{"actions", actionsWith(rest.get("actions"))})
	set("longRunningToolIds", json.RawMessage("[]"))
	if d.branch != "" {
		set("branch", jsonvalue.Encode(d.branch))
	}
	below, _ := jsonvalue.Text(rest.get("belowMillisecond"))
	set("timestamp", printStamp(d.m.Time, below, w.o.Unit))
	if d.tokens > 0 {
		set("usageMetadata", object{{"candidatesTokenCount", jsonvalue.Encode(d.tokens)}}.encode())
	}
	own := out
	for _, f := range rest {
		switch f.Name {
		case "content", "actions", "customMetadata", "belowMillisecond":
		default:
			if own.index(f.Name) < 0 {
				out = append(out, f)
			}
		}
	}
	if kept := rest.get("customMetadata"); kept != nil && kept[0] != '{' {
		out = append(out, field{"customMetadata", kept})
	} else if custom := w.customWith(d, kept); len(custom) > 0 {
		out = append(out, field{"customMetadata", custom.encode()})
	}
	return inOrder(out).encode()
}

func (d *draft) contentWith(kept json.RawMessage) json.RawMessage {
	o, ok := parseObject(kept)
	if kept != nil && (!ok || len(d.content) == 0) {
		return kept
	}
	if len(d.content) == 0 {
		return nil
	}
	if o.index("role") < 0 {
		o = append(object{{"role", jsonvalue.Encode(d.role)}}, o...)
	}
	return o.with("parts", jsonvalue.Array(d.content)).encode()
}

// actionsWith returns the actions that were kept, and the empty members that ADK gives every event.
func actionsWith(kept json.RawMessage) json.RawMessage {
	o, ok := parseObject(kept)
	if kept != nil && !ok {
		return kept
	}
	var out object
	for _, name := range []string{"stateDelta", "artifactDelta", "requestedAuthConfigs",
		"requestedToolConfirmations"} {
		value := o.get(name)
		if value == nil {
			value = json.RawMessage("{}")
		}
		out = append(out, field{name, value})
	}
	return append(out,
		o.without("stateDelta", "artifactDelta", "requestedAuthConfigs",
			"requestedToolConfirmations")...).encode()
}

// customWith returns the metadata of an event.
func (w *writer) customWith(d *draft, kept json.RawMessage) object {
	out, _ := parseObject(kept)
	if w.o.Bare || d.hints == nil {
		return out
	}
	if d.model != "" {
		out = out.with("model", jsonvalue.Encode(d.model))
	}
	return out.with(ownMetadata, jsonvalue.Encode(d.hints))
}

// join makes one event of the results of several messages, in the order of the calls. The calls in
// stand have no result: an error stands for it.
func (w *writer) join(id string, c *caller, items []item, stand []format.Call) *draft {
	d := newDraft(c.item, id)
	d.author, d.role = w.o.Agent, transcript.RoleUser
	h := &hints{V: 1}
	d.hints = h
	type piece struct {
		at    int
		parts []json.RawMessage
		item  int // -1 for an error that stands for a result
	}
	var pieces []piece
	h.Of = make([]segment, len(items))
	for i, it := range items {
		d.invocation, d.branch, d.m = it.Turn, it.branch, &it.Message
		_, d.rest = wordsOf(&it.Message)
		s := &h.Of[i]
		s.From, s.Tokens = w.from(it.Origin, id), it.Tokens
		s.name(it)
		parts := s.content(&it.Message, it.tool)
		explain(&s.hints, &draft{content: parts, author: w.o.Agent, role: transcript.RoleUser},
			&it.Message)
		pieces = append(pieces, piece{c.index(it.Results), parts, i})
	}
	for i := range h.Of {
		if ms := items[i].Time.UnixMilli(); ms != d.m.Time.UnixMilli() {
			h.Of[i].Time = &ms
		}
	}
	for _, call := range stand {
		part := answerPart(call.ID, call.Tool, "error", transcript.NoResult)
		pieces = append(pieces, piece{c.index([]string{call.ID}), []json.RawMessage{part}, -1})
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return a.at - b.at })
	for _, p := range pieces {
		if p.item < 0 {
			h.Stand = append(h.Stand, len(d.content))
		} else {
			h.Of[p.item].At, h.Of[p.item].Count = len(d.content), len(p.parts)
		}
		d.content = append(d.content, p.parts...)
	}
	return d
}

// branchName joins a path of branches with dots, as ADK does. Dots in a name are escaped.
func branchName(path []string) string {
	list := make([]string, len(path))
	for i, name := range path {
		list[i] = strings.ReplaceAll(strings.ReplaceAll(name, "%", "%25"), ".", "%2E")
	}
	return strings.Join(list, ".")
}
