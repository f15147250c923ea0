package sessions

import (
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// NoSession is the error of a store that has no session. It is a history.ErrNotFound.
type NoSession struct{}

func (NoSession) Error() string { return history.ErrNotFound.Error() + ": no session yet" }

func (NoSession) Unwrap() error { return history.ErrNotFound }

// HEAD returns the session that HEAD names, or NoSession.
func HEAD(view *refs.View) (string, error) {
	v := view.Get("HEAD")
	if !v.Exists() {
		return "", NoSession{}
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

// Sessions returns the sessions of a view with their branches, sorted by name. What Overviews has
// cached it does not read again.
func (s *Reader) Sessions(view *refs.View) ([]Session, error) {
	return s.sessions(view, s.loadOverviews(), func(string, error) bool { return false })
}

// passOver reports whether an error about a session is to be passed over.
type passOver func(session string, err error) bool

// sessions is Sessions, which takes what it can from known.
func (s *Reader) sessions(view *refs.View, known *overviews, over passOver) ([]Session, error) {
	var list []Session
	current := view.Get("HEAD").Name
	names := view.Names("sessions/")
	seqs, err := s.seqsOf(view, names, known, over)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		session, branch, _ := strings.Cut(strings.TrimPrefix(name, "sessions/"), "/")
		if len(list) == 0 || list[len(list)-1].Name != session {
			one := Session{Name: session, Head: session == current}
			one.Parent, err = s.parentIn(view, session, known)
			if err != nil && !over(session, err) {
				return nil, err
			}
			list = append(list, one)
		}
		tip := view.Get(name)
		seq := seqs[name]
		last := &list[len(list)-1]
		last.Branches = append(last.Branches,
			history.Branch{Name: branch, Value: tip, Seq: seq, Own: seq})
	}
	for i := range list {
		if err := s.compareBranches(&list[i]); err != nil && !over(list[i].Name, err) {
			return nil, err
		}
	}
	return list, nil
}

// CountOnce takes what sessions share with others of a list from the messages that are their own:
// those of this store come first. Where two stores have imported the same, that is as much as both
// can have of it.
func (s *Reader) CountOnce(view *refs.View, list []Overview) error {
	lines := map[string][]history.Branch{} // by where they come from
	has := map[format.ID]*history.Lineage{}
	for _, foreign := range []bool{false, true} {
		for i := range list {
			o := &list[i]
			if _, others := history.Owner(view, o.Name); others != foreign || o.Origin == "" {
				continue
			}
			most := uint64(0)
			for _, b := range o.Branches {
				for _, l := range lines[o.Origin] {
					n, err := s.sharedBy(l, b)
					if joined := false; err == nil && foreign && n < b.Seq {
						if joined, err = has[l.Value.ID].Has(b.Value.ID); joined {
							n = b.Seq
						} else if n == 0 {
							n = min(l.Seq, b.Seq)
						}
					}
					if err != nil && !s.PassOver(o.Name, err) {
						return err
					}
					most = max(most, n)
				}
			}
			for k := range o.Branches {
				b := &o.Branches[k]
				n := min(b.Own, most)
				b.Own, most = b.Own-n, most-n
				lines[o.Origin] = append(lines[o.Origin], *b)
				has[b.Value.ID] = s.History(b.Value.ID)
			}
		}
	}
	return nil
}

// sharedBy returns how many messages the lines of two branches have in common.
func (s *Reader) sharedBy(a, b history.Branch) (uint64, error) {
	base, err := s.MergeBase(a.Value.ID, b.Value.ID)
	if err != nil || base.IsZero() {
		return 0, err
	}
	e, err := s.Header(base)
	if err != nil {
		return 0, err
	}
	return e.Seq, nil
}

// seqsOf returns the seq of the newest entry of each branch, by the name of its ref. It takes what
// it can from known.
func (s *Reader) seqsOf(
	view *refs.View, names []string, known *overviews, over passOver,
) (map[string]uint64, error) {
	seqs := make(map[string]uint64, len(names))
	var unknown []string
	for _, name := range names {
		session, branch, _ := history.BranchOfRef(name)
		seq, ok := known.seqOf(session, branch, view.Get(name).ID)
		if seqs[name] = seq; !ok {
			unknown = append(unknown, name)
		}
	}
	for _, name := range s.ByPlace(unknown, history.TipIn(view)) {
		session, _, _ := history.BranchOfRef(name)
		switch e, err := s.Header(view.Get(name).ID); {
		case err == nil:
			seqs[name] = e.Seq
		case !over(session, err):
			return nil, err
		}
	}
	return seqs, nil
}

// parentIn returns the session that a session works for; nil if there is none.
func (s *Reader) parentIn(
	view *refs.View, session string, known *overviews,
) (*history.Parent, error) {
	if p, ok := known.parentOf(session, view.Get(history.ParentRef(session)).ID); ok {
		return p, nil
	}
	p, ok, err := s.ParentOf(view, session)
	if err != nil || !ok {
		return nil, err
	}
	return &p, nil
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
