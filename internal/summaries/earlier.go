package summaries

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// ErrNoEarlier says that a cluster has no summary before the one to be reverted.
var ErrNoEarlier = errors.New("no earlier summary")

// EarlierCovers returns the cluster that id names with the covers that it had before its newest
// summary, or before the summary that id names. Present covers that stay are included.
func EarlierCovers(
	r clusters.Lookup, id format.ID,
) (at clusters.ClusterAt, covers []format.Cover, err error) {
	if at, err = r.AnyCluster(id); err != nil {
		return at, nil, err
	}
	st, err := r.ForestOf(at.Forest)
	if err != nil {
		return at, nil, err
	}
	members, err := r.MembersOf(st, &at)
	if err != nil {
		return at, nil, err
	}
	past := &pastCovers{Reader: r.Reader, number: at.Number, members: members,
		gone: map[format.ID]bool{}}
	for _, v := range at.Covers {
		if !v.Interim {
			past.now = append(past.now, v)
		}
	}
	if i := slices.IndexFunc(past.now,
		func(v format.Cover) bool { return v.Summary == id }); i >= 0 {
		past.away = &past.now[i]
	}
	var failed error
	err = r.Refs.Backward(r.View, func(rec refs.Record) bool {
		for _, f := range rec.Op.Forests {
			if f.Name == at.Forest && failed == nil {
				failed = past.record(rec.Op.Effects, f.Decisions)
			}
		}
		return failed == nil && !past.done
	})
	if err := errors.Join(failed, err); err != nil {
		return at, nil, err
	}
	if len(past.found) == 0 {
		return at, nil, fmt.Errorf("%w: cluster %v", ErrNoEarlier, at.Node)
	}
	for _, v := range past.now {
		if v != *past.away {
			past.found = append(past.found, v)
		}
	}
	return at, past.found, nil
}

// pastCovers reads the decisions about a cluster backward and finds the covers before one of its
// summaries.
type pastCovers struct {
	*clusters.Reader
	number  uint64
	members []format.ID
	now     []format.Cover // the real covers it has
	away    *format.Cover  // the one of these that is removed; nil until it is known
	settled bool           // the decision that put it there was met
	gone    map[format.ID]bool
	found   []format.Cover
	done    bool
}

// record reads the decisions of one operation backward.
func (p *pastCovers) record(effect format.Effects, decided []format.Decision) error {
	for _, d := range slices.Backward(decided) {
		if d.Cluster != p.number || p.done {
			continue
		}
		switch {
		case d.Kind == format.DecideRetract:
			// The member was taken out or amended, which an earlier summary does not know. A
			// retracted tombstone takes no member out.
			p.gone[d.ID] = p.gone[d.ID] || !effect.Summarizes
		case d.Kind != format.DecideSettle || d.Interim:
		case !p.settled:
			p.settled = p.isNow(d.ID)
		default:
			if err := p.before(d.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// isNow reports whether a decision is the newest about the summary that is to be removed.
func (p *pastCovers) isNow(id format.ID) bool {
	if p.away != nil {
		return p.away.Summary == id
	}
	at := slices.IndexFunc(p.now, func(v format.Cover) bool { return v.Summary == id })
	if at >= 0 {
		p.away = &p.now[at]
	}
	return at >= 0
}

// before takes an earlier summary if it fits the cluster as it is. The search ends at a summary
// that overlaps with one already taken, and when the whole run is covered.
func (p *pastCovers) before(id format.ID) error {
	v, ok, err := p.fitting(id)
	if err != nil || !ok {
		return err
	}
	for _, f := range p.found {
		if f.Offset < v.Offset+v.Count && v.Offset < f.Offset+f.Count {
			p.done = true
			return nil
		}
	}
	p.found = append(p.found, v)
	left := p.away.Count
	for _, f := range p.found {
		left -= min(left, f.Count)
	}
	p.done = left == 0
	return nil
}

// fitting returns the cover that a summary has inside the run of the removed summary.
func (p *pastCovers) fitting(id format.ID) (v format.Cover, ok bool, err error) {
	sum, _, err := Stored(p.Reader.Reader, id)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	var run []format.ID
	if err := p.EachMember(sum.Node,
		func(e format.ID) error { run = append(run, e); return nil }); err != nil {
		return v, false, err
	}
	from, to := p.away.Offset, p.away.Offset+p.away.Count
	at := slices.Index(p.members[from:to], run[0])
	if at < 0 || at+len(run) > int(to-from) ||
		!slices.Equal(p.members[int(from)+at:int(from)+at+len(run)], run) {
		return v, false, nil
	}
	if slices.ContainsFunc(run, func(e format.ID) bool { return p.gone[e] }) {
		return v, false, nil
	}
	return format.Cover{Summary: id, Offset: from + uint64(at), Count: uint64(len(run))}, true, nil
}
