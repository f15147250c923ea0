package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// This file keeps apart in the store what ADK keeps apart: branches and isolation scopes.

// adkImporter has an importer for each branch and each scope of a session.
type adkImporter struct {
	*importer
	main  *adkLane
	order []*adkLane          // all of them
	lanes map[string]*adkLane // open branches by their path, and scopes by their session
	last  *adkLane            // that took the newest message
}

// adkLane imports what was said in one place.
type adkLane struct {
	*treeImporter
	path   string   // of the branch, as ADK has it
	parent *adkLane // the lane that a branch is a child of; nil for a session of its own
}

func (a *adkImporter) lane(as, branch, path string, parent *adkLane) *adkLane {
	l := &adkLane{path: path, parent: parent, treeImporter: a.newConversation(as, branch)}
	a.order = append(a.order, l)
	return l
}

// step gives a step to the lane that it belongs to. What came before it is written first, if that
// was said in another lane.
func (a *adkImporter) step(st transcript.Step) error {
	if err := a.name(&st); err != nil {
		return err
	}
	to, err := a.laneOf(&st)
	if err != nil {
		return err
	}
	if err := a.moveTo(to); err != nil {
		return err
	}
	if st.Kind == transcript.KindRewind { // a fork may leave, and its children stay as they are
		maps.DeleteFunc(a.lanes, func(_ string, l *adkLane) bool { return l.parent != nil })
	}
	return to.step(st)
}

// name determines the session: the one of its id, unless the store has that of another app, user or
// store under it; then a name of both.
func (a *adkImporter) name(st *transcript.Step) error {
	first := st.Message.Origin
	if a.main.as != "" || first.Session == "" {
		return a.main.name(&st.Message)
	}
	view, err := a.Refs.Read()
	if err != nil {
		return err
	}
	name, of := first.Session, st.Owner
	if first.Agent == transcript.Own { // said in a store, maybe in another one
		of = transcript.Derive(8, first.Message)
	}
	apart := history.FitSession(name + "." + of)
	if a.main.as = name; exists(view, apart) {
		a.main.as = apart
	}
	if !exists(view, a.main.as) || a.main.as == apart {
		return nil
	}
	if first.Agent == transcript.Own {
		in, err := a.holder(view, name, first)
		a.main.as = cmp.Or(in, apart)
		return err
	}
	if has, err := a.has(view, name, first); err != nil || has {
		return err
	}
	c, err := a.exporter.Conversation(view, name, history.MainBranch, false)
	if err != nil {
		return err
	}
	if kept, err := c.SessionOfADK(); err != nil || adk.OwnerOf(adk.Owner(kept)) == st.Owner {
		return err
	}
	a.main.as = apart
	return nil
}

// moveTo writes what waits in the lane before.
func (a *adkImporter) moveTo(to *adkLane) error {
	last := a.last
	if a.last = to; last == nil || last == to {
		return nil
	}
	to.view, to.past = nil, nil
	return last.flush()
}

func (a *adkImporter) laneOf(st *transcript.Step) (*adkLane, error) {
	if st.Kind == transcript.KindRewind {
		return a.laneWith(st.RewindTo)
	}
	m := &st.Message
	path, scope := adk.Wall(m)
	if path == "" && scope == "" && (m.Note || len(a.lanes) == 0) {
		return a.main, nil
	}
	if has, err := a.main.hasAlready(m); err != nil || has {
		return a.main, err
	}
	switch {
	case scope != "":
		return a.scope(path, scope), nil
	case path != "":
		return a.branchAt(path, m)
	}
	return a.main, a.join()
}

// laneWith returns the lane that a message was given to.
func (a *adkImporter) laneWith(o transcript.Origin) (*adkLane, error) {
	if a.last != nil {
		if err := a.last.flush(); err != nil {
			return nil, err
		}
	}
	for _, l := range a.lanes {
		if _, ok := l.ids[o]; ok {
			return l, nil
		}
	}
	return a.main, nil
}

// hasAlready reports whether the lane has a message, in this form or another.
func (l *adkLane) hasAlready(m *transcript.Message) (bool, error) {
	if _, ok := l.ids[m.Origin]; ok {
		return true, nil
	}
	if err := l.look(); err != nil {
		return false, err
	}
	id, err := l.find(l.source(m), m.Origin)
	return !id.IsZero(), err
}

