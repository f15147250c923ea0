package graph

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// Forests applies the decisions of the log once more, from the forests where the kept log begins.
// It decides nothing, and needs no node, page or forest that the log wrote later.
type Forests struct {
	*memory
	States map[string]*forest.State

	// Wanted says which forests that records name are made and compared; nil for none.
	Wanted func(format.ID) bool
	// Wrote is told of each of these, once it is written, with its state; nil for nobody.
	Wrote func(id format.ID, header []byte, st *forest.State) error
	// Need is told of the nodes that a summary or a tombstone names, and of what was made for a
	// forest that is wanted; nil for nobody.
	Need func(raws ...format.Raw) error
	// Stored says that the store has a node or a page, which therefore is not kept here. Need was
	// told of it before. nil keeps all.
	Stored func(format.ID) bool
	// NodeOf returns the node that a summary names, if that is known without reading the summary;
	// nil for never. It is not asked where there is Need.
	NodeOf func(summary format.ID) (node format.ID, ok bool)
	// StoneOf is Tombstone for who knows tombstones without reading them; nil for who does not.
	StoneOf func(id format.ID) (*format.Tombstone, error)
	// Lost says of a summary or a tombstone that it cannot be had. Lay is given what the log says of
	// it. Lost is nil for who does not ask.
	Lost func(id format.ID) bool
	Lay  func(id format.ID, o format.Object) error
	// Differs is told where what was replayed and what is recorded do not agree.
	Differs func(subject, why string)
}

// New starts from the refs at the beginning of the kept log.
func New(s *store.Opened, base map[string]format.Value) (*Forests, error) {
	r := &Forests{memory: newMemory(s), States: map[string]*forest.State{},
		Differs: func(string, string) {}}
	for _, ref := range SortedNames(base) {
		name, ok := OwnForest(ref)
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
		r.States[name] = forest.From(f, r)
	}
	return r, nil
}

// state returns the forest of a name.
func (r *Forests) state(name string) *forest.State {
	if r.States[name] == nil {
		r.States[name] = forest.New(name, r)
	}
	return r.States[name]
}

// Record applies one operation. After an error the forests cannot be followed any further.
func (r *Forests) Record(op *format.Operation) error {
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
		name, ok := OwnForest(u.Name)
		if !ok || !u.New.Exists() || r.Wanted == nil || !r.Wanted(u.New.ID) {
			continue
		}
		if err := r.write(name, op.Number, u.New.ID); err != nil {
			return fmt.Errorf("operation %d: %w", op.Number, err)
		}
	}
	return nil
}

// write makes a forest of the state and compares its id with the one that the record names. The
// next call makes only what changes.
func (r *Forests) write(name string, number uint64, want format.ID) error {
	st := r.state(name)
	var header []byte
	id, err := st.WriteTo(func(c *forest.Cluster, raw format.Raw) error {
		header = raw.Header // the last one is the forest's
		return r.made(c, raw)
	})
	if err != nil {
		return err
	}
	if id != want {
		r.Differs(fmt.Sprintf("forest %s", name),
			fmt.Sprintf("operation %d names %v, its decisions give %v", number, want, id))
	}
	if r.Wrote != nil {
		if err := r.Wrote(id, header, st); err != nil {
			return err
		}
	}
	st.Forget()
	if r.Stored != nil { // otherwise they are kept here in any case
		st.ForgetPages()
	}
	if len(r.States) > 1 {
		return nil // the nodes of several forests are too few to be worth it
	}
	return r.trim(st)
}

// made takes an object that was made for a forest: one of a cluster, or one of no cluster. A
// cluster that Forget shortens is read again whenever it grows, so its nodes are kept.
func (r *Forests) made(c *forest.Cluster, raw format.Raw) error {
	if r.Need != nil {
		if err := r.Need(raw); err != nil {
			return err
		}
	}
	long := c != nil && c.Count() > format.FanOut
	if !long && r.Stored != nil && r.Stored(raw.ID()) {
		return nil
	}
	return r.keep(raw)
}

