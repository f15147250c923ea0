package sharing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// PullReport is what Pull took in.
type PullReport struct {
	Stores []PulledStore // those with something new, by label
	Known  int           // stores without anything new
}

// PulledStore is what came from one store.
type PulledStore struct {
	Store, Label string
	Pushes       int
	Sessions     []string // that began, went on or moved, by the names that they have here
	Ended        []string // that are shared no more
	Objects      int
	Bytes        int64
	Forgot       int         // bodies that went here because the store has forgotten them
	Asked        []format.ID // what it has forgotten and this store has said itself: that stays
}

// Pull takes in what other stores have put on the remote. It takes the log and the objects of a
// store in only when all of it is there and is what the store wrote; then one operation names them,
// so a crash leaves the old state or the new one. What is wrong with one store keeps it out, and
// not the others: the errors are joined. Errors: ErrTampered, those of the remote and of the store.
func (x *Sharer) Pull(ctx context.Context) (report PullReport, err error) {
	view, err := x.s.Refs.Read()
	if err != nil {
		return report, err
	}
	labels, err := x.labels(view)
	if err != nil {
		return report, err
	}
	heads, err := x.r.List(ctx, share.Heads)
	if err != nil {
		return report, err
	}
	var bad error
	tags := x.tags()
	for i, f := range heads {
		x.o.Progress(i, len(heads), "pulling")
		name := strings.TrimPrefix(f.Name, share.Heads)
		if name == folder(x.s.ID) {
			continue
		}
		if f.Tag != "" && tags[name] == f.Tag {
			report.Known++
			continue
		}
		head, b, err := x.headOf(ctx, name)
		if err == nil && head == nil {
			continue // it went meanwhile
		}
		if err == nil && folder(head.Store) != name {
			err = tampered("the head of store %s stands in the place of another", head.Store)
		}
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		one, err := x.pullStore(ctx, head, b, labels[head.Store])
		switch {
		case err != nil:
			bad = errors.Join(bad, fmt.Errorf("nothing of %s was taken in: %w", head.Label, err))
		case one == nil:
			report.Known++
			tags[name] = f.Tag
		default:
			report.Stores = append(report.Stores, *one)
			tags[name] = f.Tag
		}
		if ctx.Err() != nil {
			return report, errors.Join(bad, ctx.Err())
		}
	}
	x.keepTags(tags)
	slices.SortFunc(report.Stores, func(a, b PulledStore) int { return strings.Compare(a.Label, b.Label) })
	return report, bad
}

// pullStore takes in what is new of one store; nil for nothing. label is that of a store that this
// one knows, or "".
func (x *Sharer) pullStore(ctx context.Context, head *share.Head, headBytes []byte, label string) (*PulledStore, error) {
	view, err := x.s.Refs.Read()
	if err != nil {
		return nil, err
	}
	var seen *share.Head
	if label != "" {
		if seen, err = x.seen(view, history.StoreRefs+label); err != nil {
			return nil, err
		}
	}
	if err := follows(head, seen); err != nil {
		return nil, err
	}
	known, after := uint64(0), format.ID{}
	if seen != nil {
		known, after = seen.Number, seen.Digest
	}
	if head.Number == known {
		return nil, nil
	}
	c, err := x.list(ctx, folder(head.Store))
	if err != nil {
		return nil, err
	}
	steps, err := x.pushes(ctx, head, c, known, after)
	if err != nil {
		return nil, err
	}
	news := newPublished()
	ends := map[share.Branch]bool{}
	for _, s := range steps {
		for _, b := range s.Ends {
			ends[b] = true
		}
		for _, b := range s.Branches {
			delete(ends, share.Branch{Session: b.Session, Name: b.Name})
		}
		news.apply([]step{s})
	}
	one := &PulledStore{Store: head.Store, Label: label, Pushes: len(steps)}
	if label == "" {
		one.Label = freeLabel(view, head)
	}
	if one.Forgot, one.Asked, err = x.forget(ctx, news.forgot); err != nil {
		return nil, err
	}
	if err := x.adopt(ctx, head, c, known, one); err != nil {
		return nil, err
	}
	if err := x.whole(ctx, view, news, one.Label, head); err != nil {
		return nil, err
	}
	return one, x.take(ctx, headBytes, news, ends, one)
}

// freeLabel returns the label for a store that is not known yet: its own one, unless another store
// has it or it would change what a name means here. Then four digits of its id tell it apart.
func freeLabel(view *refs.View, head *share.Head) string {
	label := strings.Map(func(r rune) rune {
		if r == '/' || r == '@' || r == ' ' {
			return '-'
		}
		return r
	}, head.Label)
	taken := view.Get(history.StoreRefs + label).Exists()
	for _, ref := range view.Names("sessions/") {
		session, _, _ := history.BranchOfRef(ref)
		taken = taken || strings.HasSuffix(session, "@"+label)
	}
	if taken || label == "" {
		label += "-" + head.Store[:4]
	}
	return label
}

