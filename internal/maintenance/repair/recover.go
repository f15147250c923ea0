package repair

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/refs"
)

// maxRecovered bounds how many lines of history get a session of their own.
const maxRecovered = 256

// recover restores what the log behind its damage names, and lines of history that nothing names.
// A branch goes on to a later tip if that stands on its present one; messages that have graduated
// since are in its window again. Every other line becomes a session recovered-<id>, in no
// cluster.
func (r *repairer) recover() error {
	later, unfinished, err := r.s.Refs.Pending()
	if err != nil || !unfinished {
		return err
	}
	if err := r.touch(); err != nil {
		return err
	}
	view, err := r.s.Refs.Begin(r.held)
	if err != nil {
		return err
	}
	if err := errors.Join(r.putCarried(later), r.layLost(later)); err != nil {
		return err
	}
	c := &recovery{repairer: r, later: later, view: view, refs: view.All(),
		moved: map[string]format.Value{}}
	if c.g, err = c.readGraph(); err != nil {
		return err
	}
	c.fromRecords()
	if err := c.fromObjects(); err != nil {
		return err
	}
	c.epochs()
	if err := c.commit(); err != nil {
		return err
	}
	return r.s.Refs.Forgive(r.held)
}

// recovery is one operation in the making.
type recovery struct {
	*repairer
	later []refs.Record // the whole records behind the damage
	view  *refs.View
	g     *graph.Graph
	refs  map[string]format.Value // as they will be
	moved map[string]format.Value
	lines []string
	told  []string // the refs that whole records behind the damage move

	members map[format.ID]bool // of the forest, as it is; nil until asked for
}

// readGraph reads all objects that are stored now.
func (r *repairer) readGraph() (*graph.Graph, error) {
	inv, err := graph.TakeInventory(r.s, func(string, error) error { return nil })
	if err != nil {
		return nil, err
	}
	return graph.Read(r.ctx, r.s, inv, graph.Eye{}, r.o.Progress)
}

func (c *recovery) set(name string, v format.Value, line string) {
	c.refs[name], c.moved[name] = v, v
	c.lines = append(c.lines, line)
}

// fromRecords follows the last value that whole records give each ref.
func (c *recovery) fromRecords() {
	last := map[string]format.Value{}
	for _, rec := range c.later {
		for _, u := range rec.Op.Refs {
			last[u.Name] = u.New
		}
	}
	c.told = graph.SortedNames(last)
	for _, name := range c.told {
		v, now := last[name], c.refs[name]
		if v == now || !v.Exists() {
			continue // a removal is not done again: it takes a word of its user
		}
		switch top, _, _ := strings.Cut(name, "/"); top {
		case "sessions":
			c.tip(name, v.ID)
		case "state", "user":
			if c.whole(v.ID) {
				c.set(name, v, fmt.Sprintf("ref %s", name))
			}
		}
	}
	if head := last["HEAD"]; head.Exists() && head != c.refs["HEAD"] && c.hasSession(head.Name) {
		c.set("HEAD", head, "HEAD")
	}
}

func (c *recovery) hasSession(name string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(c.refs)), func(ref string) bool {
		return strings.HasPrefix(ref, graph.SessionsPrefix+name+"/")
	})
}

// whole reports whether an object and all below it is there.
func (c *recovery) whole(id format.ID) bool {
	i, err := c.g.Meet(id)
	if err != nil {
		return false
	}
	const visit graph.Mark = 1 << 6
	c.g.Clear(visit)
	w := graph.Walk{Graph: c.g, Mark: visit,
		Missing: func(uint32, format.Link, error) error { return errMissing }}
	return w.From(i) == nil
}

var errMissing = errors.New("something is missing")

// tip moves a branch on to a later tip.
func (c *recovery) tip(name string, id format.ID) {
	if !c.whole(id) {
		return
	}
	now := c.refs[name]
	frontier, ok := c.frontier(id)
	switch {
	case !ok:
		c.aside(id)
	case !now.Exists():
		c.set(name, format.Value{Kind: format.SessionValue, ID: id, Frontier: frontier},
			"branch "+name)
	case c.standsOn(id, now.ID) && frontier == now.Frontier:
		v := now
		v.ID = id
		c.set(name, v, fmt.Sprintf("branch %s, up to entry %v", name, id))
	case !c.standsOn(now.ID, id):
		c.aside(id)
	}
}

// frontier returns the seq up to which the messages of a line are members of the forest. ok is
// false where they are not its first messages alone: as a branch it would bring some of them into
// the forest again.
func (c *recovery) frontier(tip format.ID) (frontier uint64, ok bool) {
	if c.members == nil {
		members, err := c.readMembers()
		if err != nil {
			return 0, false
		}
		c.members = members
	}
	low, high := ^uint64(0), uint64(0) // the first that is none, the last that is one
	for e, err := range c.s.History.Walk(tip, history.WithJoined) {
		switch {
		case err != nil:
			return high, false
		case e.Kind != format.KindMessage:
		case c.members[e.ID]:
			high = max(high, e.Seq)
		default:
			low = min(low, e.Seq)
		}
	}
	return high, high < low
}

