package main

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostOutcomes is how many commands or failures are returned.
const mostOutcomes = 5

type howArgs struct {
	Words string `json:"words"`
}

func (a howArgs) check() error {
	if strings.TrimSpace(a.Words) == "" {
		return command.Usagef("how_we_ran needs words")
	}
	return checkText("words", a.Words, maxQuery)
}

func (a howArgs) binding() any { return a }

// ranItem is a run of a command.
type ranItem struct {
	ID      string `json:"id"`
	Session string `json:"session,omitempty"`
	Time    string `json:"time,omitempty"`
	Command string `json:"command,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Runs    int    `json:"runs,omitempty"`
	Failed  int    `json:"failed,omitempty"`
}

func (cl *call) ranItem(r *find.Ran) ranItem {
	return ranItem{ID: r.Entry.Short(idDigits), Session: cl.short(r.Session),
		Time: timeText(r.Time), Command: r.Command, Dir: r.Dir, Runs: r.Runs, Failed: r.Failed}
}

// how returns the commands that worked for some words, as `ctx how` does.
func (cl *call) how(a howArgs) (*mcp.CallToolResult, error) {
	list, err := cl.store.Recall.How(cl.view, a.Words, "", mostOutcomes)
	if err != nil {
		return nil, err
	}
	p := newPage(defaultTokens)
	for i := range list {
		p.add(cl.ranItem(&list[i]))
	}
	return cl.page(p, "commands", frame{})
}

type fixArgs struct {
	Error string `json:"error"`
}

func (a fixArgs) check() error {
	if strings.TrimSpace(a.Error) == "" {
		return command.Usagef("how_we_fixed needs an error")
	}
	return checkText("error", a.Error, maxError)
}

// maxError is the most bytes of an error: its lines are looked for, not all that was printed.
const maxError = 64 << 10

func (a fixArgs) binding() any { return a }

// mendingItem is a failure and what ended it.
type mendingItem struct {
	Failure ranItem  `json:"failure"`
	Tool    string   `json:"tool_said,omitempty"` // the line, which is quoted data
	Pasted  string   `json:"pasted,omitempty"`    // the line of a prompt, in place of a command
	Edits   []string `json:"edits,omitempty"`
	Said    string   `json:"said,omitempty"`
	SaidBy  string   `json:"said_by,omitempty"`
	Passed  *ranItem `json:"passed,omitempty"`
}

// fix returns what ended an error before, as `ctx fix` does.
func (cl *call) fix(a fixArgs) (*mcp.CallToolResult, error) {
	list, err := cl.store.Recall.Fixes(cl.view,
		find.FixQuery{Text: a.Error, Limit: mostOutcomes})
	if err != nil {
		return nil, err
	}
	p := newPage(defaultTokens)
	for i := range list {
		m := &list[i]
		d := mendingItem{Failure: cl.ranItem(&m.Failed), Tool: m.Line, Edits: m.Edits, Said: m.Said}
		if m.Result == m.Failed.Entry {
			d.Failure.Command, d.Tool, d.Pasted = "", "", search.Passage(m.Line, 0, 0, hitRunes)
		}
		if m.Said != "" {
			d.SaidBy = m.SaidBy.Short(idDigits)
		}
		if m.Passed != nil {
			passed := cl.ranItem(m.Passed)
			passed.Session = ""
			d.Passed = &passed
		}
		p.add(d)
	}
	return cl.page(p, "fixes", frame{})
}
