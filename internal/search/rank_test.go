package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// vocabulary holds words, names, numbers and a few words that no text has.
var vocabulary = strings.Fields(
	"postgres port 5433 migration schema parser.go lexer token panic deploy rollback v1.2.3 " +
		"camelCase internal/locker/client.go wrote write door cabinet never-said")

func text(r *rand.Rand, n int) string {
	var list []string
	for range n {
		list = append(list, vocabulary[r.IntN(len(vocabulary)-1)])
	}
	return strings.Join(list, " ") + []string{"", ".", "?"}[r.IntN(3)]
}

// conversation makes documents of some sessions. Sometimes two have the same place, like a note
// beside its message.
func conversation(r *rand.Rand, n int) []Doc {
	var docs []Doc
	seq := map[string]uint64{}
	for i := range n {
		d := Doc{
			ID: format.Sum(fmt.Append(nil, n, i)), Session: string(rune('a' + r.IntN(3))),
			Role:   roles[r.IntN(len(roles))],
			Author: []string{"", "ann", "bob", "Grad C"}[r.IntN(4)],
			Time:   time.UnixMilli(int64(i) * 1000).UTC(), Text: text(r, r.IntN(14)),
		}
		d.Version, d.Calls = d.ID, r.IntN(6) == 0
		if d.Note = r.IntN(9) == 0; !d.Note {
			seq[d.Session]++
		}
		if d.Seq = seq[d.Session]; r.IntN(9) == 0 {
			d.Version = format.Sum(fmt.Append(nil, n, i, "amended"))
		}
		docs = append(docs, d)
	}
	return docs
}

// spread distributes documents over several segments, merges some of them, and adds hidden
// documents.
func spread(t *testing.T, r *rand.Rand, docs []Doc) []Source {
	t.Helper()
	b := make([]Builder, 1+r.IntN(4))
	hide := map[format.ID]bool{}
	for i, d := range docs {
		b[r.IntN(len(b))].Add(d)
		if r.IntN(4) == 0 { // an older version, or a rewound document
			d.Version, d.Text = format.Sum(fmt.Append(nil, i, "old")), text(r, r.IntN(20))
			hide[d.Version] = r.IntN(2) == 0
			b[r.IntN(len(b))].Add(d)
		}
	}
	var list []Source
	for i := range b {
		seg, _, err := b[i].Segment()
		if err != nil {
			t.Fatal(err)
		}
		src := Source{Segment: seg, Hidden: map[uint32]bool{}}
		for doc := range uint32(seg.Docs()) {
			_, version, err := seg.Entry(doc)
			if err != nil {
				t.Fatal(err)
			}
			if rewound, ok := hide[version]; ok {
				src.Hidden[doc] = rewound
			}
		}
		list = append(list, src)
	}
	if n := 1 + r.IntN(len(list)); n > 1 {
		list = append(list[n:], mergeAllOf(t, list[:n]))
	}
	return list
}

func mergeAllOf(t *testing.T, list []Source) Source {
	t.Helper()
	var buf bytes.Buffer
	docs, hidden, err := Merge(&buf, list)
	if err != nil {
		t.Fatal(err)
	}
	seg, err := OpenSegment(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if seg.Docs() != docs {
		t.Fatalf("%d documents, want %d", seg.Docs(), docs)
	}
	return Source{Segment: seg, Hidden: hidden}
}

func hitsText(hits []Hit) []string {
	var list []string
	for _, h := range hits {
		line := fmt.Sprintf("%v %v %s %d %x %v %v", h.ID.Short(8), h.Version.Short(8), h.Session,
			h.Seq, h.Score, h.Spare, h.Equal)
		for _, c := range h.Copies {
			line += " " + c.ID.Short(8)
		}
		list = append(list, line)
	}
	return list
}

// Ranks depend neither on the distribution of documents over segments, nor on hidden documents, and
// equal those of a naive computation.
func TestRankIsTheSimpleRank(t *testing.T) {
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := r.IntN(120)
		if seed%200 == 199 { // more than hot rows are read of at a time
			n = hotBlock + 100
		}
		docs := conversation(r, n)
		sources := spread(t, r, docs)
		o := Options{Limit: 1 + r.IntN(60), Whole: r.IntN(2) * r.IntN(12)}
		if r.IntN(3) == 0 {
			o.Session = "b"
		}
		if r.IntN(4) == 0 {
			o.Role = "user"
		}
		if r.IntN(4) == 0 {
			o.Except = "a"
		}
		if r.IntN(4) == 0 {
			o.Since = time.UnixMilli(int64(r.IntN(120)) * 1000)
		}
		if r.IntN(4) == 0 {
			o.Until = time.UnixMilli(int64(r.IntN(120)) * 1000)
		}
		question := []string{"What did Bob think about ", "How many ", "Grad C ",
			"What did I say about ", ""}[r.IntN(5)] +
			vocabulary[r.IntN(len(vocabulary))] + " " + text(r, r.IntN(4))
		q, err := Parse(question)
		if err != nil {
			t.Fatal(err)
		}
		if seed%2 == 1 {
			q.Widen()
		}
		got, err := Rank(sources, q, o)
		if err != nil {
			t.Fatal(err)
		}
		want := simply(docs, q, o)
		if a, b := hitsText(got), hitsText(want); !slices.Equal(a, b) {
			t.Fatalf("seed %d, %q, %+v:\n got %q\nwant %q", seed, question, o, a, b)
		}
	}
}

// A question about what the user said has the answer of a user first; any other question does not.
func TestQuestionAboutOnesOwnWords(t *testing.T) {
	var docs []Doc
	for i, d := range []Doc{
		{Role: "model", Text: "The nightly migration of the piers runs at four, after the backup ends."},
		{Role: "user", Text: "Never start the migration of the piers by hand while a ship is there."},
		{Role: "user", Text: "The migration of the piers says:" + strings.Repeat(" pier", 900)},
	} {
		d.ID, d.Session, d.Seq = format.Sum(fmt.Append(nil, i)), "a", uint64(40*i+1)
		d.Version = d.ID
		docs = append(docs, d)
	}
	segment, _ := segmentOf(t, docs)
	for question, first := range map[string]uint64{
		"when does the nightly migration run":                1,
		"how do the migrations of the piers run after four":  1,
		"what did I say about the migration of the piers":    41,
		"which migration of the piers must we never start":   41,
		"what I forbade about the migration of the piers":    41,
		"why must the migration of the piers not run":        41,
		"the migration of the piers must run at four":        1,
		"how do I get the migration of piers to run at four": 1,
		"did we decide anything about migrations at a pier?": 41,
	} {
		q, err := Parse(question)
		if err != nil {
			t.Fatal(err)
		}
		hits, err := Rank([]Source{{Segment: segment}}, q, Options{Limit: 2})
		if err != nil || len(hits) != 2 || hits[0].Seq != first {
			t.Errorf("%q: %+v, %v; want #%d first", question, hits, err, first)
		}
	}
}
