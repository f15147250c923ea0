package recall

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// WorkBrief returns the brief of a branch. All lines together cost at most room, in the unit of
// cost. It returns ErrNotFound for an unknown branch.
func (s *Reader) WorkBrief(v *refs.View, name history.BranchName, room int, cost func(brief.Line) int) (*brief.SessionBrief, error) {
	tip, err := history.Tip(v, name.Session, name.Branch)
	if err != nil {
		return nil, err
	}
	facts, e, err := s.allFacts(name, tip)
	if err != nil {
		return nil, err
	}
	b := &brief.SessionBrief{Session: name.Session, Branch: name.Branch, Messages: e.Seq, Last: e.Time}
	b.Lines = brief.Choose(facts, brief.Options{Room: room, Cost: cost, Conclude: true})
	return b, nil
}

// allFacts returns the facts of all messages of a branch, as far back as a digest goes, and the
// newest entry.
func (s *Reader) allFacts(name history.BranchName, v format.Value) ([]digest.Fact, *format.Entry, error) {
	e, err := s.Header(v.ID)
	if err != nil {
		return nil, nil, err
	}
	w, err := s.readFacts(name, v.ID, s.digestBorder(v, e), true)
	if err != nil {
		return nil, nil, err
	}
	return append(w.before, w.after...), e, nil
}

// digestBorder returns the seq up to which the digest of a branch is cached. That is the end of the
// pin. If the pin lags far behind, or there is none, it is the start of the window.
func (s *Reader) digestBorder(v format.Value, tip *format.Entry) uint64 {
	if tip.Seq > v.Through+2*uint64(s.Config.Window.EvictAt) {
		return tip.Seq - uint64(s.Config.Window.GraduateAt)
	}
	return v.Through
}
