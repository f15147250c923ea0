package conversation

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// maxChildren is the maximum number of branches that one fork starts: its header names each.
const maxChildren = 4096

// ForkOptions are the options of Fork.
type ForkOptions struct {
	// At is the last entry of the history with which the children begin; zero for the parent's tip.
	At     format.ID
	Expect format.ID // if not zero: the tip that the parent must have, else ErrStale
	// Invocation names the run of the agent that forks; "" is that of the parent's tip.
	Invocation string
}

// Forked is the result of Fork.
type Forked struct {
	// The fork, the new tip of the parent and of every child; or the tip of independent branches
	Entry format.ID
	Line  bool // the children are independent: nobody joins them
}

// Fork starts branches of a session in one operation. Without At they start at a fork entry on the
// parent's tip: what they say belongs to them alone until Join brings it to the parent, and does
// not graduate before. With At they start at an earlier entry of the parent and are independent; a
// call is never parted from its result.
func (s *Writer) Fork(
	ctx context.Context, session, parent string, children []string, o ForkOptions,
) (Forked, error) {
	return store.Do(ctx, s.Room, func(t *Tx) (Forked, error) {
		if err := t.checkFork(session, parent, children, o); err != nil {
			return Forked{}, err
		}
		if o.At.IsZero() {
			return t.fork(session, parent, children, o.Invocation)
		}
		return t.forkAt(session, parent, children, o.At)
	})
}

func (t *Tx) checkFork(session, parent string, children []string, o ForkOptions) error {
	if _, err := history.TipAs(t.store.View, session, parent, o.Expect); err != nil {
		return err
	}
	if len(children) == 0 || len(children) > maxChildren {
		return fmt.Errorf("%w: a fork starts 1 to %d branches, not %d", history.ErrInput,
			maxChildren, len(children))
	}
	for i, child := range children {
		if err := format.CheckName(child); err != nil {
			return fmt.Errorf("%w: branch %q: %w", history.ErrInput, history.Clip(child), err)
		}
		if slices.Contains(children[:i], child) {
			return namedTwice(child)
		}
		if t.store.View.Get(history.RefName(session, child)).Exists() {
			return fmt.Errorf("%w: session %s has a branch %q", history.ErrStale, session,
				history.Clip(child))
		}
	}
	return nil
}

func namedTwice(branch string) error {
	return fmt.Errorf("%w: branch %q is named twice", history.ErrInput, history.Clip(branch))
}

// fork starts children at the tip of the parent.
func (t *Tx) fork(session, parent string, children []string, invocation string) (Forked, error) {
	if invocation == "" {
		tip := t.store.View.Get(history.RefName(session, parent))
		h, err := t.Head(session, parent, tip)
		if err != nil {
			return Forked{}, err
		}
		if invocation, err = t.InvocationOf(h, tip.ID); err != nil {
			return Forked{}, err
		}
		if invocation == "" {
			// Before the first prompt. Without a name, each prompt in a child would open an invocation
			// and join what its siblings said.
			invocation = tip.ID.String()
		}
	}
	e := &format.Entry{Kind: format.KindFork, Children: children, Invocation: invocation}
	c, err := t.store.Control(session, parent, e, nil, "")
	if err != nil {
		return Forked{}, err
	}
	c.ShareUpTo(c.Seq)
	c.Forked(c.ID)
	var more []format.RefUpdate
	told := t.store.View.Get(epochs.EpochRef(session, parent)).ID
	for _, child := range children {
		more = append(more, format.RefUpdate{Name: history.RefName(session, child), New: c.Value})
		more = append(more, t.epochs.EpochTo(session, child, told)...) // they inherit the epoch
	}
	if err := t.store.CommitControl(refs.VerbFork, c, more...); err != nil {
		return Forked{}, err
	}
	for _, child := range children {
		h := *c.Head
		h.Branch, h.Fork = child, c.ID.String()
		h.Forks, h.ForksKnown, h.Had = nil, true, nil
		t.SaveHead(&h)
	}
	return Forked{Entry: c.ID}, nil
}

// forkAt starts independent branches at an earlier entry.
func (t *Tx) forkAt(session, parent string, children []string, at format.ID) (Forked, error) {
	old := t.store.View.Get(history.RefName(session, parent))
	fork, err := t.ForkOf(session, parent, old)
	if err != nil {
		return Forked{}, err
	}
	found := false
	// While true, the entries are known only to the parent, itself an open child
	alone := !fork.IsZero()
	for e, err := range t.Walk(old.ID, history.OwnLine) {
		if err != nil {
			return Forked{}, err
		}
		alone = alone && e.ID != fork
		if found = e.ID == at; found {
			break
		}
	}
	if found && alone {
		// The new branch would graduate it before the join.
		return Forked{}, fmt.Errorf("%w: entry %v is known to %s/%s alone, which is not joined yet",
			history.ErrStale, at, session, parent)
	}
	if !found {
		return Forked{},
			fmt.Errorf("%w: entry %v is not on %s/%s itself", history.ErrStale, at, session, parent)
	}
	v, told := old, t.store.View.Get(epochs.EpochRef(session, parent)).ID
	if at != old.ID {
		_, last, _, err := t.cut(old.ID, at, true)
		if err != nil {
			return Forked{}, err
		}
		last, err = t.newTip(session, old.ID, last)
		if err != nil {
			return Forked{}, err
		}
		if last.ID.IsZero() {
			return Forked{},
				fmt.Errorf(
					"%w: entry %v waits for the result of a call, and before that call there is "+
						"nothing", history.ErrStale, at)
		}
		v.ID = last.ID
		var adopts bool
		if v, adopts, err = t.rewindPin(v, last.Seq, nil); err != nil {
			return Forked{}, err
		}
		if v, told, err = t.epochs.EpochOfLine(session, parent, v, last.Seq, adopts); err != nil {
			return Forked{}, err
		}
	}
	op := &format.Operation{Verb: refs.VerbFork, Session: session}
	for _, child := range children {
		op.Refs = append(op.Refs, format.RefUpdate{Name: history.RefName(session, child), New: v})
		op.Refs = append(op.Refs, t.epochs.EpochTo(session, child, told)...)
	}
	if err := t.NoLongerAlone(session, parent); err != nil {
		return Forked{}, err
	}
	return Forked{Entry: v.ID, Line: true}, t.store.Commit(op)
}

// NoLongerAlone notes that another line has what a branch has now. It comes before the commit:
// otherwise the next append takes the entries for its own alone.
func (t *Tx) NoLongerAlone(session, branch string) error {
	h, err := t.Head(session, branch, t.store.View.Get(history.RefName(session, branch)))
	if err != nil {
		return err
	}
	h.ShareUpTo(h.Seq)
	t.SaveHead(h)
	return nil
}