// before looks at a decision before it is applied: what a summary or a tombstone says of a run
// must be what the run is.
func (r *Forests) before(st *forest.State, d format.Decision) error {
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

func (r *Forests) beforeSettle(st *forest.State, c *forest.Cluster, d format.Decision) error {
	if d.Count > c.Count() || d.Offset > c.Count()-d.Count {
		return nil
	}
	members, err := st.Members(c)
	if err != nil {
		return err
	}
	return r.Cover(d.ID, members, format.Cover{Summary: d.ID, Offset: d.Offset, Count: d.Count},
		c.Covers)
}

// BaseCovers looks at the summaries that were settled before the kept log as Cover does. bad is
// told what goes wrong with a forest.
func (r *Forests) BaseCovers(bad func(name string, why error)) {
	for _, name := range slices.Sorted(maps.Keys(r.States)) {
		st := r.States[name]
		for _, c := range st.Live() {
			members, err := st.Members(c)
			for _, v := range c.Covers {
				if err == nil {
					err = r.Cover(v.Summary, members, v, nil)
				}
			}
			if err != nil {
				bad(name, err)
			}
		}
	}
}

// Cover checks that a summary is of the run that it covers, and makes the nodes that the summary
// names: those over the run, and those over the parts of the run that none of its other inputs
// covers.
func (r *Forests) Cover(
	id format.ID, members []format.ID, at format.Cover, covers []format.Cover,
) error {
	run := members[at.Offset : at.Offset+at.Count]
	if r.Lost != nil && r.Lost(id) {
		node, err := format.NodeOf(run)
		if err == nil {
			err = r.Lay(id, &format.Summary{Node: node})
		}
		return err
	}
	if r.Need == nil && r.NodeOf != nil {
		if named, ok := r.NodeOf(id); ok {
			return r.covers(id, named, run)
		}
	}
	header, err := r.s.Objects.Header(id)
	if err != nil {
		return nil // that it cannot be read shows where links are followed
	}
	sum, err := format.DecodeSummary(header)
	if err != nil {
		r.Differs("summary "+id.String(), err.Error())
		return nil
	}
	if err := r.covers(id, sum.Node, run); err != nil || r.Need == nil {
		return err
	}
	for _, part := range [][]format.ID{run, uncovered(members, at, covers, sum.Inputs)} {
		raws, _, err := runObjects(part)
		if err == nil {
			err = r.Need(raws...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// covers checks that the node that a summary names is that of a run.
func (r *Forests) covers(summary, named format.ID, run []format.ID) error {
	node, err := format.NodeOf(run)
	if err != nil || node != named {
		r.Differs("summary "+summary.String(),
			fmt.Sprintf("is of node %v and covers node %v", named, node))
	}
	return err
}

// uncovered returns the members of a run that are not under those covers whose summaries are
// inputs.
func uncovered(
	members []format.ID, run format.Cover, covers []format.Cover, inputs []format.Input,
) []format.ID {
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

func (r *Forests) beforeEvict(st *forest.State, c *forest.Cluster, d format.Decision) error {
	members, err := st.Members(c)
	if err != nil {
		return err
	}
	raws, nodes, err := runObjects(members)
	if err != nil {
		return err
	}
	if r.Need != nil {
		if err := r.Need(raws...); err != nil {
			return err
		}
	}
	for i, raw := range raws {
		if id := raw.ID(); r.Stored == nil || !r.Stored(id) {
			r.stones[id] = nodes[i] // once it is evicted, nothing but the tombstone leads to it
		}
	}
	if r.Lost != nil && r.Lost(d.ID) && len(c.Covers) > 0 {
		return r.Lay(d.ID, &format.Tombstone{Cluster: d.Cluster, Node: raws[len(raws)-1].ID(),
			Count: c.Count(), Arrival: c.Arrival, Summary: c.Covers[0].Summary})
	}
	subject := "tombstone " + d.ID.String()
	read := r.Tombstone
	if r.StoneOf != nil {
		read = r.StoneOf
	}
	stone, err := read(d.ID)
	if err != nil {
		return nil
	}
	node := raws[len(raws)-1].ID()
	switch {
	case stone.Cluster != d.Cluster || stone.Arrival != c.Arrival:
		r.Differs(subject,
			fmt.Sprintf("is of cluster %d with arrival %d, evicted was cluster %d with arrival %d",
				stone.Cluster, stone.Arrival, d.Cluster, c.Arrival))
	case stone.Node != node || stone.Count != c.Count():
		r.Differs(subject, fmt.Sprintf("is of node %v, evicted was node %v", stone.Node, node))
	case len(c.Covers) != 1 || c.Covers[0].Summary != stone.Summary:
		r.Differs(subject,
			fmt.Sprintf("names summary %v, which did not cover the cluster", stone.Summary))
	}
	return nil
}

// All replays the records of the kept log up to number to, and returns how many. What came since is
// the next one's.
func (r *Forests) All(
	ctx context.Context, to uint64, progress Progress,
) (operations int, err error) {
	scan := r.s.Refs.Forward(func(rec refs.Record) bool {
		if rec.Op.Number > to {
			return false
		}
		if err = errors.Join(r.Record(rec.Op), ctx.Err()); err != nil {
			return false
		}
		if operations++; operations%1024 == 0 {
			progress.Tell(int(rec.Op.Number), int(to), "replaying")
		}
		return true
	})
	return operations, errors.Join(err, scan)
}

// memory gives a replayed forest the nodes and pages that the replay has made so far, so that the
// store need not have them. It loads everything else from the store: what is below the forest where
// the kept log begins, and what was made and is there anyway.
type memory struct {
	forest.Loader
	s      *store.Opened
	nodes  map[format.ID]*format.Node // of live clusters
	stones map[format.ID]*format.Node // of evicted clusters
	pages  map[format.ID]*format.Page
	inUse  int // nodes of live clusters that were in use when they were last looked through
}

func newMemory(s *store.Opened) *memory {
	return &memory{
		Loader: s.History.Loader(), s: s,
		nodes: map[format.ID]*format.Node{}, stones: map[format.ID]*format.Node{},
		pages: map[format.ID]*format.Page{},
	}
}

func (m *memory) Node(id format.ID) (*format.Node, error) {
	if n := m.kept(id); n != nil {
		return n, nil
	}
	return m.Loader.Node(id)
}

func (m *memory) Page(id format.ID) (*format.Page, error) {
	if p := m.pages[id]; p != nil {
		return p, nil
	}
	return m.Loader.Page(id)
}

// runObjects makes the nodes over a run of entries as objects, the topmost last.
func runObjects(run []format.ID) ([]format.Raw, []*format.Node, error) {
	nodes, err := format.Nodes(run)
	if err != nil {
		return nil, nil, err
	}
	raws := make([]format.Raw, 0, len(nodes))
	for _, n := range nodes {
		header, err := n.Encode()
		if err != nil {
			return nil, nil, err
		}
		raws = append(raws, format.Raw{Header: header})
	}
	return raws, nodes, nil
}

// kept returns a node that is kept, and nil otherwise.
func (m *memory) kept(id format.ID) *format.Node {
	if n := m.nodes[id]; n != nil {
		return n
	}
	return m.stones[id]
}

// keep keeps an object of a forest that was written.
func (m *memory) keep(raw format.Raw) error {
	_, made, err := format.DecodeObject(raw.Header)
	if err != nil {
		return err
	}
	switch o := made.(type) {
	case *format.Node:
		m.nodes[raw.ID()] = o
	case *format.Page:
		m.pages[raw.ID()] = o
	}
	return nil
}

// trim drops the nodes that no live cluster of a forest uses any more, once they are many. Each
// written forest leaves some behind. It is for a forest that was just written and is the only one.
func (m *memory) trim(st *forest.State) error {
	if len(m.nodes) < 2*m.inUse+4096 {
		return nil
	}
	used := map[format.ID]*format.Node{}
	for _, c := range st.Live() {
		node, err := st.Node(c)
		if err != nil {
			return err
		}
		m.use(used, node)
	}
	m.nodes, m.inUse = used, len(used)
	return nil
}

// use adds the kept nodes below id, and the node id itself, to used.
func (m *memory) use(used map[format.ID]*format.Node, id format.ID) {
	stack := []format.ID{id}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := m.nodes[top]
		if n == nil || used[top] != nil {
			continue
		}
		used[top] = n
		if n.Level > 0 {
			stack = append(stack, n.Children...)
		}
	}
}

// Below returns a forest's nodes and pages as objects, the forest last.
func (m *memory) Below(f *format.Forest) ([]format.Raw, error) {
	var raws []format.Raw
	add := func(encode func() ([]byte, error)) error {
		header, err := encode()
		if err == nil {
			raws = append(raws, format.Raw{Header: header})
		}
		return err
	}
	stack := lists.Map(f.Clusters, func(c format.Cluster) format.ID { return c.Node })
	for len(stack) > 0 {
		n, err := m.Node(stack[len(stack)-1])
		if err != nil {
			return nil, err
		}
		stack = stack[:len(stack)-1]
		if err := add(n.Encode); err != nil {
			return nil, err
		}
		if n.Level > 0 {
			stack = append(stack, n.Children...)
		}
	}
	if !f.Tombs.IsZero() {
		stack = append(stack, f.Tombs)
	}
	for len(stack) > 0 {
		p, err := m.Page(stack[len(stack)-1])
		if err != nil {
			return nil, err
		}
		stack = stack[:len(stack)-1]
		if err := add(p.Encode); err != nil {
			return nil, err
		}
		for _, slot := range p.Slots {
			if p.Level > 0 {
				stack = append(stack, slot.ID)
			}
		}
	}
	return raws, add(f.Encode)
}
