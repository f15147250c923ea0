package sharing

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

// keepOut records as forgotten what a pack brings that its store has made of words which were
// forgotten here: summaries, tombstones, masks and replacements. So their bodies are not taken in.
// The store may not have been told yet, and what was forgotten does not come back in what is made
// of it.
func (p *pulling) keepOut(ctx context.Context, b []byte, id format.ID) error {
	gone, err := p.x.forgottenHere()
	if err != nil || len(gone) == 0 {
		return err
	}
	gone = maps.Clone(gone)
	var list []format.ID
	made := map[format.ID][]format.Input{} // of what summaries and tombstones are made
	err = p.x.s.Objects.ReadPack(b, id, func(raw format.Raw) error {
		id := raw.ID()
		kind, o, err := fit(id, raw)
		p.x.decoded.keep(id, kind, o)
		there, here := p.x.s.Objects.Has(id)
		if err = errors.Join(err, here); there || err != nil {
			return err
		}
		switch o := o.(type) {
		case *format.Summary:
			made[id] = append(o.Inputs, format.Input{ID: o.Node})
		case *format.Tombstone:
			made[id] = []format.Input{{ID: o.Node}, {ID: o.Summary, Summary: true}}
		case *format.Entry:
			if shows(o, raw.Body, gone) {
				list = append(list, id)
			}
		}
		return nil
	})
	known := map[format.ID]bool{} // nodes and messages, and whether there is one that is gone
	for again := true; again; {
		again = false
		for id, of := range made {
			if !slices.ContainsFunc(of, func(in format.Input) bool {
				is, bad := gone[in.ID], error(nil)
				if !in.Summary {
					is, bad = p.holds(in.ID, gone, known)
				}
				if !errors.Is(bad, objects.ErrNotFound) { // of a cluster that is left out
					err = errors.Join(err, bad)
				}
				return is
			}) {
				continue
			}
			list, gone[id], again = append(list, id), true, true
			delete(made, id)
		}
	}
	if err != nil || len(list) == 0 {
		return err
	}
	slices.SortFunc(list, format.ID.Compare)
	return p.x.s.Store.Locked(ctx, func(t *store.Tx) error { return t.NoteForgotten(list) })
}

// forgottenIDs are the objects that are forgotten here, as of some operations that forgot.
type forgottenIDs struct {
	as  []uint64 // the operations; nil for not known
	ids map[format.ID]bool
}

// forgottenHere returns the objects that are forgotten here. It reads their records once, and again
// after another forget: there is one of each.
func (x *Sharer) forgottenHere() (map[format.ID]bool, error) {
	as, unfinished, err := x.s.Objects.ForgetFiles()
	if err != nil || len(as) > 0 && !unfinished && slices.Equal(as, x.gone.as) {
		return x.gone.ids, err
	}
	ids := map[format.ID]bool{}
	err = x.s.Objects.EachAbsent(func(id format.ID, _ string) error {
		forgot, err := x.s.Objects.Forgotten(id)
		if forgot {
			ids[id] = true
		}
		return err
	})
	if err == nil && !unfinished {
		x.gone = forgottenIDs{as, ids}
	}
	return ids, err
}

// holds reports whether a member of a node, or a message, is gone. known has the answers for nodes.
func (p *pulling) holds(id format.ID, gone, known map[format.ID]bool) (bool, error) {
	if gone[id] {
		return true, nil
	}
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
func shows(e *format.Entry, body []byte, gone map[format.ID]bool) bool {
	if len(body) < format.NonceLen || e.Kind != format.KindMask && e.Kind != format.KindReplace {
		return false
	}
	text := body[format.NonceLen:]
	if m, err := format.DecodeMask(text); err == nil {
		return slices.ContainsFunc(m.Parts,
			func(p format.MaskedPart) bool { return gone[p.Entry] })
	}
	r, err := format.DecodeReplacement(text)
	return err == nil && slices.ContainsFunc(r.Targets,
		func(t format.Target) bool { return gone[t.Entry] })
}
