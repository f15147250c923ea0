package browse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
)

// source makes pages of a store as it is at one moment.
type source struct {
	store *session.Store
	view  *refs.View
	zone  *time.Location
}

// clock returns a time, as precise as a list needs.
func (s *source) clock(t time.Time) string { return s.form(t, "2006-01-02 15:04") }

func (s *source) day(t time.Time) string { return s.form(t, time.DateOnly) }

func (s *source) form(t time.Time, layout string) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(s.zone).Format(layout)
}

// sessions lists the sessions, the pinned ones and then the newest first.
func (s *source) sessions() (*page, error) {
	list, err := s.store.Recall.Overviews(s.view)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, sessions.ByPin)
	p := &page{kind: sessionsPage, title: "sessions"}
	for i := range list {
		p.items = append(p.items, s.sessionItem(&list[i]))
	}
	return p, nil
}

func (s *source) sessionItem(o *sessions.Overview) *item {
	it := &item{session: o.Name, branch: history.MainBranch, opens: true,
		title: cmp.Or(short(o.Title), nameOf(o.Name))}
	if o.Parent != nil {
		it.head = append(it.head, span{faint, "└ "})
	}
	if at := strings.LastIndexByte(o.Name, '@'); at > 0 { // another store shares it
		it.head = append(it.head, span{ofID, short(o.Name[at:]) + " "})
	}
	it.head = append(it.head, span{bold, it.title})
	for _, b := range o.Branches {
		it.branches = append(it.branches, b.Name)
		it.count = max(it.count, b.Seq)
	}
	if len(it.branches) > 0 && !slices.Contains(it.branches, history.MainBranch) {
		it.branch = it.branches[0]
	}
	said := fmt.Sprintf("%s  %d msg", s.clock(o.Last), it.count)
	if n := len(it.branches); n > 1 {
		said += fmt.Sprintf("  %d branches", n)
	}
	if o.Agent != "" {
		said += "  " + short(o.Agent)
	}
	for _, label := range o.About.Labels() {
		said += "  " + short(label)
	}
	it.read = func() ([]row, error) { return []row{{style: faint, text: said, cut: true}}, nil }
	return it
}

func plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// nameOf is the name of a session for a title: one that no person gave is cut to its beginning.
func nameOf(name string) string {
	label := ""
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name, label = name[:at], name[at:]
	}
	const given, cut = 24, 8
	if len(name) >= given {
		name = strings.ToValidUTF8(name[:cut], "")
	}
	return short(name + label)
}

// talk begins to read a branch from its end.
func (s *source) talk(name, branch, title string) (*page, error) {
	tip, err := s.store.History.TipOrJoined(s.view, name, branch)
	if err != nil {
		return nil, err
	}
	p := &page{kind: talkPage, title: nameOf(name), session: name, branch: branch}
	if branch != history.MainBranch {
		p.title += " " + short(branch)
	}
	if title != "" && title != p.title {
		p.title += "  " + title
	}
	p.walkFrom(s.store.History.Walk(tip.ID, history.WithJoined))
	found, err := s.older(p, atOnce)
	p.prepend(found)
	p.cur = max(len(p.items)-1, 0)
	if it := p.current(); it != nil {
		p.total = it.seq
	}
	return p, err
}

// atOnce is the number of messages that are read when the screen comes to the first one so far.
const atOnce = 200

// older reads at most so many older messages of a conversation, the newest first. It changes
// nothing that is shown.
func (s *source) older(p *page, most int) (found []*item, err error) {
	results := map[string]*item{} // by the id of the call
	for len(found) < most && p.older != nil {
		e, err, ok := p.older()
		if err != nil || !ok {
			p.close()
			return found, err
		}
		switch e.Kind {
		case format.KindAmend:
			if _, known := p.newer[e.Amends]; !known {
				p.newer[e.Amends] = e.ID
			}
		case format.KindMessage, format.KindNote:
			it := s.message(e.ID, p.newer[e.ID], e.Entry)
			found = append(found, it)
			// The call stands before its result. Where it is read later, the tool has no name.
			for _, c := range e.Calls {
				if result := results[c.ID]; result != nil {
					result.nameTool(c.Tool)
				}
			}
			for _, id := range e.Results {
				results[id] = it
			}
		}
	}
	return found, nil
}

// prepend puts older messages before the others, and keeps what is selected.
func (p *page) prepend(found []*item) {
	slices.Reverse(found)
	if len(p.items) > 0 {
		p.cur += len(found)
		p.top += len(found)
	}
	p.items = append(found, p.items...)
}

// message makes the item of an entry. The text is read later.
func (s *source) message(id, version format.ID, e *format.Entry) *item {
	role := e.Role
	if e.Kind != format.KindMessage || role == "" {
		role = e.Kind
	}
	head := line{
		{ofRole, short(role)}, {normal, fmt.Sprintf("  #%d  ", e.Seq)},
		{faint, s.clock(e.Time) + "  "}, {ofID, id.Short(12)},
	}
	if e.Author != "" {
		head = append(head, span{normal, "  " + short(e.Author)})
	}
	if !version.IsZero() && version != id {
		head = append(head, span{faint, "  amended"})
	}
	show := func() (*history.Shown, error) { return s.store.History.Version(id, version) }
	return &item{
		id: id, seq: e.Seq, tool: e.Role == "tool", head: head,
		read: func() ([]row, error) {
			shown, err := show()
			if err != nil {
				return nil, err
			}
			return said(shown), nil
		},
		copy: func() (string, error) {
			shown, err := show()
			if err != nil {
				return "", err
			}
			return shown.Text, nil
		},
	}
}

