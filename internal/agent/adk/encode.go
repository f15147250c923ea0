package adk

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// draft is an event that is being made.
type draft struct {
	id, invocation, branch string
	author                 string
	content                []json.RawMessage
	role                   string // of content
	rest                   jsonvalue.Object
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
	if it.Gone == "" && !w.readsBack(d, it) {
		// Somebody put a part into it that looks like what is kept with a message.
		d.rest, d.hints.Hints = nil, transcript.Hints{V: 1}
		if got := w.decode(d); len(got) == 1 {
			d.hints.Hints = transcript.Diff(&it.Message, &got[0])
		}
	}
	return d
}

// foreign makes the event of a message that ADK said first.
func (w *writer) foreign(it item, id string) *draft {
	m := &it.Message
	d := newDraft(it, id)
	d.content, d.rest = wordsOf(m)
	d.author = cmp.Or(m.Author, transcript.RoleUser)
	d.role = contentRole(m.Role)
	d.tokens = m.Tokens
	return d
}

func newDraft(it item, id string) *draft {
	return &draft{id: id, invocation: it.Turn, branch: it.branch, m: &it.Message}
}

// readsBack reports whether a reader makes exactly these messages of an event.
func (w *writer) readsBack(d *draft, items ...item) bool {
	list := w.decode(d)
	return len(list) == len(items) && !slices.ContainsFunc(items, func(it item) bool {
		m := list[0]
		list = list[1:]
		return !same(&m, &it.Message)
	})
}

// decode returns the messages that a reader makes of an event. The branch does not count: it
// belongs to the fork, not to the message.
func (w *writer) decode(d *draft) []transcript.Message {
	inNone := *d
	inNone.branch = ""
	o := jsonvalue.AsObject(w.print(&inNone))
	r := newReader(ReadOptions{Unit: w.o.Unit}, nil)
	r.stats.Session = w.Session
	return r.decode(o).messages
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
	d.hints = &hints{Hints: transcript.Hints{V: 1}, Set: it.Set}
	words := *m
	if m.Gone != "" {
		words.Text, words.Parts = "["+m.Gone+"]", nil
	}
	if !m.Note && !it.Orphan { // no model may see these
		d.content = content(&words, it.tool)
	}
	d.author, d.role = w.o.Agent, contentRole(m.Role)
	if m.Role == transcript.RoleUser && len(d.content) > 0 {
		d.author = transcript.RoleUser
	}
	if m.Role == transcript.RoleModel && !m.Note {
		d.model = m.Author
	}
	d.tokens = m.Tokens
	_, d.rest = wordsOf(m)
	if got := w.decode(d); len(got) == 1 {
		d.hints.Hints = transcript.Diff(alone(m), alone(&got[0]))
	} else {
		d.hints.Gone = m.Gone
	}
	return d
}

// print encodes an event. A field that was kept with the message takes precedence.
func (w *writer) print(d *draft) json.RawMessage {
	rest := d.rest
	out := jsonvalue.NewObject("id", d.id, "invocationId", d.invocation, "author", d.author,
		"longRunningToolIds", json.RawMessage("[]"),
		"timestamp", printStamp(d.m.Time, rest.Text("belowMillisecond"), w.o.Unit))
	if d.branch != "" {
		out.Set("branch", d.branch)
	}
	if d.tokens > 0 {
		out.Set("usageMetadata", map[string]uint64{"candidatesTokenCount": d.tokens})
	}
	for name, value := range rest.Without("belowMillisecond") {
		if out[name] == nil || string(value) != "null" {
			out[name] = value
		}
	}
	out["actions"] = actionsWith(get(rest, "actions"))
	if delete(out, "content"); len(d.content) > 0 || rest.Has("content") {
		out["content"] = d.contentWith(get(rest, "content"))
	}
	kept := get(rest, "customMetadata")
	if delete(out, "customMetadata"); kept != nil && kept[0] != '{' {
		out["customMetadata"] = kept
	} else if custom := w.customWith(d, jsonvalue.AsObject(kept)); len(custom) > 0 {
		out["customMetadata"] = ordered(custom, nil, "model", ownMetadata)
	}
	return inOrder(out)
}

func (d *draft) contentWith(kept json.RawMessage) json.RawMessage {
	o := jsonvalue.AsObject(kept).Without()
	if kept != nil && (kept[0] != '{' || len(d.content) == 0) {
		return kept
	}
	if o["role"] == nil {
		o.Set("role", d.role)
	}
	o["parts"] = jsonvalue.Array(d.content)
	return ordered(o, []string{"role"}, "parts")
}

// actionNames are the members that ADK gives the actions of every event.
func actionNames() []string {
	return []string{"stateDelta", "artifactDelta", "requestedAuthConfigs",
		"requestedToolConfirmations"}
}

// actionsWith returns the actions that were kept, and the empty members that ADK gives every event.
func actionsWith(kept json.RawMessage) json.RawMessage {
	if kept != nil && kept[0] != '{' {
		return kept
	}
	o := jsonvalue.AsObject(kept).Without()
	for _, name := range actionNames() {
		if !o.Has(name) {
			o[name] = json.RawMessage("{}")
		}
	}
	return o.Ordered(actionNames()...)
}

// customWith returns the metadata of an event.
func (w *writer) customWith(d *draft, kept jsonvalue.Object) jsonvalue.Object {
	if d.hints == nil {
		return kept
	}
	out := kept.Without()
	if d.model != "" {
		out.Set("model", d.model)
	}
	out.Set(ownMetadata, d.hints)
	return out
}

// join makes one event of the results of several messages, in the order of the calls. The calls in
// stand have no result: an error stands for it.
func (w *writer) join(id string, c *caller, items []item, stand []format.Call) *draft {
	d := newDraft(c.item, id)
	d.author, d.role = w.o.Agent, transcript.RoleUser
	h := &hints{Hints: transcript.Hints{V: 1}}
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
		_, d.rest = wordsOf(d.m)
		pieces = append(pieces,
			piece{c.index(it.Results), content(&it.Message, it.tool), i})
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
	for i, got := range w.decode(d) {
		h.Of[i].Hints = transcript.Diff(alone(&items[i].Message), alone(&got))
		h.Of[i].V = 0 // that of the event counts
	}
	return d
}

// branchName joins a path of branches with dots, as ADK does. Dots in a name are escaped.
func branchName(path []string) string {
	return strings.Join(lists.Map(path, func(name string) string {
		return strings.ReplaceAll(strings.ReplaceAll(name, "%", "%25"), ".", "%2E")
	}), ".")
}
