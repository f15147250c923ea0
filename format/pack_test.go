package format_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// samplePack returns a pack whose frames are plain bytes: the pack codec does not decompress
// frames.
func samplePack(t testing.TB, frames ...string) ([]byte, []format.PackBlock) {
	t.Helper()
	pack := []byte(format.PackMagic)
	var blocks []format.PackBlock
	for i, f := range frames {
		b := format.PackBlock{Kind: "hb"[i%2], Compressed: len(f), Raw: 2 * len(f)}
		head, err := format.AppendPackBlockHead(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
		pack = append(append(pack, head...), f...)
	}
	sum := sha256.Sum256(pack)
	return append(pack, sum[:]...), blocks
}

func packEntries() []format.PackEntry {
	var entries []format.PackEntry
	for i := range 5 {
		id := format.Sum([]byte{byte(i)})
		entries = append(entries, format.PackEntry{
			ID:        id,
			PackPlace: format.PackPlace{Header: int64(i), Body: int64(i) - 1},
			Sourced:   i%2 == 0,
		})
	}
	for i := range entries {
		if entries[i].Sourced {
			entries[i].Tag = 0xabcd0000 + uint32(i/3)
		}
	}
	return entries
}

func walkPack(b []byte) (format.ID, []format.PackBlock, []string, error) {
	var blocks []format.PackBlock
	var frames []string
	id, err := format.WalkPack(bytes.NewReader(b),
		int64(len(b)), func(b format.PackBlock, frame []byte) error {
			blocks, frames = append(blocks, b), append(frames, string(frame))
			return nil
		})
	return id, blocks, frames, err
}

func TestWalkPack(t *testing.T) {
	pack, blocks := samplePack(t, "header", "body", "more")
	id, got, frames, err := walkPack(pack)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, blocks) || !slices.Equal(frames, []string{"header", "body", "more"}) {
		t.Errorf("got %v %q", got, frames)
	}
	if want := format.Sum(pack[:len(pack)-format.PackTrailer]); id != want {
		t.Errorf("id %v, want %v", id, want)
	}
	for i := range pack {
		bad := slices.Clone(pack)
		bad[i] ^= 1
		if _, _, _, err := walkPack(bad); err == nil {
			t.Errorf("byte %d changed and nobody saw it", i)
		}
		if _, _, _, err := walkPack(pack[:i]); err == nil {
			t.Errorf("cut at %d and nobody saw it", i)
		}
	}
	stop := errors.New("stop")
	_, err = format.WalkPack(bytes.NewReader(pack), int64(len(pack)),
		func(format.PackBlock, []byte) error { return stop })
	if err != stop {
		t.Errorf("error of the callback became %v", err)
	}
	_, err = format.WalkPack(io.MultiReader(bytes.NewReader(pack[:20]), badReader{}),
		int64(len(pack)), func(format.PackBlock, []byte) error { return nil })
	if !errors.Is(err, os.ErrPermission) {
		t.Errorf("error of the reader became %v", err)
	}
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, os.ErrPermission }

func TestPackBlockLimits(t *testing.T) {
	for _, b := range []format.PackBlock{
		{}, {Kind: 'x', Compressed: 1, Raw: 1}, {Kind: 'h', Compressed: 0, Raw: 1},
		{Kind: 'h', Compressed: 1},
		{Kind: 'b', Compressed: 1, Raw: format.PackMaxRaw + 1}, {Kind: 'b', Compressed: 27, Raw: 1},
		{Kind: 'b', Compressed: -1, Raw: 1}, {Kind: 'b', Compressed: 1, Raw: -1},
	} {
		if _, err := format.AppendPackBlockHead(nil, b); err == nil {
			t.Errorf("%v was taken", b)
		}
	}
	if _, err := format.ParsePackBlockHead([]byte("h\xff\xff\xff\xff\xff\xff\xff\xff")); err ==
		nil {
		t.Error("4 GiB block was taken")
	}
}

