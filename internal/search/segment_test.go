package search

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

func segmentOf(t testing.TB, docs []Doc) (*Segment, []byte) {
	t.Helper()
	b := &Builder{}
	for _, d := range docs {
		b.Add(d)
	}
	seg, raw, err := b.Segment()
	if err != nil {
		t.Fatal(err)
	}
	return seg, raw
}

// A segment returns the documents that were added.
func TestSegmentHasWhatWasAdded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	docs := conversation(r, 300)
	seg, _ := segmentOf(t, docs)
	if seg.Docs() != len(docs) {
		t.Fatalf("%d documents", seg.Docs())
	}
	for _, d := range docs {
		found, err := seg.Find(d.Session, d.Seq, d.ID)
		if err != nil || len(found) != 1 {
			t.Fatalf("%v: %v, %v", d.ID, found, err)
		}
		id, version, err := seg.Entry(found[0])
		if err != nil || id != d.ID || version != d.Version {
			t.Fatalf("got %v %v %v, want %v %v", id, version, err, d.ID, d.Version)
		}
		when, _, err := seg.cold(found[0])
		if err != nil || !when.Equal(d.Time) {
			t.Fatalf("got %v %v, want %v", when, err, d.Time)
		}
		first, end := seg.Range(d.Session)
		if found[0] < first || found[0] >= end {
			t.Fatalf("%d is not in %d…%d", found[0], first, end)
		}
	}
	if found, err := seg.Find("a", 1, format.Sum([]byte("other"))); err != nil || found != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if first, end := seg.Range("nobody"); first != end {
		t.Errorf("a session that is not there has %d…%d", first, end)
	}
}

// A merged segment has the same bytes as a single segment of the same documents.
func TestMergeIsOneSegment(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		docs := conversation(r, 1+r.IntN(200))
		_, want := segmentOf(t, docs)
		list := make([]Builder, 1+r.IntN(5))
		inOrder := seed%3 == 0 // each builder has the documents after those of another one
		if inOrder {
			slices.SortFunc(docs, func(a, b Doc) int {
				return cmp.Or(strings.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq),
					bytes.Compare(a.ID[:], b.ID[:]))
			})
		}
		for i, d := range docs {
			at := r.IntN(len(list))
			if inOrder {
				at = len(list) - 1 - i*len(list)/len(docs)
			}
			list[at].Add(d)
		}
		var sources []Source
		for i := range list {
			seg, _, err := list[i].Segment()
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, Source{Segment: seg})
		}
		var got bytes.Buffer
		if _, _, err := Merge(&got, sources); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("seed %d: %d bytes, want %d", seed, got.Len(), len(want))
		}
	}
}

// A segment with changed bytes gives an error or other answers, and does not panic.
func FuzzSegment(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 40} {
		_, raw := segmentOf(f, conversation(r, n))
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		seg, err := OpenSegment(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		for _, query := range []string{"what did Bob think about the postgres port",
			"lexer parser.go"} {
			q, err := Parse(query)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []Options{{Limit: 5}, {Limit: 5, Session: "a", Role: "user"}} {
				if _, err := Rank([]Source{{Segment: seg}}, q, o); err != nil &&
					!errors.Is(err, ErrDamaged) {
					t.Fatal(err)
				}
			}
		}
		var out bytes.Buffer
		if _, _, err := Merge(&out, []Source{{Segment: seg}, {Segment: seg}}); err != nil &&
			!errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	})
}

// The same for every flipped byte of a segment.
func TestSegmentWithFlippedBytes(t *testing.T) {
	_, raw := segmentOf(t, conversation(rand.New(rand.NewPCG(4, 4)), 12))
	q, err := Parse("postgres port lexer")
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		bad := bytes.Clone(raw)
		bad[i] ^= 0x81
		seg, err := OpenSegment(bytes.NewReader(bad), int64(len(bad)))
		if err == nil {
			_, err = Rank([]Source{{Segment: seg}}, q, Options{Limit: 5})
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}

func TestManifest(t *testing.T) {
	want := &Manifest{
		Tips: []Tip{{Name: "a/main", ID: format.Sum([]byte("a"))},
			{Name: "b/main", ID: format.Sum([]byte("b"))}},
		Segments: []Part{
			{Name: "search-1", Hidden: map[uint32]bool{0: true, 7: false, 1 << 20: true}},
			{Name: "search-2", Hidden: map[uint32]bool{}},
		},
	}
	got, err := DecodeManifest(want.Encode())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if empty, err := DecodeManifest((&Manifest{}).Encode()); err != nil ||
		len(empty.Tips)+len(empty.Segments) != 0 {
		t.Errorf("got %+v, %v", empty, err)
	}
}
