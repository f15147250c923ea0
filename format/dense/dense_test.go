package dense

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

func id(n int) format.ID { return format.Sum(fmt.Appendf(nil, "object %d", n)) }

// world is the objects of a store, by the first bytes of their ids.
type world map[Prefix][]format.ID

func objects(n int) world {
	w := world{}
	for i := range n {
		w.add(id(i))
	}
	return w
}

func (w world) add(id format.ID) { w[Prefix(id[:])] = append(w[Prefix(id[:])], id) }

func (w world) present(ids []format.ID) ([]bool, error) {
	there := make([]bool, len(ids))
	for i, id := range ids {
		there[i] = slices.Contains(w[Prefix(id[:])], id)
	}
	return there, nil
}

func (w world) find(prefixes []Prefix, first bool) ([][]format.ID, error) {
	found := make([][]format.ID, len(prefixes))
	for i, p := range prefixes {
		found[i] = w[p]
		if first {
			found[i] = found[i][:min(1, len(found[i]))]
		}
	}
	return found, nil
}

// records returns operations as a store makes them, one behind the other.
func records(t testing.TB, r *rand.Rand, count int) []byte {
	t.Helper()
	var out []byte
	before := format.ID{}
	tip := format.Value{}
	for n := range count {
		op := &format.Operation{Number: uint64(n + 1), Before: before,
			Time: time.UnixMilli(int64(n) * 1000), Verb: "append", Session: "s",
			Effects: format.Effects{Extends: true, Undo: format.UndoTakes}}
		next := format.Value{Kind: format.SessionValue, ID: id(r.IntN(200)), Frontier: uint64(n)}
		if r.IntN(3) == 0 {
			next.Pin = id(1000 + n)
		}
		if next != tip {
			op.Refs = append(op.Refs,
				format.RefUpdate{Name: "forests/main",
					New: format.Value{Kind: format.ObjectValue, ID: id(r.IntN(100))}})
			op.Refs = append(op.Refs,
				format.RefUpdate{Name: "sessions/s/main", Old: tip, New: next})
			tip = next
		}
		f := format.ForestUpdate{Name: "main"}
		for range r.IntN(20) {
			d := format.Decision{Kind: format.DecideJoin, Cluster: uint64(r.IntN(300)),
				ID: id(r.IntN(400))}
			switch r.IntN(8) {
			case 0:
				d.Kind, d.Offset, d.Count, d.Interim = format.DecideSettle, 3, 5, r.IntN(2) == 0
			case 1:
				d.Kind, d.Offset = format.DecideRetract, 7
			}
			f.Decisions = append(f.Decisions, d)
		}
		if len(f.Decisions) > 0 {
			op.Forests = []format.ForestUpdate{f}
		}
		if r.IntN(10) == 0 {
			op.Objects =
				[]format.Raw{{Header: []byte(
					"blob 1\nbody " +
						"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 " +
						"0 text/plain\n"), Body: []byte{}}}
		}
		record, digest, err := op.Encode()
		if err != nil {
			t.Fatal(err)
		}
		before = digest
		out = append(out, record...)
	}
	return out
}

// TestRoundTrip codes blocks of many kinds, in stores that have some of the objects.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		plain := records(t, r, 1+r.IntN(60))
		w := objects(r.IntN(400))
		block, raw, err := Encode(plain, w.present)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseBlock(block.Payload())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := again.Decode(raw, w.find)
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("seed %d: %d bytes of %d, %v", seed, len(got), len(plain), err)
		}
	}
}

// TestAmbiguous decodes a block in a store that has other objects with the same first bytes by now.
func TestAmbiguous(t *testing.T) {
	plain := records(t, rand.New(rand.NewPCG(5, 1)), 100)
	w := objects(400)
	block, raw, err := Encode(plain, w.present)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		if i%23 != 0 {
			continue
		}
		other := id(i)
		other[31] ^= 1
		p := Prefix(other[:])
		w[p] = []format.ID{other, id(i)} // the wrong one comes first
	}
	got, err := block.Decode(raw, w.find)
	if err != nil || !bytes.Equal(got, plain) {
		t.Fatalf("%d bytes of %d, %v", len(got), len(plain), err)
	}
}

// TestMissing says which object a block needs.
func TestMissing(t *testing.T) {
	plain := records(t, rand.New(rand.NewPCG(5, 1)), 20)
	w := objects(400)
	block, raw, err := Encode(plain, w.present)
	if err != nil {
		t.Fatal(err)
	}
	c, err := split(raw)
	if err != nil || len(c.prefixes) == 0 {
		t.Fatal(err)
	}
	gone := c.prefixes[len(c.prefixes)/2]
	delete(w, gone)
	var missing *MissingError
	if _, err := block.Decode(raw, w.find); !errors.As(err, &missing) || missing.Prefix != gone {
		t.Errorf("got %v, want the lack of %x", err, gone)
	}
}

