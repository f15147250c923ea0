package session

import (
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// ResolveObject finds the object that a revision, as somebody wrote it, names. A full id of nothing is ErrNotFound, so that it is told from
// an object that the store should have. The node of a cluster need not be written yet: its id follows from the log.
func (s *Store) ResolveObject(view *refs.View, rev string) (format.ID, error) {
	if rev == "" {
		return format.ID{}, fmt.Errorf("%w: an empty name", ErrNotFound)
	}
	id, err := s.Resolve(view, rev)
	if err != nil || id.String() != rev {
		return id, err
	}
	if ok, err := s.Objects.Has(id); ok || err != nil {
		return id, err
	}
	// A prefix is looked for among unwritten nodes, too.
	if near, err := s.Resolve(view, rev[:len(rev)-1]); err == nil && near == id {
		return id, nil
	}
	return id, fmt.Errorf("%w: no object %v", ErrNotFound, id)
}

// ResolveEntry is ResolveObject for what has to be an entry.
func (s *Store) ResolveEntry(view *refs.View, rev string) (format.ID, error) {
	id, err := s.ResolveObject(view, rev)
	if err != nil {
		return id, err
	}
	header, err := s.Objects.Header(id)
	if err != nil {
		return id, err
	}
	kind, _, err := format.HeaderKind(header)
	if err == nil && kind != "entry" {
		err = fmt.Errorf("%w: %q is a %s, not an entry", ErrNotFound, rev, kind)
	}
	return id, err
}

// InBranch reads a revision that says `@` as one of a branch: where somebody names a session, that is what they have in mind.
func InBranch(rev, name, branch string) string {
	rest, found := strings.CutPrefix(rev, "@")
	if found && (rest == "" || rest[0] == '~' || rest[0] == '{') {
		if rest != "" && rest[0] == '{' {
			rest = "@" + rest
		}
		return fmt.Sprintf("%s/%s%s", name, branch, rest)
	}
	return rev
}

// Span returns the tip of what a revision, or a range A..B, shows, and the entry before it: zero for everything. `@` is the tip of the branch.
func (s *Store) Span(view *refs.View, name, branch, rev string) (tip, after format.ID, err error) {
	find := func(rev string) (format.ID, error) {
		if rev == "" {
			rev = "@"
		}
		return s.ResolveEntry(view, InBranch(rev, name, branch))
	}
	from, to, isRange := strings.Cut(rev, "..")
	if isRange {
		if _, err := s.Resolve(view, rev); err == nil {
			isRange = false // a session may be called so
		}
	}
	if !isRange {
		tip, err = find(rev)
		return tip, after, err
	}
	if tip, err = find(to); err != nil || from == "" {
		return tip, after, err
	}
	first, err := find(from)
	if err == nil {
		after, err = s.Base(first, tip)
	}
	return tip, after, err
}
