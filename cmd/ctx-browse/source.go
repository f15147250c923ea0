package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// source makes pages of a store as it is at one moment.
type source struct {
	store *session.Store
	view  *refs.View
	zone  *time.Location
}

// minute is the form of a time, as precise as a list needs.
const minute = "2006-01-02 15:04"

func (s *source) clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(s.zone).Format(minute)
}

// sessions lists the sessions, the newest first.
func (s *source) sessions() (*page, error) {
	list, err := s.store.Recall.Overviews(s.view)
	if err != nil {
		return nil, err
	}
	p := &page{kind: sessionsPage, title: "sessions"}
	for _, o := range list {
		it := &item{session: o.Name, branch: history.MainBranch, opens: true}
		title := o.Title
		if strings.TrimSpace(title) == "" {
			title = o.Name
		}
		if at := strings.LastIndexByte(o.Name, '@'); at > 0 {
			title = o.Name[at:] + " " + title // another store shares it
		}
		if o.Parent != nil {
			title = "└ " + title
		}
		it.head = short(title)
		said := uint64(0)
		if len(o.Branches) > 0 {
			it.branch = o.Branches[0].Name
		}
		for _, b := range o.Branches {
			if b.Name == history.MainBranch {
				it.branch = b.Name
			}
			said = max(said, b.Seq)
		}
		line := fmt.Sprintf("%s %d msg", s.clock(o.Last), said)
		it.read = func() (string, error) { return line, nil }
		p.items = append(p.items, it)
	}
	return p, nil
}

// talk begins to read a branch from its end.
func (s *source) talk(name, branch string) (*page, error) {
	tip, err := s.store.History.TipOrJoined(s.view, name, branch)
	if err != nil {
		return nil, err
	}
	p := &page{kind: talkPage, title: short(name), session: name}
	p.walkFrom(s.store.History.Walk(tip.ID, history.WithJoined))
	err = s.extend(p, atOnce)
	p.cur = max(len(p.items)-1, 0)
	return p, err
}

// atOnce is the number of messages that are read when the screen comes to the first one so far.
const atOnce = 200

// extend reads at most so many older messages of a conversation, and keeps what is selected.
func (s *source) extend(p *page, most int) error {
	var found []*item
	var failed error
	for len(found) < most && p.older != nil {
		e, err, ok := p.older()
		if err != nil || !ok {
			failed = err
			p.close()
			break
		}
		switch e.Kind {
		case format.KindAmend:
			if _, known := p.newer[e.Amends]; !known {
				p.newer[e.Amends] = e.ID
			}
		case format.KindMessage, format.KindNote:
			found = append(found, s.message(e.ID, p.newer[e.ID], e.Entry))
		}
	}
	slices.Reverse(found)
	if len(p.items) > 0 {
		p.cur += len(found)
		p.top += len(found)
	}
	p.items = append(found, p.items...)
	return failed
}

// message makes the item of an entry. The text is read later.
func (s *source) message(id, version format.ID, e *format.Entry) *item {
	role := e.Role
	if e.Kind != format.KindMessage || role == "" {
		role = e.Kind
	}
	head := fmt.Sprintf("%s  #%d  %s  %s", role, e.Seq, s.clock(e.Time), id.Short(12))
	if e.Author != "" {
		head += "  " + short(e.Author)
	}
	return &item{
		id: id, tool: e.Role == "tool", head: head,
		read: func() (string, error) {
			shown, err := s.store.History.Version(id, version)
			if err != nil {
				return "", err
			}
			return textOf(shown), nil
		},
	}
}

func textOf(shown *history.Shown) string {
	switch {
	case shown.Gone != "":
		return "[gone: " + shown.Gone + "]"
	case strings.TrimSpace(shown.Text) == "":
		return "[no text]"
	}
	return strings.TrimLeft(shown.Text, "\n")
}

// forest lists the clusters as `ctx forest` does.
func (s *source) forest() (*page, error) {
	list, err := s.store.Recall.Clusters(s.view)
	if err == nil {
		err = s.store.Summaries.SetLabels(list)
	}
	if err != nil {
		return nil, err
	}
	p := &page{kind: forestPage, title: "forest"}
	for _, c := range list {
		p.items = append(p.items, &item{
			id: c.ID, opens: true,
			head: fmt.Sprintf("%s  %d msg  %s  %s", document.StateOf(&c), c.Count, c.ID.Short(12), short(c.Label)),
			read: func() (string, error) {
				d, err := document.ClusterOf(s.store, c)
				if err != nil || d.Summary == nil {
					return "[no summary]", err
				}
				return *d.Summary, nil
			},
		})
	}
	return p, nil
}

