package conversation

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// invocations is what an appender knows of the runs of an agent (invocations) in a session that has
// several branches.
type invocations struct {
	known bool
	now   string   // the invocation of the branch's tip
	open  []string // children of the branch, by name
}

// setInvocation settles which invocation a message belongs to. A prompt without one opens a new
// invocation; while a fork is open, it belongs to the invocation of the fork. A message that opens
// an invocation must see what every child has said before it, so the open children are joined
// first.
func (w *Appender) setInvocation(e *format.Entry) error {
	if len(w.store.View.Names("sessions/"+w.Tip.Session+"/")) < 2 {
		return nil
	}
	in := &w.inv
	if !in.known {
		var err error
		if in.now, err = w.InvocationOf(w.Tip, w.startOfBranch()); err != nil {
			return err
		}
		if in.open, err = w.ChildrenOf(w.Tip, w.store.View); err != nil {
			return err
		}
		in.known = true
	}
	if w.Tip.Invocation != "" {
		in.now = w.Tip.Invocation
	}
	if e.Invocation == "" {
		if e.Role == "user" && (w.Tip.Fork != "" || len(in.open) > 0) {
			e.Invocation = in.now
		}
		return nil
	}
	if e.Invocation == in.now {
		return nil
	}
	return w.joinOpenChildren()
}

// joinOpenChildren joins to the branch what its open children have said. The children stay open.
func (w *Appender) joinOpenChildren() error {
	if len(w.inv.open) == 0 {
		return nil
	}
	var list []joinee
	for _, child := range w.inv.open {
		v := w.store.View.Get(history.RefName(w.Tip.Session, child))
		in := w.Tip.Had[child] == v.ID.String()
		if !in {
			var err error
			if in, err = w.branchLine.Has(v.ID); err != nil {
				return err
			}
		}
		if in {
			w.Tip.Has(child, v.ID)
		} else {
			list = append(list, joinee{name: child, tip: v})
		}
	}
	w.inv.open = nil // once per operation: the children do not change under the lock
	if len(list) == 0 {
		return nil
	}
	if err := w.store.Flush(); err != nil {
		return err
	}
	c := &store.Controlled{Head: w.Tip, Old: w.Tip.Value}
	if _, err := w.bring(c, list); err != nil {
		return fmt.Errorf("cannot join what other branches said: %w", err)
	}
	return nil
}
