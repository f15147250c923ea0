package main

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/internal/cli/clierr"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// mostExpanded is the maximum number of clusters that a rendering shows word for word.
const mostExpanded = 32

type renderArgs struct {
	ofBranch
	Budget int      `json:"budget,omitempty"`
	Query  string   `json:"query,omitempty"`
	Format string   `json:"format,omitempty"`
	Expand []string `json:"expand,omitempty"`
}

func renderTool() tool {
	formats := []string{string(view.Text), string(view.JSON), string(view.Gemini),
		string(view.OpenAI), string(view.Anthropic)}
	return tool{
		name: "render", title: "Render the context of a session",
		text: `Renders a session as a small context: the clusters of older messages with their summaries and ids, the
tombstones, and then the newest messages word for word. The result never exceeds the budget. With a query it
also has passages from all history of the branch that answer the query. A second text counts what is left out;
"expand" and "log" show it.` + isData,
		params: []param{
			sessionParam(), branchParam(),
			{name: "budget", kind: "integer", text: "The maximum tokens of the result.", least: 1,
				most: mostTokens, initial: defaultTokens},
			{name: "query", kind: "string",
				text: "A question to answer from the history, in up to half of the budget."},
			{name: "format", kind: "string", text: "The format of the result.", oneOf: formats,
				initial: formats[0]},
			{name: "expand", kind: "array",
				text: "Ids of clusters whose messages replace their summaries."},
		},
	}
}

func (a renderArgs) check() error {
	if len(a.Expand) > mostExpanded {
		return clierr.Usagef("bad expand: %d clusters: %d is the most", len(a.Expand), mostExpanded)
	}
	for _, id := range a.Expand {
		if err := checkText("expand", id, maxRev); err != nil {
			return err
		}
	}
	_, err := a.options()
	return firstOf(err, between("budget", a.Budget, 1, mostTokens),
		checkText("query", a.Query, maxQuery), a.ofBranch.check())
}

func (a renderArgs) binding() any { return a }

func (a renderArgs) options() (view.Options, error) {
	o := view.Options{Budget: a.Budget, Format: view.Text}
	if o.Budget == 0 {
		o.Budget = defaultTokens
	}
	if a.Format == "" {
		return o, nil
	}
	var err error
	if o.Format, err = view.ParseFormat(a.Format); err != nil {
		err = clierr.Usagef("bad format: %v", err)
	}
	return o, err
}

func (cl *call) render(a renderArgs) (*mcp.CallToolResult, error) {
	out, o, err := cl.rendering(a)
	if err != nil {
		return nil, err
	}
	result := text(out)
	if len(o) > 0 {
		result.Content = append(result.Content,
			&mcp.TextContent{Text: "left out: " + document.Dropped(o)})
	}
	return result, nil
}

// rendering renders a branch, and says what is left out.
func (cl *call) rendering(a renderArgs) (string, []view.Drop, error) {
	o, err := a.options()
	if err != nil {
		return "", nil, err
	}
	name, err := a.session(cl.view)
	if err != nil {
		return "", nil, err
	}
	if _, err := history.Tip(cl.view, name, a.branch()); err != nil {
		return "", nil, err
	}
	in, err := cl.store.Recall.RenderInput(cl.view, name, a.branch(), o)
	if err == nil {
		err = cl.store.Recall.AddProject(cl.view, &in, o.Budget)
	}
	if err != nil {
		return "", nil, err
	}
	if a.Query != "" {
		if err := cl.store.Recall.AddMatches(cl.view, &in, a.Query); err != nil {
			return "", nil, err
		}
	}
	if o.Expand, err = cl.store.Recall.Verbatim(cl.c, cl.view, a.Expand); err != nil {
		return "", nil, err
	}
	out, err := view.Render(in, o)
	if err != nil {
		return "", nil, fmt.Errorf("cannot render: %w", err)
	}
	if o.Format == view.Text {
		return cleanText(string(out.Bytes)), out.Dropped, nil
	}
	return string(cleanJSON(out.Bytes)), out.Dropped, nil
}