func TestPackRecords(t *testing.T) {
	data := [][]byte{[]byte("a"), {}, bytes.Repeat([]byte{'x'}, 127),
		bytes.Repeat([]byte{'y'}, 128), bytes.Repeat([]byte{'z'}, 20000)}
	var raw []byte
	for _, d := range data {
		before := len(raw)
		raw = format.AppendPackRecord(raw, d)
		if got := len(raw) - before; got != format.PackRecordLen(len(d)) {
			t.Errorf("record of %d bytes takes %d, said %d", len(d), got,
				format.PackRecordLen(len(d)))
		}
	}
	off := 0
	for _, want := range data {
		got, next, err := format.PackRecord(raw, off)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("at %d: %d bytes, %v", off, len(got), err)
		}
		off = next
	}
	for _, bad := range []string{"", "\x02a", "\x80\x00", "\x81\x00a",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if _, _, err := format.PackRecord([]byte(bad), 0); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if _, _, err := format.PackRecord(raw, -1); err == nil {
		t.Error("offset -1 was taken")
	}
}

func TestPackMap(t *testing.T) {
	m := format.NewPackMap([]format.PackBlock{
		{Kind: 'h', Compressed: 5, Raw: 10}, {Kind: 'b', Compressed: 7, Raw: 100},
		{Kind: 'h', Compressed: 3, Raw: 20},
	})
	for _, test := range []struct {
		kind   byte
		at     int64
		n, off int
		offset int64
	}{{'h', 0, 0, 0, 11}, {'h', 9, 0, 9, 11}, {'h', 10, 2, 0, 41}, {'h', 29, 2, 19, 41},
		{'b', 99, 1, 99, 25}} {
		span, off, ok := m.Find(test.kind, test.at)
		if !ok || span.N != test.n || off != test.off || span.Offset != test.offset {
			t.Errorf("%c %d: %v %d %v", test.kind, test.at, span, off, ok)
		}
	}
	for _, at := range []int64{-1, 30, 1 << 50} {
		if _, _, ok := m.Find('h', at); ok {
			t.Errorf("position %d was found", at)
		}
	}
}

func TestSourceKey(t *testing.T) {
	key := func(s string) string {
		k, ok := format.SourceKey([]byte(s))
		if !ok {
			return ""
		}
		return hex.EncodeToString(k[:])
	}
	sum := sha256.Sum256([]byte("gemini-cli s1 m1"))
	want := hex.EncodeToString(sum[:16])
	for _, same := range []string{
		"entry 1\nsource gemini-cli s1 m1 0123456789abcdef\nbody x\n",
		"entry 1\nsource gemini-cli s1 m1\n",
	} {
		if got := key(same); got != want {
			t.Errorf("%q: %q", same, got)
		}
	}
	const uuid = "0a1b2c3d-0000-4000-8000-00000000000f"
	of := func(agent, session, message string) string {
		return key("entry 1\nsource " + agent + " " + session + " " + message + " 0\n")
	}
	for message, one := range map[string]bool{uuid: true, "summary:" + uuid: true,
		uuid + ":2": true, uuid + "0": false, "x" + uuid: false, strings.ToUpper(uuid): false,
		strings.ReplaceAll(uuid, "-", "0"): false, "m1": false} {
		if same := of("a", "s1", message) == of("a", "s2", message); same != one {
			t.Errorf("%s: the session counts: %v", message, !same)
		}
		if of("a", "s1", message) == of("b", "s1", message) {
			t.Errorf("%s: two agents have one key", message)
		}
	}
	for _, none := range []string{"", "entry 1\n", "source a b c\n", "entry 1\nsource a b\n",
		"entry 1\nsource a  c\n", "entry 1\nsource a b c"} {
		if got := key(none); got != "" {
			t.Errorf("%q: %q", none, got)
		}
	}
}

