package conversation

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
)

// cut returns what a branch loses when target and everything after it are removed, or with keep
// only what is after it, and the last entry that stays. A call is removed together with its result.
// The zero target stands for the first entry. found is false if the branch does not have target.
func (s *Reader) cut(
	tip, target format.ID, keep bool,
) (left clusters.Rewound, last history.Entry, found bool, err error) {
	left.IDs = map[format.ID]bool{}
	var stays []history.Entry // before target, back to the last call whose result is removed
	n := 0
	for e, err := range s.Walk(tip, history.WithJoined) {
		if err != nil {
			return left, last, found, err
		}
		found = found || keep && e.ID == target
		if !found {
			left.Add(e.ID, e.Entry)
			found = e.ID == target
			continue
		}
		n++
		stays = append(stays, e)
		if left.Answers(e.Entry) {
			for _, at := range stays {
				left.Add(at.ID, at.Entry)
			}
			stays, last = nil, history.Entry{}
			continue
		}
		if last.ID.IsZero() {
			last = e
		}
		if n >= history.MaxPairDistance || len(left.Results) == 0 {
			break
		}
	}
	return left, last, found || target.IsZero(), nil
}

// newTip returns the entry at which a branch from tip ends after a cut at last: last itself, or, if
// a join brought it, a new join that brings nothing after it.
func (t *Tx) newTip(session string, tip format.ID, last history.Entry) (history.Entry, error) {
	if !last.Joined {
		return last, nil
	}
	joins, err := t.PartialJoins(tip, last.ID)
	if err != nil {
		return history.Entry{}, err
	}
	tip = last.ID
	for _, e := range joins {
		e.Session, e.Time = session, t.Now().UTC().Truncate(1e6)
		e.Parents = append(e.Parents, tip)
		if tip, err = t.putJoin(e); err != nil {
			return history.Entry{}, err
		}
	}
	e, err := t.Header(tip)
	return history.Entry{ID: tip, Entry: e}, err
}

// putJoin stores a join that is complete but for its seq.
func (t *Tx) putJoin(e *format.Entry) (format.ID, error) {
	own, err := t.Header(e.Parents[0])
	if err != nil {
		return format.ID{}, err
	}
	_, n, err := t.broughtBy(e)
	if err != nil {
		return format.ID{}, err
	}
	e.Seq = own.Seq + n
	header, err := e.Encode()
	if err != nil {
		return format.ID{}, err
	}
	id := t.store.Add(format.Raw{Header: header})
	return id, t.store.Flush()
}
