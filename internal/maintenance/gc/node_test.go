package gc_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/refs"
)

// TestNodeOfUser has a user's ref name a node. The first gc stores its operation densely, and a
// later one moves the node into another kind of block: the log stays readable.
func TestNodeOfUser(t *testing.T) {
	s := storetest.Create(t)
	ctx := context.Background()
	say := func(name string, n int) (ids []format.ID) {
		var list []conversation.Message
		for i := range n {
			list = append(list,
				storetest.Sourced("user", fmt.Sprint("message ", name, i), fmt.Sprint(name, i)))
		}
		for i := 0; i < n; i += 500 {
			got, _, err := s.Conversation.Append(ctx, name, "main", list[i:min(i+500, n)],
				conversation.AppendOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range got {
				ids = append(ids, g.ID)
			}
		}
		return ids
	}
	name := func(ref string, id format.ID) {
		if err := s.Conversation.UpdateRef(ctx, ref, id, nil); err != nil {
			t.Fatal(err)
		}
	}
	ids := say("m", 30)
	node := "node 1\nlevel 0\ncount 20\n"
	for _, id := range ids[5:25] {
		node += "entry " + id.String() + "\n"
	}
	raw := format.Raw{Header: []byte(node)}
	if err := s.Objects.Put(raw); err != nil {
		t.Fatal(err)
	}
	name("user/x", raw.ID())
	for i, id := range ids {
		name(fmt.Sprint("user/y", i), id)
	}
	count := func() (n int) {
		if err := s.Refs.Forward(func(refs.Record) bool { n++; return true }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	collect := func(best bool) {
		if _, err := gc.Run(ctx, s, gc.Options{Grace: -1, LogFrom: 400, Best: best}); err != nil {
			t.Fatal(err)
		}
	}
	collect(true)
	before := count()
	say("z", 2033)
	collect(false)
	collect(false)
	if n := count(); n <= before {
		t.Errorf("%d operations, %d before", n, before)
	}
}
