package main

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/sessions"
)

// The default and the maximum number of hits.
const (
	defaultHits = 10
	mostHits    = 200
)

// How much of a long text a hit shows: of the first ones the passage that answers the query, of the
// others enough to decide whether to read it. A page of as many hits as nobody asked for ends after
// enoughHits of them before one that lacks a word of the query.
const (
	hitRunes   = 480
	answers    = 5
	moreRunes  = 320
	enoughHits = 5
)

type searchArgs struct {
	Query string `json:"query"`
	ofBranch
	Role    string `json:"role,omitempty"`
	Since   string `json:"since,omitempty"`
	Until   string `json:"until,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	Rewound bool   `json:"rewound,omitempty"`
	paging
}

func roles() []string { return []string{"user", "model", "tool", "system"} }

func (a searchArgs) check() error {
	if a.Role != "" && !slices.Contains(roles(), a.Role) {
		return command.Usagef("bad role: %.80q: one of %s", a.Role, strings.Join(roles(), ", "))
	}
	if strings.TrimSpace(a.Query) == "" {
		return command.Usagef("search_past_sessions needs a query")
	}
	if a.Branch != "" && a.Session == "" {
		return command.Usagef("branch goes with session")
	}
	return cmp.Or(checkText("query", a.Query, maxQuery), between("limit", a.Limit, 1, mostHits),
		a.ofBranch.check(), a.paging.check())
}

func (a searchArgs) binding() any {
	a.Limit, a.paging = a.most(), paging{}
	return a
}

func (a searchArgs) most() int {
	return cmp.Or(a.Limit, defaultHits)
}

// item is a message or a note in a result: short names, and nothing that is not so.
type item struct {
	ID      string `json:"id"`
	Session string `json:"session,omitempty"` // in a list of entries only where it is another
	Role    string `json:"role,omitempty"`
	Kind    string `json:"kind,omitempty"` // if it is no message
	Time    string `json:"time"`
	Rewound bool   `json:"rewound,omitempty"`
	// The note that holds instead of this one
	Newer string `json:"superseded_by,omitempty"`
	// The message that the next turn begins with, which doubts this answer or takes it back
	Doubted    string `json:"doubted_by,omitempty"`
	Overturned string `json:"overturned_by,omitempty"`
	Gone       string `json:"gone,omitempty"` // why there is no text
	// Of a hit: the bytes of the text, if not all are shown
	Of int `json:"of,omitempty"`
	// Of a hit: the words of the query that it lacks
	Without []string `json:"without,omitempty"`
	Cut     *cut     `json:"cut,omitempty"` // of an entry
	Text    string   `json:"text"`
}

// itemOf returns the item of an entry of a session, with a short name of the session.
func itemOf(s *history.Shown, session string) item {
	e := s.Entry
	d := item{ID: s.ID.Short(idDigits), Session: session, Role: e.Role, Time: timeText(e.Time),
		Gone: s.Gone}
	if e.Kind != format.KindMessage {
		d.Kind = e.Kind
	}
	if s.Gone == "" {
		d.Text = s.Text
	}
	return d
}

// timeText returns a time to the second, as since and until take it.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// search ranks again for each page. If the store has changed since the page before, hits may be
// repeated or missing, and the result says so.
func (cl *call) search(a searchArgs) (*mcp.CallToolResult, error) {
	at, more, err := cl.position(a.Cursor, 0, 2) // the operation, and how many hits were given
	if err != nil {
		return nil, err
	}
	var left atomic.Int64
	hits, err := cl.hits(a, &left)
	if err != nil {
		return nil, err
	}
	query, unread := search.Parse(a.Query) // a query of common words alone has no terms
	p, f, given := newPage(a.tokens()), frame{Unread: left.Load()}, uint64(0)
	if more {
		f.Changed, given = at.numbers[0] != cl.view.Number, min(at.numbers[1], uint64(len(hits)))
	}
	telling := &find.Telling{Reader: cl.store.Recall.Reader, View: cl.view}
	var asks []find.Hit // come last
	hits = append(slices.DeleteFunc(hits, func(h find.Hit) bool {
		is := telling.OnlyAsks(h.Shown)
		if is {
			asks = append(asks, h)
		}
		return is
	}), asks...)
	for i, h := range hits[given:] {
		room := hitRunes
		if i >= answers {
			room = moreRunes
		}
		d := itemOf(h.Shown, cl.short(h.Session))
		if d.Rewound = h.Rewound; !h.SupersededBy.IsZero() {
			d.Newer = h.SupersededBy.Short(idDigits)
		}
		switch o := h.Objection; {
		case o.Overturned:
			d.Overturned = o.By.Short(idDigits)
		case !o.By.IsZero():
			d.Doubted = o.By.Short(idDigits)
		}
		if unread == nil {
			d.Without = query.Without(h.Text)
		}
		if calls := len(h.Shown.Entry.Calls) > 0; calls && h.Shown.Gone == "" {
			d.Of, d.Text = len(h.Text), telling.Passage(&h, room)
		} else if utf8.RuneCountInString(h.Text) > room {
			if d.Of, d.Text = len(h.Text), h.Excerpt; unread == nil {
				d.Text = query.Excerpt(h.Text, room)
			}
		}
		if a.Limit == 0 && i >= enoughHits && len(d.Without) > 0 || !p.add(d) {
			f.Next = cl.next(&position{numbers: []uint64{cl.view.Number, given}})
			break
		}
		given++
	}
	return cl.page(p, "hits", f)
}

func (cl *call) hits(a searchArgs, unread *atomic.Int64) ([]find.Hit, error) {
	since, err := span("since", a.Since, cl.now)
	if err != nil {
		return nil, err
	}
	until, err := span("until", a.Until, cl.now)
	if err != nil {
		return nil, err
	}
	name := a.Session
	if name != "" {
		if name, err = cl.store.Recall.Named(cl.view, name); err != nil {
			return nil, err
		}
	}
	return cl.store.Recall.Search(cl.view, find.SearchQuery{
		Alike: true,
		Text:  a.Query, Session: name, Branch: a.Branch, Role: a.Role, Since: since.Start,
		Until: until.End, Limit: a.most(), Rewound: a.Rewound, Parts: true,
		Read: find.EnoughRead, Unread: unread,
	})
}

// short returns the name by which tools and commands find a session.
func (cl *call) short(session string) string { return sessions.ShortName(cl.view, session) }

// page returns a page as a result.
func (cl *call) page(p *page, name string, f frame) (*mcp.CallToolResult, error) {
	doc, err := p.document(name, f)
	if err != nil {
		return nil, err
	}
	return text(doc), nil
}
