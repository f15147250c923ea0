package conversation

import (
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// Imported is an entry of a known source.
type Imported struct {
	id     format.ID
	amends format.ID
	Digest string
	gone   bool // it is not in the branch: it was rewound away
}

// Message returns the entry that the log shows: the first version.
func (k Imported) Message() format.ID {
	if k.amends.IsZero() {
		return k.id
	}
	return k.amends
}

// Known returns the entries of e's source that the session has, the first version before its
// amends.
func (w *Appender) Known(e *format.Entry) ([]Imported, error) {
	key, err := e.Source.Key()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", history.ErrInput, err)
	}
	if !w.packsListed {
		// Another process may have written a pack.
		if err := w.Objects.Refresh(); err != nil {
			return nil, err
		}
		w.packsListed = true
	}
	ids, err := w.BySource(w.store.View, key)
	if err != nil {
		return nil, err
	}
	var list []Imported
	for _, id := range ids {
		ok, err := w.sessionLine.Has(id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		old, err := w.Header(id)
		if err != nil {
			return nil, err
		}
		if s := old.Source; s != nil && s.Agent == e.Source.Agent &&
			s.Session == e.Source.Session && s.Message == e.Source.Message {
			in, err := w.branchLine.Has(id)
			if err != nil {
				return nil, err
			}
			list = append(list, Imported{id: id, amends: old.Amends, Digest: s.Digest, gone: !in})
		}
	}
	// The first version is the one that amends nothing.
	slices.SortStableFunc(list, func(a, b Imported) int {
		switch {
		case a.amends.IsZero() == b.amends.IsZero():
			return 0
		case a.amends.IsZero():
			return -1
		}
		return 1
	})
	return append(list, w.batch[key]...), nil
}

// sourceRewind sets the source of a rewind entry and reports whether the session already has an
// entry of that source.
func (t *Tx) sourceRewind(e *format.Entry, src *Source, tip format.ID) (known bool, err error) {
	digest, err := t.Digest16(src.Record)
	if err != nil {
		return false, err
	}
	e.Source = &format.Source{Agent: src.Agent, Session: src.Session, Message: src.Message,
		Digest: digest}
	list, err := t.NewAppender(&history.Head{Value: format.Value{ID: tip}}, false).Known(e)
	return len(list) > 0, err
}
