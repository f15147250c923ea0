package repair

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/replay"
)

// clusters lays summaries and tombstones in the place of the lost ones: a replay of the log tells
// of what they were.
func (h *holes) clusters() error {
	if !h.any(format.SummaryKind) && !h.any(format.TombstoneKind) {
		return nil
	}
	base, err := h.s.Refs.Base()
	if err != nil {
		return err
	}
	r, err := replay.New(h.s, graph.RefsOf(base))
	if err != nil {
		return nil //nolint:nilerr // the forest where the log begins is lost, which others tell
	}
	var failed error
	r.Lost = func(id format.ID) bool {
		return h.is(id, format.SummaryKind) || h.is(id, format.TombstoneKind)
	}
	r.Lay = func(id format.ID, o format.Object) error {
		failed = cmp.Or(failed, h.layText(id, o))
		return failed
	}
	for _, name := range slices.Sorted(maps.Keys(r.States)) {
		st := r.States[name]
		for _, c := range st.Live() {
			if err := h.baseCovers(r, st, c); err != nil {
				return err
			}
		}
	}
	if _, err := r.All(h.ctx, math.MaxUint64, nil); failed != nil {
		return failed
	} else if err != nil {
		return nil //nolint:nilerr // derive tells of it
	}
	return nil
}

// baseCovers lays the summaries that were settled before the kept log.
func (h *holes) baseCovers(r *replay.Forests, st *forest.State, c *forest.Cluster) error {
	for _, v := range c.Covers {
		if !h.is(v.Summary, format.SummaryKind) {
			continue
		}
		members, err := st.Members(c)
		if err != nil {
			return nil //nolint:nilerr // derive tells of it
		}
		node, err := format.NodeOf(members[v.Offset : v.Offset+v.Count])
		if err == nil {
			err = r.Lay(v.Summary, &format.Summary{Node: node})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// layText lays a summary or a tombstone, without a text.
func (h *holes) layText(id format.ID, o format.Object) error {
	body := *lostBody(id, format.NonceLen, format.MediaText)
	switch o := o.(type) {
	case *format.Summary:
		o.Generation, o.Summarizer, o.Version, o.Body = 1, "lost", "1", body
		o.Inputs = []format.Input{{ID: o.Node}}
	case *format.Tombstone:
		o.Body = body
	}
	header, err := o.Encode()
	if err != nil {
		return err
	}
	h.repairer.lost("the text of %s %v", h.lost[id], id)
	return h.lay(id, header)
}

// nodeAbove returns the node of the summary, the tombstone or the cluster that names a lost
// summary.
func (h *holes) nodeAbove(id format.ID) format.ID {
	for i := range uint32(h.g.Len()) {
		switch h.g.Kind(i) {
		case format.SummaryKind, format.TombstoneKind, format.ForestKind:
		default:
			continue
		}
		_, o, err := format.DecodeObject(h.header(i))
		if err != nil {
			continue
		}
		var node format.ID // those of a cluster come before its summaries
		for _, l := range o.Links() {
			switch {
			case l.Want == format.NodeKind && (node.IsZero() || h.g.Kind(i) == format.ForestKind):
				node = l.ID
			case l.ID == id && !node.IsZero():
				return node
			}
		}
	}
	return format.ID{}
}

func (h *holes) header(i uint32) []byte {
	header, _ := h.s.Objects.Header(h.g.ID(i)) // what cannot be read does not decode
	return header
}
