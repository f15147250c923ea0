package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// earlier returns the cluster that id names, and the covers that it had before its newest summary, or before the one that id names, with those of its
// present ones that stay.
func (r clusterReader) earlier(id format.ID) (at clusterAt, covers []format.Cover, err error) {
	if at, err = r.anyCluster(id); err != nil {
		return at, nil, err
	}
	st, err := r.forestOf(at.forest)
	if err != nil {
		return at, nil, err
	}
	members, err := r.membersOf(st, &at)
	if err != nil {
		return at, nil, err
	}
	past := &pastCovers{Store: r.Store, number: at.number, members: members, gone: map[format.ID]bool{}}
	for _, v := range at.covers {
		if !v.Interim {
			past.now = append(past.now, v)
		}
	}
	if i := slices.IndexFunc(past.now, func(v format.Cover) bool { return v.Summary == id }); i >= 0 {
		past.away = &past.now[i]
	}
	var failed error
	err = r.Refs.Backward(r.view, func(rec refs.Record) bool {
		for _, f := range rec.Op.Forests {
			if f.Name == at.forest && failed == nil {
				effect, _ := refs.EffectOf(rec.Op.Verb)
				failed = past.record(effect, f.Decisions)
			}
		}
		return failed == nil && !past.done
	})
	if err := errors.Join(failed, err); err != nil {
		return at, nil, err
	}
	if len(past.found) == 0 {
		return at, nil, fmt.Errorf("%w: cluster %v", ErrNoEarlier, at.node)
	}
	for _, v := range past.now {
		if v != *past.away {
			past.found = append(past.found, v)
		}
	}
	return at, past.found, nil
}

// pastCovers reads the decisions about a cluster backward and finds what covered it before one of its summaries.
type pastCovers struct {
	*Store
	number  uint64
	members []format.ID
	now     []format.Cover // the real covers it has
	away    *format.Cover  // of these the one that goes; nil until it is known
	settled bool           // the decision that put it there was met
	gone    map[format.ID]bool
	found   []format.Cover
	done    bool
}

// record goes back over what an operation decided.
func (p *pastCovers) record(effect refs.Effect, decided []format.Decision) error {
	for _, d := range slices.Backward(decided) {
		if d.Cluster != p.number || p.done {
			continue
		}
		switch {
		case d.Kind == format.DecideRetract:
			// It left, or says something else since: a summary from before knows nothing of that. Where a tombstone was taken back nothing left.
			p.gone[d.ID] = p.gone[d.ID] || !effect.Summarises
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

// isNow reports whether a decision is the newest about the summary that goes.
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

// before takes a summary that was there before, if it fits the cluster as it is. One that was itself replaced by what is taken already ends the search,
// and so does the last one that there was room for.
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

// fitting returns the cover that a summary is, inside the run of the one that goes.
func (p *pastCovers) fitting(id format.ID) (v format.Cover, ok bool, err error) {
	header, _, err := p.text(id)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	sum, err := format.DecodeSummary(header)
	if err != nil {
		return v, false, err
	}
	var run []format.ID
	if err := p.walk(sum.Node, func(e format.ID) error { run = append(run, e); return nil }); err != nil {
		return v, false, err
	}
	from, to := p.away.Offset, p.away.Offset+p.away.Count
	at := slices.Index(p.members[from:to], run[0])
	if at < 0 || at+len(run) > int(to-from) || !slices.Equal(p.members[int(from)+at:int(from)+at+len(run)], run) {
		return v, false, nil
	}
	if slices.ContainsFunc(run, func(e format.ID) bool { return p.gone[e] }) {
		return v, false, nil
	}
	return format.Cover{Summary: id, Offset: from + uint64(at), Count: uint64(len(run))}, true, nil
}
