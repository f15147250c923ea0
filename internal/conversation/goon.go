package conversation

import (
	"context"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// GoOn begins a session where a branch of another one is now: a note that names it stands on its
// tip, and the history before is that of both. It is how to go on with what another store shares.
// The messages before graduate in this store like its own. ErrRefused says that the session is
// there already.
func (s *Writer) GoOn(ctx context.Context, from, branch, session string) (id format.ID, err error) {
	err = s.Locked(ctx, func(t *Tx) error {
		tip, err := history.Tip(t.store.View, from, branch)
		if err != nil {
			return err
		}
		if len(t.store.View.Names("sessions/"+session+"/")) > 0 {
			return fmt.Errorf("%w: there is a session %q", history.ErrRefused,
				history.Clip(session))
		}
		if err := t.NoLongerAlone(from, branch); err != nil {
			return err
		}
		head, err := t.Head(session, history.MainBranch,
			format.Value{Kind: format.SessionValue, ID: tip.ID})
		if err != nil {
			return err
		}
		c := &store.Controlled{Head: head}
		note := &format.Entry{Kind: format.KindNote, Role: "system"}
		if err := t.store.OnTop(c, note,
			[]byte("goes on from "+history.RefName(from, branch)[len("sessions/"):]),
			"text/plain"); err != nil {
			return err
		}
		id = c.ID
		more := []format.RefUpdate{{
			Name: history.OriginRef(history.OriginOf(t.store.View, from), session),
			New:  format.Value{Kind: format.ObjectValue, ID: tip.ID},
		}}
		told, err := t.epochs.InForce(tip.ID)
		if err != nil {
			return err
		}
		more = append(more, t.epochs.EpochTo(session, history.MainBranch, told)...)
		more = append(more, t.store.HeadTo(session)...)
		return t.store.CommitControl(refs.VerbAppend, c, more...)
	})
	return id, err
}
