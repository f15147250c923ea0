package main

import (
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/internal/cli/clierr"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
)

// The default and the maximum number of hits.
const (
	defaultHits = 10
	mostHits    = 200
)

// hitPiece is how much of the text of a hit is shown, in quarters of a token: enough to decide
// whether to expand it.
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
		name: "search", title: "Search the messages",
		text: `Finds the messages and notes that answer a query best, best first, in the whole history of this project's
conversations, including messages that left the context. A query has words, names, paths and numbers. The
result has only a part of a long text, and its "cut" says which: "expand" with the id shows all of it.` + isData,
		params: append([]param{
			{name: "query", kind: "string", text: "The words to find.", required: true},
			{name: "session", kind: "string", text: "Search only this session."},
			{name: "branch", kind: "string", text: "With session: search only this branch."},
			{name: "role", kind: "string", text: "Search only messages of this role.",
				oneOf: roles()},
			{name: "since", kind: "string",
				text: "Search only messages at this time or later: RFC 3339, or a date, in UTC."},
			readerParam(),
			{name: "limit", kind: "integer",
				text: "The maximum number of messages on all pages together.", least: 1,
				most: mostHits, initial: defaultHits},
			{name: "clusters", kind: "boolean",
				text: "Also list the clusters of the best messages."},
			{name: "rewound", kind: "boolean", text: "Also search rewound messages."},
		}, pagingParams()...),
	}
}

func roles() []string { return []string{"user", "model", "tool", "system"} }

func (a searchArgs) check() error {
	if a.Role != "" && !slices.Contains(roles(), a.Role) {
		return clierr.Usagef("bad role: %.80q: one of %s", a.Role, strings.Join(roles(), ", "))
	}
	if a.Branch != "" && a.Session == "" {
		return clierr.Usagef("branch goes with session")
	}
	_, err := a.since()
	return firstOf(err, checkText("query", a.Query, maxQuery),
		checkText("reader", a.Reader, maxRev), between("limit", a.Limit, 1, mostHits),
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
	return time.Time{},
		clierr.Usagef("bad since: %.80q: 2026-03-01 or 2026-03-01T09:00:00Z", a.Since)
}

// hitItem is a hit in the form of `ctx search --json`, with the part of its text that is shown.
type hitItem struct {
	document.Hit
	Cut *cut `json:"cut,omitempty"`
}

// search ranks again for each page. If the store has changed since the page before, hits may be
// repeated or missing, and the result says so.
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

func (cl *call) hits(a searchArgs) ([]recall.Hit, error) {
	since, err := a.since()
	if err != nil {
		return nil, err
	}
	name := a.Session
	if name != "" {
		if name, err = history.Named(cl.view, name); err != nil {
			return nil, err
		}
	}
	q := recall.SearchQuery{
		Text: a.Query, Session: name, Branch: a.Branch, Role: a.Role, Since: since, Limit: a.most(),
		Clusters: a.Clusters, Rewound: a.Rewound,
	}
	if q.Reader, err = cl.reader(a.ofBranch, a.Reader); err != nil {
		return nil, err
	}
	return cl.store.Recall.Search(cl.view, q)
}

// reader returns the reader whose view limits the result, and nil for no limit.
func (cl *call) reader(o ofBranch, reader string) (*clusters.Viewer, error) {
	if reader == "" {
		return nil, nil
	}
	name, err := o.session(cl.view)
	if err != nil {
		return nil, err
	}
	return cl.store.Clusters.NewViewer(cl.view, name, reader)
}

// page returns a page as a result.
func (cl *call) page(p *page, name string, f frame) (*mcp.CallToolResult, error) {
	doc, err := p.document(name, f)
	if err != nil {
		return nil, err
	}
	return text(doc), nil
}
