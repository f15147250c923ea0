package conversation

import (
	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// Adopt moves the pin of a branch of seq messages to the newest state of its forest, in which every
// cluster can be rendered. The verbatim tail begins anew.
func (t *Tx) Adopt(v format.Value, seq uint64) (format.Value, error) {
	name, err := t.clusters.PinnedForest(v)
	if err != nil {
		return v, err
	}
	return t.AdoptForest(v, seq, name)
}

// AdoptForest is Adopt for the forest of a name.
func (t *Tx) AdoptForest(v format.Value, seq uint64, name string) (format.Value, error) {
	// Graduated entries are read below; some may belong to the batch that is being appended.
	if len(t.store.Waiting()) > 1 {
		if err := t.store.Flush(); err != nil {
			return v, err
		}
	}
	if name == history.FlatForest && !t.store.HasFlat() {
		if err := t.clusters.BeginFlat(); err != nil {
			return v, err
		}
	}
	st, err := t.store.DraftOf(name)
	if err != nil {
		return v, err
	}
	for _, c := range st.Live() {
		if c.Renderable() {
			continue
		}
		if err := t.addInterims(st, c); err != nil {
			return v, err
		}
	}
	id, err := t.store.WriteForestOf(name)
	if err != nil {
		return v, err
	}
	v.Pin = id
	v.Through, err = t.tailFrom(v, seq)
	return v, err
}

// tailFrom returns the seq through which the pin of a branch stands for its messages: the verbatim
// tail begins after it. It is as far before the tip as the window says, or further if a call would
// be parted from its result, and never past the frontier.
func (t *Tx) tailFrom(v format.Value, seq uint64) (uint64, error) {
	border := history.Adopt(v.Frontier, seq, t.Params())
	if border == v.Frontier {
		return border, nil // graduation parts no call from its result
	}
	if err := t.store.Flush(); err != nil { // the tip may belong to this operation
		return 0, err
	}
	tail := clusters.Rewound{IDs: map[format.ID]bool{}}
	from, looked := border, 0
	for e, err := range t.Walk(v.ID, history.WithJoined) {
		if err != nil {
			return 0, err
		}
		if e.Kind == format.KindMessage && e.Seq <= border {
			if looked++; len(tail.Results) == 0 || looked > history.MaxPairDistance {
				break
			}
			if tail.Answers(e.Entry) {
				from = e.Seq - 1
			}
		}
		tail.Add(e.ID, e.Entry)
	}
	return from, nil
}

// adoptIfLong makes a branch adopt a forest if its tail has grown past window.evict_at and becomes
// shorter by it. It returns how the ref of its epoch moves.
func (t *Tx) adoptIfLong(h *history.Head) (told []format.RefUpdate, err error) {
	if !t.Params().Crosses(h.Seq, h.Value.Through) || h.Value.Frontier <= h.Value.Through {
		return nil, nil
	}
	from, err := t.tailFrom(h.Value, h.Seq)
	if err != nil || from <= h.Value.Through {
		return nil, err
	}
	v, err := t.Adopt(h.Value, h.Seq)
	if err != nil {
		return nil, err
	}
	h.Value, told, err = t.epochs.FoldAt(h.Session, h.Branch, v, h.Seq)
	return told, err
}

// addInterims gives an interim summary to each run of members that no real summary covers. It is
// made of the interims in the run and an extract of the raw members, so that an adoption reads only
// what is new.
func (t *Tx) addInterims(st *forest.State, c *forest.Cluster) error {
	for _, g := range uncoveredRuns(c) {
		members, err := st.Slice(c, g.start, g.end)
		if err != nil {
			return err
		}
		d, err := t.interim(c.Number, members, g)
		if err != nil {
			return err
		}
		if err := t.store.DecideIn(st.Name, d); err != nil {
			return err
		}
	}
	return nil
}

// uncovered is a run of members between real summaries: interims, and at least one raw member.
type uncovered struct {
	start, end uint64
	interims   []format.Cover
}

// raw returns the members of the run that no interim covers.
func (g *uncovered) raw(members []format.ID) []format.ID {
	if len(g.interims) == 0 {
		return members
	}
	var list []format.ID
	at := uint64(0)
	for _, v := range g.interims {
		list = append(list, members[at:v.Offset-g.start]...)
		at = v.Offset - g.start + v.Count
	}
	return append(list, members[at:]...)
}

func uncoveredRuns(c *forest.Cluster) []uncovered {
	var list []uncovered
	at, covered := uint64(0), uint64(0)
	var interims []format.Cover
	close := func(end uint64) {
		if end-at > covered {
			list = append(list, uncovered{start: at, end: end, interims: interims})
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

// interim stores the summary of a run and returns the decision that puts it in place. members are
// those of the run.
func (t *Tx) interim(cluster uint64, members []format.ID, g uncovered) (format.Decision, error) {
	sum := &format.Summary{Generation: 1, Interim: true, Summarizer: summaries.Extractive,
		Version: summaries.ExtractiveVersion}
	var list []summarize.Sentence
	for _, v := range g.interims {
		sentences, generation, err := t.summaries.ReadExtract(v.Summary)
		if err != nil && history.ButGone(err) == nil { // it was lost: the members are read again
			g.interims, list, sum.Inputs, sum.Generation = nil, nil, nil, 1
			break
		}
		if err != nil {
			return format.Decision{}, err
		}
		list = append(list, sentences...)
		sum.Generation = max(sum.Generation, generation+1)
		sum.Inputs = append(sum.Inputs, format.Input{Summary: true, ID: v.Summary})
	}
	raw := g.raw(members)
	fresh, ok := t.extracts.of(t.store.View, raw)
	if !ok {
		sources, err := summaries.Sources(t.store.LatestNow, raw)
		if err != nil {
			return format.Decision{}, err
		}
		fresh = summarize.Extract(sources, summaries.ExtractTokens(sources))
	}
	list = summaries.MergeExtracts(list, fresh)
	node, err := t.clusters.AddNodes(raw)
	if err != nil {
		return format.Decision{}, err
	}
	sum.Inputs = append(sum.Inputs, format.Input{ID: node})
	if sum.Node, err = t.clusters.AddNodes(members); err != nil {
		return format.Decision{}, err
	}
	object, err := t.summaries.SealSummary(sum, list)
	if err != nil {
		return format.Decision{}, err
	}
	return format.Decision{
		Kind: format.DecideSettle, Cluster: cluster, ID: t.store.Add(object),
		Offset: g.start, Count: g.end - g.start, Interim: true,
	}, nil
}
