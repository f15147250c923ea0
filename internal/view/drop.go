package view

import (
	"math"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// DropKind is a kind of thing that was left out.
type DropKind string

// The kinds of things that are left out.
const (
	DropEpoch    DropKind = "epoch"    // the initial block
	DropSentence DropKind = "sentence" // of a ranked summary
	DropCluster  DropKind = "cluster"  // a cluster of which not even a heading is printed
	// One of the newest, which would be printed if there were room
	DropTombstone DropKind = "tombstone"
	DropMessage   DropKind = "message"
	// Printed, but not in full: a message, or a cluster's summary
	DropShortened DropKind = "shortened"
)

// Drop counts and names what was left out, of one kind.
type Drop struct {
	Kind  DropKind
	Count int
	// IDs name what was left out, in order, each id once: messages, updates, epochs and tombstones by
	// their own ids, sentences and summaries by the ids of their clusters.
	IDs []format.ID
}

// dropList collects drops, one for each kind, in the order of first mention.
type dropList []Drop

func (l *dropList) add(kind DropKind, n int, id format.ID) {
	for i := range *l {
		if d := &(*l)[i]; d.Kind == kind {
			d.Count += n
			if n := len(d.IDs); n == 0 || d.IDs[n-1] != id {
				d.IDs = append(d.IDs, id)
			}
			return
		}
	}
	*l = append(*l, Drop{Kind: kind, Count: n, IDs: []format.ID{id}})
}

// merge returns the drops of both lists, one for each kind.
func merge(a, b []Drop) []Drop {
	l := dropList(a)
	for _, d := range b {
		if i := slices.IndexFunc(l, func(o Drop) bool { return o.Kind == d.Kind }); i >= 0 {
			l[i].Count += d.Count
			l[i].IDs = append(l[i].IDs, d.IDs...)
			continue
		}
		l = append(l, d)
	}
	return l
}

// tally is the number of things of each kind that were left out, as in a JSON document.
type tally struct {
	Epochs     int `json:"epochs,omitempty"`
	Sentences  int `json:"sentences"`
	Clusters   int `json:"clusters"`
	Tombstones int `json:"tombstones"`
	Messages   int `json:"messages"`
	Shortened  int `json:"shortened"`
}

func tallyOf(drops []Drop) (t tally) {
	count := map[DropKind]*int{DropEpoch: &t.Epochs, DropSentence: &t.Sentences,
		DropCluster: &t.Clusters, DropTombstone: &t.Tombstones, DropMessage: &t.Messages,
		DropShortened: &t.Shortened}
	for _, d := range drops {
		*count[d.Kind] += d.Count
	}
	return t
}

// worstTally returns a tally whose text is at least as long as any that known can become.
func worstTally(known tally) tally {
	const n = math.MaxInt32
	return tally{Epochs: known.Epochs, Sentences: n, Clusters: n, Tombstones: n,
		Messages: n, Shortened: n}
}

// nothingPrinted names everything.
func nothingPrinted(clusters []section, tombstones []Tombstone, all []messageItems) []Drop {
	var l dropList
	for _, c := range clusters {
		l.add(DropCluster, 1, c.ID)
	}
	for _, t := range tombstones[:min(len(tombstones), maxTombstones)] {
		l.add(DropTombstone, 1, t.ID)
	}
	for _, m := range all {
		l.add(DropMessage, 1, m.ID)
	}
	return l
}