// nameTool puts the name of the tool, the first one that is answered, beside the role.
func (it *item) nameTool(name string) {
	if it.tool && name != "" && !it.named {
		it.named = true
		it.head = slices.Insert(it.head, 1, span{bold, " " + short(name)})
	}
}

// forest lists the clusters as `ctx forest` does.
func (s *source) forest(c context.Context) (*page, error) {
	list, err := s.store.Recall.Clusters(s.view)
	if err == nil && c.Err() == nil {
		err = s.store.Summaries.SetLabels(list)
	}
	if err != nil {
		return nil, err
	}
	p := &page{kind: forestPage, title: plural(uint64(len(list)), "cluster"),
		none: "no clusters yet: every message is still in the window"}
	for _, cluster := range list {
		p.items = append(p.items, s.cluster(cluster))
	}
	return p, c.Err()
}

func (s *source) cluster(c clusters.ClusterInfo) *item {
	label := cmp.Or(short(cmp.Or(c.Label, c.Line)), "cluster "+c.ID.Short(12))
	state := fmt.Sprintf("%s  %s  %s to %s  ", document.StateOf(&c), plural(c.Count, "message"),
		s.day(c.First.Time), s.day(c.Last.Time))
	summary := func() (string, error) {
		d, err := document.ClusterOf(s.store, c)
		if err != nil || d.Summary == nil {
			return "", err
		}
		return *d.Summary, nil
	}
	return &item{
		id: c.ID, opens: true, head: line{{bold, label}}, copy: summary,
		read: func() ([]row, error) {
			text, err := summary()
			rows := []row{{style: faint, text: state + c.ID.Short(12)}}
			switch {
			case err != nil:
				return nil, err
			case strings.TrimSpace(text) == "":
				return append(rows, row{style: faint, text: "[no summary]"}), nil
			}
			return append(rows, textRows(text)...), nil
		},
	}
}

// expand lists the messages that an object stands for, as `ctx expand` does. It holds their ids
// and headers; texts are read again when they are drawn.
func (s *source) expand(c context.Context, id format.ID) (*page, error) {
	p := &page{kind: expandPage, title: "messages behind " + id.Short(12), none: "no messages"}
	calls := map[string]string{}
	err := s.store.Recall.Expand(s.view, id,
		recall.ExpandOptions{}, func(shown *history.Shown) error {
			for _, call := range shown.Entry.Calls {
				calls[call.ID] = call.Tool
			}
			it := s.message(shown.ID, shown.Version, shown.Entry)
			it.session = shown.Entry.Session
			for _, id := range shown.Entry.Results {
				it.nameTool(calls[id])
			}
			p.items = append(p.items, it)
			return c.Err()
		})
	return p, err
}

// mostHits is the number of hits of a search: more than a person goes through.
const mostHits = 50

// mostExcerpt is how many characters a hit shows.
const mostExcerpt = 160

// search finds messages as `ctx search` does.
func (s *source) search(text string) (*page, error) {
	hits, err := s.store.Recall.Search(s.view,
		find.SearchQuery{Text: text, Limit: mostHits, Phrases: true, Parts: true,
			Alike: true})
	if err != nil {
		return nil, err
	}
	p := &page{kind: hitsPage, title: "search: " + short(text),
		none: "nothing found: " + short(text)}
	tell := &find.Telling{Reader: s.store.Recall.Reader, View: s.view}
	for _, h := range hits {
		e, excerpt, text := h.Shown.Entry, tell.Passage(&h, mostExcerpt), h.Text
		head := line{
			{ofRole, short(e.Role)}, {normal, fmt.Sprintf("  #%d  ", e.Seq)},
			{faint, s.clock(e.Time) + "  "}, {ofID, h.ID.Short(12)},
			{normal, "  " + nameOf(h.Session)},
		}
		if h.Rewound {
			head = append(head, span{faint, "  rewound"})
		}
		p.items = append(p.items, &item{
			id: h.ID, session: h.Session, branch: h.Branch, opens: true, head: head,
			read: func() ([]row, error) { return []row{{text: excerpt}}, nil },
			copy: func() (string, error) { return text, nil },
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
		it := &item{id: id, opens: opens, head: line{{normal, clean(fmt.Sprintf(head, args...))}}}
		p.items = append(p.items, it)
		return it
	}
	whole := []row{{style: faint, text: found.ID.String()}}
	add(found.ID, true, "%s %s", found.Kind, found.ID.Short(12)).read = func() ([]row, error) {
		return whole, nil
	}
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
func (s *source) covers(
	found *clusters.Provenance, add func(format.ID, bool, string, ...any) *item,
) error {
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
		add(c.ID, true, "in cluster %s (%s, %d messages)", c.ID.Short(12),
			document.StateOf(&c), c.Count)
		for _, v := range c.Covers {
			it := add(v.Summary, true, "summary %s of messages %d to %d", v.Summary.Short(12),
				v.Offset+1, v.Offset+v.Count)
			o := origins[v.Summary]
			if o.Summary == nil {
				continue
			}
			by := fmt.Sprintf("made by %s %s, generation %d", o.Summary.Summarizer,
				o.Summary.Version, o.Summary.Generation)
			if o.Operation > 0 {
				by += fmt.Sprintf(", operation %d at %s", o.Operation, s.clock(o.Time))
			}
			text, ok, err := s.store.Recall.CoversText([]format.Cover{v}, 500)
			if err != nil && !errors.Is(err, history.ErrGone) {
				return err
			}
			made := []row{{style: faint, text: by}}
			if ok {
				made = append(made, textRows(text)...)
			}
			it.read = func() ([]row, error) { return made, nil }
			it.copy = func() (string, error) { return text, nil }
		}
	}
	return nil
}
