package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// The default of a brief and the least, in tokens: about two pages.
const (
	defaultBrief = 2000
	leastBrief   = 100
)

type briefArgs struct {
	ofBranch
	Query     string `json:"query,omitempty"`
	MaxTokens int    `json:"max_tokens,omitempty"`
}

func (a briefArgs) check() error {
	if a.Session == "" && (a.Branch != "" || a.Query != "") {
		return command.Usagef("branch and query go with session")
	}
	return cmp.Or(between("max_tokens", a.MaxTokens, leastBrief, mostTokens),
		checkText("query", a.Query, maxQuery), a.ofBranch.check())
}

func (a briefArgs) binding() any { return a }

func (a briefArgs) tokens() int {
	return cmp.Or(a.MaxTokens, defaultBrief)
}

func (cl *call) brief(a briefArgs) (*mcp.CallToolResult, error) {
	if a.Session == "" {
		list, err := cl.store.Recall.ProjectBrief(cl.view, "", view.BriefOptions(a.tokens()))
		if err != nil {
			return nil, err
		}
		return text(forModels(view.ProjectText(list))), nil
	}
	out, left, err := cl.rendering(a)
	if err != nil {
		return nil, err
	}
	result := text(out)
	if len(left) > 0 {
		result.Content = append(result.Content,
			&mcp.TextContent{Text: "left out: " + document.Dropped(left)})
	}
	return result, nil
}

// rendering renders a branch, and says what is left out.
func (cl *call) rendering(a briefArgs) (string, []view.Drop, error) {
	o := view.Options{Budget: a.tokens(), Format: view.Text}
	name, err := cl.sessionOf(a.ofBranch)
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
	if err == nil && a.Query != "" {
		err = cl.store.Recall.AddMatches(cl.view, &in, a.Query)
	}
	if err != nil {
		return "", nil, err
	}
	out, err := view.Render(in, o)
	if err != nil {
		return "", nil, fmt.Errorf("cannot render: %w", err)
	}
	return forModels(string(out.Bytes)), out.Dropped, nil
}

// The places where a rendering names commands, which a model cannot run.
var (
	expandHint = regexp.MustCompile("`ctx expand (ID|[0-9a-f]+)`( gives the exact (?:words|ones))")
	showHint   = regexp.MustCompile(`( tokens cut, )ctx show ([0-9a-f]+\])`)
)

// forModels returns a rendering without control characters, whose hints name the tool.
func forModels(s string) string {
	s = expandHint.ReplaceAllString(cleanText(s), "`read_past_messages` with $1$2")
	return showHint.ReplaceAllString(s, "${1}read_past_messages $2")
}

// commandTools says which tool does for a model what a command does for a person.
var commandTools = map[string]string{
	"search": "search_past_sessions", "grep": "search_past_sessions",
	"session": "list_past_sessions", "sessions": "list_past_sessions",
	"status": "list_past_sessions", "list": "list_past_sessions",
	"show-ref": "list_past_sessions",
	"log":      "read_past_messages", "show": "read_past_messages", "expand": "read_past_messages",
	"forest": "project_brief", "brief": "project_brief", "render": "project_brief",
	"blame": "who_wrote_line", "how": "how_we_ran", "fix": "how_we_fixed",
}

var commandHint = regexp.MustCompile("`ctx ([a-z-]+)[^`]*`")

// inTools returns a hint that names tools in place of the commands that do the same, each once in a
// row. A command that changes something stays: only a person may run it.
func inTools(hint string) string {
	hint = commandHint.ReplaceAllStringFunc(hint, func(command string) string {
		if tool := commandTools[commandHint.FindStringSubmatch(command)[1]]; tool != "" {
			return "`" + tool + "`"
		}
		return command
	})
	for _, tool := range commandTools {
		for _, between := range []string{", ", " and "} {
			hint = strings.ReplaceAll(hint, "`"+tool+"`"+between+"`"+tool+"`", "`"+tool+"`")
		}
	}
	return hint
}
