package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// MaxChildren is how many branches one fork starts at most: the fork names each of them in its header.
const MaxChildren = 4096

// ForkOptions are for Fork.
type ForkOptions struct {
	// At is where the children begin: with this entry as the last of their history. Zero is the parent's tip.
	At     format.ID
	Expect format.ID // where not zero: the tip the parent must still have, else ErrStale
	// Invocation names the run of the agent that forks; "" is that of the parent's tip.
	Invocation string
}

// Forked is what Fork reports.
type Forked struct {
	Entry format.ID // the fork, the new tip of the parent and the tip of every child; of a line from the past, its tip
	Line  bool      // the children are lines from the past, which nobody joins
}

// Fork starts branches of a session, all in one operation. Without At they start at a fork entry on the parent's tip: what they say is theirs alone until
// Join brings it to the parent, and none of it graduates before. With At they are lines of their own from an earlier entry of the
// parent's; a call there is never parted from its result.
func (s *Store) Fork(ctx context.Context, session, parent string, children []string, o ForkOptions) (Forked, error) {
	var done Forked
	err := s.locked(ctx, func(t *tx) error {
		if err := t.checkFork(session, parent, children, o); err != nil {
			return err
		}
		var err error
		if o.At.IsZero() {
			done, err = t.fork(session, parent, children, o.Invocation)
		} else {
			done, err = t.forkAt(session, parent, children, o.At)
		}
		return err
	})
	return done, err
}

func (t *tx) checkFork(session, parent string, children []string, o ForkOptions) error {
	if _, err := tipAs(t.view, session, parent, o.Expect); err != nil {
		return err
	}
	if len(children) == 0 || len(children) > MaxChildren {
		return fmt.Errorf("%w: a fork starts 1 to %d branches, not %d", ErrInput, MaxChildren, len(children))
	}
	for i, child := range children {
		if err := format.CheckName(child); err != nil {
			return fmt.Errorf("%w: branch %q: %w", ErrInput, clip(child), err)
		}
		if slices.Contains(children[:i], child) {
			return fmt.Errorf("%w: branch %q is named twice", ErrInput, clip(child))
		}
		if t.view.Get(RefName(session, child)).Exists() {
			return fmt.Errorf("%w: session %s has a branch %q", ErrStale, session, clip(child))
		}
	}
	return nil
}

// fork starts children at the parent's tip.
func (t *tx) fork(session, parent string, children []string, invocation string) (Forked, error) {
	if invocation == "" {
		tip := t.view.Get(RefName(session, parent))
		h, err := t.head(session, parent, tip)
		if err != nil {
			return Forked{}, err
		}
		if invocation, err = t.invocationOf(h, tip.ID); err != nil {
			return Forked{}, err
		}
		if invocation == "" {
			// Nobody has asked yet. Without a name each prompt in a child would open an invocation, and be shown to its siblings.
			invocation = tip.ID.String()
		}
	}
	e := &format.Entry{Kind: format.KindFork, Children: children, Invocation: invocation}
	c, err := t.control(session, parent, e, nil, "")
	if err != nil {
		return Forked{}, err
	}
	c.Alone = c.Seq
	c.forked(c.id)
	var more []format.RefUpdate
	for _, child := range children {
		more = append(more, format.RefUpdate{Name: RefName(session, child), New: c.value})
		if u, moved := t.epochTo(session, child, t.view.Get(EpochRef(session, parent)).ID); moved {
			more = append(more, u) // what the parent was told, its children know
		}
	}
	if err := t.commitControl(refs.VerbFork, c, more...); err != nil {
		return Forked{}, err
	}
	for _, child := range children {
		h := *c.head
		h.branch, h.Fork = child, c.id.String()
		h.Forks, h.ForksKnown, h.Had = nil, true, nil
		t.saveHead(&h)
	}
	return Forked{Entry: c.id}, nil
}

