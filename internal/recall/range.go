package recall

import (
	"cmp"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/refs"
)

// ResolveRange resolves a revision, or a range A..B, to the last entry to show and the entry before
// the first one; after is zero for the whole history. `@` is the tip of the branch.
func (s *Reader) ResolveRange(
	view *refs.View, name, branch, rev string,
) (tip, after format.ID, err error) {
	find := func(rev string) (format.ID, error) {
		return s.clusters.ResolveEntry(view,
			clusters.InBranch(cmp.Or(rev, "@"), name, branch))
	}
	from, to, isRange := strings.Cut(rev, "..")
	if isRange {
		if _, err := s.clusters.Resolve(view, rev); err == nil {
			isRange = false // the name of a session may contain dots
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
		after, err = s.MergeBase(first, tip)
	}
	return tip, after, err
}
