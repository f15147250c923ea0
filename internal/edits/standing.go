package edits

import (
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// Standing is a text that stands for messages which have left the tail.
type Standing struct {
	view.Message           // as the tail would have it
	First        format.ID // the oldest message that it stands for
	Prefix       bool      // the prefix has it, else the tail, until the branch adopts
}

// Standings returns the texts of a branch that stand for messages up to through, oldest first, and
// the messages that the prefix does not tell by their own words any more. The prefix knows what was
// on the branch when it had border messages, so that it does not change between two adoptions; what
// was brought later is for the tail.
func (s *Reader) Standings(
	v *refs.View, session string, tip format.ID, through, border uint64,
) (list []Standing, hidden map[format.ID]bool, err error) {
	if some, err := s.anyReplaced(v, session); err != nil || !some {
		return nil, nil, err
	}
	l, err := s.lineOf(tip)
	if err != nil {
		return nil, nil, err
	}
	place := make(map[format.ID]int, len(l.messages)) // newest first
	for i, m := range l.messages {
		place[m.ID] = i
	}
	hidden = map[format.ID]bool{}
	add := func(prefix bool, controls []history.Entry) error {
		slices.Reverse(controls)
		es, err := s.editsOf(controls)
		if err != nil {
			return err
		}
		for i := range es.list {
			r := &es.list[i]
			behind := es.behind(r, true)
			oldest, newest := -1, len(l.messages)
			for id := range behind {
				if at, ok := place[id]; ok {
					oldest, newest = max(oldest, at), min(newest, at)
				}
			}
			if oldest < 0 || l.messages[oldest].Seq > through || es.hides(r.id) != nil ||
				!prefix && r.e.Seq <= border {
				continue
			}
			if prefix {
				maps.Copy(hidden, behind)
			}
			// Else the tail has it
			if first := l.messages[oldest]; l.messages[newest].Seq <= through {
				list = append(list, Standing{First: first.ID, Prefix: prefix,
					Message: r.message(view.Message{Seq: first.Seq}, len(es.behind(r, false)))})
			}
		}
		return nil
	}
	early := slices.DeleteFunc(slices.Clone(l.controls),
		func(c history.Entry) bool { return c.Seq > border })
	if err = add(true, early); err == nil {
		err = add(false, slices.Clone(l.controls))
	}
	slices.SortStableFunc(list, func(a, b Standing) int { return place[b.First] - place[a.First] })
	return list, hidden, err
}

// anyReplaced reports whether a replacement was made in a session, or in one that it shares entries
// with.
func (s *Reader) anyReplaced(v *refs.View, session string) (some bool, err error) {
	names := append(history.Relatives(v, session), session)
	if label, shared := history.Owner(v, session); shared {
		names = append(names, strings.TrimSuffix(session, history.SharedName("", label)))
	}
	err = s.ReadLinks(v, func(l *history.Links) error {
		some = slices.ContainsFunc(names,
			func(name string) bool { return len(l.ReplacesIn(name)) > 0 })
		return nil
	})
	return some, err
}