// TestOnlyWhatStays: forests and pins may go, and what a user's ref names may move, so their ids
// are never shortened.
func TestOnlyWhatStays(t *testing.T) {
	op := &format.Operation{Number: 1, Verb: "checkpoint", Time: time.UnixMilli(1),
		Effects: format.Effects{Undo: format.UndoPasses},
		Refs: []format.RefUpdate{
			{Name: "forests/main", New: format.Value{Kind: format.ObjectValue, ID: id(1)}},
			{Name: "sessions/s/main",
				New: format.Value{Kind: format.SessionValue, ID: id(2), Pin: id(3)}},
			{Name: "state/session/s", New: format.Value{Kind: format.ObjectValue, ID: id(4)}},
			{Name: "user/x", New: format.Value{Kind: format.ObjectValue, ID: id(5)}},
		}}
	record, _, err := op.Encode()
	if err != nil {
		t.Fatal(err)
	}
	_, raw, err := Encode(record, objects(10).present)
	if err != nil {
		t.Fatal(err)
	}
	c, err := split(raw)
	if err != nil {
		t.Fatal(err)
	}
	two, four := id(2), id(4)
	if want := []Prefix{Prefix(two[:]), Prefix(four[:])}; !slices.Equal(c.prefixes, want) {
		t.Errorf("prefixes %x, want those of the tip and the state, %x", c.prefixes, want)
	}
}

// TestDamagedBlocks flips each byte of a block: it decodes to what it was, or not at all.
func TestDamagedBlocks(t *testing.T) {
	plain := records(t, rand.New(rand.NewPCG(9, 1)), 12)
	w := objects(200)
	block, raw, err := Encode(plain, w.present)
	if err != nil {
		t.Fatal(err)
	}
	for at := range raw {
		bad := bytes.Clone(raw)
		bad[at] ^= 0x41
		if got, err := block.Decode(bad, w.find); err == nil && !bytes.Equal(got, plain) {
			t.Fatalf("byte %d changed: other records", at)
		}
	}
}

// TestLeftOver adds what no record takes to each column of a block. The records are as they were,
// and yet the block has another form than Encode gives them.
func TestLeftOver(t *testing.T) {
	plain := records(t, rand.New(rand.NewPCG(9, 1)), 12)
	w := objects(200)
	block, raw, err := Encode(plain, w.present)
	if err != nil {
		t.Fatal(err)
	}
	for name, add := range map[string]func(*columns){
		"place":  func(c *columns) { c.places = append(slices.Clip(c.places), placeLiteral) },
		"id":     func(c *columns) { c.literals = slices.Concat(c.literals, make([]byte, idSize)) },
		"record": func(c *columns) { c.shapes = append(slices.Clip(c.shapes), formWhole) },
	} {
		c, err := split(raw)
		if err != nil {
			t.Fatal(err)
		}
		add(&c)
		if _, err := block.Decode(c.bytes(), w.find); !errors.Is(err, errLeft) {
			t.Errorf("a %s too many: %v", name, err)
		}
	}
}

// FuzzEncode codes any operations, and any bytes in the frame of a record: what is decoded is what
// was encoded.
func FuzzEncode(f *testing.F) {
	f.Add(uint64(1), 3, []byte{1, 1, 2, 3})
	f.Add(uint64(2), 40, []byte{})
	f.Fuzz(func(t *testing.T, seed uint64, count int, payload []byte) {
		r := rand.New(rand.NewPCG(seed, 2))
		plain := records(t, r, 1+int(uint(count)%50))
		plain = format.AppendRecord(plain, payload)
		plain = append(plain, records(t, r, 2)...)
		w := objects(int(seed % 400))
		block, raw, err := Encode(plain, w.present)
		if err != nil {
			t.Fatal(err)
		}
		if block, err = ParseBlock(block.Payload()); err != nil {
			t.Fatal(err)
		}
		if got, err := block.Decode(raw, w.find); err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%d bytes of %d, %v", len(got), len(plain), err)
		}
	})
}

// FuzzDecode reads any bytes as a block: no panic, and no result but one with the digest.
func FuzzDecode(f *testing.F) {
	w := objects(200)
	block, raw, err := Encode(records(f, rand.New(rand.NewPCG(9, 1)), 12), w.present)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(block.Payload(), raw)
	f.Add([]byte{3}, []byte{1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, payload, raw []byte) {
		b, err := ParseBlock(payload)
		if err != nil {
			return
		}
		if got, err := b.Decode(raw, w.find); err == nil && format.Sum(got) != b.Digest {
			t.Fatal("a result without its digest")
		}
	})
}
