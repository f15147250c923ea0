package sharing

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// remade returns what the pushes bring that the store has made of words which were forgotten here:
// summaries, masks and replacements. The store may not have been told yet, and what was forgotten
// does not come back in words that are made of it.
func (p *pulling) remade(ctx context.Context) (list []format.ID, err error) {
	gone := map[format.ID]bool{}
	err = p.x.s.Objects.EachAbsent(func(id format.ID, _ string) error {
		forgot, err := p.x.s.Objects.Forgotten(id)
		if forgot {
			gone[id] = true
		}
		return err
	})
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	tainted := map[format.ID]bool{} // nodes, and whether they have a member that is gone
	for _, id := range slices.SortedFunc(maps.Keys(p.x.decoded), format.ID.Compare) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		made := false
		switch o := p.x.decoded[id].Object.(type) {
		case *format.Summary:
			made, err = p.holds(o.Node, gone, tainted)
		case *format.Entry:
			made, err = p.shows(id, o, gone)
		}
		if errors.Is(err, objects.ErrNotFound) {
			err = nil // of a cluster that is left out
		}
		if err != nil {
			return nil, err
		}
		if made && !gone[id] {
			list = append(list, id)
		}
	}
	return list, nil
}

// holds reports whether a member of a node is gone. known has the answers for nodes.
func (p *pulling) holds(id format.ID, gone, known map[format.ID]bool) (bool, error) {
	if answer, ok := known[id]; ok {
		return answer, nil
	}
	kind, o, err := p.x.decode(id)
	if err != nil || kind != format.NodeKind {
		return false, err
	}
	n := o.(*format.Node)
	for _, child := range n.Children {
		if known[id] = gone[child]; n.Level > 0 {
			known[id], err = p.holds(child, gone, known)
		}
		if err != nil || known[id] {
			return known[id], err
		}
	}
	known[id] = false
	return false, nil
}

// shows reports whether an entry is a mask of words that are gone, or stands for them.
func (p *pulling) shows(id format.ID, e *format.Entry, gone map[format.ID]bool) (bool, error) {
	if e.Body == nil || e.Kind != format.KindMask && e.Kind != format.KindReplace {
		return false, nil
	}
	raw, err := p.x.object(id)
	if err != nil || len(raw.Body) < format.NonceLen {
		return false, err
	}
	text := raw.Body[format.NonceLen:]
	if m, err := format.DecodeMask(text); err == nil {
		return slices.ContainsFunc(m.Parts,
			func(p format.MaskedPart) bool { return gone[p.Entry] }), nil
	}
	r, err := format.DecodeReplacement(text)
	return err == nil && slices.ContainsFunc(r.Targets,
		func(t format.Target) bool { return gone[t.Entry] }), nil
}
