package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// maker makes random objects.
type maker struct {
	*rand.Rand
	key Key
	ids []format.ID

	list []Object
}

var testKey = Key{1, 2, 3}

// tokens are what a value is made of, besides ids and random numbers.
var tokens = []string{
	"x", "", "message", "0", "1", "007", "18446744073709551616", "9007199254740992",
	"9007199254740993", "-1",
	"2026-11-21T00:42:09.328Z", "2026-02-30T00:42:09.328Z", "0001-01-01T00:00:00.000Z",
	"9999-12-31T23:59:59.999Z", "2026-11-21T00:42:09,328Z",
	"9f77ed91-4c41-4a3c-9d53-0c2f4b8f0a11", "9F77ED91-4c41-4a3c-9d53-0c2f4b8f0a11",
	"9f77ed9114c41-4a3c-9d53-0c2f4b8f0a1",
	"0f1e2d3c4b5a6978", "0f1e2d3c4b5a697g", strings.Repeat("a", 64), strings.Repeat("A", 64),
	"caf\u00e9", "\x7f",
}

func (m *maker) token() string {
	switch m.IntN(4) {
	case 0:
		if len(m.ids) > 0 {
			return m.ids[m.IntN(len(m.ids))].String()
		}
	case 1:
		return fmt.Sprint(m.IntN(100))
	}
	return tokens[m.IntN(len(tokens))]
}

func (m *maker) object() Object {
	kind := []string{"entry", "blob", "node", "summary", "unheard-of"}[m.IntN(5)]
	lines := []byte(kind + " 1\n")
	for range m.IntN(6) {
		line := []string{"parent", "seq", "time", "source", "interim", "body", "sha256:"}[m.IntN(7)]
		for range m.IntN(4) {
			line += " " + m.token()
		}
		lines = append(lines, line+"\n"...)
	}
	if m.IntN(20) == 0 {
		lines = append(lines, "control \x01\x00\x06\n"...)
	}
	if m.IntN(20) == 0 {
		lines = append(lines, "body sha256:\n"...)
	}
	o := Object{Header: lines}
	if m.IntN(4) > 0 {
		text := bytes.Repeat([]byte("word "), m.IntN(40))
		var body []byte
		switch m.IntN(3) {
		case 0:
			body = append(body, text...)
		case 1:
			body = append(append(body, newNonces(m.key).of(lines)...), text...)
		case 2:
			body = append(append(body, bytes.Repeat([]byte{9}, format.NonceLen)...), text...)
		}
		media := []string{"text/plain", "application/json"}[m.IntN(2)]
		if kind == "summary" && m.IntN(4) > 0 {
			body, media = append(bytes.Clone(body[:min(len(body), format.NonceLen)]),
				m.extract()...), format.MediaExtract
		}
		sum := format.SumBody(body, media)
		o.Header = fmt.Appendf(bytes.Clone(lines), "body sha256:%x %d %s\n", sum.Digest,
			sum.Size, sum.Media)
		if m.IntN(8) > 0 {
			o.Body = append([]byte{}, body...)
		}
	}
	o.ID = format.Sum(o.Header)
	m.ids, m.list = append(m.ids, o.ID), append(m.list, o)
	return o
}

func equal(a, b Object) bool {
	return a.ID == b.ID && bytes.Equal(a.Header, b.Header) && bytes.Equal(a.Body, b.Body) &&
		(a.Body == nil) == (b.Body == nil)
}

// What is encoded comes back, with the key of the pack; of other bytes nothing does.
func TestBlocks(t *testing.T) {
	for seed := range uint64(300) {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), key: testKey}
		var list []Object
		seen := map[format.ID]bool{}
		for range 1 + m.IntN(60) {
			if o := m.object(); !seen[o.ID] {
				seen[o.ID] = true
				list = append(list, o)
			}
		}
		far := list[:m.IntN(len(list))]
		near := list[len(far):]
		number := func(id format.ID) (uint32, bool) {
			i := slices.IndexFunc(far, func(o Object) bool { return o.ID == id })
			return uint32(i), i >= 0
		}
		named := func(n uint32) (format.ID, error) {
			if int(n) >= len(far) {
				return format.ID{}, errors.New("none")
			}
			return far[n].ID, nil
		}
		raw, digest := Encode(near, testKey, number)
		got, err := Decode(raw, len(near), digest, testKey, true, named)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range near {
			if !equal(near[i], got[i]) || got[i].Stored != (near[i].Body != nil) {
				t.Fatalf("seed %d: %q\n%q\nbecame %q\n%q", seed, near[i].Header, near[i].Body,
					got[i].Header, got[i].Body)
			}
		}
		heads, err := Decode(raw, len(near), digest, testKey, false, named)
		if err != nil ||
			!slices.EqualFunc(near, heads,
				func(a, b Object) bool { return a.ID == b.ID && b.Body == nil }) {
			t.Fatalf("seed %d: headers alone: %v", seed, err)
		}
		for range 20 {
			bad := bytes.Clone(raw)
			bad[m.IntN(len(bad))] ^= 1 << m.IntN(8)
			if got, err := Decode(bad, len(near), digest, testKey, true, named); err == nil &&
				!slices.EqualFunc(near, got, equal) {
				t.Fatalf("seed %d: other bytes gave other objects", seed)
			}
			cut := raw[:m.IntN(len(raw))]
			if _, err := Decode(cut, len(near), digest, testKey, true, named); err == nil {
				t.Fatalf("seed %d: cut at %d of %d, and read", seed, len(cut), len(raw))
			}
		}
	}
}

