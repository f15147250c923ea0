package session

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/loop"
)

// Loop returns what loop detection knows of a branch, as SaveLoop kept it, and made to fit by FitLoop. It is kept in the cache: lost, a loop is noticed
// some rounds later.
func (s *Store) Loop(v *refs.View, session, branch string) (*loop.Detector, error) {
	d := &loop.Detector{}
	if payload, _, ok := s.Cache.Load(index.LoopName(session, branch)); ok {
		if kept, err := loop.Decode(payload); err == nil {
			d = kept
		}
	}
	return d, s.FitLoop(v, session, branch, d)
}

// FitLoop makes what loop detection knows fit a branch as it is now, and marks it with that. Everything is forgotten where the branch was given another
// prompt since, or was rewound, or does not have the entry any more that was its tip.
func (s *Store) FitLoop(v *refs.View, session, branch string, d *loop.Detector) error {
	tip, err := Tip(v, session, branch)
	if err != nil {
		return err
	}
	met := map[string]bool{}
	start, err := s.startOf(tip.ID, func(id format.ID, _ *format.Entry) { met[id.String()] = true })
	if err != nil {
		return err
	}
	var wasStart, wasTip string
	if _, err := fmt.Sscan(d.Mark, &wasStart, &wasTip); err != nil || wasStart != start.String() || !met[wasTip] {
		d.Reset()
	}
	d.Mark = start.String() + " " + tip.ID.String()
	return nil
}

// SaveLoop keeps what loop detection knows of a branch. Of two at the same moment the later one holds.
func (s *Store) SaveLoop(session, branch string, d *loop.Detector) error {
	b, err := d.Encode()
	if err != nil {
		return err
	}
	return s.Cache.Store(index.LoopName(session, branch), index.Stamp{}, b)
}
