package recall

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// WorkBrief returns the brief of a branch, with the conclusion of the newest turn. It returns
// ErrNotFound for an unknown branch.
func (s *Reader) WorkBrief(
	v *refs.View, name history.BranchName, o brief.Options,
) (*brief.SessionBrief, error) {
	tip, err := history.Tip(v, name.Session, name.Branch)
	if err != nil {
		return nil, err
	}
	return s.WorkBriefOf(name, tip, o)
}

// WorkBriefOf is WorkBrief for a branch at a value that it has, or had.
func (s *Reader) WorkBriefOf(
	name history.BranchName, tip format.Value, o brief.Options,
) (*brief.SessionBrief, error) {
	return s.workBrief(name, tip, o, nil)
}

// workBrief is WorkBriefOf without what the messages in told say. If told is not nil, it adds the
// messages of the branch.
func (s *Reader) workBrief(
	name history.BranchName, tip format.Value, o brief.Options, told map[format.ID]bool,
) (*brief.SessionBrief, error) {
	facts, root, e, err := s.allFacts(name, tip, o.Short)
	if err != nil {
		return nil, err
	}
	if told != nil {
		facts = slices.DeleteFunc(slices.Clone(facts),
			func(f digest.Fact) bool { return told[f.Entry] })
		for i := range facts {
			told[facts[i].Entry] = true
		}
	}
	b := &brief.SessionBrief{Session: name.Session, Branch: name.Branch,
		Messages: e.Seq, Last: e.Time}
	o.Conclude, o.Root = true, root
	b.Lines = brief.Choose(facts, o)
	return b, nil
}

// allFacts returns the facts of all messages of a branch, as far back as a digest goes, the root of
// the session, and the newest entry. If settled is true, every act has its outcome.
func (s *Reader) allFacts(
	name history.BranchName, v format.Value, settled bool,
) ([]digest.Fact, brief.Root, *format.Entry, error) {
	e, err := s.Header(v.ID)
	if err != nil {
		return nil, brief.Root{}, nil, err
	}
	w, err := s.readFacts(name, v.ID, s.digestBorder(v, e), true)
	if err != nil {
		return nil, brief.Root{}, nil, err
	}
	if settled {
		return w.whole, w.root, e, nil
	}
	return append(w.before, w.after...), w.root, e, nil
}

// digestBorder returns the seq up to which the digest of a branch is cached. That is the end of the
// pin. If the pin lags far behind, or there is none, it is the start of the window.
func (s *Reader) digestBorder(v format.Value, tip *format.Entry) uint64 {
	if tip.Seq > v.Through+2*uint64(s.Config.Window.EvictAt) {
		return tip.Seq - uint64(s.Config.Window.GraduateAt)
	}
	return v.Through
}