// What follows from the rest is not in a block: of a hundred messages no id, digest or nonce.
func TestBlockIsDense(t *testing.T) {
	var list []Object
	var parent format.ID
	for i := range 100 {
		lines := fmt.Appendf(nil,
			"entry 1\nparent %v\nseq %d\nsession talk\nkind message\nrole user\ntime "+
				"2026-11-21T00:42:09.%03dZ\n", parent, i+1, i)
		body := append(bytes.Clone(newNonces(testKey).of(lines)), "yes"...)
		sum := format.SumBody(body, format.MediaText)
		header := fmt.Appendf(lines, "body sha256:%x %d %s\n", sum.Digest, sum.Size, sum.Media)
		parent = format.Sum(header)
		list = append(list, Object{ID: parent, Header: header, Body: body})
	}
	raw, _ := Encode(list, testKey, nil)
	// Of each: template, form, size, media type, ten values, three letters.
	if most := 100*70 + 300; len(raw) > most {
		t.Errorf("%d bytes, %d are expected at most", len(raw), most)
	}
	for _, o := range list[1:] {
		if bytes.Contains(raw, o.ID[:]) || bytes.Contains(raw, o.Body[:format.NonceLen]) {
			t.Fatal("an id or a nonce is stored")
		}
	}
}

func FuzzDecode(f *testing.F) {
	raw, digest := Encode(sample(f), Key{}, nil)
	f.Add(raw, 2, digest[:])
	m := &maker{Rand: rand.New(rand.NewPCG(7, 1)), key: testKey}
	list := []Object{m.object(), m.object(), m.object()}
	raw, digest = Encode(list, testKey, nil)
	f.Add(raw, 3, digest[:])
	user := said(7, "user", format.MediaText, "Use port 5433.")
	raw, digest = Encode(
		[]Object{user,
			extractOf(line(user.ID, 7, "", 0, 9, "Use"), line(format.ID{1}, 7, "", 0, 9, "port"))},
		testKey, nil)
	f.Add(raw, 2, digest[:])
	f.Fuzz(func(t *testing.T, raw []byte, count int, sum []byte) {
		var digest format.ID
		copy(digest[:], sum)
		list, err := Decode(raw, count, digest, testKey, true, nil)
		if err != nil {
			return
		}
		for _, o := range list {
			if o.ID != format.Sum(o.Header) {
				t.Fatal("an id does not fit its header")
			}
		}
		again, same := Encode(list, testKey, nil)
		if same != digest {
			t.Fatal("another digest")
		}
		if back, err := Decode(again, count, digest, testKey, true, nil); err != nil ||
			!slices.EqualFunc(list, back, equal) {
			t.Fatalf("what was decoded does not come back: %v", err)
		}
	})
}

// A reader reads no further than it is asked to, and proves all that it has read at the end.
func TestReader(t *testing.T) {
	list := chat(50)
	raw, digest := Encode(list, testKey, nil)
	r, err := Open(raw, len(list), digest, testKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{20, 3, 21} {
		if o, err := r.At(i); err != nil || !equal(o, list[i]) {
			t.Fatalf("object %d: %v", i, err)
		}
	}
	if n := len(r.d.objects); n != 22 {
		t.Errorf("%d objects were read for 22", n)
	}
	if _, err := r.At(50); err == nil {
		t.Error("an object behind the last one was read")
	}
	if all, err := r.All(); err != nil || !slices.EqualFunc(all, list, equal) {
		t.Errorf("all: %v", err)
	}
	wrong, err := Open(raw, len(list), format.ID{1}, testKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o, err := wrong.At(7); err != nil || !equal(o, list[7]) {
		t.Errorf("one object of a block with another digest: %v", err)
	}
	if _, err := wrong.All(); err == nil {
		t.Error("a block with another digest was read")
	}
}

// Objects are the same in whatever order they are asked for, those that were passed over too.
func TestReaderInAnyOrder(t *testing.T) {
	for seed := range uint64(40) {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 3)), key: testKey}
		n := 1 + m.IntN(6*keptBefore)
		list := chat(n)
		if seed%2 == 0 { // also with extracts
			for range n {
				m.object()
			}
			list = m.list
		}
		raw, digest := Encode(list, testKey, nil)
		r, err := Open(raw, n, digest, testKey, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range m.IntN(8) {
			i := m.IntN(n)
			if o, err := r.At(i); err != nil || !equal(o, list[i]) {
				t.Fatalf("seed %d: object %d of %d: %v", seed, i, n, err)
			}
			if m.IntN(6) > 0 {
				continue
			}
			if got, err := r.All(); err != nil || !slices.EqualFunc(list, got, equal) {
				t.Fatalf("seed %d: all %d: %v", seed, n, err)
			}
		}
	}
}

