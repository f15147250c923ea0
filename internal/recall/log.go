package recall

import (
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
)

// Log returns the entries of the history that ends at a tip, oldest first. Seq of an entry is its
// position among the messages. An amended message has its latest text, in the place of the
// original.
func (s *Reader) Log(tip format.ID, o history.LogOptions) ([]*history.Shown, error) {
	var out []*history.Shown
	err := s.LogEach(tip, o, func(shown *history.Shown) error {
		out = append(out, shown)
		return nil
	})
	return out, err
}

// LogEach calls each for the entries that Log returns. It holds only ids in memory. If each returns
// an error, LogEach stops and returns that error.
func (s *Reader) LogEach(tip format.ID, o history.LogOptions, each func(*history.Shown) error) error {
	type found struct {
		id, version format.ID
		seq         uint64
	}
	var list []found
	version := map[format.ID]format.ID{}
	said := map[format.ID]time.Time{} // the time of the latest version
	for e, err := range s.Walk(tip, history.WithJoined) {
		if err != nil {
			return err
		}
		if e.ID == o.After {
			break
		}
		if _, newer := version[e.Amends]; e.Kind == format.KindAmend && !newer {
			version[e.Amends], said[e.Amends] = e.ID, e.Time
		}
		if o.All || e.Kind == format.KindMessage || e.Kind == format.KindNote {
			when, newer := said[e.ID]
			if !newer {
				when = e.Time
			}
			if !o.Since.IsZero() && when.Before(o.Since) {
				break
			}
			list = append(list, found{e.ID, version[e.ID], e.Seq})
		}
		if o.Limit > 0 && len(list) >= o.Limit {
			break
		}
	}
	es := &edits.Edits{}
	if o.Masked {
		var err error
		if es, err = s.edits.EditsAt(tip); err != nil {
			return err
		}
	}
	if !o.NewestFirst {
		slices.Reverse(list)
	}
	for _, f := range list[min(o.Skip, uint64(len(list))):] {
		shown, err := s.Version(f.id, f.version)
		if err != nil {
			return err
		}
		shown = es.MaskedShown(shown)
		shown.Entry.Seq = f.seq
		if err := each(shown); err != nil {
			return err
		}
	}
	return nil
}
