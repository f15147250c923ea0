package dag

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// memory is a session in memory: its entries, when they came, and where its branches stand.
type memory struct {
	entries map[format.ID]*format.Entry
	arrived map[format.ID]uint64
	tips    map[string]format.ID
	clock   uint64
}

func newMemory() *memory {
	return &memory{entries: map[format.ID]*format.Entry{}, arrived: map[format.ID]uint64{},
		tips: map[string]format.ID{}}
}

var errNoEntry = errors.New("no such entry")

func (m *memory) Entry(id format.ID) (*format.Entry, error) {
	e, ok := m.entries[id]
	if !ok {
		return nil, errNoEntry
	}
	return e, nil
}

func (m *memory) Arrival(id format.ID) (uint64, bool) {
	n, ok := m.arrived[id]
	return n, ok
}

// put adds an entry as one operation.
func (m *memory) put(e *format.Entry) format.ID {
	m.clock++
	id := format.Sum(fmt.Append(nil, "entry ", m.clock))
	m.entries[id], m.arrived[id] = e, m.clock
	return id
}

// on puts an entry on a branch's tip.
func (m *memory) on(branch string, e *format.Entry) format.ID {
	if tip, ok := m.tips[branch]; ok {
		e.Parents = append([]format.ID{tip}, e.Parents...)
	}
	m.tips[branch] = m.put(e)
	return m.tips[branch]
}

func (m *memory) say(branch, role, invocation string) format.ID {
	return m.on(branch, &format.Entry{Kind: format.KindMessage, Role: role, Invocation: invocation})
}

func (m *memory) fork(branch, invocation string, children ...string) {
	id := m.on(branch,
		&format.Entry{Kind: format.KindFork, Children: children, Invocation: invocation})
	for _, c := range children {
		m.tips[c] = id
	}
}

func (m *memory) join(branch, invocation string, children ...string) {
	e := &format.Entry{Kind: format.KindJoin, Children: children, Invocation: invocation}
	for _, c := range children {
		e.Parents = append(e.Parents, m.tips[c])
		delete(m.tips, c)
	}
	m.on(branch, e)
}

func (m *memory) read(t testing.TB) *DAG {
	t.Helper()
	d, err := Read(m, m.list()...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (m *memory) list() []Tip {
	var tips []Tip
	for b, id := range m.tips {
		tips = append(tips, Tip{b, id})
	}
	slices.SortFunc(tips,
		func(a, b Tip) int { return slices.Compare([]byte(a.Branch), []byte(b.Branch)) })
	return tips
}

// mustSee asks whether a reader at tip, now, sees an entry.
func (m *memory) sees(t testing.TB, tip, id format.ID) bool {
	t.Helper()
	list, err := m.read(t).All(Viewpoint{Tip: tip, Point: m.clock})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(list, id)
}

func (m *memory) tokens(t testing.TB, id format.ID) string {
	t.Helper()
	set, err := m.read(t).Tokens(id)
	if err != nil {
		t.Fatal(err)
	}
	return set.String()
}