func sampleIndex(t testing.TB) ([]byte, []format.PackEntry, []format.PackBlock) {
	t.Helper()
	_, blocks := samplePack(t, "header", "body", "more")
	entries := packEntries()
	b, err := format.EncodePackIndex(format.Sum(nil), entries, blocks)
	if err != nil {
		t.Fatal(err)
	}
	return b, entries, blocks
}

func TestPackIndex(t *testing.T) {
	b, entries, blocks := sampleIndex(t)
	pack, gotEntries, gotBlocks, err := format.DecodePackIndex(b)
	if err != nil {
		t.Fatal(err)
	}
	if pack != format.Sum(nil) || !slices.Equal(gotEntries, entries) ||
		!slices.Equal(gotBlocks, blocks) {
		t.Errorf("got %v %v", gotEntries, gotBlocks)
	}
	for i := range b {
		bad := slices.Clone(b)
		bad[i] ^= 1
		if _, _, _, err := format.DecodePackIndex(bad); err == nil {
			t.Errorf("byte %d changed and nobody saw it", i)
		}
		if _, _, _, err := format.DecodePackIndex(b[:i]); err == nil {
			t.Errorf("cut at %d and nobody saw it", i)
		}
	}
}

func TestPackIndexRefuses(t *testing.T) {
	_, entries, blocks := sampleIndex(t)
	for name, change := range map[string]func(e []format.PackEntry) []format.PackEntry{
		"none":  func(e []format.PackEntry) []format.PackEntry { return nil },
		"twice": func(e []format.PackEntry) []format.PackEntry { return append(e, e[0]) },
		"header outside": func(e []format.PackEntry) []format.PackEntry {
			e[0].Header = 20
			return e
		},
		"body outside": func(e []format.PackEntry) []format.PackEntry {
			e[0].Body = 8
			return e
		},
		"negative header": func(e []format.PackEntry) []format.PackEntry {
			e[0].Header = -1
			return e
		},
	} {
		if _, err := format.EncodePackIndex(format.ID{}, change(slices.Clone(entries)),
			blocks); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := format.EncodePackIndex(format.ID{}, slices.Clone(entries), nil); err == nil {
		t.Error("no blocks: taken")
	}
}

// TestPackIndexLookUp compares look-ups in pieces with a read of the whole index, in an index that
// is large enough for a binary search.
func TestPackIndexLookUp(t *testing.T) {
	const n = 20000
	entries := make([]format.PackEntry, n)
	for i := range entries {
		id := format.Sum([]byte{byte(i), byte(i >> 8), 'x'})
		entries[i] = format.PackEntry{ID: id,
			PackPlace: format.PackPlace{Header: int64(i), Body: -1}, Sourced: i%3 == 0}
		if entries[i].Sourced {
			entries[i].Tag = uint32(i % 300)
		}
	}
	b, err := format.EncodePackIndex(format.ID{}, entries,
		[]format.PackBlock{{Kind: 'h', Compressed: n, Raw: n}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := format.OpenPackIndex(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if at, ok, err := x.Find(e.ID); !ok || err != nil || at != e.PackPlace {
			t.Fatalf("%v: %v %v %v", e.ID, at, ok, err)
		}
		near := e.ID
		near[31] ^= 1
		if _, ok, err := x.Find(near); ok || err != nil {
			t.Fatalf("%v is not there: %v %v", near, ok, err)
		}
		if got, found, err := x.Search(e.ID); got != i || !found || err != nil {
			t.Fatalf("number of %v: %d %v %v", e.ID, got, found, err)
		}
	}
	for tag := range uint32(301) {
		var want []format.ID
		for _, e := range entries {
			if e.Sourced && e.Tag == tag {
				want = append(want, e.ID)
			}
		}
		var got []format.ID
		tagged, err := x.Tagged(tag)
		for _, e := range tagged {
			got = append(got, e.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("tag %d: %d ids, want %d, %v", tag, len(got), len(want), err)
		}
	}
	for _, id := range []format.ID{{}, {0xff, 0xff, 0xff, 0xff}} {
		if _, ok, err := x.Find(id); ok || err != nil {
			t.Errorf("%v: %v %v", id, ok, err)
		}
	}
}

// TestPackPage compares the examples of the page with the output of the codecs.
func TestPackPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "format", "pack-1.md"))
	if err != nil {
		t.Fatal(err)
	}
	index, _, _ := sampleIndex(t)
	pack, _ := samplePack(t, "header", "body", "more")
	for name, b := range map[string][]byte{"pack": pack, "index": index} {
		if !strings.Contains(string(page), packDump(b)) {
			t.Errorf("the page does not have this %s:\n%s", name, packDump(b))
		}
	}
}

// packDump writes bytes as the page shows them: 32 bytes to a line in hexadecimal, and one * for
// lines that repeat the line before.
func packDump(b []byte) string {
	var out strings.Builder
	var before []byte
	star := false
	for line := range slices.Chunk(b, 32) {
		switch same := bytes.Equal(line, before); {
		case same && !star:
			out.WriteString("    *\n")
			star = true
		case !same:
			out.WriteString("    " + hex.EncodeToString(line) + "\n")
			star = false
		}
		before = line
	}
	return out.String()
}

func FuzzWalkPack(f *testing.F) {
	pack, _ := samplePack(f, "header", "body", "more")
	f.Add(pack)
	f.Add([]byte(format.PackMagic))
	f.Add(pack[:30])
	f.Fuzz(func(t *testing.T, b []byte) {
		_, blocks, frames, err := walkPack(b)
		if err != nil {
			return
		}
		again := []byte(format.PackMagic)
		for i, block := range blocks {
			head, err := format.AppendPackBlockHead(nil, block)
			if err != nil {
				t.Fatal(err)
			}
			again = append(append(again, head...), frames[i]...)
		}
		sum := sha256.Sum256(again)
		if !bytes.Equal(append(again, sum[:]...), b) {
			t.Fatal("a pack that was read is not printed back")
		}
	})
}

func FuzzDecodePackIndex(f *testing.F) {
	index, entries, _ := sampleIndex(f)
	f.Add(index)
	f.Add(index[:200])
	f.Add([]byte(format.PackIndexMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		lookUpPacked(b, entries[0].ID)
		pack, entries, blocks, err := format.DecodePackIndex(b)
		if err != nil {
			return
		}
		again, err := format.EncodePackIndex(pack, entries, blocks)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("an index that was read is not printed back: %v", err)
		}
	})
}

// lookUpPacked does what a reader does with an index whose digest it has not checked. Look-ups may
// fail, but they must not panic.
func lookUpPacked(b []byte, id format.ID) {
	x, err := format.OpenPackIndex(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	blocks, _ := x.Blocks()
	m := format.NewPackMap(blocks)
	if at, ok, err := x.Find(id); ok && err == nil {
		m.Find(format.PackHeaders, at.Header)
		m.Find(format.PackBodies, at.Body)
	}
	_, _ = x.Tagged(0xabcd0000)
	_ = x.Each(0, func(format.ID, format.PackPlace) (bool, error) { return true, nil })
}

func FuzzPackRecord(f *testing.F) {
	f.Add([]byte("\x01a\x00"), 0)
	f.Add(format.AppendPackRecord(nil, bytes.Repeat([]byte{'x'}, 200)), 0)
	f.Add([]byte("\x80\x00"), 0)
	f.Fuzz(func(t *testing.T, b []byte, off int) {
		data, next, err := format.PackRecord(b, off)
		if err != nil {
			return
		}
		if got := format.AppendPackRecord(nil, data); !bytes.Equal(got, b[off:next]) {
			t.Fatalf("record %x is not printed back", b[off:next])
		}
	})
}
