package main

import (
	"cmp"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/internal/blame"
	"github.com/gemini-ctx/ctx/internal/blame/whose"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/search"
)

// maxPath is the maximum bytes of a path in arguments.
const maxPath = 4096

type whoArgs struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	To   int    `json:"to,omitempty"`
}

func (a whoArgs) check() error {
	const most = 1 << 30
	switch {
	case a.File == "":
		return command.Usagef("who_wrote_line needs a file")
	case a.To != 0 && a.To < max(a.Line, 1):
		return command.Usagef("bad to: %d: it comes before line", a.To)
	}
	return cmp.Or(checkText("file", a.File, maxPath), between("line", a.Line, 1, most),
		between("to", a.To, 1, most))
}

func (a whoArgs) binding() any { return a }

// written is a run of lines that the same call, or the same commit, wrote.
type written struct {
	Line    int    `json:"line"`
	To      int    `json:"to"`
	ID      string `json:"id,omitempty"` // of the message that made the call
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Time    string `json:"time,omitempty"`
	Prompt  string `json:"prompt,omitempty"` // the id of the message that asked for it
	Asked   string `json:"asked,omitempty"`  // its words, or the passage at their beginning
	Commit  string `json:"commit,omitempty"`
	Author  string `json:"author,omitempty"`
	Summary string `json:"summary,omitempty"` // of the commit
}

// who returns no line of the file itself: the model has other tools for that.
func (cl *call) who(a whoArgs) (*mcp.CallToolResult, error) {
	f, err := whose.Of(cl.c, cl.store, cl.view, environ.Under(cl.dir, a.File), whose.Options{
		Asked: a.File, Warn: func(error) {}, // the answer is that of a project without git
	})
	if err != nil {
		return nil, err
	}
	from, to := max(a.Line, 1), len(f.Lines)
	if a.Line > to {
		return nil, command.Usagef("bad line: %d: %.80q has %d lines", a.Line, f.Name, to)
	}
	if a.To > 0 {
		to = min(a.To, to)
	} else if a.Line > 0 {
		to = a.Line
	}
	p, next := newPage(defaultTokens), 0
	for from <= to && next == 0 {
		end := from
		for first := f.Lines[from-1]; end < to && f.Lines[end].Call == first.Call &&
			(first.Call != nil || f.Lines[end].Commit == first.Commit); {
			end++
		}
		d, err := cl.writtenBy(&f.Lines[from-1])
		if err != nil {
			return nil, err
		}
		if d.Line, d.To = from, end; !p.add(d) {
			next = from // to be given as line
			break
		}
		from = end + 1
	}
	rest := frame{From: next}
	if !f.Given {
		rest.File = f.Name
	}
	return cl.page(p, "lines", rest)
}

// writtenBy describes the writer of a line.
func (cl *call) writtenBy(l *whose.Line) (d written, err error) {
	if c := l.Commit; c != nil && l.Call == nil {
		return written{Commit: c.ID[:idDigits], Author: c.Author, Time: timeText(c.Time),
			Summary: c.Summary}, nil
	}
	if l.Call == nil {
		return d, nil // nobody who is known
	}
	h := l.Call.Header
	d = written{ID: l.Call.Entry.Short(idDigits), Session: cl.short(h.Session),
		Agent: document.AgentOf(l.Call), Time: timeText(h.Time)}
	return d, cl.setPrompt(&d, l.Call)
}

// setPrompt adds the prompt of the turn of a call.
func (cl *call) setPrompt(d *written, c *blame.Call) error {
	id, err := cl.store.Blame.Prompt(c.Entry)
	if err != nil || id.IsZero() {
		return err
	}
	shown, err := cl.store.History.Latest(cl.view, id)
	if err != nil {
		return err
	}
	d.Prompt = id.Short(idDigits)
	if shown.Gone == "" {
		d.Asked = search.Passage(shown.Text, 0, 0, hitRunes)
	}
	return nil
}
