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
	Known    []string  // sessions of other stores of which the parent had everything
}

// Join brings what children have said to their parent, in the order in which they are named, and
// removes the children. A child that failed may be joined as far as it came, or left open, where
// nobody else sees it.
//
// A child may also be the session of another store, SESSION@STORE, that was one session with this
// one up to an entry. The join then brings what the main branch of that session has said since, and
// what of it the parent has already stays where it is. The session of the other store stays as it
// is. Where the parent has everything, there is no join: Entry is the tip of the parent.
func (s *Writer) Join(
	ctx context.Context, session, parent string, children []string, o JoinOptions,
) (Joined, error) {
	return store.Do(ctx, s.Room, func(t *Tx) (done Joined, err error) {
		old, err := history.TipAs(t.store.View, session, parent, o.Expect)
		if err != nil {
			return done, err
		}
		list, known, err := t.joinees(session, parent, old, children)
		if err != nil {
			return done, err
		}
		if done.Entry = old.ID; len(list) > 0 {
			if done, err = t.join(session, parent, old, list); err != nil {
				return done, err
			}
		}
		done.Known = known
		done.Open, err = t.OpenChildren(t.store.View, session, parent)
		return done, err
	})
}

// joinee is what a join brings to its parent: an open child, or a session of another store.
type joinee struct {
	name  string
	tip   format.Value
	other bool // of another store
}

// joinees returns what the names of a join mean: open children of parent, and sessions of other
// stores. known are the sessions of which the parent has everything.
func (t *Tx) joinees(
	session, parent string, old format.Value, names []string,
) (list []joinee, known []string, err error) {
	if len(names) == 0 || len(names) > maxChildren {
		return nil, nil, fmt.Errorf("%w: a join takes 1 to %d branches, not %d", history.ErrInput,
			maxChildren, len(names))
	}
	open, err := t.OpenChildren(t.store.View, session, parent)
	if err != nil {
		return nil, nil, err
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, nil, namedTwice(name)
		}
		v, err := history.Tip(t.store.View, session, name)
		if err == nil {
			if !slices.Contains(open, name) {
				return nil, nil,
					fmt.Errorf("%w: %s/%s is no child of %s", history.ErrStale,
						session, name, parent)
			}
			list = append(list, joinee{name: name, tip: v})
			continue
		}
		full, named := history.Named(t.store.View, name)
		if _, shared := history.Owner(t.store.View, full); named != nil || !shared {
			return nil, nil, t.store.OrJoined(err, session, name)
		}
		v, has, err := t.otherTip(old, full)
		switch {
		case slices.ContainsFunc(list, func(one joinee) bool { return one.name == full }):
			return nil, nil, namedTwice(full)
		case err != nil:
			return nil, nil, err
		case has:
			known = append(known, full)
		default:
			list = append(list, joinee{name: full, tip: v, other: true})
		}
	}
	return list, known, nil
}

// otherTip returns the tip of a session of another store. known says that a branch at own has it
// already. Without a common entry the two were never one session: it returns ErrInput.
func (t *Tx) otherTip(own format.Value, name string) (tip format.Value, known bool, err error) {
	if tip, err = history.Tip(t.store.View, name, history.MainBranch); err != nil {
		return tip, false, err
	}
	base, err := t.MergeBase(own.ID, tip.ID)
	if err != nil {
		return tip, false, err
	}
	if base.IsZero() {
		return tip, false,
			fmt.Errorf("%w: session %s has no entry in common with this one", history.ErrInput,
				history.Clip(name))
	}
	known, err = t.History(own.ID).Has(tip.ID)
	return tip, known, err
}

func (t *Tx) join(session, parent string, old format.Value, list []joinee) (Joined, error) {
	h, err := t.Head(session, parent, old)
	if err != nil {
		return Joined{}, err
	}
	c := &store.Controlled{Head: h, Old: old}
	messages, err := t.bring(c, list)
	if err != nil {
		return Joined{}, err
	}
	var more []format.RefUpdate
	for _, one := range list {
		if one.other {
			continue
		}
		more = append(more,
			format.RefUpdate{Name: history.RefName(session, one.name), Old: one.tip})
		more = append(more, t.epochs.EpochTo(session, one.name, format.ID{})...)
	}
	done := Joined{Entry: c.ID, Messages: messages}
	return done, t.store.CommitControl(refs.VerbJoin, c, more...)
}

// bring puts a join on a branch and adds what it brings to the backlog of the branch. It returns
// how many messages the join brings. A version that another store has made of a message counts from
// now on.
func (t *Tx) bring(c *store.Controlled, brought []joinee) (int, error) {
	e := &format.Entry{Kind: format.KindJoin, Parents: []format.ID{c.Value.ID}}
	for _, one := range brought {
		e.Parents, e.Children = append(e.Parents, one.tip.ID), append(e.Children, one.name)
	}
	list, messages, err := t.broughtBy(e)
	if err != nil {
		return 0, err
	}
	var amended []format.ID
	for _, at := range slices.Backward(list) {
		c.Came(at)
		if at.Kind != format.KindAmend {
			continue
		}
		if newest, err := t.Newest(t.store.View, at.Amends); err != nil {
			return 0, err
		} else if newest != at.ID {
			t.store.SetLatest(at.Amends, at.ID)
			amended = append(amended, at.Amends)
		}
	}
	if err := t.Refresh(amended); err != nil {
		return 0, err
	}
	for _, one := range brought {
		if !one.other {
			c.Has(one.name, one.tip.ID)
		}
	}
	e.Parents = e.Parents[1:]
	e.Seq = c.Seq + messages
	c.ShareUpTo(e.Seq)
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
