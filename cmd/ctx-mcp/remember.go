package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxNote is the most bytes of a note: a sentence or two, which every later session may be given.
const maxNote = 300

type rememberArgs struct {
	Text       string `json:"text"`
	Kind       string `json:"kind"`
	Supersedes string `json:"supersedes"`
	Evidence   string `json:"evidence"`
}

func (a rememberArgs) check() error {
	a.Text = strings.TrimSpace(a.Text)
	switch {
	case a.Text == "":
		return command.Usagef("remember needs a text")
	case len(a.Text) > maxNote:
		return command.Usagef("text of %d bytes: %d are the most", len(a.Text), maxNote)
	case a.Kind == message.Rule:
		return command.Usagef("only the user gives rules: ask for `ctx note --kind rule`")
	case a.Kind != "" && !slices.Contains(message.NoteKinds(), a.Kind):
		return command.Usagef("unknown kind %.40q: decision, finding and next are the kinds", a.Kind)
	}
	return errors.Join(checkText("text", a.Text, maxNote),
		checkText("supersedes", a.Supersedes, maxRev), checkText("evidence", a.Evidence, maxRev))
}

func (a rememberArgs) binding() any { return a }

// withoutNotes leaves the tool out of the list where the user has switched it off.
func (sv *server) withoutNotes(next mcp.MethodHandler) mcp.MethodHandler {
	return func(c context.Context, method string, req mcp.Request) (mcp.Result, error) {
		answer, err := next(c, method, req)
		if list, ok := answer.(*mcp.ListToolsResult); ok && err == nil {
			_ = sv.open(c, method, nil, func(cl *call) error { // without a store, all stay
				if cl.store.Config.MCP.Remember == repo.RememberOff {
					list.Tools = slices.DeleteFunc(list.Tools,
						func(t *mcp.Tool) bool { return t.Name == "remember" })
				}
				return nil
			})
		}
		return answer, err
	}
}

// remember adds a note of the model to the session that HEAD names.
func (cl *call) remember(a rememberArgs) (*mcp.CallToolResult, error) {
	if cl.store.Config.MCP.Remember == repo.RememberOff {
		return nil, command.WithHint(command.Usagef("the user has switched notes off"),
			"mcp.remember is off")
	}
	session, err := sessions.HEAD(cl.view)
	if err != nil {
		return nil, err
	}
	n := message.Note{Kind: cmp.Or(a.Kind, message.Finding), Text: strings.TrimSpace(a.Text)}
	for rev, put := range map[string]func(string){
		a.Supersedes: func(id string) { n.Supersedes = id },
		a.Evidence:   func(id string) { n.Evidence = []string{id} },
	} {
		if rev == "" {
			continue
		}
		id, err := cl.store.Clusters.ResolveEntry(cl.view, rev)
		if err != nil {
			return nil, err
		}
		put(id.String())
	}
	done, _, err := cl.store.Conversation.Remember(cl.c, session, history.MainBranch, n, "model",
		cl.now)
	if errors.Is(err, conversation.ErrNoNote) {
		return nil, command.Usagef("%.40q is no note: only a note can be superseded", a.Supersedes)
	}
	if err != nil {
		return nil, err
	}
	return text("noted as " + done.ID.Short(idDigits)), nil
}
