package session

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// RewindTarget returns the entry that a rewind of a branch begins with. A revision that counts from
// the branch's tip counts messages: `@`, and the branch by its name, is the newest message, and
// `@~n` is the oldest of the n newest, so that n messages leave, as with `git reset HEAD~n`. Any
// other revision is the entry that it names.
func (s *Store) RewindTarget(view *refs.View, session, branch, rev string) (format.ID, error) {
	base, steps, err := cutSteps(rev)
	if err != nil {
		return format.ID{}, err
	}
	name, tip := s.refOf(view, InBranch(base, session, branch))
	if name != RefName(session, branch) {
		return s.ResolveEntry(view, InBranch(rev, session, branch))
	}
	return s.messageBack(tip.ID, max(1, steps))
}

// messageBack returns the n-th newest message of the history that ends at tip, from 1.
func (s *Store) messageBack(tip format.ID, n int) (target format.ID, err error) {
	seen := 0
	err = s.back(tip, func(id format.ID, e *format.Entry) bool {
		if e.Kind == format.KindMessage {
			if seen++; seen == n {
				target = id
			}
		}
		return seen < n
	})
	if err == nil && seen < n {
		err = fmt.Errorf("%w: %d messages were to leave, and the branch has %d", ErrNotFound, n, seen)
	}
	return target, err
}
