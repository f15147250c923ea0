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

// told is what a reader of briefs knows: messages, and what messages of its own session say, which
// other sessions may hold as copies with other ids.
type told struct {
	entries map[format.ID]bool
	own     map[saying]bool
	passed  map[string]bool // the keys of checks that newer sessions ended with
	said    map[saying]bool // by the sessions so far
	twin    bool            // the next session is another store's of the same beginning
}

// saying is what a fact says, wherever it stands.
type saying struct {
	kind digest.Kind
	text string
}

// toldTo returns what the history of a session tells its model: nothing, if the session is "". A
// session of one message has only begun: its prompt may be given to any session.
func (s *Reader) toldTo(v *refs.View, session string) (*told, error) {
	t := &told{entries: map[format.ID]bool{}, own: map[saying]bool{}, passed: map[string]bool{},
		said: map[saying]bool{}}
	tip := v.Get(history.RefName(session, history.MainBranch))
	if session == "" || !tip.Exists() {
		return t, nil
	}
	name := history.BranchName{Session: session, Branch: history.MainBranch}
	facts, _, e, err := s.AllFacts(name, tip)
	if err != nil || e.Seq < 2 {
		return t, err
	}
	for _, f := range facts {
		t.entries[f.Entry], t.own[saying{f.Kind, f.Text}] = true, true
	}
	return t, nil
}

// workBrief is WorkBriefOf without what a reader was told, to which it adds the messages of the
// branch; nil is a reader of this brief alone.
func (s *Reader) workBrief(
	name history.BranchName, tip format.Value, o brief.Options, known *told,
) (*brief.SessionBrief, error) {
	facts, root, e, err := s.AllFacts(name, tip)
	if err != nil {
		return nil, err
	}
	if known != nil {
		facts = slices.DeleteFunc(slices.Clone(facts), func(f digest.Fact) bool {
			fails := f.Kind == digest.Failure ||
				f.Kind == digest.Command && f.State == digest.Failed
			says := saying{f.Kind, f.Text}
			return known.entries[f.Entry] || known.own[says] || known.twin && known.said[says] ||
				fails && known.passed[f.Key]
		})
		for i := range slices.Backward(facts) {
			f := &facts[i]
			known.entries[f.Entry], known.said[saying{f.Kind, f.Text}] = true, true
			if _, newer := known.passed[f.Key]; f.Kind == digest.Command && f.Checks() && f.Ran() &&
				!newer {
				known.passed[f.Key] = f.State == digest.Passed
			}
		}
	}
	b := &brief.SessionBrief{Session: name.Session, Branch: name.Branch,
		Messages: e.Seq, Last: e.Time}
	o.Root = root
	if known == nil && o.Missing {
		if o.Known, err = s.newestRecap(facts); err != nil {
			return nil, err
		}
	}
	b.Lines = brief.Choose(facts, o)
	return b, nil
}

// newestRecap returns the newest summary that a client wrote in place of older history; "" if there
// is none.
func (s *Reader) newestRecap(facts []digest.Fact) (string, error) {
	for i := range slices.Backward(facts) {
		if facts[i].Kind == digest.Recap {
			shown, err := s.Entry(facts[i].Entry)
			if err != nil {
				return "", err
			}
			return shown.Text, nil
		}
	}
	return "", nil
}
