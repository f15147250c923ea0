package recall

import (
	"regexp"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/when"
)

// LogOptions are for Log.
type LogOptions struct {
	All   bool      // every kind of entry; else messages and notes
	Limit int       // the newest so many; 0 for all
	After format.ID // only entries after this one; zero for all
	// Within takes what was said then, by the time that is shown, wherever in the branch it is:
	// clocks are set, and transcripts have times that go back. What has a time that is not Sane was
	// said when the message before it was. The zero Span is for all.
	Within when.Span
	// NewestFirst turns the order round.
	NewestFirst bool
	// Masked shows messages as the branch's masks say.
	Masked bool
	// Role takes messages of that role alone; "" for all.
	Role string
	// Pattern takes messages alone in whose latest text it is found; nil for all.
	Pattern *regexp.Regexp
	// Worded leaves out entries that are bare; not with All.
	Worded bool
	// Skip leaves out so many of those that would come first. What a tip has does not change, so that
	// a reader can go on where they stopped.
	Skip uint64
	// Results, if it is not nil, gets the entries that answer calls, by the id of the call.
	Results map[string]format.ID
}

// Log returns the entries of the history that ends at a tip, oldest first. Seq of an entry is its
// position among the messages. An amended message has its latest text, in the place of the
// original.
func (s *Reader) Log(tip format.ID, o LogOptions) ([]*history.Shown, error) {
	var out []*history.Shown
	err := s.LogEach(tip, o, func(shown *history.Shown) error {
		out = append(out, shown)
		return nil
	})
	return out, err
}

// LogEach calls each for the entries that Log returns. It holds only ids in memory. If each returns
// an error, LogEach stops and returns that error.
func (s *Reader) LogEach(tip format.ID, o LogOptions, each func(*history.Shown) error) error {
	type found struct {
		id, version format.ID
		seq         uint64
	}
	var list []found
	version := map[format.ID]format.ID{}
	said := map[format.ID]time.Time{} // the time of the latest version
	var before *time.Time             // the time of the message before those that have no sane one
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
		if o.Results != nil {
			for _, call := range e.Results {
				o.Results[call] = e.ID
			}
		}
		if o.All || e.Kind == format.KindMessage || e.Kind == format.KindNote {
			at, newer := said[e.ID]
			if !newer {
				at = e.Time
			}
			if before, err = s.saneWhen(e.ID, &at, before, &o); err != nil {
				return err
			}
			if !o.Within.Has(at) {
				continue
			}
			picked, err := s.picks(o, e, version[e.ID])
			if err != nil {
				return err
			}
			if picked {
				list = append(list, found{e.ID, version[e.ID], e.Seq})
			}
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

// saneWhen sets the time by which Within picks an entry. before is what it returned for the entry
// after that.
func (s *Reader) saneWhen(
	id format.ID, at, before *time.Time, o *LogOptions,
) (*time.Time, error) {
	if o.Within.IsZero() || sessions.Sane(*at, s.Now()) {
		return nil, nil
	}
	if before == nil {
		said, err := s.SaidBy(id)
		if err != nil {
			return nil, err
		}
		before = &said
	}
	if !before.IsZero() {
		*at = *before
	}
	return before, nil
}

// picks reports whether the role and the text of an entry are those that were asked for.
func (s *Reader) picks(o LogOptions, e history.Entry, version format.ID) (bool, error) {
	if o.Role != "" && e.Role != o.Role {
		return false, nil
	}
	worded := o.Worded && !o.All && history.MayBeBare(e.Entry)
	if o.Pattern == nil && !worded {
		return true, nil
	}
	shown, err := s.Version(e.ID, version)
	if err != nil || worded && shown.IsBare() {
		return false, err
	}
	return o.Pattern == nil || o.Pattern.MatchString(shown.Text), nil
}
