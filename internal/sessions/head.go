package sessions

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Speaker is what decides whether HEAD goes to a session.
type Speaker struct {
	Session string
	Spoke   time.Time // when a person said the newest message; zero if nobody did
	Last    time.Time // the time of the newest message
	Works   bool      // for another session, as that of a subagent does
	Shared  bool      // by another store
}

// Head is what is known of HEAD.
type Head struct {
	Session string // that it names; "" for none
	There   bool   // the session exists
	Chosen  bool   // `ctx session use` named it, and a person has not spoken there since
}

// SpokeLast returns the session in which a person spoke last; "" if there is none that HEAD may
// name. A session that works for another one, or that another store shares, does not count. If
// nobody spoke in any, the newest message counts.
func SpokeLast(list []Speaker, now time.Time) string {
	list = slices.DeleteFunc(slices.Clone(list),
		func(s Speaker) bool { return s.Works || s.Shared })
	if len(list) == 0 {
		return ""
	}
	return slices.MaxFunc(list, func(a, b Speaker) int {
		return cmp.Or(
			Newer(a.Spoke, b.Spoke, now),
			Newer(a.Last, b.Last, now),
			cmp.Compare(b.Session, a.Session))
	}).Session
}

// NextHead returns the session that HEAD goes to when a store has changed; "" if HEAD stays. spoke
// is the session in which a person spoke last. HEAD follows the person, unless somebody has chosen
// it.
func NextHead(head Head, spoke string) string {
	if spoke == head.Session || head.There && head.Chosen {
		return ""
	}
	return spoke
}

// speakersOf returns what decides about HEAD, of each session of a view.
func speakersOf(view *refs.View, all []Overview) []Speaker {
	list := make([]Speaker, len(all))
	for i := range all {
		o := &all[i]
		_, shared := history.Owner(view, o.Name)
		list[i] = Speaker{o.Name, o.Spoke, o.Last, o.Parent != nil, shared}
	}
	return list
}

// FollowPerson returns the session that HEAD goes to after the change between two views; "" if HEAD
// stays.
func (s *Reader) FollowPerson(before, after *refs.View) (string, error) {
	now := s.Now()
	var was string
	if before.Number != after.Number {
		// The view before comes first: the cache keeps the overviews of the view that was asked for
		// last, and the next command asks for the one after.
		list, err := s.Overviews(before)
		if err != nil {
			return "", err
		}
		was = SpokeLast(speakersOf(before, list), now)
	}
	list, err := s.Overviews(after)
	if err != nil {
		return "", err
	}
	next := SpokeLast(speakersOf(after, list), now)
	if before.Number == after.Number {
		was = next
	}
	head := headOf(after)
	if head.There && head.Session != next {
		if head.Chosen, err = s.headChosen(after, was); err != nil {
			return "", err
		}
	}
	return NextHead(head, next), nil
}

func headOf(view *refs.View) Head {
	name := view.Get("HEAD").Name
	return Head{Session: name,
		There: name != "" && len(view.Names("sessions/"+name+"/")) > 0}
}

// HeadChosen reports whether HEAD stays where `ctx session use` has put it, although a person may
// speak in another session.
func (s *Reader) HeadChosen(view *refs.View, list []Overview) (bool, error) {
	if !headOf(view).There {
		return false, nil
	}
	return s.headChosen(view, SpokeLast(speakersOf(view, list), s.Now()))
}

// headChosen reports whether `ctx session use` was the last to name HEAD's session. spoke is where
// a person spoke last: if that is HEAD's session, nothing may have been said there since.
func (s *Reader) headChosen(view *refs.View, spoke string) (chosen bool, err error) {
	head := view.Get("HEAD").Name
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		if r.Op.Verb == refs.VerbSessionUse {
			chosen = r.Op.Session == head
			return false
		}
		return !slices.ContainsFunc(r.Op.Refs, func(u format.RefUpdate) bool {
			return u.Name == "HEAD" ||
				spoke == head && strings.HasPrefix(u.Name, history.RefName(head, ""))
		})
	})
	return chosen, err
}
