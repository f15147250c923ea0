package conversation

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/conversation/loop"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Loop returns the state of loop detection of a branch, as SaveLoop kept it, after FitLoop. It is
// in the cache: if it is lost, a loop is noticed some rounds later.
func (s *Reader) Loop(v *refs.View, session, branch string) (*loop.Detector, error) {
	d := &loop.Detector{}
	if payload, _, ok := s.Cache.Load(cache.LoopName(session, branch)); ok {
		if kept, err := loop.Decode(payload); err == nil {
			d = kept
		}
	}
	return d, s.FitLoop(v, session, branch, d)
}

// FitLoop fits the state of loop detection to a branch and marks it with the tip. It resets the
// state after another prompt, after a rewind, or if the branch no longer has the marked tip.
func (s *Reader) FitLoop(v *refs.View, session, branch string, d *loop.Detector) error {
	tip, err := history.Tip(v, session, branch)
	if err != nil {
		return err
	}
	met := map[string]bool{}
	var start format.ID // of the current work; zero where no entry began it
	for e, err := range s.Walk(tip.ID, history.OwnLine) {
		if err != nil {
			return err
		}
		met[e.ID.String()] = true
		if beginsWork(e.Entry) {
			start = e.ID
			break
		}
	}
	var wasStart, wasTip string
	if _, err := fmt.Sscan(d.Mark, &wasStart, &wasTip); err != nil || wasStart != start.String() ||
		!met[wasTip] {
		d.Reset()
	}
	d.Mark = start.String() + " " + tip.ID.String()
	return nil
}

// SaveLoop keeps the state of loop detection of a branch. Of two savers the later one wins.
func (s *Reader) SaveLoop(session, branch string, d *loop.Detector) error {
	b, err := d.Encode()
	if err != nil {
		return err
	}
	return s.Cache.Store(cache.LoopName(session, branch), cache.Stamp{}, b)
}

// beginsWork reports whether the current work of a branch begins with an entry: the latest prompt
// or rewind on the branch's own line. A user's message that answers a call is no prompt.
func beginsWork(e *format.Entry) bool {
	return e.Kind == format.KindRewind ||
		e.Kind == format.KindMessage && e.Role == "user" && len(e.Results) == 0
}
