package view

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// arrange makes a section of every cluster, and of everything that is to be expanded: evicted clusters first, being older, then
// the live ones, then ids that are neither, by id. Under a budget evicted clusters with a summary are sections as well. It returns
// the tombstones that are not expanded.
func arrange(in Input, o Options) ([]section, []Tombstone) {
	known := map[format.ID]bool{}
	var evicted, live []section
	var stay []Tombstone
	for _, t := range in.Tombstones {
		if _, ok := o.Expand[t.ID]; ok {
			known[t.ID] = true
			evicted = append(evicted, section{Cluster: Cluster{ID: t.ID, Members: t.Members}})
		} else {
			stay = append(stay, t)
		}
	}
	if o.Budget > 0 {
		for _, c := range in.Evicted {
			if !known[c.ID] {
				evicted = append(evicted, section{Cluster: c, evicted: true})
			}
		}
	}
	slices.Reverse(evicted) // tombstones come newest first, sections oldest first
	for _, c := range in.Clusters {
		known[c.ID] = true
		live = append(live, section{Cluster: c})
	}
	for _, t := range stay {
		known[t.ID] = true
	}
	all := slices.Concat(evicted, live, strangers(known, o.Expand))
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

// strangers are the ids to expand that are neither cluster nor tombstone of the pin.
func strangers(known map[format.ID]bool, expand map[format.ID][]Message) []section {
	var out []section
	for id, msgs := range expand {
		if !known[id] {
			out = append(out, section{Cluster: Cluster{ID: id, Members: len(msgs)}})
		}
	}
	slices.SortFunc(out, func(a, b section) int { return a.ID.Compare(b.ID) })
	return out
}
