package sessions

import (
	"cmp"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// skew is how far the clocks of two machines may be apart.
const skew = 10 * time.Minute

// Sane reports whether something can have been said at a time, by the clock of the store. A time
// that is still to come is of a clock that was wrong: what has it is not the newest for that.
func Sane(t, now time.Time) bool { return !t.After(now.Add(skew)) }

// Newer compares two times as cmp.Compare does. A time that is not Sane is older than any that is,
// and newer than none at all.
func Newer(a, b, now time.Time) int {
	rank := func(t time.Time) int {
		switch {
		case t.IsZero():
			return 0
		case Sane(t, now):
			return 2
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Compare(b))
}

// saidBy returns the time of the newest message in the history of a tip that has a sane one; zero
// if none has.
func (s *Reader) SaidBy(tip format.ID) (time.Time, error) {
	now := s.Now()
	for e, err := range s.Walk(tip, history.WithJoined) {
		if err != nil {
			return time.Time{}, err
		}
		if e.Kind == format.KindMessage && Sane(e.Time, now) {
			return e.Time, nil
		}
	}
	return time.Time{}, nil
}
