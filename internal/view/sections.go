package view

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
)

// block is what is printed about the past.
type block struct {
	brief      []brief.Line // the state of an agent's work
	sections   []section
	tombstones []Tombstone
	// The numbers of clusters and tombstones that are not listed; one line says so.
	moreClusters   int
	moreTombstones int
	quotes         []quote // the lines that answer the question
}

// answers returns the passages that answer the question; none for a nil block.
func (b *block) answers() []quote {
	if b == nil {
		return nil
	}
	return b.quotes
}

// leaveOut removes the lines that say what printed messages say, but keeps those with names of
// files, which are of many messages, and a prompt above other lines of its turn.
func (b *block) leaveOut(printed map[format.ID]bool) {
	var kept []brief.Line
	for _, l := range slices.Backward(b.brief) {
		heads := l.Section == brief.Wanted && len(kept) > 0 && kept[len(kept)-1].Turn == l.Turn &&
			kept[len(kept)-1].Section != brief.Changed
		if !printed[l.Entry] || l.Section == brief.Changed || heads {
			kept = append(kept, l)
		}
	}
	slices.Reverse(kept)
	b.brief = kept
	for i := range b.sections {
		s := &b.sections[i]
		s.lines = slices.DeleteFunc(s.lines, func(l line) bool { return printed[l.from] })
	}
}

// section is a cluster with what is printed of it: lines in reading order, or its messages.
type section struct {
	Cluster
	expanded bool
	evicted  bool // printed if there is room; else its tombstone names it
	brief    bool // the heading has only the id
	loose    bool // not a cluster, but lines of several
	quoted   []messageItems
	lines    []line
}

// line is a sentence of a ranked summary, or a plain text.
type line struct {
	sentence bool
	from     format.ID
	text     string
	byTool   bool // the words of a tool
	order    lineOrder
}

// lineOrder is the place of a line in its cluster: parts in order, and in a part the order of the
// history.
type lineOrder struct {
	part  int
	seq   uint64
	entry format.ID // distinguishes sessions
	pos   int
	rank  int // in the summary; decides between equal places
}

func (a lineOrder) compare(b lineOrder) int {
	return cmp.Or(cmp.Compare(a.part, b.part), a.compareSaid(b))
}

// compareSaid compares lines of several clusters by the order of the history.
func (a lineOrder) compareSaid(b lineOrder) int {
	return cmp.Or(cmp.Compare(a.seq, b.seq), a.entry.Compare(b.entry), cmp.Compare(a.pos, b.pos),
		cmp.Compare(a.rank, b.rank))
}

// arrange makes a section of every cluster, and of everything to expand: evicted clusters first
// because they are older, then live clusters, then unknown ids, sorted. Under a budget evicted
// clusters with a summary are sections, too. It also returns the tombstones that are not expanded.
func arrange(in Input, o Options) ([]section, []Tombstone) {
	known := map[format.ID]bool{}
	all := make([]section, 0, len(o.Expand)+len(in.Evicted)+len(in.Clusters))
	var stay []Tombstone
	for _, t := range in.Tombstones {
		if _, ok := o.Expand[t.ID]; ok {
			known[t.ID] = true
			all = append(all, section{Cluster: Cluster{ID: t.ID, Members: t.Members}})
		} else {
			stay = append(stay, t)
		}
	}
	if o.Budget > 0 {
		for _, c := range in.Evicted {
			if !known[c.ID] {
				all = append(all, section{Cluster: c, evicted: true})
			}
		}
	}
	slices.Reverse(all) // tombstones come newest first, sections oldest first
	for _, c := range in.Clusters {
		known[c.ID] = true
		all = append(all, section{Cluster: c})
	}
	for _, t := range stay {
		known[t.ID] = true
	}
	all = append(all, unknownExpansions(known, o.Expand)...)
	for i := range all {
		all[i].brief = o.Budget > 0
		if msgs, ok := o.Expand[all[i].ID]; ok {
			all[i].expanded = true
			all[i].evicted = false
			all[i].quoted = readAll(msgs)
		}
	}
	return all, stay
}

// unknownExpansions returns sections for the ids to expand that are neither a cluster nor a
// tombstone of the pin.
func unknownExpansions(known map[format.ID]bool, expand map[format.ID][]Message) []section {
	var out []section
	for id, msgs := range expand {
		if !known[id] {
			out = append(out, section{Cluster: Cluster{ID: id, Members: len(msgs)}})
		}
	}
	slices.SortFunc(out, func(a, b section) int { return a.ID.Compare(b.ID) })
	return out
}
