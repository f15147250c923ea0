package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

const EpochsPrefix = "epochs/"

const ForestsPrefix = "forests/"

// OwnForest returns the name of the forest that a ref is of. ok is false for another ref, and for
// the forest of another store: the log of this one has no decisions about it.
func OwnForest(ref string) (name string, ok bool) {
	name, ok = strings.CutPrefix(ref, ForestsPrefix)
	return name, ok && !strings.Contains(name, "@")
}

// Root is an object that a ref or a log record names.
type Root struct {
	format.Link
	From string // the ref, or the operation, for people
}

const SessionsPrefix = "sessions/"

// originPrefix begins the names of the refs of sessions that go on with another one.
const originPrefix = "state/origin/"

// RefKind returns the kind of object that the ref of a name must name.
func RefKind(name string) format.ObjectKind {
	top, _, _ := strings.Cut(name, "/")
	switch top {
	case "sessions":
		return format.EntryKind
	case "forests":
		return format.ForestKind
	case "epochs":
		return format.EpochKind
	case "state":
		if strings.HasPrefix(name, originPrefix) {
			return format.EntryKind
		}
		return format.BlobKind
	}
	return format.AnyKind
}

// RootsOfRefs returns the objects that refs name: tips first, so that a walk meets history in its
// order, then pins and all others by name.
func RootsOfRefs(refs map[string]format.Value) []Root {
	var tips, rest []Root
	for _, name := range SortedNames(refs) {
		v := refs[name]
		switch {
		case v.ID.IsZero():
		case v.Kind == format.SessionValue:
			tips = append(tips,
				Root{Link: format.Link{ID: v.ID, Want: format.EntryKind}, From: name})
			if !v.Pin.IsZero() {
				rest = append(rest,
					Root{Link: format.Link{ID: v.Pin, Want: format.ForestKind},
						From: name + ": the pin"})
			}
		default:
			rest = append(rest, Root{Link: format.Link{ID: v.ID, Want: RefKind(name)}, From: name})
		}
	}
	return append(tips, rest...)
}

func SortedNames(refs map[string]format.Value) []string {
	return slices.Sorted(maps.Keys(refs))
}

// RootsOfBase returns the objects that the refs at the start of the kept log name. It leaves pins
// out: an old pin is derived, and may be gone. So may what another store shared of its forest then.
func RootsOfBase(refs map[string]format.Value) []Root {
	var list []Root
	for _, name := range SortedNames(refs) {
		if _, own := OwnForest(name); !own && RefKind(name) == format.ForestKind {
			continue
		}
		if id := refs[name].ID; !id.IsZero() {
			list = append(list,
				Root{Link: format.Link{ID: id, Want: RefKind(name)}, From: "refs/base: " + name})
		}
	}
	return list
}

// RootsOfRecord returns the objects that a log record names and that cannot be derived: tips
// before and after, epochs, blobs, and the entries, summaries and tombstones of decisions. It
// leaves out the forests that the record wrote.
func RootsOfRecord(op *format.Operation) []Root {
	from := fmt.Sprintf("operation %d", op.Number)
	var list []Root
	add := func(id format.ID, want format.ObjectKind) {
		if !id.IsZero() {
			list = append(list, Root{Link: format.Link{ID: id, Want: want}, From: from})
		}
	}
	for _, u := range op.Refs {
		want := RefKind(u.Name)
		if want == format.ForestKind {
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

func decidedKind(k format.DecisionKind) format.ObjectKind {
	switch k {
	case format.DecideSettle, format.DecideDrop:
		return format.SummaryKind
	case format.DecideEvict:
		return format.TombstoneKind
	}
	return format.EntryKind
}

// ApplyRefs changes refs as an operation did.
func ApplyRefs(refs map[string]format.Value, op *format.Operation) {
	for _, u := range op.Refs {
		if u.New.Exists() {
			refs[u.Name] = u.New
		} else {
			delete(refs, u.Name)
		}
	}
}

// RefsOf returns the refs of a checkpoint by name.
func RefsOf(c *format.Checkpoint) map[string]format.Value {
	refs := make(map[string]format.Value, len(c.Refs))
	for _, r := range c.Refs {
		refs[r.Name] = r.Value
	}
	return refs
}
