package epoch

import "github.com/gemini-ctx/ctx/format"

// Fold returns the epoch that follows when a branch adopts a forest. Its initial block states the
// current beliefs, in the texts that came with their values; removed keys are dropped. Fold
// observes nothing. It returns nil if there was no update since the block: the epoch then stays in
// force.
func Fold(e *format.Epoch) *format.Epoch {
	if e.Step == format.EpochInitial || e.Step == format.EpochFold {
		return nil
	}
	return restate(e, format.EpochFold)
}

// Fork returns the epoch of a branch that starts in the past of another branch, whose newest epoch
// is e. The new branch gets a block of its own with the current beliefs, because the beliefs at its
// starting point are out of date.
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

// Starts reports whether the block of an epoch replaces all earlier updates, so that they are not
// shown any more. Updates before a fork are shown as they were sent.
func Starts(e *format.Epoch) bool {
	return e.Step == format.EpochInitial || e.Step == format.EpochFold
}

// Diff returns the keys whose values an update changed, in the order of the sources. A value that
// was sent again because it was lost is no change.
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