// A block of an object without a header, which nobody writes, is read like any other.
func TestReaderOfNothing(t *testing.T) {
	raw := []byte{1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0}
	id := format.Sum(nil)
	r, err := Open(raw, 1, format.Sum(id[:]), testKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o, err := r.At(0); err != nil || o.ID != id || len(o.Header) > 0 {
			t.Errorf("%+v, %v", o, err)
		}
		if list, err := r.All(); err != nil || len(list) != 1 || list[0].ID != id {
			t.Errorf("%+v, %v", list, err)
		}
	}
}

// However a reader is asked, it says what Decode says.
func FuzzReader(f *testing.F) {
	list := chat(2 * keptBefore)
	raw, digest := Encode(list, testKey, nil)
	f.Add(raw, len(list), digest[:], []byte{100, 3, 120, 255, 1})
	raw, digest = Encode(list[:3], testKey, nil)
	f.Add(raw, 3, digest[:], []byte{2, 0, 255, 1})
	f.Fuzz(func(t *testing.T, raw []byte, count int, sum, asked []byte) {
		var digest format.ID
		copy(digest[:], sum)
		want, bad := Decode(raw, count, digest, testKey, true, nil)
		r, err := Open(raw, count, digest, testKey, nil)
		if err != nil {
			if bad == nil {
				t.Fatalf("cannot be opened: %v", err)
			}
			return
		}
		for _, i := range asked[:min(len(asked), 16)] {
			if i < 255 {
				if o, err := r.At(int(i)); bad == nil && int(i) < count &&
					(err != nil || !equal(o, want[i])) {
					t.Fatalf("object %d is another: %v", i, err)
				}
				continue
			}
			if got, err := r.All(); (err == nil) != (bad == nil) ||
				!slices.EqualFunc(want, got, equal) {
				t.Fatalf("all: %v, but Decode says %v", err, bad)
			}
		}
	})
}

// A block never has more words than a reader takes: what would be one too many is stored as it is.
func TestManyWords(t *testing.T) {
	var lines []byte
	for i := range maxWords + 100 {
		lines = fmt.Appendf(lines, "w%d x\n", i)
	}
	list := chat(3)
	for _, header := range [][]byte{append([]byte("strange 1\n"), lines...),
		append([]byte("list 1\n"), bytes.Repeat([]byte("n 1 2 3 4\n"), 200_000)...)} {
		list = append(list, Object{ID: format.Sum(header), Header: header})
	}
	raw, digest := Encode(list, testKey, nil)
	got, err := Decode(raw, len(list), digest, testKey, true, nil)
	if err != nil || !slices.EqualFunc(list, got, equal) {
		t.Fatal(err)
	}
	if len(raw) > 4<<20 {
		t.Errorf("%d bytes", len(raw))
	}
}

// A small block that claims to be large ends before it takes more memory than a header may.
func TestBlockThatGrows(t *testing.T) {
	const tokens = 8 << 20
	value := bytes.Repeat([]byte{tokenNear, 0, 0}, tokens)
	raw := binary.AppendUvarint(nil, 1)
	raw = append(binary.AppendUvarint(raw, 1), make([]byte, len(format.ID{}))...)
	raw = append(binary.AppendUvarint(raw, 1), "\x02x "...)
	raw = append(raw, 1, 1, 0)
	raw = append(raw, 1, 0, 0, 0, 0, 0)
	raw = append(binary.AppendUvarint(raw, uint64(len(value)+1)), value...)
	raw = append(raw, endOfValue)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Decode(raw, 1, format.ID{}, Key{}, true, nil); err == nil {
		t.Fatal("it was read")
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 6*format.MaxHeader {
		t.Errorf("%d bytes were allocated", used)
	}
}