// expand lists the messages that an object stands for, as `ctx expand` does. It holds their ids
// and headers; texts are read again when they are drawn.
func (s *source) expand(id format.ID) (*page, error) {
	p := &page{kind: expandPage, title: "messages behind " + id.Short(12)}
	err := s.store.Recall.Expand(s.view, id, recall.ExpandOptions{}, func(shown *history.Shown) error {
		it := s.message(shown.ID, shown.Version, shown.Entry)
		it.session = shown.Entry.Session
		p.items = append(p.items, it)
		return nil
	})
	return p, err
}

// mostHits is the number of hits of a search: more than a person goes through.
const mostHits = 50

// search finds messages as `ctx search` does.
func (s *source) search(text string) (*page, error) {
	hits, err := s.store.Recall.Search(s.view, recall.SearchQuery{Text: text, Limit: mostHits, Phrases: true})
	if err != nil {
		return nil, err
	}
	p := &page{kind: hitsPage, title: "search: " + short(text)}
	for _, h := range hits {
		excerpt := h.Excerpt
		p.items = append(p.items, &item{
			id: h.ID, session: h.Session, branch: h.Branch, opens: true,
			head: fmt.Sprintf("%s  %s  #%d  %s", h.Shown.Entry.Role, s.clock(h.Shown.Entry.Time), h.Shown.Entry.Seq, short(h.Session)),
			read: func() (string, error) { return excerpt, nil },
		})
	}
	return p, nil
}

// provenance says what an object was made from, and what was made from it, as `ctx provenance`
// does.
func (s *source) provenance(id format.ID) (*page, error) {
	found, err := s.store.Recall.Provenance(s.view, id)
	if err != nil {
		return nil, err
	}
	p := &page{kind: textPage, title: "provenance of " + id.Short(12)}
	add := func(id format.ID, opens bool, head string, args ...any) *item {
		it := &item{id: id, opens: opens, head: clean(fmt.Sprintf(head, args...))}
		p.items = append(p.items, it)
		return it
	}
	whole := found.ID.String()
	add(found.ID, true, "%s %s", found.Kind, found.ID.Short(12)).read = func() (string, error) { return whole, nil }
	if !found.Node.IsZero() && found.Node != found.ID {
		add(found.Node, true, "stands for node %s", found.Node.Short(12))
	}
	for _, in := range found.Inputs {
		add(in.ID, true, "made of %s", in.ID.Short(12))
	}
	for _, t := range found.Targets {
		add(format.ID{}, false, "stands for entry %v", t)
	}
	for _, id := range found.ReplacedBy {
		add(id, true, "replaced by %s", id.Short(12))
	}
	return p, s.covers(found, add)
}

// covers adds the clusters of a provenance with their summaries.
func (s *source) covers(found *clusters.Provenance, add func(format.ID, bool, string, ...any) *item) error {
	var ids []format.ID
	for _, c := range found.Clusters {
		for _, v := range c.Covers {
			ids = append(ids, v.Summary)
		}
	}
	origins, err := s.store.Summaries.Origins(s.view, ids)
	if err != nil {
		return err
	}
	if len(found.Clusters) == 0 {
		add(format.ID{}, false, "in no cluster yet")
	}
	for _, c := range found.Clusters {
		add(c.ID, true, "in cluster %s (%s, %d messages)", c.ID.Short(12), document.StateOf(&c), c.Count)
		for _, v := range c.Covers {
			it := add(v.Summary, true, "summary %s of messages %d to %d", v.Summary.Short(12), v.Offset+1, v.Offset+v.Count)
			o := origins[v.Summary]
			if o.Summary == nil {
				continue
			}
			made := fmt.Sprintf("made by %s %s, generation %d", o.Summary.Summarizer, o.Summary.Version, o.Summary.Generation)
			if o.Operation > 0 {
				made += fmt.Sprintf(", operation %d at %s", o.Operation, s.clock(o.Time))
			}
			text, ok, err := s.store.Recall.CoversText([]format.Cover{v}, 500)
			if err != nil && !errors.Is(err, history.ErrGone) {
				return err
			}
			if ok {
				made += "\n" + text
			}
			it.read = func() (string, error) { return made, nil }
		}
	}
	return nil
}
