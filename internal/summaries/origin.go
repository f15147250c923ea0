package summaries

import (
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// Origin is how and when a summary came into the store.
type Origin struct {
	Summary *format.Summary
	// Operation is the newest operation that made it the summary of its cluster, and Time when that
	// was; zero where the log does not reach back as far.
	Operation uint64
	Time      time.Time
}

// Origins returns the origins of summaries, by their ids.
func (s *Reader) Origins(view *refs.View, ids []format.ID) (map[format.ID]Origin, error) {
	origins := map[format.ID]Origin{}
	for _, id := range ids {
		sum, err := headerOf(s.Reader, id)
		if err != nil {
			return nil, err
		}
		origins[id] = Origin{Summary: sum}
	}
	left := len(origins)
	if left == 0 {
		return origins, nil
	}
	err := s.Refs.Backward(view, func(r refs.Record) bool {
		for _, d := range r.Op.Decisions() {
			o, asked := origins[d.ID]
			if d.Kind == format.DecideSettle && asked && o.Operation == 0 {
				o.Operation, o.Time = r.Op.Number, r.Op.Time
				origins[d.ID] = o
				left--
			}
		}
		return left > 0
	})
	return origins, err
}
