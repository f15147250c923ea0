package session

import (
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

// newestNow is newest as of the operation that is being made: what the view says is not yet, or no longer, so for messages that it amends, or whose
// amends it takes away or brings back.
func (t *tx) newestNow(id format.ID) (format.ID, error) {
	if newest, ok := t.newer[id]; ok {
		return newest, nil
	}
	return t.newest(t.view, id)
}

// becomes notes which entry has a message's newest text from this operation on.
func (t *tx) becomes(message, newest format.ID) {
	if t.newer == nil {
		t.newer = map[format.ID]format.ID{}
	}
	t.newer[message] = newest
}

// becomeAt notes which entries have the newest texts of messages when a branch ends at tip. A message that is not in it then is nobody's concern.
func (t *tx) becomeAt(tip format.ID, messages []format.ID) error {
	left := map[format.ID]bool{}
	for _, id := range messages {
		left[id] = true
	}
	if len(left) == 0 {
		return nil
	}
	return t.back(tip, func(id format.ID, e *format.Entry) bool {
		for _, message := range []format.ID{id, e.Amends} {
			if left[message] && (e.Kind == format.KindAmend || message == id) {
				t.becomes(message, id)
				delete(left, message)
			}
		}
		return len(left) > 0
	})
}

// sourcesNow reads entries for the summariser, as of the operation that is being made.
func (t *tx) sourcesNow(ids []format.ID) ([]summarize.Source, error) {
	if len(t.newer) > 0 {
		if err := t.flush(); err != nil {
			return nil, err
		}
	}
	return sourcesBy(t.latestNow, ids)
}

// latestNow is latest as of the operation that is being made.
func (t *tx) latestNow(id format.ID) (*Shown, error) {
	newest, err := t.newestNow(id)
	if err != nil {
		return nil, err
	}
	return t.Entry(newest)
}
