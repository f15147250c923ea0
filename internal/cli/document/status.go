package document

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/exchange"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// Status is the state of a store and its current session.
type Status struct {
	Store      string         `json:"store"`
	Allowed    bool           `json:"allowed"` // made or allowed on this machine
	ID         string         `json:"id"`
	Head       *string        `json:"head"`
	Sessions   int            `json:"sessions"`
	Messages   uint64         `json:"messages"` // of all branches, each counted once
	Live       int            `json:"live"`     // clusters
	Dirty      int            `json:"dirty"`    // of these, without a summary of all of it
	Tombstones uint64         `json:"tombstones"`
	Operation  uint64         `json:"operation"` // the newest
	Torn       int64          `json:"torn"`      // bytes of an operation that was never finished
	Branches   []StatusBranch `json:"branches"`  // of HEAD's session
	Ignore     *string        `json:"ignore"`    // a line that .geminiignore should have
	// Drift is what transcripts have of kinds that ctx does not know.
	Drift []exchange.Drift `json:"drift"`
	Hooks
}

// StatusBranch is a branch of the current session.
type StatusBranch struct {
	Branch
	Lag uint64 `json:"lag"` // messages that left the window and wait to graduate
}

// StatusOf reads the state of a store.
func StatusOf(s *session.Store, view *refs.View) (Status, error) {
	d := Status{
		Store: s.Dir, ID: s.ID, Head: OrNull(view.Get("HEAD").Name), Operation: view.Number,
		Torn:     view.Torn,
		Branches: []StatusBranch{}, Ignore: OrNull(s.IgnoreAdvice()),
		Drift: s.Exchange.Drifts(),
	}
	d.Allowed, _ = s.Allowed() // a store without its key has other troubles
	list, err := s.Recall.Sessions(view)
	if err != nil {
		return d, err
	}
	d.Sessions = len(list)
	for _, one := range list {
		session := SessionOf(one)
		d.Messages += session.Own()
		for _, b := range session.Branches {
			if one.Head {
				d.Branches = append(d.Branches,
					StatusBranch{b, lag(b, uint64(s.Config.Window.GraduateAt))})
			}
		}
	}
	st, err := s.History.Forest(view)
	if err != nil && s.History.PassedDamage() {
		st, err = s.History.ReadForest(format.ID{}) // a repair makes the clusters again
	}
	if err != nil {
		return d, err
	}
	for _, c := range st.Live() {
		d.Live++
		if c.Dirty() {
			d.Dirty++
		}
	}
	if _, d.Tombstones, err = st.NewestEvicted(0); err == nil {
		d.Hooks, err = hooksOf(s, view)
	}
	return d, err
}

func lag(b Branch, window uint64) uint64 {
	if b.Seq <= b.Frontier+window {
		return 0
	}
	return b.Seq - b.Frontier - window
}