// forget erases bodies that another store has forgotten, and keeps those out that are still to come.
// It returns how many were here. What this store has sealed with its own key stays, and is returned:
// nobody else erases what was said here.
func (x *Sharer) forget(ctx context.Context, ids map[format.ID]bool) (forgot int, own []format.ID, err error) {
	var here, away []format.ID
	for id := range ids {
		gone, err := x.s.Objects.Forgotten(id)
		if err != nil {
			return 0, nil, err
		}
		if gone {
			continue
		}
		raw, err := x.s.Objects.Get(id)
		if errors.Is(err, objects.ErrNotFound) {
			away = append(away, id)
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		mine, _, err := x.s.Store.FitsKey(raw)
		switch {
		case err != nil:
			return 0, nil, err
		case mine:
			own = append(own, id)
		default:
			here = append(here, id)
		}
	}
	for _, list := range [][]format.ID{here, away, own} {
		slices.SortFunc(list, format.ID.Compare)
	}
	if len(here) > 0 {
		if _, err := forget.Run(ctx, x.s, forget.Options{IDs: here}); err != nil {
			return 0, nil, err
		}
	}
	if len(away) == 0 {
		return len(here), own, nil
	}
	return len(here), own, x.s.Store.Locked(ctx, func(t *store.Tx) error { return t.MarkGone(away, x.s.Now()) })
}

// adopt fetches and stores the packs of the pushes after known.
func (x *Sharer) adopt(ctx context.Context, head *share.Head, c content, known uint64, one *PulledStore) error {
	packs := needed(c.packs, known)
	for i, f := range packs {
		if f.First > head.Number {
			continue
		}
		x.o.Progress(i, len(packs), "fetching from "+one.Label)
		name := share.Stores + folder(head.Store) + "/" + share.PackFolder + f.Name()
		b, err := x.r.Get(ctx, name, 0, -1)
		if err != nil {
			return err
		}
		one.Bytes += int64(len(b))
		if _, err := x.s.Objects.AdoptPack(b, f.Digest, func(id format.ID, raw format.Raw) error {
			one.Objects++
			return fit(id, raw)
		}); err != nil {
			var corrupt *objects.CorruptError
			if errors.As(err, &corrupt) {
				return tampered("store %s: pack %s: %s", head.Store, f.Name(), corrupt.Why)
			}
			return err
		}
	}
	return nil
}

// fit returns an error for an object that no store of ctx would write: of an unknown form, or with
// what sanitizing takes out of every text.
func fit(id format.ID, raw format.Raw) error {
	kind, _, err := format.DecodeObject(raw.Header)
	if err != nil {
		return tampered("object %v: %v", id, err)
	}
	if kind != format.EntryKind || raw.Body == nil {
		return nil
	}
	text := raw.Body[min(format.NonceLen, len(raw.Body)):]
	if bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f }) {
		return tampered("object %v has control characters", id)
	}
	return nil
}

// whole checks that everything that the new tips lead to is here.
func (x *Sharer) whole(ctx context.Context, view *refs.View, news *published, label string, head *share.Head) error {
	var tips, have []format.ID
	for b, tip := range news.tips {
		tips = append(tips, tip)
		if v := view.Get(history.RefName(history.SharedName(b.Session, label), b.Name)); v.Exists() {
			have = append(have, v.ID)
		}
	}
	slices.SortFunc(tips, format.ID.Compare)
	_, err := x.missing(ctx, tips, have)
	if errors.Is(err, objects.ErrNotFound) {
		return tampered("store %s: its packs are not complete: %v", head.Store, err)
	}
	return err
}

// take records what was pulled in one operation.
func (x *Sharer) take(ctx context.Context, headBytes []byte, news *published, ends map[share.Branch]bool, one *PulledStore) error {
	return x.s.Store.Locked(ctx, func(t *store.Tx) error {
		op := &format.Operation{Verb: refs.VerbPull}
		v, err := textBlob(t, headBytes)
		if err != nil {
			return err
		}
		add := func(name string, v format.Value) {
			if old := t.View.Get(name); old != v {
				op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: old, New: v})
			}
		}
		add(history.StoreRefs+one.Label, v)
		if !t.View.Get(history.KeyRef).Exists() {
			mark, err := t.KeyMark()
			if err != nil {
				return err
			}
			if v, err = textBlob(t, mark); err != nil {
				return err
			}
			add(history.KeyRef, v)
		}
		for b, tip := range news.tips {
			session := history.SharedName(b.Session, one.Label)
			if _, err := format.EncodeName(session); err != nil {
				return fmt.Errorf("session %q: %w", sanitize.Line(session), err)
			}
			one.Sessions = append(one.Sessions, session)
			add(history.RefName(session, b.Name), format.Value{Kind: format.SessionValue, ID: tip})
		}
		for b := range ends {
			session := history.SharedName(b.Session, one.Label)
			one.Ended = append(one.Ended, session)
			add(history.RefName(session, b.Name), format.Value{})
		}
		for _, list := range []*[]string{&one.Sessions, &one.Ended} {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
		return t.Commit(op)
	})
}
