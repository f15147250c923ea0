package forestfile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/forestfile"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// exported is the forest of a store as a file, and as a document.
func exported(t testing.TB, s *session.Store) ([]byte, *forestfile.Document) {
	t.Helper()
	v := storetest.View(t, s)
	doc := storetest.Must[*forestfile.Document](t)(s.ForestFile.Export(v, v.Number))
	var b bytes.Buffer
	if err := forestfile.Encode(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), doc
}

// shapeOf is what a forest says, without what names it: of each cluster its words in order, its
// summaries with the words they stand for, its line.
func shapeOf(d *forestfile.Document) []string {
	words := func(members []int) string {
		var list []string
		for _, m := range members {
			n := d.Nodes[m]
			list = append(list, n.Role+" "+n.Author+": "+n.Said()+string(n.Parts))
		}
		return strings.Join(list, "|")
	}
	var out []string
	for _, c := range d.Clusters {
		line := words(c.Members)
		for _, id := range c.Covers {
			s := d.Lineage[d.SummaryAt(id)]
			line += fmt.Sprintf("\n  %s %s %v %d of %s: %s", s.Summarizer, s.Version, s.Interim,
				len(s.Parents), words(s.Members), s.Said())
		}
		if c.Tombstone != nil {
			line += "\n  " + c.Tombstone.Line
		}
		out = append(out, line)
	}
	return out
}

