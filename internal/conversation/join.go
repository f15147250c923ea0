package conversation

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// JoinOptions are the options of Join.
type JoinOptions struct {
	Expect format.ID // where not zero: the tip the parent must still have, else ErrStale
}

// Joined is the result of Join.
type Joined struct {
	Entry    format.ID // the join, the parent's new tip
	Messages int       // that came to the parent
	Open     []string  // children of the parent's forks that are still open, by name
}

// Join brings what children have said to their parent, in the order in which they are named, and
// removes the children. A child that failed may be joined as far as it came, or left open, where
// nobody else sees it.
func (s *Writer) Join(ctx context.Context, session, parent string, children []string, o JoinOptions) (Joined, error) {
	var done Joined
	err := s.Locked(ctx, func(t *Tx) error {
		old, err := history.TipAs(t.store.View, session, parent, o.Expect)
		if err != nil {
			return err
		}
		tips, err := t.childTips(session, parent, children)
		if err != nil {
			return err
		}
		done, err = t.join(session, parent, old, children, tips)
		return err
	})
	return done, err
}

// childTips returns the values of branches that must be open children of parent.
func (t *Tx) childTips(session, parent string, children []string) ([]format.Value, error) {
	if len(children) == 0 || len(children) > maxChildren {
		return nil, fmt.Errorf("%w: a join takes 1 to %d branches, not %d", history.ErrInput, maxChildren, len(children))
	}
	open, err := t.OpenChildren(t.store.View, session, parent)
	if err != nil {
		return nil, err
	}
	tips := make([]format.Value, len(children))
	for i, child := range children {
		if slices.Contains(children[:i], child) {
			return nil, namedTwice(child)
		}
		v, err := history.Tip(t.store.View, session, child)
		if err != nil {
			return nil, t.store.OrJoined(err, session, child)
		}
		if !slices.Contains(open, child) {
			return nil, fmt.Errorf("%w: %s/%s is no child of %s", history.ErrStale, session, child, parent)
		}
		tips[i] = v
	}
	return tips, nil
}

func (t *Tx) join(session, parent string, old format.Value, children []string, tips []format.Value) (Joined, error) {
	h, err := t.Head(session, parent, old)
	if err != nil {
		return Joined{}, err
	}
	c := &store.Controlled{Head: h, Old: old}
	messages, err := t.bring(c, children, tips)
	if err != nil {
		return Joined{}, err
	}
	var more []format.RefUpdate
	for i, child := range children {
		more = append(more, format.RefUpdate{Name: history.RefName(session, child), Old: tips[i]})
		if u, moved := t.epochs.EpochTo(session, child, format.ID{}); moved {
			more = append(more, u)
		}
	}
	done := Joined{Entry: c.ID, Messages: messages}
	if err := t.store.CommitControl(refs.VerbJoin, c, more...); err != nil {
		return Joined{}, err
	}
	done.Open, err = t.OpenChildren(t.store.View, session, parent)
	return done, err
}

// bring puts a join on a branch and adds what it brings to the backlog of the branch. It returns
// how many messages the join brings.
func (t *Tx) bring(c *store.Controlled, children []string, tips []format.Value) (int, error) {
	e := &format.Entry{Kind: format.KindJoin, Parents: []format.ID{c.Value.ID}, Children: children}
	for _, v := range tips {
		e.Parents = append(e.Parents, v.ID)
	}
	list, messages, err := t.broughtBy(e)
	if err != nil {
		return 0, err
	}
	for _, at := range slices.Backward(list) {
		c.Came(at)
	}
	for i, child := range children {
		c.Has(child, tips[i].ID)
	}
	e.Parents = e.Parents[1:]
	e.Seq = c.Seq + messages
	c.Alone = e.Seq // others may have had them
	return int(messages), t.store.OnTop(c, e, nil, "")
}

// broughtBy returns what a join brings to its first parent, newest first, and how many of it are
// messages.
func (s *Reader) broughtBy(join *format.Entry) (list []history.Entry, messages uint64, err error) {
	for e, err := range s.Brought(join) {
		if err != nil {
			return nil, 0, err
		}
		if e.Kind == format.KindMessage {
			messages++
		}
		list = append(list, e)
	}
	return list, messages, nil
}
