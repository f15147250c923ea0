package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/refs"
)

func newShowRefCmd(a *app) *cobra.Command {
	var head bool
	cmd := a.newCmd("show-ref [--head] [NAME...]",
		a.onView(func(_ *session.Store, view *refs.View, names []string) error {
			return showRefs(a, view, names, head)
		}))
	cmd.ValidArgsFunction = a.completeRefs()
	cmd.Flags().BoolVar(&head, "head", false, "list HEAD, too")
	return cmd
}

func showRefs(a *app, view *refs.View, names []string, head bool) error {
	any := false
	for _, name := range view.Names("") {
		v := view.Get(name)
		if name == "HEAD" && !head || !endsInOne(name, names) {
			continue
		}
		if name == "HEAD" {
			if v.ID = view.Get(history.RefName(v.Name, history.MainBranch)).ID; v.ID.IsZero() &&
				!a.json {
				continue
			}
		}
		any = true
		if err := a.result(refMembers(name, v), "%v %s", v.ID, name); err != nil {
			return err
		}
	}
	return exitIf(!any, exitFailed)
}

func newForEachRefCmd(a *app) *cobra.Command {
	cmd := a.newCmd("for-each-ref [PREFIX...]", a.onView(a.forEachRef))
	cmd.ValidArgsFunction = a.completeRefs()
	return cmd
}

func (a *app) forEachRef(s *session.Store, view *refs.View, prefixes []string) error {
	for _, name := range view.Names("") {
		if name == "HEAD" || !startsWithOne(name, prefixes) {
			continue
		}
		v := view.Get(name)
		header, err := s.Objects.Header(v.ID)
		kind := ""
		if err == nil {
			kind, _, err = format.HeaderKind(header)
		}
		if err == nil {
			err = a.result(refMembers(name, v), "%v %s %s", v.ID, kind, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// startsWithOne reports whether a name is one of the prefixes, or begins with one and a slash.
// Without prefixes it is true.
func startsWithOne(name string, prefixes []string) bool {
	for _, p := range prefixes {
		p = strings.TrimSuffix(strings.TrimPrefix(p, "refs/"), "/")
		if name == p || strings.HasPrefix(name, p+"/") {
			return true
		}
	}
	return len(prefixes) == 0
}

// endsInOne reports whether a name is one of the names, or ends in a slash and one of them. Without
// names it is true.
func endsInOne(name string, names []string) bool {
	for _, n := range names {
		if n == name || strings.HasSuffix(name, "/"+n) {
			return true
		}
	}
	return len(names) == 0
}

// refMembers returns a ref as the fields of a document. Only branches of sessions have the fields
// from frontier on.
func refMembers(name string, v format.Value) []any {
	fields := []any{"name", name, "kind", kindOfValue(v), "id", v.ID}
	switch v.Kind {
	case format.NameValue:
		fields = append(fields, "session", v.Name)
	case format.SessionValue:
		inSession, branch := branchOf(name)
		fields = append(fields, "session", inSession, "branch", branch, "frontier", v.Frontier)
		if !v.Pin.IsZero() {
			fields = append(fields, "pin", v.Pin)
		}
		fields = append(fields, "through", v.Through)
	}
	return fields
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

// branchOf splits the name of a session's ref. For other refs both parts are empty.
func branchOf(name string) (session, branch string) {
	rest, ok := strings.CutPrefix(name, "sessions/")
	if !ok {
		return "", ""
	}
	session, branch, _ = strings.Cut(rest, "/")
	return session, branch
}

// refNamed returns the full name of a ref, and "" if there is none. A full name precedes a
// shortened one.
func refNamed(view *refs.View, name string) string {
	if name == "@" {
		name = view.Get("HEAD").Name
	}
	for _, full := range []string{name, strings.TrimPrefix(name, "refs/"), "sessions/" + name,
		"sessions/" + name + "/" + history.MainBranch, state.UserRefs + name} {
		if view.Get(full).Exists() {
			return full
		}
	}
	return ""
}
