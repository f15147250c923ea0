package session

import (
	"context"

	"github.com/gemini-ctx/ctx/refs"
)

// FollowPerson makes HEAD name the session in which a person spoke last, unless somebody chose one.
// before is the view before what was said since. recall.NextHead has the rule.
func (s *Store) FollowPerson(ctx context.Context, before *refs.View) error {
	after, err := s.Refs.Read()
	if err != nil {
		return err
	}
	next, err := s.Recall.FollowPerson(before, after)
	if err != nil || next == "" {
		return err
	}
	return s.Conversation.FollowTo(ctx, func(now *refs.View) (string, error) {
		if now.Number == after.Number {
			return next, nil
		}
		// Another process changed the store since, and may have had HEAD follow already.
		return s.Recall.FollowPerson(before, now)
	})
}
