package main

import (
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/clierr"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/recall"
)

type logArgs struct {
	Rev string `json:"rev,omitempty"`
	ofBranch
	All     bool   `json:"all,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	After   string `json:"after,omitempty"`
	Reverse bool   `json:"reverse,omitempty"`
	Masked  bool   `json:"masked,omitempty"`
	paging
}

func logTool() tool {
	return tool{
		name: "log", title: "Show the messages of a session",
		text: `Shows the messages and notes of a session's branch, oldest first, word for word. "limit" shows only the
newest; "reverse" begins with the newest. Notes without words are shown only with "all".
The default session is the one that HEAD names.` + isData,
		params: append([]param{
			sessionParam(), branchParam(),
			{name: "rev", kind: "string",
				text: "Show the history of a revision, or a range A..B (see " +
					"`ctx help revisions`)."},
			{name: "all", kind: "boolean",
				text: "Show every kind of entry, including rewinds and amendments."},
			{name: "limit", kind: "integer", text: "Show only so many of the newest entries.",
				least: 1},
			{name: "after", kind: "string",
				text: "Show only entries at this time or later, RFC 3339."},
			{name: "masked", kind: "boolean", text: "Shorten tool outputs as masks say."},
			{name: "reverse", kind: "boolean", text: "Show the newest entry first."},
		}, pagingParams()...),
	}
}

func (a logArgs) check() error {
	_, err := a.since()
	const most = 1 << 30
	return firstOf(err, between("limit", a.Limit, 1, most), checkText("rev", a.Rev, maxRev),
		a.ofBranch.check(), a.paging.check())
}

func (a logArgs) binding() any {
	a.Branch, a.paging = a.branch(), paging{}
	return a
}

func (a logArgs) since() (t time.Time, err error) {
	if a.After != "" {
		if t, err = time.Parse(time.RFC3339Nano, a.After); err != nil {
			err = clierr.Usagef("bad after: %.80q: a time is like 2026-11-21T00:42:09Z", a.After)
		}
	}
	return t, err
}

// log continues from the tip of the first page, even if the branch has moved since.
func (cl *call) log(a logArgs) (*mcp.CallToolResult, error) {
	// The tip and what comes before all; how many were given, the byte, and of which version
	at, more, err := cl.position(a.Cursor, 2, 3)
	if err != nil {
		return nil, err
	}
	since, err := a.since()
	if err != nil {
		return nil, err
	}
	w := &entryWalk{cl: cl, page: newPage(a.tokens())}
	var tip format.ID
	o := recall.LogOptions{All: a.All, Limit: a.Limit, Since: since, NewestFirst: a.Reverse,
		Masked: a.Masked, Worded: true}
	if more {
		tip, o.After, o.Skip = at.ids[0], at.ids[1], at.numbers[0]
		w.resume(at.numbers[1], at.numbers[2])
	} else if tip, o.After, err = cl.span(a); err != nil {
		return nil, err
	}
	err = cl.store.Recall.LogEach(tip, o, w.add)
	var f frame
	if errors.Is(err, errFull) {
		f.Next = cl.next(&position{ids: []format.ID{tip, o.After},
			numbers: []uint64{o.Skip + w.put, w.byte, w.version}})
	} else if err != nil {
		return nil, err
	}
	return cl.page(w.page, "entries", f)
}

// span returns the last entry to show and the entry before the first one.
func (cl *call) span(a logArgs) (tip, after format.ID, err error) {
	name, err := a.session(cl.view)
	if a.Rev == "" {
		if err != nil {
			return tip, after, err
		}
		v, err := cl.store.History.TipOrJoined(cl.view, name, a.branch())
		return v.ID, after, err
	}
	if err != nil && !clusters.IsMissing(err) {
		return tip, after, err
	}
	return cl.store.Recall.ResolveRange(cl.view, name, a.branch(), a.Rev)
}
