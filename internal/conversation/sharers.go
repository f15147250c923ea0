package conversation

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// keepShared removes from ids the entries that a relative of a session has within its frontier.
func (t *Tx) keepShared(ids map[format.ID]bool, session string) error {
	for _, other := range history.Relatives(t.store.View, session) {
		for _, branch := range history.BranchesIn(t.store.View, other) {
			if len(ids) == 0 {
				return nil
			}
			if err := t.keepMembersOf(ids,
				t.store.View.Get(history.RefName(other, branch))); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepMembersOf removes from ids the entries that a branch at v has within its frontier.
func (t *Tx) keepMembersOf(ids map[format.ID]bool, v format.Value) error {
	for e, err := range t.Walk(v.ID, history.WithJoined) {
		if err != nil || len(ids) == 0 {
			return err
		}
		if e.Seq <= v.Frontier {
			delete(ids, e.ID)
		}
	}
	return nil
}
