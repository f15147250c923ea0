package main

import (
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type sessionsArgs struct {
	paging
}

func (a sessionsArgs) check() error { return a.paging.check() }

func (a sessionsArgs) binding() any { return nil }

// sessionItem is a session in the list.
type sessionItem struct {
	Session  string   `json:"session"`
	Title    string   `json:"title,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Pinned   bool     `json:"pinned,omitempty"`
	Agent    string   `json:"agent,omitempty"`
	Git      string   `json:"git_branch,omitempty"`
	First    string   `json:"first,omitempty"`
	Last     string   `json:"last,omitempty"`
	Messages uint64   `json:"messages"`
	Head     bool     `json:"head,omitempty"` // what is read and rendered by default
}

// sessions lists as many sessions as fit.
func (cl *call) sessions(a sessionsArgs) (*mcp.CallToolResult, error) {
	at, more, err := cl.position(a.Cursor, 0, 1) // how many sessions were given
	if err != nil {
		return nil, err
	}
	list, err := cl.store.Recall.Overviews(cl.view)
	if err != nil {
		return nil, err
	}
	list = sessions.Persons(list)
	slices.SortStableFunc(list, sessions.ByPin)
	given := uint64(0)
	if more {
		given = min(at.numbers[0], uint64(len(list)))
	}
	p, f := newPage(a.tokens()), frame{}
	for i, o := range list[given:] {
		fits := p.add(sessionItem{cl.short(o.Name), o.Title, o.About.Tags,
			o.About.Pinned, o.Agent, o.Git, timeText(o.First),
			timeText(o.Last), messages(o.Session), o.Head})
		if !fits && p.empty() {
			return nil, errors.New("a session is longer than a result")
		}
		if !fits {
			f.Next = cl.next(&position{numbers: []uint64{given + uint64(i)}})
			break
		}
	}
	return cl.page(p, "sessions", f)
}
