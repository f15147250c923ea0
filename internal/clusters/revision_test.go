package clusters_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// C10: a short id means an entry before a cluster; one that could be two entries names them.
func TestC10ShortIDs(t *testing.T) {
	s := storetest.Create(t)
	first := map[string]format.ID{}
	for i := 0; ; i++ {
		id := storetest.Say(t, s, "talk", "user", fmt.Sprint("message ", i))
		short := id.Short(4)
		if other, ok := first[short]; ok {
			_, err := s.Clusters.Resolve(storetest.View(t, s), short)
			var ambiguous *clusters.AmbiguousError
			if !errors.As(err, &ambiguous) || len(ambiguous.IDs) < 2 {
				t.Fatalf("%s is %v and %v: %v", short, id, other, err)
			}
			return
		}
		first[short] = id
		if got := storetest.Must[format.ID](t)(s.Clusters.Resolve(storetest.View(t, s),
			id.Short(16))); got != id {
			t.Fatalf("got %v", got)
		}
	}
}

// counted counts the nodes of clusters that are read.
type counted struct {
	history.Objects
	nodes int
}

func (c *counted) Header(id format.ID) ([]byte, error) {
	b, err := c.Objects.Header(id)
	if kind, _, bad := format.HeaderKind(b); bad == nil && kind == "node" {
		c.nodes++
	}
	return b, err
}

// A session whose name begins like an id is found before any cluster is read, which takes long in a
// large store. Only an id that nothing else has reads them all, once.
func TestSessionsBeforeClusters(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Talk(t, s, "0123abcd-talk", 30, 1)
	storetest.Compact(t, s, "0123abcd-talk")
	s = storetest.Reopen(t, s.Dir, nil, storetest.Small...)
	reads, view := &counted{Objects: s.History.Objects}, storetest.View(t, s)
	s.History.Objects = reads
	storetest.Must[format.ID](t)(s.Clusters.Resolve(view, "0123abcd~3"))
	if reads.nodes > 0 {
		t.Errorf("%d nodes were read for a session", reads.nodes)
	}
	for range 2 {
		if _, err := s.Clusters.Resolve(view, "0123dcba"); !clusters.IsMissing(err) {
			t.Error(err)
		}
	}
	all := storetest.Must[*forest.State](t)(s.History.Forest(view)).LiveCount()
	if reads.nodes < all || reads.nodes >= 2*all {
		t.Errorf("%d nodes of %d clusters were read for no id", reads.nodes, all)
	}
}

// FuzzResolve: whatever is named, an id that is found is that of an object in the store, and an
// error is one line that is not as long as what was asked.
func FuzzResolve(f *testing.F) {
	s := storetest.Create(f)
	tip := storetest.Say(f, s, "work", "user", "one")
	storetest.Say(f, s, "work", "model", "two")
	view, err := s.Refs.Read()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", "@", "work", "work/main", "HEAD", "sessions/work/main", "@~1",
		"work~0", "work~1~1", "work@{1}", "@{0}", "work@{99}~3", tip.String(), tip.String()[:4],
		"0000", strings.Repeat("0", 64), strings.Repeat("0", 64) + "~0",
		"~", "@{", "@{-1}", "@{18446744073709551616}", "~99999999999999999999", "a..b", "../../etc",
		"%00", "\x00\n\xff", strings.Repeat("~1", 500), strings.Repeat("x", 2000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rev string) {
		for _, resolve := range []func() error{
			func() error {
				id, err := s.Clusters.Resolve(view, rev)
				base, _, _ := clusters.CutSteps(rev)
				// A full id names an object whether it is there or not
				_, notFull := format.ParseID(base)
				if err == nil && notFull != nil && !storetest.Must[bool](t)(s.Objects.Has(id)) {
					t.Errorf("%q is %v, which is not there", rev, id)
				}
				return err
			},
			func() error { _, err := s.Clusters.ResolveObject(view, rev); return err },
			func() error { _, err := s.Clusters.ResolveEntry(view, rev); return err },
		} {
			if err := resolve(); err != nil &&
				(len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\n\x00\x1b")) {
				t.Errorf("error %q", err)
			}
		}
	})
}
