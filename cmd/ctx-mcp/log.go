package main

import (
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/failure"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
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
		name: "log", title: "Show what was said in a session",
		text: `Shows the messages and notes of a session's branch, oldest first, word for word. "limit" takes the newest ones only; "reverse" begins with the newest. Without a
session it is the one that HEAD names.` + isData,
		params: append([]param{
			sessionParam(), branchParam(),
			{name: "rev", kind: "string", text: "The history of a revision, or a range A..B, as `ctx help revisions` has them."},
			{name: "all", kind: "boolean", text: "Every kind of entry: rewinds, amendments and so on, too."},
			{name: "limit", kind: "integer", text: "The newest so many entries only.", least: 1},
			{name: "after", kind: "string", text: "Only what was said at this time or later, RFC 3339."},
			{name: "masked", kind: "boolean", text: "Show outputs shortened where a mask says so."},
			{name: "reverse", kind: "boolean", text: "Newest first."},
		}, pagingParams()...),
	}
}

func (a logArgs) check() error {
	_, err := a.since()
	const most = 1 << 30
	return firstOf(err, between("limit", a.Limit, 1, most), checkText("rev", a.Rev, maxRev), a.ofBranch.check(), a.paging.check())
}

func (a logArgs) binding() any {
	a.Branch, a.paging = a.branch(), paging{}
	return a
}

func (a logArgs) since() (t time.Time, err error) {
	if a.After != "" {
		if t, err = time.Parse(time.RFC3339Nano, a.After); err != nil {
			err = failure.Usagef("bad after: %.80q: a time is like 2026-11-21T00:42:09Z", a.After)
		}
	}
	return t, err
}

// log goes on from the tip that the first page had, however the branch has moved since.
func (cl *call) log(a logArgs) (*mcp.CallToolResult, error) {
	at, more, err := cl.position(a.Cursor, 2, 3) // the tip and what comes before all; how many were given, the byte, and of which version
	if err != nil {
		return nil, err
	}
	since, err := a.since()
	if err != nil {
		return nil, err
	}
	w := &entryWalk{cl: cl, page: newPage(a.tokens())}
	var tip format.ID
	o := session.LogOptions{All: a.All, Limit: a.Limit, Since: since, NewestFirst: a.Reverse, Masked: a.Masked}
	if more {
		tip, o.After, o.Skip = at.ids[0], at.ids[1], at.numbers[0]
		w.resume(at.numbers[1], at.numbers[2])
	} else if tip, o.After, err = cl.span(a); err != nil {
		return nil, err
	}
	err = cl.store.LogEach(tip, o, w.add)
	var f frame
	if errors.Is(err, errFull) {
		f.Next = cl.next(&position{ids: []format.ID{tip, o.After}, numbers: []uint64{o.Skip + w.put, w.byte, w.version}})
	} else if err != nil {
		return nil, err
	}
	return cl.page(w.page, "entries", f)
}

// span returns the tip of what is shown, and the entry before it.
func (cl *call) span(a logArgs) (tip, after format.ID, err error) {
	name, err := a.session(cl.view)
	if a.Rev == "" {
		if err != nil {
			return tip, after, err
		}
		v, err := cl.store.TipOrJoined(cl.view, name, a.branch())
		return v.ID, after, err
	}
	if err != nil && !session.IsMissing(err) {
		return tip, after, err
	}
	return cl.store.Span(cl.view, name, a.branch(), a.Rev)
}
