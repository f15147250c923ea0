package recall

import (
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// describe sets by what a person recognizes the sessions of a list: short names, agents, branches
// of git, titles and times. It keeps what it found with the overviews.
func (s *Reader) describe(v *refs.View, list []brief.SessionBrief) error {
	known := s.loadOverviews()
	fresh := false
	for i := range list {
		b := &list[i]
		tip := v.Get(history.RefName(b.Session, b.Branch))
		one := Session{Name: b.Session,
			Branches: []history.Branch{{Name: b.Branch, Value: tip, Seq: b.Messages}}}
		if !s.isRight(known, v, &one) {
			var err error
			if one.Parent, err = s.parentIn(v, b.Session, known); err != nil {
				return err
			}
			row, err := s.readRow(v, &one, known)
			if err != nil {
				return err
			}
			known.rows[b.Session], fresh = &row, true
		}
		o := known.row(b.Session).overview(&one)
		b.Agent, b.Git, b.Title, b.Named, b.First = o.Agent, o.Git, o.Title, o.Named, o.First
		b.Short = ShortName(v, b.Session)
	}
	if fresh {
		rows := make([]overviewRow, 0, len(known.rows))
		for _, name := range slices.Sorted(maps.Keys(known.rows)) {
			rows = append(rows, *known.rows[name])
		}
		s.storeOverviews(rows)
	}
	return nil
}

// The lengths in bytes of names of sessions: one that is longer than the first was not given by a
// person, and is cut to the second, or to more where another session begins so.
const (
	givenName = 24
	leastName = 8
)

// ShortName returns the beginning of the name of a session by which commands find it.
func ShortName(v *refs.View, session string) string {
	n := leastName
	if len(session) <= givenName || strings.ContainsAny(session, "@.") {
		return session
	}
	for _, ref := range v.Names("sessions/") {
		other, _, _ := history.BranchOfRef(ref)
		for other != session && n < len(session) && strings.HasPrefix(other, session[:n]) {
			n++
		}
	}
	return session[:n]
}
