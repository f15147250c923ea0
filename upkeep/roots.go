package upkeep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// root is an object that a ref or a record of the log names.
type root struct {
	link
	from string // the ref, or the operation, for people
}

const sessionsPrefix = "sessions/"

// refKind is what a ref of a name holds.
func refKind(name string) kind {
	top, _, _ := strings.Cut(name, "/")
	switch top {
	case "sessions":
		return entryKind
	case "forests":
		return forestKind
	case "epochs":
		return epochKind
	case "state":
		return blobKind
	}
	return anyKind
}

// rootsOfRefs returns what refs name: tips first, so that a walk meets history in its order, then pins and all else by name.
func rootsOfRefs(refs map[string]format.Value) []root {
	var tips, rest []root
	for _, name := range sortedNames(refs) {
		v := refs[name]
		switch {
		case v.ID.IsZero():
		case v.Kind == format.SessionValue:
			tips = append(tips, root{link{v.ID, entryKind}, name})
			if !v.Pin.IsZero() {
				rest = append(rest, root{link{v.Pin, forestKind}, name + ": the pin"})
			}
		default:
			rest = append(rest, root{link{v.ID, refKind(name)}, name})
		}
	}
	return append(tips, rest...)
}

func sortedNames(refs map[string]format.Value) []string {
	names := make([]string, 0, len(refs))
	for name := range refs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// rootsOfBase returns what the refs at the start of the kept log name. Pins are not among it: an old pin is no truth, and may be gone.
func rootsOfBase(refs map[string]format.Value) []root {
	var list []root
	for _, name := range sortedNames(refs) {
		if id := refs[name].ID; !id.IsZero() {
			list = append(list, root{link{id, refKind(name)}, "refs/base: " + name})
		}
	}
	return list
}

// rootsOfRecord returns the truth that a record of the kept log names: tips before and after, epochs and blobs, entries, summaries
// and tombstones of decisions. Forests that it wrote are derived, and not among it.
func rootsOfRecord(op *format.Operation) []root {
	from := fmt.Sprintf("operation %d", op.Number)
	var list []root
	add := func(id format.ID, want kind) {
		if !id.IsZero() {
			list = append(list, root{link{id, want}, from})
		}
	}
	for _, u := range op.Refs {
		want := refKind(u.Name)
		if want == forestKind {
			continue
		}
		add(u.Old.ID, want)
		add(u.New.ID, want)
	}
	for _, f := range op.Forests {
		for _, d := range f.Decisions {
			add(d.ID, decidedKind(d.Kind))
		}
	}
	return list
}

func decidedKind(k format.DecisionKind) kind {
	switch k {
	case format.DecideSettle, format.DecideDrop:
		return summaryKind
	case format.DecideEvict:
		return tombstoneKind
	}
	return entryKind
}

// applyRefs moves refs as an operation did.
func applyRefs(refs map[string]format.Value, op *format.Operation) {
	for _, u := range op.Refs {
		if u.New.Exists() {
			refs[u.Name] = u.New
		} else {
			delete(refs, u.Name)
		}
	}
}

// refsOf returns the refs of a checkpoint by name.
func refsOf(c *format.Checkpoint) map[string]format.Value {
	refs := make(map[string]format.Value, len(c.Refs))
	for _, r := range c.Refs {
		refs[r.Name] = r.Value
	}
	return refs
}
