package sharing

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

// keepOut records as forgotten what a pack brings that is what was forgotten here, by its words or
// its source, or that its store has made of such words. So their bodies are not taken in. The store
// may not have been told yet, and what was forgotten does not come back. It returns how many it
// recorded.
func (p *pulling) keepOut(ctx context.Context, b []byte, id format.ID) (int, error) {
	gone, err := p.x.forgottenHere()
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	words, err := p.x.s.History.ForgottenWords()
	if err != nil {
		return 0, err
	}
	m := p.x.remadeOf(gone)
	m.holds = words.InObject
	if err := m.read(b, id); err != nil {
		return 0, err
	}
	return m.note(ctx)
}

// forgetRemade is keepOut for this store's own packs on the remote. They may have what gc has
// removed here before a forget, which did not know of it: summaries, other versions of a message,
// and texts that were forgotten wherever they stand. It returns how many it recorded.
func (x *Sharer) forgetRemade(ctx context.Context, packs []share.File) (int, error) {
	gone, err := x.forgottenHere()
	if err != nil {
		return 0, err
	}
	words, err := x.s.History.ForgottenWords()
	if err != nil || len(gone) == 0 && words == nil {
		return 0, err
	}
	x.decoded = decoded{}
	defer func() { x.decoded = nil }()
	m := x.remadeOf(gone)
	m.holds = func(e *format.Entry, raw format.Raw) (bool, error) {
		return e != nil && m.gone[e.Amends] ||
			words != nil && words.InAny(words.Phrases, raw.Text()), nil
	}
	for _, f := range packs {
		b, err := x.get(ctx, &renewal{}, share.PackFolder+f.Name())
		if errors.Is(err, remote.ErrStale) {
			continue // another push has replaced it
		}
		if err == nil {
			err = m.read(b, f.Digest)
		}
		if err != nil {
			return 0, err
		}
	}
	return m.note(ctx)
}

// remade is what packs have that is not here, and was made of words that are gone: summaries,
// tombstones, masks and replacements.
type remade struct {
	x    *Sharer
	gone map[format.ID]bool           // with what was found
	of   map[format.ID][]format.Input // of what summaries and tombstones are made
	list []format.ID                  // what was found
	// holds reports whether an object, which may be an entry, has words that are gone
	holds func(e *format.Entry, raw format.Raw) (bool, error)
}

func (x *Sharer) remadeOf(gone map[format.ID]bool) *remade {
	m := &remade{x: x, gone: map[format.ID]bool{}, of: map[format.ID][]format.Input{},
		holds: func(*format.Entry, format.Raw) (bool, error) { return false, nil }}
	maps.Copy(m.gone, gone)
	return m
}

// read looks at what a pack has.
func (m *remade) read(b []byte, id format.ID) error {
	return m.x.s.Objects.ReadPack(b, id, func(raw format.Raw) error {
		id := raw.ID()
		kind, o, err := fit(id, raw)
		m.x.decoded.keep(id, kind, o)
		there, here := m.x.s.Objects.Has(id)
		if err = errors.Join(err, here); there || err != nil {
			return err
		}
		switch o := o.(type) {
		case *format.Summary:
			m.of[id] = append(o.Inputs, format.Input{ID: o.Node})
		case *format.Tombstone:
			m.of[id] = []format.Input{{ID: o.Node}, {ID: o.Summary, Summary: true}}
		}
		e, _ := o.(*format.Entry)
		if m.gone[id] || raw.Body == nil {
			return nil
		}
		holds, err := m.holds(e, raw)
		if holds || e != nil && shows(e, raw.Body, m.gone) {
			m.gone[id], m.list = true, append(m.list, id)
		}
		return err
	})
}

// note records as forgotten what was found, and returns how many these are.
func (m *remade) note(ctx context.Context) (int, error) {
	known := map[format.ID]bool{} // nodes and messages, and whether there is one that is gone
	for again := true; again; {
		again = false
		for id, of := range m.of {
			var err error
			made := m.gone[id] || slices.ContainsFunc(of, func(in format.Input) bool {
				is, bad := m.gone[in.ID], error(nil)
				if !in.Summary {
					is, bad = m.x.holds(in.ID, m.gone, known)
				}
				if !errors.Is(bad, objects.ErrNotFound) { // of a cluster that is left out
					err = errors.Join(err, bad)
				}
				return is
			})
			if err != nil {
				return 0, err
			}
			if !made {
				continue
			}
			if !m.gone[id] {
				m.list = append(m.list, id)
			}
			m.gone[id], again = true, true
			delete(m.of, id)
		}
	}
	slices.SortFunc(m.list, format.ID.Compare)
	m.list = slices.Compact(m.list)
	if len(m.list) == 0 {
		return 0, nil
	}
	return len(m.list), m.x.s.Store.Locked(ctx,
		func(t *store.Tx) error { return t.NoteForgotten(m.list) })
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
func (x *Sharer) holds(id format.ID, gone, known map[format.ID]bool) (bool, error) {
	if gone[id] {
		return true, nil
	}
	if answer, ok := known[id]; ok {
		return answer, nil
	}
	kind, o, err := x.decode(id)
	if err != nil || kind != format.NodeKind {
		return false, err
	}
	n := o.(*format.Node)
	for _, child := range n.Children {
		if known[id] = gone[child]; n.Level > 0 {
			known[id], err = x.holds(child, gone, known)
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