// forkAt starts lines from the past.
func (t *tx) forkAt(session, parent string, children []string, at format.ID) (Forked, error) {
	old := t.view.Get(RefName(session, parent))
	fork, err := t.forkOf(session, parent, old)
	if err != nil {
		return Forked{}, err
	}
	var after, next format.ID
	found := false
	alone := !fork.IsZero() // what is its own, as an open child
	err = t.backSides(old.ID, func(id format.ID, _ *format.Entry, side bool) bool {
		alone = alone && id != fork
		if found = id == at && !side; found {
			next = after
		}
		after = id
		return !found
	})
	if err != nil {
		return Forked{}, err
	}
	if found && alone {
		// The line would graduate it.
		return Forked{}, fmt.Errorf("%w: entry %v is known to %s/%s alone, which is not joined yet", ErrStale, at, session, parent)
	}
	if !found {
		return Forked{}, fmt.Errorf("%w: entry %v is not on %s/%s itself", ErrStale, at, session, parent)
	}
	v, told := old, t.view.Get(EpochRef(session, parent)).ID
	if !next.IsZero() {
		_, end, err := t.cut(old.ID, next)
		if err != nil {
			return Forked{}, err
		}
		last, err := t.endAt(session, end)
		if err != nil {
			return Forked{}, err
		}
		if last.id.IsZero() {
			return Forked{}, fmt.Errorf("%w: entry %v waits for the result of a call, and before that call there is nothing", ErrStale, at)
		}
		v.ID = last.id
		var leaves bool
		if v, leaves, err = t.settleBack(v, last.e.Seq, nil); err != nil {
			return Forked{}, err
		}
		if v, told, err = t.epochOfLine(session, parent, v, last.e.Seq, leaves); err != nil {
			return Forked{}, err
		}
	}
	op := &format.Operation{Verb: refs.VerbFork, Session: session}
	for _, child := range children {
		op.Refs = append(op.Refs, format.RefUpdate{Name: RefName(session, child), New: v})
		if u, moved := t.epochTo(session, child, told); moved {
			op.Refs = append(op.Refs, u)
		}
	}
	// First: nothing else would tell the next append that it is not alone any more.
	h, err := t.head(session, parent, old)
	if err != nil {
		return Forked{}, err
	}
	h.Alone = h.Seq
	t.saveHead(h)
	return Forked{Entry: v.ID, Line: true}, t.commit(op)
}

// JoinOptions are for Join.
type JoinOptions struct {
	Expect format.ID // where not zero: the tip the parent must still have, else ErrStale
}

// Joined is what Join reports.
type Joined struct {
	Entry    format.ID // the join, the parent's new tip
	Messages int       // that came to the parent
	Open     []string  // children of the parent's forks that are still open, by name
}

