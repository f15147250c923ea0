package main

import (
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/internal/cli/document"
)

type sessionsArgs struct {
	paging
}

func sessionsTool() tool {
	return tool{
		name: "sessions", title: "List the sessions",
		text: `Lists the sessions of this project, the one with the newest message first: name, title, agent, branch of git,
times of the first and the newest message, number of messages. "log" and "render" take the name.` + isData,
		params: pagingParams(),
	}
}

func (a sessionsArgs) check() error { return a.paging.check() }

func (a sessionsArgs) binding() any { return nil }

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
	given := uint64(0)
	if more {
		given = min(at.numbers[0], uint64(len(list)))
	}
	p, f := newPage(a.tokens()), frame{}
	for i := range list[given:] {
		d := document.OverviewOf(&list[given:][i])
		fits, err := p.add(d)
		if err == nil && !fits && p.empty() {
			err = errors.New("a session is longer than a result")
		}
		if err != nil {
			return nil, err
		}
		if !fits {
			f.Next = cl.next(&position{numbers: []uint64{given + uint64(i)}})
			break
		}
	}
	return cl.page(p, "sessions", f)
}
