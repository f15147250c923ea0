package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
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
	for _, d := range op.Decisions() {
		add(d.ID, decidedKind(d.Kind))
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

// The sides of a join that an entry is on.
const (
	ownSide   = 1 << iota // its first parent stands on it
	otherSide             // another parent does
)

// Brought returns the messages that a join brings to its branch: the further parents stand on
// them and the first parent does not. It looks back no further than to where the parents part. It
// relies on no entry having a higher seq than its children, which fsck checks elsewhere.
func (g *Graph) Brought(join uint32) []uint32 {
	sides := map[uint32]uint8{}
	queue := lists.Heap[painted]{ // the highest seq first
		Before: func(a, b painted) bool { return g.Seq(a.at) > g.Seq(b.at) }}
	others := 0 // in the queue, of what is on other sides alone
	paint := func(i uint32, with uint8) {
		had := sides[i]
		if had|with == had {
			return
		}
		sides[i] = had | with
		queue.Add(painted{i, had | with})
		if had|with == otherSide {
			others++
		}
	}
	for n, e := range g.ParentsOf(join) {
		if n == 0 {
			paint(e.To(), ownSide)
		} else {
			paint(e.To(), otherSide)
		}
	}
	// What stands on an entry has its seq or a higher one, and may have the same: as long as such
	// are in the queue, the first parent may reach it yet.
	low := ^uint64(0)
	for others > 0 || len(queue.List) > 0 && g.Seq(queue.List[0].at) >= low {
		p := queue.Take()
		if p.sides == otherSide {
			others--
			low = min(low, g.Seq(p.at))
		}
		for _, e := range g.ParentsOf(p.at) {
			paint(e.To(), sides[p.at])
		}
	}
	var list []uint32
	for i, on := range sides {
		if on == otherSide && g.Message(i) {
			list = append(list, i)
		}
	}
	return list
}

// painted is an entry in the queue, with the sides that it was on when it was queued.
type painted struct {
	at    uint32
	sides uint8
}

// Tip is an entry that no ref, no record and no other unreachable entry names.
type Tip struct {
	ID    format.ID
	Entry *format.Entry
}

// DanglingTips returns the tips among the objects without the mark Reached, the newest first.
func DanglingTips(g *Graph) []Tip {
	below := map[uint32]bool{}
	for i, marks := range g.Marks {
		if marks&Reached == 0 && g.Kind(uint32(i)) == format.EntryKind {
			for _, e := range g.ParentsOf(uint32(i)) {
				below[e.To()] = true
			}
		}
	}
	var tips []Tip
	for n, marks := range g.Marks {
		i := uint32(n)
		if marks&Reached != 0 || g.Kind(i) != format.EntryKind || below[i] || g.Bad[i] != nil {
			continue
		}
		if e, err := g.s.History.Header(g.ids[i]); err == nil { // else it is told with its file
			tips = append(tips, Tip{g.ids[i], e})
		}
	}
	slices.SortFunc(tips, func(a, b Tip) int {
		if c := b.Entry.Time.Compare(a.Entry.Time); c != 0 {
			return c
		}
		return a.ID.Compare(b.ID)
	})
	return tips
}

// EpochAt returns the epoch that is named by the nearest epoch entry from entry i back along
// first parents, whether or not that epoch is stored. It returns the zero id where there is no
// epoch entry.
func (g *Graph) EpochAt(i uint32) format.ID {
	for {
		for _, e := range g.Below(i) {
			if e.Want() == format.EpochKind {
				return g.ID(e.To())
			}
		}
		for _, l := range g.Lost[i] {
			if l.Want == format.EpochKind {
				return l.ID
			}
		}
		up := g.ParentsOf(i)
		if len(up) == 0 {
			return format.ID{}
		}
		i = up[0].To()
	}
}
