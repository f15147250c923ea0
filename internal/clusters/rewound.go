package clusters

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// Rewound collects the entries that a rewind takes out of a branch.
type Rewound struct {
	IDs      map[format.ID]bool
	Messages int
	Results  []string        // calls that are answered in it
	Amended  []format.ID     // messages that lose a version
	Amends   []history.Entry // these versions, newest first
	Epochs   bool            // an epoch is taken out
}

func (l *Rewound) Add(id format.ID, e *format.Entry) {
	l.IDs[id] = true
	l.Epochs = l.Epochs || e.Kind == format.KindEpoch
	if e.Kind == format.KindMessage {
		l.Messages++
	}
	l.Results = append(l.Results, e.Results...)
	if e.Kind == format.KindAmend {
		// The message that it amends may make the same calls, and is further up.
		l.Amended, l.Amends = append(l.Amended, e.Amends),
			append(l.Amends, history.Entry{ID: id, Entry: e})
		return
	}
	l.Results = slices.DeleteFunc(l.Results, func(r string) bool {
		return slices.ContainsFunc(e.Calls, func(c format.Call) bool { return c.ID == r })
	})
}

// Answers reports whether e makes a call whose result is taken out.
func (l *Rewound) Answers(e *format.Entry) bool {
	return slices.ContainsFunc(e.Calls,
		func(c format.Call) bool { return slices.Contains(l.Results, c.ID) })
}