// scope returns the lane of an isolation scope, which is one for each branch: a session of its own,
// as nobody outside may see what was said in it.
func (a *adkImporter) scope(path, scope string) *adkLane {
	thread := scope
	if path != "" {
		thread += "." + transcript.Derive(8, path, scope)
	}
	name := ThreadSession(a.main.as, thread)
	if strings.HasSuffix(a.main.as, "."+thread) {
		return a.main // it is the session of the scope that is imported
	}
	if a.lanes[name] == nil {
		a.lanes[name] = a.lane(name, history.MainBranch, "", nil)
	}
	return a.lanes[name]
}

// branchAt returns the lane of a branch for a message. It forks one that is not there from the
// nearest branch around it. A session that begins in a branch has nothing to fork from: what was
// said there before is in a session of its own, like a scope.
func (a *adkImporter) branchAt(path string, m *transcript.Message) (*adkLane, error) {
	if l := a.lanes[path]; l != nil {
		return l, nil
	}
	parent := a.main
	for at := path; parent == a.main && strings.Contains(at, "."); {
		at = at[:strings.LastIndexByte(at, '.')]
		if l := a.lanes[at]; l != nil {
			parent = l
		}
	}
	if a.last != nil {
		if err := a.last.flush(); err != nil {
			return nil, err
		}
	}
	view, err := a.Refs.Read()
	if err != nil {
		return nil, err
	}
	there := view.Get(history.RefName(a.main.as, parent.branch)).Exists()
	if before := a.scope(path, "branch"); !there || exists(view, before.as) {
		if has, err := before.hasAlready(m); !there || has || err != nil {
			return before, err
		}
	}
	name, open, left, err := a.branchName(view, parent, path, m)
	if left != nil || err != nil {
		return left, err
	}
	if !open {
		_, err = a.conversation.Fork(a.ctx, a.main.as, parent.branch, []string{name},
			conversation.ForkOptions{})
	}
	if err != nil {
		return nil, err
	}
	a.lanes[path] = a.lane(a.main.as, name, path, parent)
	return a.lanes[path], nil
}

// branchName returns the name of the branch for a path: that of an open child, or one that is free.
// left is the lane of a branch that a rewind has left behind, if that has the message.
func (a *adkImporter) branchName(
	view *refs.View, parent *adkLane, path string, m *transcript.Message,
) (name string, open bool, left *adkLane, err error) {
	children, err := a.main.conversation.OpenChildren(view, a.main.as, parent.branch)
	if err != nil {
		return "", false, nil, err
	}
	base := history.FitSession(path)
	for n := 1; ; n++ {
		if name = base; n > 1 {
			name = fmt.Sprintf("%s:%d", base, n)
		}
		open = slices.Contains(children, name)
		if open || !view.Get(history.RefName(a.main.as, name)).Exists() {
			return name, open, nil, nil
		}
		old := a.lane(a.main.as, name, path, nil)
		if has, err := old.hasAlready(m); has || err != nil {
			return name, false, old, err
		}
	}
}

// depth is how many branches a lane is below.
func (l *adkLane) depth() (n int) {
	for ; l.parent != nil; l = l.parent {
		n++
	}
	return n
}

// join brings what the branches have said to the lanes that they are children of: a reader in no
// branch sees all of them.
func (a *adkImporter) join() error {
	if err := a.moveTo(a.main); err != nil {
		return err
	}
	branches := slices.DeleteFunc(slices.Clone(a.order),
		func(l *adkLane) bool { return l.parent == nil || a.lanes[l.path] != l })
	slices.SortStableFunc(branches, func(x, y *adkLane) int { return y.depth() - x.depth() })
	for len(branches) > 0 {
		to, names := branches[0].parent, []string{}
		branches = slices.DeleteFunc(branches, func(l *adkLane) bool {
			if l.parent != to {
				return false
			}
			names = append(names, l.branch)
			maps.Copy(to.ids, l.ids)
			delete(a.lanes, l.path)
			return true
		})
		if _, err := a.conversation.Join(a.ctx, a.main.as, to.branch, names,
			conversation.JoinOptions{}); err != nil {
			return err
		}
		to.line, to.view, to.past = nil, nil, nil
	}
	return nil
}

// end writes what waits, and links the sessions of scopes.
func (a *adkImporter) end() error {
	var children []Child
	for _, l := range a.order {
		if err := l.flush(); err != nil {
			return err
		}
		if l.as != a.main.as {
			children = append(children, Child{Session: l.as, Named: true,
				Parent: history.Parent{Session: a.main.as}})
		}
	}
	if len(children) == 0 {
		return nil
	}
	_, err := a.LinkChildren(a.ctx, children)
	return err
}
