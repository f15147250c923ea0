package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

const defaultRefFormat = "%(objectname) %(objecttype) %(refname)"

func newForEachRefCmd(a *app) *cobra.Command {
	var layout string
	var count int
	cmd := &cobra.Command{
		Use:               "for-each-ref [--format FORMAT] [--count N] [PREFIX...]",
		ValidArgsFunction: a.completeRefs(),
		RunE: func(_ *cobra.Command, args []string) error {
			if count < 0 {
				return usagef("bad count: %d", count)
			}
			parts, err := parseRefFormat(layout)
			if err != nil {
				return err
			}
			return forEachRef(a, args, parts, count)
		},
	}
	cmd.Flags().StringVar(&layout, "format", defaultRefFormat, "print each ref as `FORMAT`")
	cmd.Flags().IntVar(&count, "count", 0, "stop after `N` refs; 0 is no limit")
	return cmd
}

func forEachRef(a *app, prefixes []string, parts []refPart, count int) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	n := 0
	for _, name := range view.Names("") {
		if name == "HEAD" || !startsWithOne(name, prefixes) {
			continue
		}
		if n++; count > 0 && n > count {
			break
		}
		if a.json {
			a.document(refMembers(name, view.Get(name))...)
			continue
		}
		text, err := expandRef(s, view, name, parts)
		if err != nil {
			return err
		}
		a.line("%s", text)
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

// refPart is a piece of a format: literal text or a field.
type refPart struct {
	text  string
	field bool
}

func refFields() []string {
	return []string{"refname", "refname:short", "objectname", "objectname:short", "objecttype",
		"type", "session", "branch", "seq",
		"frontier", "pin", "through"}
}

// parseRefFormat splits a format into its pieces.
func parseRefFormat(layout string) (parts []refPart, err error) {
	for layout != "" {
		text, rest, found := strings.Cut(layout, "%")
		parts = append(parts, refPart{text: text})
		if !found {
			break
		}
		var p refPart
		if p, layout, err = parseRefPart(rest); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// parseRefPart parses what follows a percent sign.
func parseRefPart(s string) (p refPart, rest string, err error) {
	switch {
	case strings.HasPrefix(s, "%"):
		return refPart{text: "%"}, s[1:], nil
	case strings.HasPrefix(s, "("):
		name, rest, closed := strings.Cut(s[1:], ")")
		for _, f := range refFields() {
			if closed && f == name {
				return refPart{text: name, field: true}, rest, nil
			}
		}
		return p, "",
			withHint(usagef("bad format: no field %q", "%("+name+")"), "the fields are %s",
				strings.Join(refFields(), ", "))
	case len(s) >= 2:
		if b, err := strconv.ParseUint(s[:2], 16, 8); err == nil {
			return refPart{text: string([]byte{byte(b)})}, s[2:], nil
		}
	}
	return p, "", usagef("bad format: %q", "%"+s)
}

func expandRef(s *session.Store, view *refs.View, name string, parts []refPart) (string, error) {
	var b strings.Builder
	for _, p := range parts {
		text := p.text
		if p.field {
			var err error
			if text, err = refField(s, name, view.Get(name), p.text); err != nil {
				return "", err
			}
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func refField(s *session.Store, name string, v format.Value, field string) (string, error) {
	inSession, branch := branchOf(name)
	isBranch := v.Kind == format.SessionValue
	switch field {
	case "refname":
		return name, nil
	case "refname:short":
		return strings.TrimPrefix(strings.TrimPrefix(name, "sessions/"), conversation.UserRefs), nil
	case "objectname":
		return v.ID.String(), nil
	case "objectname:short":
		return short(s, v.ID), nil
	case "objecttype", "type":
		header, err := s.Objects.Header(v.ID)
		if err != nil {
			return "", err
		}
		kind, _, err := format.HeaderKind(header)
		return kind, err
	case "session":
		return inSession, nil
	case "branch":
		return branch, nil
	}
	if !isBranch {
		return "", nil
	}
	switch field {
	case "frontier":
		return strconv.FormatUint(v.Frontier, 10), nil
	case "through":
		return strconv.FormatUint(v.Through, 10), nil
	case "pin":
		if v.Pin.IsZero() {
			return "", nil
		}
		return v.Pin.String(), nil
	}
	tip, err := s.History.Entry(v.ID)
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(tip.Entry.Seq, 10), nil
}
