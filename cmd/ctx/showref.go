package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

func newShowRefCmd(a *app) *cobra.Command {
	var head bool
	cmd := &cobra.Command{
		Use:   "show-ref [--head] [NAME...]",
		Short: "List refs and the objects they name",
		Long: long(`Lists refs by name, a line each: "<id> <ref>". A NAME chooses the refs that end in it: main, work/main and
sessions/work/main all choose the last one. 1 says that there is none.`, exitNoStore, exitCorrupt),
		Example:           "  ctx show-ref\n  ctx show-ref --json work/main",
		ValidArgsFunction: a.completeRefs(),
		RunE:              func(_ *cobra.Command, args []string) error { return showRefs(a, args, head) },
	}
	cmd.Flags().BoolVar(&head, "head", false, "list HEAD, too, with the newest entry of the session that it names")
	return cmd
}

func showRefs(a *app, names []string, head bool) error {
	_, view, err := a.openView()
	if err != nil {
		return err
	}
	any := false
	for _, name := range view.Names("") {
		v := view.Get(name)
		if name == "HEAD" && !head || !endsInOne(name, names) {
			continue
		}
		if name == "HEAD" {
			if v.ID = view.Get(session.RefName(v.Name, session.MainBranch)).ID; v.ID.IsZero() && !a.json {
				continue
			}
		}
		any = true
		if a.json {
			if err := a.printJSON(refJSON(name, v)); err != nil {
				return err
			}
			continue
		}
		a.line("%v %s", v.ID, name)
	}
	if !any {
		return &exitError{exitFailed}
	}
	return nil
}

// endsInOne reports whether a ref's name is one of names, or ends in one after a slash; no names choose every ref.
func endsInOne(name string, names []string) bool {
	for _, n := range names {
		if n == name || strings.HasSuffix(name, "/"+n) {
			return true
		}
	}
	return len(names) == 0
}

// refDoc is a ref in JSON. The fields from frontier on are those of a session's branch.
type refDoc struct {
	V        int     `json:"v"`
	Name     string  `json:"name"`
	Kind     string  `json:"kind"`
	ID       *string `json:"id"`
	Session  string  `json:"session,omitempty"`
	Branch   string  `json:"branch,omitempty"`
	Frontier *uint64 `json:"frontier,omitempty"`
	Pin      *string `json:"pin,omitempty"`
	Through  *uint64 `json:"through,omitempty"`
}

func refJSON(name string, v format.Value) refDoc {
	d := refDoc{V: 1, Name: name, Kind: kindOfValue(v), ID: idText(v.ID)}
	switch v.Kind {
	case format.NameValue:
		d.Session = v.Name
	case format.SessionValue:
		d.Session, d.Branch = branchOf(name)
		d.Frontier, d.Pin, d.Through = &v.Frontier, idText(v.Pin), &v.Through
	}
	return d
}

func kindOfValue(v format.Value) string {
	switch v.Kind {
	case format.SessionValue:
		return "branch"
	case format.NameValue:
		return "name"
	}
	return "object"
}

// branchOf takes the name of a session's ref apart; "" for another ref's.
func branchOf(name string) (session, branch string) {
	rest, ok := strings.CutPrefix(name, "sessions/")
	if !ok {
		return "", ""
	}
	session, branch, _ = strings.Cut(rest, "/")
	return session, branch
}

// refNamed returns the full name of the ref that somebody meant, "" for none. A name in full goes before one with its front left out.
func refNamed(view *refs.View, name string) string {
	if name == "@" {
		name = view.Get("HEAD").Name
	}
	for _, full := range []string{name, strings.TrimPrefix(name, "refs/"), "sessions/" + name, "sessions/" + name + "/" + session.MainBranch, session.UserRefs + name} {
		if view.Get(full).Exists() {
			return full
		}
	}
	return ""
}
