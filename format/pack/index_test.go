package pack

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// indexOf returns an index of n random objects, every third of which has a source.
func indexOf(
	t testing.TB, r *rand.Rand, n int,
) (b []byte, objects, sources []Entry, blocks []Block) {
	for i := range n {
		objects = append(objects, Entry{Prefix: r.Uint32() >> r.IntN(3), Number: uint32(i)})
		if i%3 == 0 {
			sources = append(sources, Entry{Prefix: r.Uint32N(1<<20) << 12, Number: uint32(i)})
		}
	}
	for left := n; left > 0; {
		k := min(left, 1+r.IntN(MaxObjects))
		blocks = append(blocks, Block{Kind: Whole, Frame: 10 + r.IntN(20), Raw: 40, Objects: k})
		left -= k
	}
	b, err := EncodeIndex(sha256.Sum256(nil), slices.Clone(objects), slices.Clone(sources), blocks)
	if err != nil {
		t.Fatal(err)
	}
	return b, objects, sources, blocks
}

// wanted returns the numbers of the entries with prefixes from first to last.
func wanted(list []Entry, first, last uint32) (numbers []uint32) {
	for _, e := range list {
		if e.Prefix >= first && e.Prefix <= last {
			numbers = append(numbers, e.Number)
		}
	}
	return numbers
}

// An index finds what a search of all entries finds, with and without a fan, and at each width of
// numbers.
func TestIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 70, fanFrom - 1, fanFrom, 4 * fanFrom, 70_000} {
		b, objects, sources, blocks := indexOf(t, r, n)
		x, err := OpenIndex(bytes.NewReader(b), int64(len(b)))
		if err != nil || x.Check() != nil || x.Len() != n {
			t.Fatalf("%d: %v", n, err)
		}
		same := func(what string, got []uint32, err error, want []uint32) {
			t.Helper()
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%d objects, %s: %v, %v expected, %v", n, what, got, want, err)
			}
		}
		for range 200 {
			prefix := objects[r.IntN(n)].Prefix
			got, err := x.Find(prefix)
			same("id", got, err, wanted(objects, prefix, prefix))
			other := r.Uint32()
			got, err = x.Find(other)
			same("another id", got, err, wanted(objects, other, other))
			first, last := prefix&^0xffff, prefix|0xffff
			got, err = x.Range(first, last)
			same("range", got, err, wanted(objects, first, last))
			tag := sources[r.IntN(len(sources))].Prefix
			got, err = x.Tagged(tag)
			same("source", got, err, wanted(sources, tag, tag))
		}
		var tags []uint32
		if err := x.EachTag(func(tag uint32) { tags = append(tags, tag) }); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(tags) || len(tags) != len(sources) {
			t.Errorf("%d objects: %d tags of %d sources, in order %v", n, len(tags), len(sources),
				slices.IsSorted(tags))
		}
		checkMap(t, x, blocks)
		if perObject := float64(len(b)) / float64(n); n >= 4096 && perObject > 10 {
			t.Errorf("%d objects: %.1f bytes for each", n, perObject)
		}
	}
}

func checkMap(t *testing.T, x *Index, blocks []Block) {
	t.Helper()
	m, err := x.Blocks()
	if err != nil || len(m.Spans) != len(blocks) {
		t.Fatalf("%d blocks of %d, %v", len(m.Spans), len(blocks), err)
	}
	at, first := int64(HeadSize), 0
	for i, s := range m.Spans {
		if s.Block != blocks[i] || s.Offset != at || s.First != first || s.N != i {
			t.Fatalf("block %d is %+v", i, s)
		}
		for _, k := range []int{0, s.Objects - 1} {
			if got, within, ok := m.Find(uint32(first + k)); !ok || got.N != i || within != k {
				t.Fatalf("object %d is in block %d at %d", first+k, got.N, within)
			}
		}
		at += BlockHead + int64(s.Frame)
		first += s.Objects
	}
	if _, _, ok := m.Find(uint32(first)); ok {
		t.Error("an object behind the last one was found")
	}
}

