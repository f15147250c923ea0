package upkeep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

const forestsPrefix = "forests/"

// replay applies the decisions of the log once more, from the forests where the kept log begins. It decides nothing, and it needs no
// node, page or forest that came after.
type replay struct {
	*memory
	states map[string]*forest.State

	// wanted says which forests that records name are made and compared; nil for none.
	wanted func(format.ID) bool
	// wrote is told of each of these.
	wrote func(f *format.Forest, id format.ID) error
	// need is told of the nodes that a summary or a tombstone names; nil for nobody.
	need func(raws []format.Raw) error
	// differs is told where what was replayed and what is recorded do not agree.
	differs func(subject, why string)
}

// newReplay starts from the refs at the beginning of the kept log.
func newReplay(s *session.Store, base map[string]format.Value) (*replay, error) {
	r := &replay{memory: newMemory(s), states: map[string]*forest.State{}, differs: func(string, string) {}}
	for _, ref := range sortedNames(base) {
		name, ok := strings.CutPrefix(ref, forestsPrefix)
		if !ok {
			continue
		}
		header, err := s.Objects.Header(base[ref].ID)
		if err != nil {
			return nil, fmt.Errorf("cannot read the forest where the log begins: %w", err)
		}
		f, err := format.DecodeForest(header)
		if err != nil {
			return nil, fmt.Errorf("object %v: %w", base[ref].ID, err)
		}
		r.states[name] = forest.From(f, r)
	}
	return r, nil
}

// state returns the forest of a name.
func (r *replay) state(name string) *forest.State {
	if r.states[name] == nil {
		r.states[name] = forest.New(name, r)
	}
	return r.states[name]
}

// record applies one operation. After an error the forests cannot be followed any further.
func (r *replay) record(op *format.Operation) error {
	for _, f := range op.Forests {
		st := r.state(f.Name)
		for _, d := range f.Decisions {
			err := r.before(st, d)
			if err == nil {
				err = st.Apply(d)
			}
			if err != nil {
				return fmt.Errorf("operation %d: %w", op.Number, err)
			}
		}
	}
	for _, u := range op.Refs {
		name, ok := strings.CutPrefix(u.Name, forestsPrefix)
		if !ok || !u.New.Exists() || r.wanted == nil || !r.wanted(u.New.ID) {
			continue
		}
		if err := r.write(name, op.Number, u.New.ID); err != nil {
			return fmt.Errorf("operation %d: %w", op.Number, err)
		}
	}
	return nil
}

// write makes a forest of the state and compares it with the one that the record names. The state then goes on from what was written, so
// that only what changes is read and made the next time.
func (r *replay) write(name string, number uint64, want format.ID) error {
	w, err := r.state(name).Write()
	if err != nil {
		return err
	}
	f, err := r.keepWritten(w)
	if err != nil {
		return err
	}
	if w.Forest != want {
		r.differs(fmt.Sprintf("forest %s", name), fmt.Sprintf("operation %d names %v, its decisions give %v", number, want, w.Forest))
	}
	if r.wrote != nil {
		if err := r.wrote(f, w.Forest); err != nil {
			return err
		}
	}
	r.states[name] = forest.From(f, r)
	if len(r.states) > 1 {
		return nil // the nodes of several forests are too few to be worth it
	}
	return r.trim(r.states, map[string]*format.Forest{name: f})
}

// before looks at a decision before it is applied: what a summary or a tombstone says of a run must be what the run is.
func (r *replay) before(st *forest.State, d format.Decision) error {
	c := st.Cluster(d.Cluster)
	if c == nil {
		return nil // a decision that cannot be fails when it is applied
	}
	switch d.Kind {
	case format.DecideSettle:
		return r.beforeSettle(st, c, d)
	case format.DecideEvict:
		return r.beforeEvict(st, c, d)
	}
	return nil
}

func (r *replay) beforeSettle(st *forest.State, c *forest.Cluster, d format.Decision) error {
	if d.Count > c.Count() || d.Offset > c.Count()-d.Count {
		return nil
	}
	members, err := st.Members(c)
	if err != nil {
		return err
	}
	return r.cover(d.ID, members, format.Cover{Summary: d.ID, Offset: d.Offset, Count: d.Count}, c.Covers)
}

// cover checks that a summary is one of the run it covers, and makes the nodes that it names: those over the run, and over what of it
// no other of its inputs covers.
func (r *replay) cover(id format.ID, members []format.ID, at format.Cover, covers []format.Cover) error {
	subject := "summary " + id.String()
	header, err := r.s.Objects.Header(id)
	if err != nil {
		return nil // that it cannot be read shows where links are followed
	}
	sum, err := format.DecodeSummary(header)
	if err != nil {
		r.differs(subject, err.Error())
		return nil
	}
	run := members[at.Offset : at.Offset+at.Count]
	if node, err := format.NodeOf(run); err != nil || node != sum.Node {
		r.differs(subject, fmt.Sprintf("is of node %v and covers node %v", sum.Node, node))
		return err
	}
	if r.need == nil {
		return nil
	}
	for _, part := range [][]format.ID{run, uncovered(members, at, covers, sum.Inputs)} {
		raws, _, err := runObjects(part)
		if err == nil {
			err = r.need(raws)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// uncovered returns the members of a run that are not under those covers whose summaries are inputs.
func uncovered(members []format.ID, run format.Cover, covers []format.Cover, inputs []format.Input) []format.ID {
	var out []format.ID
	at, end := run.Offset, run.Offset+run.Count
	for _, v := range covers {
		inside := v.Offset >= at && v.Offset+v.Count <= end
		if inside && slices.Contains(inputs, format.Input{Summary: true, ID: v.Summary}) {
			out = append(out, members[at:v.Offset]...)
			at = v.Offset + v.Count
		}
	}
	return append(out, members[at:end]...)
}

func (r *replay) beforeEvict(st *forest.State, c *forest.Cluster, d format.Decision) error {
	members, err := st.Members(c)
	if err != nil {
		return err
	}
	// Once it is evicted, nothing but the tombstone leads to these.
	raws, err := r.keepRun(members)
	if err != nil {
		return err
	}
	if r.need != nil {
		if err := r.need(raws); err != nil {
			return err
		}
	}
	subject := "tombstone " + d.ID.String()
	stone, err := r.Tombstone(d.ID)
	if err != nil {
		return nil
	}
	node := raws[len(raws)-1].ID()
	switch {
	case stone.Cluster != d.Cluster || stone.Arrival != c.Arrival:
		r.differs(subject, fmt.Sprintf("is of cluster %d with arrival %d, evicted was cluster %d with arrival %d", stone.Cluster, stone.Arrival, d.Cluster, c.Arrival))
	case stone.Node != node || stone.Count != c.Count():
		r.differs(subject, fmt.Sprintf("is of node %v, evicted was node %v", stone.Node, node))
	case len(c.Covers) != 1 || c.Covers[0].Summary != stone.Summary:
		r.differs(subject, fmt.Sprintf("names summary %v, which did not cover the cluster", stone.Summary))
	}
	return nil
}

// all replays every record of the kept log, up to and including number to (0: the last).
func (r *replay) all(s *session.Store, to uint64) (operations int, err error) {
	scan := s.Refs.Forward(func(rec refs.Record) bool {
		if err = r.record(rec.Op); err != nil {
			return false
		}
		operations++
		return to == 0 || rec.Op.Number < to
	})
	if err == nil {
		err = scan
	}
	return operations, err
}
