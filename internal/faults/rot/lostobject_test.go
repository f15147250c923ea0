package rot

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/objects"
)

// lose takes objects out of every pack of a store, as if they had never been there.
func lose(t *testing.T, dir string, lost map[format.ID]bool) {
	t.Helper()
	withStore(t, dir, func(s *session.Store) {
		if err := storetest.SpreadOf(context.Background(), s.Repo); err != nil {
			t.Fatal(err)
		}
		names, err := s.Objects.PackNames(objects.IndexExt)
		if err != nil {
			t.Fatal(err)
		}
		for _, pack := range names {
			var rest []format.Raw
			all := 0
			err := s.Objects.SalvagePack(pack, func(raw format.Raw, _ bool) error {
				if all++; !lost[raw.ID()] {
					rest = append(rest, raw)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(rest) == all {
				continue
			}
			if len(rest) > 0 {
				_, err = s.Objects.WritePack(func(yield func(format.Raw, error) bool) {
					for _, raw := range rest {
						if !yield(raw, nil) {
							return
						}
					}
				}, objects.Default)
			}
			if err := errors.Join(err, os.Remove(s.Objects.PackPath(pack)),
				os.Remove(s.Objects.IndexPath(pack))); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err := os.RemoveAll(filepath.Join(dir, "cache")); err != nil {
		t.Fatal(err)
	}
}

// TestLostObjects: objects are nowhere any more. gc refuses to remove anything. After a repair the
// store is whole: what is not lost is as it was, and what is lost is said to be. All that changes a
// store works then, and leaves it sound.
func TestLostObjects(t *testing.T) {
	seed := uint64(7)
	if text := os.Getenv("CTX_LOST_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	b := theSubject(t)
	kinds := map[string][]format.ID{}
	withStore(t, b.fork().dir, func(s *session.Store) {
		for _, id := range b.ids {
			header, err := s.Objects.Header(id)
			kind, _, bad := format.HeaderKind(header)
			if err := errors.Join(err, bad); err != nil {
				t.Fatal(err)
			}
			kinds[kind] = append(kinds[kind], id)
		}
	})
	var cases []map[format.ID]bool
	r := rand.New(rand.NewPCG(seed, 1))
	n := min(aKind(t), 200)
	for _, kind := range []string{"entry", "blob", "epoch", "summary", "tombstone", "node", "forest",
		"page"} {
		ids := kinds[kind]
		for range min(n, len(ids)) {
			cases = append(cases, map[format.ID]bool{ids[r.IntN(len(ids))]: true})
		}
	}
	derived := slices.Concat(kinds["node"], kinds["page"], kinds["forest"])
	for range n * 3 { // much of a pack, but for the clusters where the log begins, and now
		lost := map[format.ID]bool{}
		for range 2 + r.IntN(60) {
			if id := b.ids[r.IntN(len(b.ids))]; !slices.Contains(derived, id) {
				lost[id] = true
			}
		}
		cases = append(cases, lost)
	}
	all := map[format.ID]bool{}
	for _, id := range kinds["entry"] {
		all[id] = true
	}
	cases = append(cases, all)
	for i, lost := range cases {
		if !mine(t, i) {
			continue
		}
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			c := b.fork()
			c.t = t
			c.loses(lost)
			if err := os.RemoveAll(filepath.Dir(filepath.Dir(c.dir))); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func (b *subject) loses(lost map[format.ID]bool) {
	t := b.t.(*testing.T)
	named := false
	for id := range lost {
		named = named || b.named[id]
	}
	lose(t, b.dir, lost)
	packs := func() string {
		list, err := filepath.Glob(filepath.Join(b.dir, "objects", "pack", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(list, "\n")
	}
	before := packs()
	c := context.Background()
	withStore(t, b.dir, func(s *session.Store) {
		s.Config.Log.Keep = 1000 * day
		if _, err := gc.Run(c, s.Opened, gc.Options{Grace: -1}); err == nil && named &&
			before != packs() && len(faults(t, s)) > 0 {
			t.Error("gc has removed something beside what is missing")
		}
	})
	done, err := repaired(b.dir, repair.Options{})
	if err != nil {
		t.Fatal(err)
	}
	derived := !named
	for id := range lost {
		text := b.answers[0]["header "+id.String()].Text
		derived = derived || len(lost) == 1 && (strings.HasPrefix(text, "node ") ||
			strings.HasPrefix(text, "forest "))
	}
	if len(done.Left) > 0 && derived {
		return // of before the kept log: nothing can make it again
	}
	if len(done.Left) > 0 {
		t.Fatalf("left: %v of %d\nlost: %s", done.Left[0], len(done.Left),
			strings.Join(done.Lost, "\n"))
	}
	now := b.ask()
	for _, q := range now.Questions() {
		got, want := now[q], b.answers[0][q]
		_, text, _ := strings.Cut(q, " ")
		id, err := format.ParseID(text)
		var gone *objects.GoneError
		switch {
		case got.Err != nil && want.Err == nil && !errors.As(got.Err, &gone) && !b.unnamed(q) &&
			!lost[id] && !strings.HasPrefix(q, "epoch "): // the answer says what of it is lost
			t.Errorf("%s: %v", q, got.Err)
		case err == nil && !lost[id] && !b.unnamed(q) && got.Text != want.Text:
			t.Errorf("%s: said %.200q, was %.200q", q, got.Text, want.Text)
		}
	}
	withStore(t, b.dir, func(s *session.Store) {
		collect := func(what string) {
			if _, err := gc.Run(c, s.Opened, gc.Options{Grace: -1}); err != nil {
				t.Errorf("gc %s: %v", what, err)
			}
			if list := faults(t, s); len(list) > 0 {
				t.Errorf("%s: %v of %d", what, list[0], len(list))
			}
		}
		collect("after the repair")
		view, err := s.Refs.Read()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, ref := range view.Names("sessions/") {
			name, branch, _ := history.BranchOfRef(ref)
			if names = append(names, name); branch != history.MainBranch {
				continue
			}
			if err := goOn(s, name, branch); err != nil {
				t.Errorf("append to %s: %v", name, err)
			}
		}
		if _, err := s.Compaction.Compact(c, compaction.CompactOptions{}); err != nil {
			t.Errorf("compact: %v", err)
		}
		collect("after a compaction")
		for _, name := range slices.Compact(names) {
			if _, err := s.Conversation.RemoveSession(c, name); err != nil {
				t.Errorf("session rm %s: %v", name, err)
			}
		}
		collect("without sessions")
	})
}
