package gc_test

import (
	"context"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/objects"
)

// In a pack of gc, entries stand before what was made of them, and each of these before what names
// it: so all of them can name and quote what they need.
func TestGCPutsSummariesBesideEntries(t *testing.T) {
	s := kit.Fresh(t, kit.Grow(t, 1))
	storetest.Must[gc.Report](t)(gc.Run(context.Background(), s.Opened, gc.Options{Best: true,
		Grace: -1}))
	names := storetest.Must[[]format.ID](t)(s.Objects.PackNames(objects.IndexExt))
	if len(names) != 1 {
		t.Fatalf("%d packs", len(names))
	}
	p := storetest.Must[objects.PackContents](t)(s.Objects.PackContents(names[0]))
	place := map[format.ID]int{}
	for i, id := range p.IDs {
		place[id] = i
	}
	named := 0
	last := format.EntryKind
	for i, id := range p.IDs {
		header := storetest.Must[[]byte](t)(s.Objects.Header(id))
		kind, o, err := format.DecodeObject(header)
		if err != nil {
			t.Fatal(err)
		}
		if kind == format.EntryKind && last != kind {
			t.Errorf("object %d is an entry behind a %s", i, last)
		}
		last = kind
		switch kind {
		case format.NodeKind, format.SummaryKind, format.TombstoneKind:
			for _, l := range o.Links() {
				if named++; place[l.ID] > i {
					t.Errorf("object %d, a %s, names object %d, a %s", i, kind, place[l.ID], l.Want)
				}
			}
		}
	}
	if named < 50 {
		t.Errorf("%d names: there is little to see", named)
	}
}