// A forest that was written as a file and read into another store is the same forest, and read
// again it changes nothing.
func TestUnionFindThereAndBack(t *testing.T) {
	for seed := range thirds.Range(t, uint64(6)) {
		s := storetest.Create(t, storetest.Small...)
		r := rand.New(rand.NewPCG(seed, 21))
		for range 150 {
			storetest.RandomStep(t, s, r)
			if r.IntN(4) == 0 {
				storetest.Say(t, s, "aside", "user", storetest.Chatter(r))
			}
		}
		file, doc := exported(t, s)
		there := storetest.Create(t, storetest.Small...)
		done := storetest.Must[forestfile.Imported](t)(
			there.ForestFile.Import(context.Background(), bytes.NewReader(file), "from"))
		if done.Messages != len(doc.Nodes) || done.Joined != len(doc.Nodes) ||
			done.Opened != len(doc.Clusters) || done.Lost > 0 {
			t.Fatalf("seed %d: %+v of %d nodes, %d clusters", seed, done, len(doc.Nodes),
				len(doc.Clusters))
		}
		storetest.Check(t, there)
		_, back := exported(t, there)
		if got, want := shapeOf(back), shapeOf(doc); !slices.Equal(got, want) {
			t.Fatalf("seed %d:\n got %s\nwant %s", seed, strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
		before := storetest.View(t, there).Number
		again := storetest.Must[forestfile.Imported](t)(
			there.ForestFile.Import(context.Background(), bytes.NewReader(file), "from"))
		if again.Known != len(doc.Nodes) ||
			again.Messages+again.Joined+again.Opened+again.Summaries+again.Evicted+again.Lost > 0 {
			t.Fatalf("seed %d: a second time: %+v", seed, again)
		}
		if now := storetest.View(t, there).Number; now != before {
			t.Fatalf("seed %d: a second time recorded %d operations", seed, now-before)
		}
		// It goes on from there as any session does.
		for range 30 {
			storetest.Say(t, there, "from", "user", storetest.Chatter(r))
		}
		storetest.Compact(t, there, "from")
		storetest.Check(t, there)
	}
}

// A store that has clusters of its own keeps them, and what was imported can be undone.
func TestUnionFindBesideOthers(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		storetest.Say(t, s, "talk", "user", storetest.Chatter(r))
	}
	storetest.Compact(t, s, "talk")
	file, doc := exported(t, s)
	there := storetest.Create(t, storetest.Small...)
	for range 40 {
		storetest.Say(t, there, "own", "user", storetest.Chatter(r))
	}
	storetest.Compact(t, there, "own")
	_, own := exported(t, there)
	storetest.Must[forestfile.Imported](t)(there.ForestFile.Import(context.Background(),
		bytes.NewReader(file), ""))
	storetest.Check(t, there)
	_, both := exported(t, there)
	if len(both.Clusters) != len(own.Clusters)+len(doc.Clusters) {
		t.Fatalf("%d clusters, want %d and %d", len(both.Clusters), len(own.Clusters),
			len(doc.Clusters))
	}
	name := "union-find-" + doc.Store[:8]
	if _, err := there.Conversation.Undo(context.Background(), name); err != nil {
		t.Fatal(err)
	}
	storetest.Check(t, there)
	_, left := exported(t, there)
	if !slices.Equal(shapeOf(left), shapeOf(own)) {
		t.Fatal("what was there before the import is not what is left after its undo")
	}
	// Words that have not graduated stand in the way of a frontier.
	storetest.Say(t, there, "own", "user", "one more")
	if _, err := there.ForestFile.Import(context.Background(), bytes.NewReader(file),
		"own"); !errors.Is(err, history.ErrRefused) {
		t.Fatalf("into a session with a window: %v", err)
	}
	storetest.Check(t, there)
}

// An import that was cut short between its operations is finished by the next one; one whose
// clusters were summarized anew meanwhile replaces nothing.
func TestUnionFindGoesOn(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(5, 2))
	for range 60 {
		storetest.Say(t, s, "talk", []string{"user", "model"}[r.IntN(2)], storetest.Chatter(r))
	}
	storetest.Compact(t, s, "talk")
	file, doc := exported(t, s)
	there := storetest.Create(t, storetest.Small...)
	if err := there.ForestFile.Append(context.Background(), doc, "from"); err != nil {
		t.Fatal(err)
	}
	done := storetest.Must[forestfile.Imported](t)(
		there.ForestFile.Import(context.Background(), bytes.NewReader(file), "from"))
	if done.Known != len(doc.Nodes) || done.Joined != len(doc.Nodes) {
		t.Fatalf("%+v", done)
	}
	storetest.Check(t, there)
	if _, back := exported(t, there); !slices.Equal(shapeOf(back), shapeOf(doc)) {
		t.Fatal("not the same forest")
	}
	for range 20 {
		storetest.Say(t, there, "from", "user", storetest.Chatter(r))
	}
	storetest.Compact(t, there, "from")
	// The session has gone on, and its clusters have newer summaries: these stay.
	_, want := exported(t, there)
	done, err := there.ForestFile.Import(context.Background(), bytes.NewReader(file), "from")
	if err != nil || done.Known != len(doc.Nodes) || done.Joined+done.Opened > 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	storetest.Check(t, there)
	if _, got := exported(t, there); !slices.Equal(shapeOf(got), shapeOf(want)) {
		t.Fatal("an older summary took the place of a newer one")
	}
	// A file that has grown cannot come in behind messages that have not graduated.
	for range 9 {
		storetest.Say(t, s, "talk", "user", storetest.Chatter(r))
	}
	file, _ = exported(t, s)
	if _, err := there.ForestFile.Import(context.Background(), bytes.NewReader(file),
		"from"); !errors.Is(err, history.ErrRefused) {
		t.Fatalf("more of it: %v", err)
	}
	storetest.Check(t, there)
}

// The file of an operation is the forest as it was then.
func TestUnionFindOperation(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(7, 7))
	var was [][]string
	var numbers []uint64
	for range 60 {
		storetest.RandomStep(t, s, r)
		_, doc := exported(t, s)
		was, numbers = append(was, shapeOf(doc)), append(numbers, storetest.View(t, s).Number)
	}
	v := storetest.View(t, s)
	for i, number := range numbers {
		if number == 0 {
			continue
		}
		doc := storetest.Must[*forestfile.Document](t)(s.ForestFile.Export(v, number))
		if err := forestfile.Encode(io.Discard, doc); err != nil {
			t.Fatal(err)
		}
		if doc.Operation != number || !slices.Equal(shapeOf(doc), was[i]) {
			t.Fatalf("operation %d: another forest", number)
		}
	}
	if _, err := s.ForestFile.Export(v, v.Number+1); err == nil {
		t.Error("an operation that is not yet was shown")
	}
}