// What a head says of a block is within limits, so a reader may allocate it.
func TestBlockLimits(t *testing.T) {
	good := Block{Kind: Whole, Frame: 1, Raw: 1, Objects: 1}
	for name, change := range map[string]func(*Block){
		"kind": func(b *Block) { b.Kind = 'x' }, "no frame": func(b *Block) { b.Frame = 0 },
		"no raw": func(b *Block) { b.Raw = 0 }, "none": func(b *Block) { b.Objects = 0 },
		"raw":     func(b *Block) { b.Raw = MaxRaw + 1 },
		"frame":   func(b *Block) { b.Frame = 27 },
		"objects": func(b *Block) { b.Objects = MaxObjects + 1 },
		"below":   func(b *Block) { b.Frame = -1 },
	} {
		bad := good
		change(&bad)
		if _, err := AppendBlockHead(nil, bad); err == nil {
			t.Errorf("%s: %v was taken", name, bad)
		}
	}
	head, err := AppendBlockHead(nil, good)
	if err != nil {
		t.Fatal(err)
	}
	for at := 1; at < 13; at += 4 { // each number
		bad := bytes.Clone(head)
		copy(bad[at:], "\xff\xff\xff\xff")
		if b, err := ParseBlockHead(bad); err == nil {
			t.Errorf("byte %d: %v was taken", at, b)
		}
	}
}

// A version that is not known is told from damage.
func TestVersions(t *testing.T) {
	b, _, _, _ := indexOf(t, rand.New(rand.NewPCG(1, 1)), 3)
	var version *format.VersionError
	if _, err := OpenIndex(bytes.NewReader(bytes.Replace(b, []byte("idx 1"), []byte("idx 2"), 1)),
		int64(len(b))); !errors.As(err, &version) || version.Got != 2 {
		t.Errorf("index 2: %v", err)
	}
	if _, err := OpenIndex(bytes.NewReader(bytes.Replace(b, []byte("idx 1"), []byte("idy 1"), 1)),
		int64(len(b))); err == nil || errors.As(err, &version) {
		t.Errorf("no index: %v", err)
	}
	head := AppendHead(nil, testKey)
	if key, err := ParseHead(head); err != nil || key != testKey {
		t.Errorf("%v, %v", key, err)
	}
	if _, err := ParseHead(bytes.Replace(head, []byte("pack 1"), []byte("pack 4"),
		1)); !errors.As(err, &version) || version.Got != 4 {
		t.Errorf("pack 4: %v", err)
	}
}

func FuzzOpenIndex(f *testing.F) {
	for _, n := range []int{1, 70, fanFrom} {
		b, _, _, _ := indexOf(f, rand.New(rand.NewPCG(5, 6)), n)
		f.Add(b, uint32(7))
	}
	f.Fuzz(func(t *testing.T, b []byte, prefix uint32) {
		x, err := OpenIndex(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, list := range [][]uint32{find(x.Find(prefix)), find(x.Tagged(prefix))} {
			for _, n := range list {
				if int(n) >= x.Len() {
					t.Fatalf("object %d of %d", n, x.Len())
				}
			}
		}
		_ = x.EachTag(func(uint32) {})
		if m, err := x.Blocks(); err == nil {
			m.Find(prefix)
		}
	})
}

func find(list []uint32, _ error) []uint32 { return list }

func FuzzWalk(f *testing.F) {
	key := Key{4}
	raw, digest := Encode(sample(f), key, nil)
	head, err := AppendBlockHead(AppendHead(nil, key),
		Block{Kind: Whole, Frame: len(raw), Raw: len(raw), Objects: 2, Digest: digest})
	if err != nil {
		f.Fatal(err)
	}
	whole, _ := protect(append(head, raw...))
	f.Add(whole)
	f.Add(whole[:50])
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		id, err := Walk(bytes.NewReader(b),
			int64(len(b)), func(key Key, block Block, frame []byte) error {
				if again == nil {
					again = AppendHead(nil, key)
				}
				head, err := AppendBlockHead(again, block)
				again = append(head, frame...)
				return err
			})
		if err != nil {
			return
		}
		if again == nil {
			again = b[:HeadSize] // no block
		}
		if back, same := protect(again); same != id || !bytes.Equal(back, b) {
			t.Fatal("a pack that was read is written otherwise")
		}
		// What Restore makes of it is the same pack.
		if got, err := Restore(bytes.Clone(b), id); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("a whole pack is restored to another: %v", err)
		}
	})
}
