package epoch

import "github.com/gemini-ctx/ctx/format"

// Fold returns what an epoch becomes at a leave: what is believed now is a new initial block, made
// of the texts that were given with the values, and what was removed is named no more. Nothing is
// observed for it. It returns nil where nothing was told since the block: the epoch goes on.
func Fold(e *format.Epoch) *format.Epoch {
	if e.Step == format.EpochInitial || e.Step == format.EpochFold {
		return nil
	}
	return restate(e, format.EpochFold)
}

// Fork returns the epoch of a branch that starts in the past of another one, whose newest epoch is
// e. The new branch is told what is so now, in a block of its own: its own past would be out of
// date from its first word on.
func Fork(e *format.Epoch) *format.Epoch { return restate(e, format.EpochFork) }

func restate(e *format.Epoch, step string) *format.Epoch {
	next := &format.Epoch{Step: step}
	for _, b := range e.Current {
		if b.Value.IsZero() {
			continue
		}
		next.Current = append(next.Current, b)
		next.Initial = append(next.Initial, format.Told{Key: b.Key, Value: b.Value, Text: b.First})
	}
	return next
}

// Starts reports whether no update before an entry of this epoch is shown any more: its block says
// it all. Before a fork they are, as they were sent.
func Starts(e *format.Epoch) bool { return e.Step == format.EpochInitial || e.Step == format.EpochFold }

// Diff returns the keys of which another value is believed after an update than before it, in the
// order of the sources. A value that had to be told anew because it was lost is none.
func Diff(before, after []format.Belief) []Change {
	old := map[string]format.ID{}
	for _, b := range before {
		old[b.Key] = b.Value
	}
	var list []Change
	for _, b := range after {
		if was, ok := old[b.Key]; !ok || was != b.Value {
			list = append(list, Change{b.Key, b.Value})
		}
	}
	return list
}