// Join brings to a branch what children of it have said, up to their latest tips, in the order in which they are named, and ends them: their names are
// free again. A child that failed is joined with what it has said, or left open: nobody else sees it then.
func (s *Store) Join(ctx context.Context, session, parent string, children []string, o JoinOptions) (Joined, error) {
	var done Joined
	err := s.locked(ctx, func(t *tx) error {
		old, err := tipAs(t.view, session, parent, o.Expect)
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

// childTips returns the values of branches that are open children of parent.
func (t *tx) childTips(session, parent string, children []string) ([]format.Value, error) {
	if len(children) == 0 || len(children) > MaxChildren {
		return nil, fmt.Errorf("%w: a join takes 1 to %d branches, not %d", ErrInput, MaxChildren, len(children))
	}
	open, err := t.openChildren(t.view, session, parent)
	if err != nil {
		return nil, err
	}
	tips := make([]format.Value, len(children))
	for i, child := range children {
		if slices.Contains(children[:i], child) {
			return nil, fmt.Errorf("%w: branch %q is named twice", ErrInput, clip(child))
		}
		v, err := Tip(t.view, session, child)
		if err != nil {
			return nil, t.orJoined(err, session, child)
		}
		if !slices.Contains(open, child) {
			return nil, fmt.Errorf("%w: %s/%s is no child of %s", ErrStale, session, child, parent)
		}
		tips[i] = v
	}
	return tips, nil
}

func (t *tx) join(session, parent string, old format.Value, children []string, tips []format.Value) (Joined, error) {
	h, err := t.head(session, parent, old)
	if err != nil {
		return Joined{}, err
	}
	c := &controlled{head: h, old: old}
	messages, err := t.bring(c, children, tips)
	if err != nil {
		return Joined{}, err
	}
	var more []format.RefUpdate
	for i, child := range children {
		more = append(more, format.RefUpdate{Name: RefName(session, child), Old: tips[i]})
		if u, moved := t.epochTo(session, child, format.ID{}); moved {
			more = append(more, u)
		}
	}
	done := Joined{Entry: c.id, Messages: messages}
	if err := t.commitControl(refs.VerbJoin, c, more...); err != nil {
		return Joined{}, err
	}
	done.Open, err = t.openChildren(t.view, session, parent)
	return done, err
}

// bring has a join put on a branch, and the branch's window know what came with it. It returns how many messages did.
func (t *tx) bring(c *controlled, children []string, tips []format.Value) (int, error) {
	e := &format.Entry{Kind: format.KindJoin, Parents: []format.ID{c.value.ID}, Children: children}
	for _, v := range tips {
		e.Parents = append(e.Parents, v.ID)
	}
	list, messages, err := t.brought(e)
	if err != nil {
		return 0, err
	}
	for _, at := range slices.Backward(list) {
		c.came(at)
	}
	for i, child := range children {
		c.has(child, tips[i].ID)
	}
	e.Parents = e.Parents[1:]
	e.Seq = c.Seq + messages
	c.Alone = e.Seq // others may have had them
	return int(messages), t.onTop(c, e, nil, "")
}

// brought returns what a join brings to its first parent, newest first, and how many messages are among it.
func (s *Store) brought(join *format.Entry) (list []entryAt, messages uint64, err error) {
	lines, err := s.sides(join, &line{})
	if err != nil {
		return nil, 0, err
	}
	for b := (&backward{s: s, todo: lines}); ; {
		id, e, _, err := b.next()
		if err != nil || e == nil {
			return list, messages, err
		}
		if e.Kind == format.KindMessage {
			messages++
		}
		list = append(list, entryAt{id, e})
	}
}

// came adds to the window what a join brought.
func (h *head) came(at entryAt) {
	h.Model = h.Model || at.e.Role == "model"
	switch at.e.Kind {
	case format.KindFork:
		h.forked(at.id)
	case format.KindMessage:
		h.Items = append(h.Items, itemOf(at.id, at.e, format.ID{}))
	case format.KindAmend:
		for i := range h.Items {
			if h.Items[i].ID == at.e.Amends {
				role := h.Items[i].Role
				h.Items[i] = itemOf(at.e.Amends, at.e, at.id)
				h.Items[i].Role = role
			}
		}
	}
}

// forkOf returns the fork that started a branch which nobody has joined yet; the zero ID for main and for lines from the past.
func (s *Store) forkOf(session, branch string, v format.Value) (fork format.ID, err error) {
	if branch == MainBranch {
		return format.ID{}, nil
	}
	err = s.backSides(v.ID, func(id format.ID, e *format.Entry, side bool) bool {
		switch {
		case side:
		case e.Kind == format.KindFork && e.Session == session && slices.Contains(e.Children, branch):
			fork = id
			return false
		case e.Kind == format.KindJoin && slices.Contains(e.Children, branch):
			return false
		case e.Kind == format.KindMessage && e.Seq <= v.Frontier:
			return false // no message of an open child graduates
		}
		return true
	})
	return fork, err
}

// ownPart is the history of a branch since its own fork, joined parts included: the forks in it are its, whose children may be joined to it.
type ownPart struct {
	walk  *backward
	fork  format.ID // of the branch itself
	seen  map[format.ID]bool
	ended bool
}

func (s *Store) ownPart(session, branch string, v format.Value) (*ownPart, error) {
	fork, err := s.forkOf(session, branch, v)
	return &ownPart{walk: s.backward(v.ID), fork: fork, seen: map[format.ID]bool{}}, err
}

// has reports whether an entry is in it; the zero ID is not.
func (p *ownPart) has(id format.ID) (bool, error) {
	for !id.IsZero() && !p.seen[id] && !p.ended {
		at, e, side, err := p.walk.next()
		if err != nil {
			return false, err
		}
		if p.ended = e == nil || at == p.fork && !side; !p.ended {
			p.seen[at] = true
		}
	}
	return p.seen[id], nil
}

// invocation returns the name of the run of the agent that an entry belongs to: the one it names; the id of a prompt that names none; else that of the
// entry before it. It is "" before the first prompt.
func (s *Store) invocation(id format.ID) (string, error) {
	for !id.IsZero() {
		e, err := s.entry(id)
		switch {
		case err != nil:
			return "", err
		case e.Invocation != "":
			return e.Invocation, nil
		case e.Kind == format.KindMessage && e.Role == "user":
			return id.String(), nil
		}
		id = firstParent(e)
	}
	return "", nil
}

// OpenBranch is a branch as Branches gives it.
type OpenBranch struct {
	Branch
	Fork       format.ID // the fork it is an open child of; zero for main and for lines from the past
	Parent     string    // a branch that has the fork itself; "" where there is none any more
	Invocation string    // of its tip
}

// Branches returns the branches of a session by name.
func (s *Store) Branches(view *refs.View, session string) ([]OpenBranch, error) {
	var list []OpenBranch
	for _, name := range branchesIn(view, session) {
		b := OpenBranch{Branch: Branch{Name: name, Value: view.Get(RefName(session, name))}}
		e, err := s.entry(b.Value.ID)
		if err != nil {
			return nil, err
		}
		b.Seq = e.Seq
		if b.Fork, err = s.openFork(session, b.Name, b.Value); err != nil {
			return nil, err
		}
		if b.Invocation, err = s.invocation(b.Value.ID); err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	if len(list) == 0 {
		return nil, unknownSession(session, MainBranch)
	}
	for i := range list {
		if err := s.setParent(session, list, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// setParent finds the branch that a child may be joined to: another child, since what is its own is short and nobody else's, else main, else a line from the past,
// which has all forks in its history that were there when it began.
func (s *Store) setParent(session string, list []OpenBranch, child *OpenBranch) error {
	if child.Fork.IsZero() {
		return nil
	}
	rank := func(b OpenBranch) int {
		switch {
		case !b.Fork.IsZero():
			return 0
		case b.Name == MainBranch:
			return 1
		}
		return 2
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b OpenBranch) int { return cmp.Compare(rank(a), rank(b)) })
	for _, b := range list {
		own, err := s.ownPart(session, b.Name, b.Value)
		if err != nil {
			return err
		}
		if has, err := own.has(child.Fork); err != nil || has {
			child.Parent = b.Name
			return err
		}
	}
	return nil
}
