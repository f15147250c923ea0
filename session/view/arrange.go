package view

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// arrange makes a section of every cluster, and of everything that is to be expanded: tombstones first, being older, then
// the clusters, then ids that are neither, by id. It returns the tombstones that stay.
func arrange(in Input, expand map[format.ID][]Message) ([]section, []Tombstone) {
	known := map[format.ID]bool{}
	var revived, live []section
	var stay []Tombstone
	for _, t := range in.Tombstones {
		known[t.ID] = true
		if _, ok := expand[t.ID]; ok {
			revived = append(revived, section{Cluster: Cluster{ID: t.ID, Members: t.Members}})
		} else {
			stay = append(stay, t)
		}
	}
	slices.Reverse(revived) // tombstones come newest first, sections oldest first
	for _, c := range in.Clusters {
		known[c.ID] = true
		live = append(live, section{Cluster: c})
	}
	all := slices.Concat(revived, live, strangers(known, expand))
	for i := range all {
		if msgs, ok := expand[all[i].ID]; ok {
			all[i].expanded = true
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
