package main

import (
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/document"
	"github.com/gemini-ctx/ctx/failure"
	"github.com/gemini-ctx/ctx/session"
)

// How many hits a search has.
const (
	defaultHits = 10
	mostHits    = 200
)

// hitPiece is how much of a hit's text is shown, in quarters of a token: enough to tell whether it is worth expanding.
const hitPiece = 300 * perToken

type searchArgs struct {
	Query string `json:"query"`
	ofBranch
	Role     string `json:"role,omitempty"`
	Since    string `json:"since,omitempty"`
	Reader   string `json:"reader,omitempty"`
	Limit    int    `json:"limit,omitempty"`
	Clusters bool   `json:"clusters,omitempty"`
	Rewound  bool   `json:"rewound,omitempty"`
	paging
}

func searchTool() tool {
	return tool{
		name: "search", title: "Search what was said",
		text: `Finds the messages and notes that answer a query best, best first, over all history of this project's conversations: what has been evicted from the context is
found like the rest. A query is words, names, paths and numbers. A long text is shown in part, which its "cut" says: "expand" with its id has all of it.` + isData,
		params: append([]param{
			{name: "query", kind: "string", text: "What to look for.", required: true},
			{name: "session", kind: "string", text: "Only what was said in this session."},
			{name: "branch", kind: "string", text: "With session: only what this branch has."},
			{name: "role", kind: "string", text: "Only what was said in this role.", oneOf: roles()},
			{name: "since", kind: "string", text: "Only what was said then or later: RFC 3339, or a date, in UTC."},
			readerParam(),
			{name: "limit", kind: "integer", text: "At most so many messages, on all pages together.", least: 1, most: mostHits, initial: defaultHits},
			{name: "clusters", kind: "boolean", text: "List the clusters of the best messages, too."},
			{name: "rewound", kind: "boolean", text: "Look at what was rewound, too."},
		}, pagingParams()...),
	}
}

func roles() []string { return []string{"user", "model", "tool", "system"} }

func (a searchArgs) check() error {
	if a.Role != "" && !slices.Contains(roles(), a.Role) {
		return failure.Usagef("bad role: %.80q: one of %s", a.Role, strings.Join(roles(), ", "))
	}
	if a.Branch != "" && a.Session == "" {
		return failure.Usagef("branch goes with session")
	}
	_, err := a.since()
	return firstOf(err, checkText("query", a.Query, maxQuery), checkText("reader", a.Reader, maxRev), between("limit", a.Limit, 1, mostHits),
		a.ofBranch.check(), a.paging.check())
}

func (a searchArgs) binding() any {
	a.Limit, a.paging = a.most(), paging{}
	return a
}

func (a searchArgs) most() int {
	if a.Limit == 0 {
		return defaultHits
	}
	return a.Limit
}

func (a searchArgs) since() (time.Time, error) {
	if a.Since == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, a.Since); err == nil {
			return t, nil
		}
	}
	return time.Time{}, failure.Usagef("bad since: %.80q: 2026-03-01 or 2026-03-01T09:00:00Z", a.Since)
}

// hitItem is a hit as search of ctx prints it, and what of its text is shown where that is not all.
type hitItem struct {
	document.Hit
	Cut *cut `json:"cut,omitempty"`
}

// search ranks anew for each page. Where the store has changed since the page before, hits may come again, or not at all: the result says that it has.
func (cl *call) search(a searchArgs) (*mcp.CallToolResult, error) {
	at, more, err := cl.position(a.Cursor, 0, 2) // the operation, and how many hits were given
	if err != nil {
		return nil, err
	}
	hits, err := cl.hits(a)
	if err != nil {
		return nil, err
	}
	p, f, given := newPage(a.tokens()), frame{}, uint64(0)
	if more {
		f.Changed, given = at.numbers[0] != cl.view.Number, min(at.numbers[1], uint64(len(hits)))
	}
	for _, h := range hits[given:] {
		item := hitItem{Hit: document.HitOf(h)}
		if n := prefix(h.Text, hitPiece); n < len(h.Text) {
			shown := h.Text[:n]
			item.Text, item.Cut = &shown, &cut{0, n, len(h.Text)}
		}
		fits, err := p.add(item)
		if err != nil {
			return nil, err
		}
		if !fits {
			f.Next = cl.next(&position{numbers: []uint64{cl.view.Number, given}})
			break
		}
		given++
	}
	return cl.page(p, "hits", f)
}

func (cl *call) hits(a searchArgs) ([]session.Hit, error) {
	since, err := a.since()
	if err != nil {
		return nil, err
	}
	name := a.Session
	if name != "" {
		if name, err = session.Named(cl.view, name); err != nil {
			return nil, err
		}
	}
	q := session.SearchQuery{
		Text: a.Query, Session: name, Branch: a.Branch, Role: a.Role, Since: since, Most: a.most(), Clusters: a.Clusters, Rewound: a.Rewound,
	}
	if q.Reader, err = cl.reader(a.ofBranch, a.Reader); err != nil {
		return nil, err
	}
	return cl.store.Search(cl.view, q)
}

// reader is who reads; nil for everybody.
func (cl *call) reader(o ofBranch, reader string) (*session.Reader, error) {
	if reader == "" {
		return nil, nil
	}
	name, err := o.session(cl.view)
	if err != nil {
		return nil, err
	}
	return cl.store.NewReader(cl.view, name, reader)
}

// page is a page as a result.
func (cl *call) page(p *page, name string, f frame) (*mcp.CallToolResult, error) {
	doc, err := p.document(name, f)
	if err != nil {
		return nil, err
	}
	return text(doc), nil
}
