package session

import (
	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

// leave moves the pin of a branch of seq messages: it adopts the newest state of its forest, in which every cluster can be rendered whole, and its tail
// begins anew.
func (t *tx) leave(v format.Value, seq uint64) (format.Value, error) {
	name, err := t.pinnedForest(v)
	if err != nil {
		return v, err
	}
	return t.leaveTo(v, seq, name)
}

// leaveTo is leave to the forest of a name.
func (t *tx) leaveTo(v format.Value, seq uint64, name string) (format.Value, error) {
	// What has graduated is about to be read, and some of it may be of the batch that is being appended.
	if len(t.raws) > 1 {
		if err := t.flush(); err != nil {
			return v, err
		}
	}
	if name == FlatForest && !t.hasFlat() {
		if err := t.beginFlat(); err != nil {
			return v, err
		}
	}
	st, err := t.forestOf(name)
	if err != nil {
		return v, err
	}
	for _, c := range st.Live() {
		if c.Frozen() {
			continue
		}
		if err := t.freeze(st, c); err != nil {
			return v, err
		}
	}
	id, err := t.writeForestOf(name)
	if err != nil {
		return v, err
	}
	v.Pin = id
	v.Through, err = t.tailFrom(v, seq)
	return v, err
}

// freeze gives the members of a cluster that no summary covers an interim one each run, together with the interims beside it: an interim is the last
// one and an extract of what came since, so that a leave reads what is new and no more.
func (t *tx) freeze(st *forest.State, c *forest.Cluster) error {
	for _, g := range gaps(c) {
		members, err := st.Slice(c, g.start, g.end)
		if err != nil {
			return err
		}
		d, err := t.interim(c.Number, members, g)
		if err != nil {
			return err
		}
		if err := t.decideIn(st.Name, d); err != nil {
			return err
		}
	}
	return nil
}

// gap is a run of members between real summaries: interims, and raw entries of which there are some.
type gap struct {
	start, end uint64
	interims   []format.Cover
}

func gaps(c *forest.Cluster) []gap {
	var list []gap
	at, covered := uint64(0), uint64(0)
	var interims []format.Cover
	close := func(end uint64) {
		if end-at > covered {
			list = append(list, gap{start: at, end: end, interims: interims})
		}
		interims, covered = nil, 0
	}
	for _, v := range c.Covers {
		if v.Interim {
			interims = append(interims, v)
			covered += v.Count
			continue
		}
		close(v.Offset)
		at = v.Offset + v.Count
	}
	close(c.Count())
	return list
}

// interim makes the summary of a gap, whose members are given, and has it put.
func (t *tx) interim(cluster uint64, members []format.ID, g gap) (format.Decision, error) {
	sum := &format.Summary{Generation: 1, Interim: true, Summarizer: extractive, Version: extractiveVersion}
	var list []summarize.Sentence
	raw := members
	if len(g.interims) > 0 {
		var fresh []format.ID
		at := uint64(0)
		for _, v := range g.interims {
			fresh = append(fresh, members[at:v.Offset-g.start]...)
			at = v.Offset - g.start + v.Count
			sentences, generation, err := t.ranked(v.Summary)
			if err != nil {
				return format.Decision{}, err
			}
			list = append(list, sentences...)
			sum.Generation = max(sum.Generation, generation+1)
			sum.Inputs = append(sum.Inputs, format.Input{Summary: true, ID: v.Summary})
		}
		raw = append(fresh, members[at:]...)
	}
	sources, err := t.sourcesNow(raw)
	if err != nil {
		return format.Decision{}, err
	}
	list = merge(list, summarize.Extract(sources, half(sources)))
	node, err := t.addNodes(raw)
	if err != nil {
		return format.Decision{}, err
	}
	sum.Inputs = append(sum.Inputs, format.Input{ID: node})
	if sum.Node, err = t.addNodes(members); err != nil {
		return format.Decision{}, err
	}
	object, err := t.sealSummary(sum, list)
	if err != nil {
		return format.Decision{}, err
	}
	return format.Decision{
		Kind: format.DecideSettle, Cluster: cluster, ID: t.add(object),
		Offset: g.start, Count: g.end - g.start, Interim: true,
	}, nil
}

// addNodes has the nodes over a run of entries put, and returns the topmost one's id.
func (t *tx) addNodes(run []format.ID) (format.ID, error) {
	raws, id, err := nodeObjects(run)
	t.raws = append(t.raws, raws...)
	return id, err
}

func nodeObjects(run []format.ID) (raws []format.Raw, id format.ID, err error) {
	nodes, err := format.Nodes(run)
	if err != nil {
		return nil, format.ID{}, err
	}
	for _, n := range nodes {
		header, err := n.Encode()
		if err != nil {
			return nil, format.ID{}, err
		}
		raw := format.Raw{Header: header}
		raws, id = append(raws, raw), raw.ID()
	}
	return raws, id, nil
}
