package session

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

// invocations is what a writer has to know of the runs of an agent where a session has several branches.
type invocations struct {
	known   bool
	now     string   // the invocation of the branch's tip
	open    []string // children of the branch, by name
	ischild bool     // the branch is an open child itself
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
		if in.now, err = w.invocation(w.startOfBranch()); err != nil {
			return err
		}
		if in.open, err = w.openChildren(w.view, w.h.session, w.h.branch); err != nil {
			return err
		}
		in.known, in.ischild = true, w.h.Fork != ""
	}
	if e.Invocation == "" {
		if e.Role == "user" && (in.ischild || len(in.open) > 0) {
			e.Invocation = in.now
		}
		return nil
	}
	if e.Invocation == in.now {
		return nil
	}
	in.now = e.Invocation
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
		in, err := w.past.has(v.ID)
		if err != nil {
			return err
		}
		if !in {
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
