package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// ErrNotFound says that nothing has the name that was given.
var ErrNotFound = errors.New("not found")

func unknownSession(session, branch string) error {
	if branch != MainBranch {
		return fmt.Errorf("%w: no branch %q in session %q", ErrNotFound, clip(branch), clip(session))
	}
	return fmt.Errorf("%w: no session %q", ErrNotFound, clip(session))
}

// reach adds every entry that tips stand on as history to seen: parents, not what was rewound.
func (s *Store) reach(seen map[format.ID]bool, tips ...format.ID) error {
	todo := tips
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id.IsZero() || seen[id] {
			continue
		}
		seen[id] = true
		e, err := s.entry(id)
		if err != nil {
			return err
		}
		todo = append(todo, e.Parents...)
	}
	return nil
}

// Tip returns the value of a branch's ref; ErrNotFound where there is none.
func Tip(view *refs.View, session, branch string) (format.Value, error) {
	v := view.Get(RefName(session, branch))
	if !v.Exists() {
		return v, unknownSession(session, branch)
	}
	return v, nil
}

// tipAs is Tip for who expects the branch to end at an entry: ErrStale where it does not. The zero ID expects nothing.
func tipAs(view *refs.View, session, branch string, expect format.ID) (format.Value, error) {
	tip, err := Tip(view, session, branch)
	if err == nil && !expect.IsZero() && expect != tip.ID {
		err = fmt.Errorf("%w: the tip of %s/%s is %v, not %v", ErrStale, session, branch, tip.ID, expect)
	}
	return tip, err
}

// branchesIn returns the names of a session's branches, in order.
func branchesIn(view *refs.View, session string) []string {
	prefix := RefName(session, "")
	names := view.Names(prefix)
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, prefix)
	}
	return names
}

// HEAD returns the session that HEAD names.
func HEAD(view *refs.View) (string, error) {
	v := view.Get("HEAD")
	if !v.Exists() {
		return "", fmt.Errorf("%w: no session yet", ErrNotFound)
	}
	return v.Name, nil
}

// LogOptions are for Log.
type LogOptions struct {
	All   bool      // every kind of entry; else messages and notes
	Limit int       // the newest so many; 0 for all
	After format.ID // only entries after this one; zero for all
	// Since leaves out what comes before the newest entry that is older: from the end on back, entries are taken up to the first that was said before
	// it. It looks at those that Limit leaves, and at the time that is shown. The zero time is for all.
	Since time.Time
	// NewestFirst turns the order round.
	NewestFirst bool
	// Masked shows messages as the branch's masks say.
	Masked bool
	// Skip leaves out so many of those that would come first. What a tip has does not change, so that a reader can go on where they stopped.
	Skip uint64
}

// Log returns the entries of the history that ends at a tip, oldest first, each with its position among the messages in Seq. A message that was
// amended has its newest text in its first place.
func (s *Store) Log(tip format.ID, o LogOptions) ([]*Shown, error) {
	var out []*Shown
	err := s.LogEach(tip, o, func(shown *Shown) error {
		out = append(out, shown)
		return nil
	})
	return out, err
}

// LogEach calls each for what Log returns, one after the other; what it holds in memory is the ids. It stops when each returns an error, and
// returns that.
func (s *Store) LogEach(tip format.ID, o LogOptions, each func(*Shown) error) error {
	type found struct {
		id, version format.ID
		seq         uint64
	}
	var list []found
	version := map[format.ID]format.ID{}
	said := map[format.ID]time.Time{} // when the newest version was
	err := s.back(tip, func(id format.ID, e *format.Entry) bool {
		if id == o.After {
			return false
		}
		if _, newer := version[e.Amends]; e.Kind == format.KindAmend && !newer {
			version[e.Amends], said[e.Amends] = id, e.Time
		}
		if o.All || e.Kind == format.KindMessage || e.Kind == format.KindNote {
			when, newer := said[id]
			if !newer {
				when = e.Time
			}
			if !o.Since.IsZero() && when.Before(o.Since) {
				return false
			}
			list = append(list, found{id, version[id], e.Seq})
		}
		return o.Limit == 0 || len(list) < o.Limit
	})
	if err != nil {
		return err
	}
	es := &edits{}
	if o.Masked {
		if es, err = s.editsAt(tip); err != nil {
			return err
		}
	}
	if !o.NewestFirst {
		slices.Reverse(list)
	}
	for _, f := range list[min(o.Skip, uint64(len(list))):] {
		shown, err := s.Version(f.id, f.version)
		if err != nil {
			return err
		}
		shown = es.maskedShown(shown)
		shown.Entry.Seq = f.seq
		if err := each(shown); err != nil {
			return err
		}
	}
	return nil
}

// Version reads an entry with the text of a newer version of it, where newest is not zero.
func (s *Store) Version(id, newest format.ID) (*Shown, error) {
	shown, err := s.Entry(id)
	if err != nil || newest.IsZero() || newest == id {
		return shown, err
	}
	newer, err := s.Entry(newest)
	if err != nil {
		return nil, err
	}
	first := shown.Entry
	e := *newer.Entry
	e.Kind, e.Amends, e.Seq, e.Parents = first.Kind, format.ID{}, first.Seq, first.Parents
	return &Shown{ID: id, Version: newest, Entry: &e, Text: newer.Text, Parts: newer.Parts, Gone: newer.Gone}, nil
}

// Session is a session as SessionList gives it.
type Session struct {
	Name     string
	Head     bool // HEAD names it
	Branches []Branch
	Parent   *Parent // who it works for; nil for nobody
}

// Branch is a branch of a session.
type Branch struct {
	Name  string
	Value format.Value
	Seq   uint64 // messages
	Open  bool   // a child of a fork that nobody has joined: nothing of it graduates
	Own   uint64 // messages that no branch before it in the list has
}

// Sessions returns the sessions of a view by name, with their branches.
func (s *Store) Sessions(view *refs.View) ([]Session, error) {
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
		e, err := s.entry(view.Get(name).ID)
		if err != nil {
			return nil, err
		}
		last := &list[len(list)-1]
		last.Branches = append(last.Branches, Branch{Name: branch, Value: view.Get(name), Seq: e.Seq, Own: e.Seq})
	}
	for i := range list {
		if err := s.compareBranches(&list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// compareBranches says of the branches of a session what each has that the others have not.
func (s *Store) compareBranches(one *Session) error {
	if len(one.Branches) < 2 {
		return nil
	}
	seen := map[format.ID]bool{}
	for i := range one.Branches {
		b := &one.Branches[i]
		fork, err := s.openFork(one.Name, b.Name, b.Value)
		if err != nil {
			return err
		}
		b.Open, b.Own = !fork.IsZero(), 0
		err = s.back(b.Value.ID, func(id format.ID, e *format.Entry) bool {
			if e.Kind == format.KindMessage && !seen[id] {
				seen[id] = true
				b.Own++
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}
