package recall

import (
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// HEAD returns the session that HEAD names.
func HEAD(view *refs.View) (string, error) {
	v := view.Get("HEAD")
	if !v.Exists() {
		return "", fmt.Errorf("%w: no session yet", history.ErrNotFound)
	}
	return v.Name, nil
}

// Session is a session with its branches.
type Session struct {
	Name     string
	Head     bool // HEAD names this session
	Branches []history.Branch
	Parent   *history.Parent // the session that it works for; nil if there is none
}

// Sessions returns the sessions of a view with their branches, sorted by name.
func (s *Reader) Sessions(view *refs.View) ([]Session, error) {
	var list []Session
	current := view.Get("HEAD").Name
	for _, name := range view.Names("sessions/") {
		session, branch, _ := strings.Cut(strings.TrimPrefix(name, "sessions/"), "/")
		if len(list) == 0 || list[len(list)-1].Name != session {
			one := Session{Name: session, Head: session == current}
			if p, ok, err := s.ParentOf(view, session); err != nil {
				return nil, err
			} else if ok {
				one.Parent = &p
			}
			list = append(list, one)
		}
		e, err := s.Header(view.Get(name).ID)
		if err != nil {
			return nil, err
		}
		last := &list[len(list)-1]
		last.Branches = append(last.Branches, history.Branch{Name: branch, Value: view.Get(name), Seq: e.Seq, Own: e.Seq})
	}
	for i := range list {
		if err := s.compareBranches(&list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// compareBranches sets, for each branch of a session, the number of messages that earlier branches
// of the list do not have.
func (s *Reader) compareBranches(one *Session) error {
	if len(one.Branches) < 2 {
		return nil
	}
	seen := map[format.ID]bool{}
	for i := range one.Branches {
		b := &one.Branches[i]
		fork, err := s.OpenFork(one.Name, b.Name, b.Value)
		if err != nil {
			return err
		}
		b.Open, b.Own = !fork.IsZero(), 0
		for e, err := range s.Walk(b.Value.ID, history.AllParents) {
			if err != nil {
				return err
			}
			if e.Kind == format.KindMessage && !seen[e.ID] {
				seen[e.ID] = true
				b.Own++
			}
		}
	}
	return nil
}
