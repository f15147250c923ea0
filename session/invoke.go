package session

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

// invocations is what a writer has to know of the runs of an agent where a session has several branches.
type invocations struct {
	known bool
	now   string   // the invocation of the branch's tip
	open  []string // children of the branch, by name
}

// invoke settles which invocation a message belongs to. A prompt that names none opens one, unless a fork is open: then it belongs to that of the fork. One
// that opens an invocation sees what every child has said in those before, joined or not.
func (w *writer) invoke(e *format.Entry) error {
	if len(w.view.Names("sessions/"+w.h.session+"/")) < 2 {
		return nil
	}
	in := &w.inv
	if !in.known {
		var err error
		if in.now, err = w.invocationOf(w.h, w.startOfBranch()); err != nil {
			return err
		}
		if in.open, err = w.childrenOf(w.h, w.view); err != nil {
			return err
		}
		in.known = true
	}
	if w.h.Invocation != "" {
		in.now = w.h.Invocation
	}
	if e.Invocation == "" {
		if e.Role == "user" && (w.h.Fork != "" || len(in.open) > 0) {
			e.Invocation = in.now
		}
		return nil
	}
	if e.Invocation == in.now {
		return nil
	}
	return w.absorb()
}

// absorb joins to a branch what its open children have said, which stay open.
func (w *writer) absorb() error {
	if len(w.inv.open) == 0 {
		return nil
	}
	var names []string
	var tips []format.Value
	for _, child := range w.inv.open {
		v := w.view.Get(RefName(w.h.session, child))
		in := w.h.Had[child] == v.ID.String()
		if !in {
			var err error
			if in, err = w.past.has(v.ID); err != nil {
				return err
			}
		}
		if in {
			w.h.has(child, v.ID)
		} else {
			names, tips = append(names, child), append(tips, v)
		}
	}
	w.inv.open = nil // once a batch: nothing else is said meanwhile
	if len(names) == 0 {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	c := &controlled{head: w.h, old: w.h.value}
	if _, err := w.bring(c, names, tips); err != nil {
		return fmt.Errorf("cannot join what other branches said: %w", err)
	}
	return nil
}