// readMembers lists the members of all clusters, live and evicted.
func (c *recovery) readMembers() (map[format.ID]bool, error) {
	st, err := c.s.History.Forest(c.view)
	if err != nil {
		return nil, err
	}
	members := map[format.ID]bool{}
	for _, cluster := range st.Live() {
		ids, err := st.Members(cluster)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			members[id] = true
		}
	}
	evicted, err := st.Evicted()
	if err != nil {
		return nil, err
	}
	for _, e := range evicted {
		stone, err := c.s.History.Loader().Tombstone(e.Tombstone)
		if err != nil {
			return nil, err
		}
		err = forest.Walk(c.s.History.Loader(), stone.Node, func(_ format.ID, entries []format.ID) {
			for _, id := range entries {
				members[id] = true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return members, nil
}

// aside gives a line of history a session of its own, or a ref under user/ where it cannot be a
// session.
func (c *recovery) aside(id format.ID) {
	frontier, ok := c.frontier(id)
	if !ok {
		ref := state.UserRefs + history.RecoveredPrefix + id.Short(12)
		c.set(ref, format.Value{Kind: format.ObjectValue, ID: id},
			fmt.Sprintf("entry %v and what it stands on, as %s", id, ref))
		return
	}
	name := history.RefName(history.RecoveredPrefix+id.Short(12), history.MainBranch)
	if c.refs[name].Exists() {
		return
	}
	c.set(name, format.Value{Kind: format.SessionValue, ID: id, Frontier: frontier},
		fmt.Sprintf("entry %v and what it stands on, as session %s", id,
			history.RecoveredPrefix+id.Short(12)))
}

// standsOn reports whether below is id itself or an ancestor of it along first parents.
func (c *recovery) standsOn(id, below format.ID) bool {
	i, err := c.g.Meet(id)
	for err == nil {
		if c.g.ID(i) == below {
			return true
		}
		up := c.g.ParentsOf(i)
		if len(up) == 0 {
			return false
		}
		i = up[0].To()
	}
	return false
}

// fromObjects looks for entries that nothing names and that are newer than what is left of the log.
func (c *recovery) fromObjects() error {
	newest := time.Time{}
	err := c.s.Refs.Backward(c.view,
		func(rec refs.Record) bool { newest = rec.Op.Time; return false })
	if err != nil {
		return err
	}
	base, err := c.s.Refs.Base()
	if err != nil {
		return err
	}
	roots := append(graph.RootsOfRefs(c.refs), graph.RootsOfBase(graph.RefsOf(base))...)
	err = c.s.Refs.Forward(func(rec refs.Record) bool {
		roots = append(roots, graph.RootsOfRecord(rec.Op)...)
		return true
	})
	if err != nil {
		return err
	}
	w := graph.Walk{Graph: c.g, Mark: graph.Reached}
	for _, root := range roots {
		if i, err := c.g.Meet(root.ID); err == nil {
			if err := w.From(i); err != nil {
				return err
			}
		}
	}
	found := 0
	for _, t := range graph.DanglingTips(c.g) {
		if !c.whole(t.ID) || c.savedTip(t) || t.Entry.Time.Before(newest) {
			continue
		}
		if found++; found > maxRecovered {
			break
		}
		c.aside(t.ID)
	}
	return nil
}

// savedTip moves the branch on which an entry stands on to that entry, if the entry comes from a
// damaged record and no whole record behind the damage tells where the session went on. It reports
// whether it did.
func (c *recovery) savedTip(t graph.Tip) bool {
	prefix := graph.SessionsPrefix + t.Entry.Session + "/"
	if !c.saved[t.ID] ||
		slices.ContainsFunc(c.told,
			func(name string) bool { return strings.HasPrefix(name, prefix) }) {
		return false
	}
	for _, name := range graph.SortedNames(c.refs) {
		if strings.HasPrefix(name, prefix) && c.standsOn(t.ID, c.refs[name].ID) {
			c.tip(name, t.ID)
			return true
		}
	}
	return false
}

// epochs makes the epoch of each branch that moved what its line says.
func (c *recovery) epochs() {
	for _, name := range graph.SortedNames(c.moved) {
		rest, ok := strings.CutPrefix(name, graph.SessionsPrefix)
		if !ok {
			continue
		}
		tip, err := c.g.Meet(c.refs[name].ID)
		if err != nil {
			continue
		}
		ref, want := graph.EpochsPrefix+rest, format.Value{}
		if id := c.g.EpochAt(tip); !id.IsZero() {
			want = format.Value{Kind: format.ObjectValue, ID: id}
		}
		if c.refs[ref] != want {
			c.refs[ref], c.moved[ref] = want, want
		}
	}
}

func (c *recovery) commit() error {
	if len(c.moved) == 0 {
		return nil
	}
	op := &format.Operation{Verb: refs.VerbRepair, Time: c.now()}
	for _, name := range graph.SortedNames(c.moved) {
		op.Refs = append(op.Refs,
			format.RefUpdate{Name: name, Old: c.view.Get(name), New: c.moved[name]})
	}
	op.Refs = slices.DeleteFunc(op.Refs, func(u format.RefUpdate) bool { return u.Old == u.New })
	if _, err := c.s.Refs.Commit(c.held, c.view, op, nil); err != nil {
		return err
	}
	for _, line := range c.lines {
		c.mended("recovered: %s", line)
	}
	return nil
}
