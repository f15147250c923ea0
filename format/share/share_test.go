package share_test

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
)

const store = "5a6f9c1e0b7d4832a1c4e6f80b9d2e37"

var (
	when = time.Date(2026, 11, 21, 0, 42, 9, 328e6, time.UTC)
	one  = format.Sum([]byte("one"))
	two  = format.Sum([]byte("two"))
	key  = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
)

func samplePushes() []*share.Push {
	ids := []format.ID{one, two}
	if ids[0].Compare(ids[1]) > 0 {
		ids[0], ids[1] = ids[1], ids[0]
	}
	return []*share.Push{
		{Store: store, Number: 1, Time: when},
		{Store: store, Number: 2, Before: one, Time: when, At: 7, Forest: two, Forgot: ids,
			Branches: []share.Branch{{Session: "a b", Name: "main", Tip: one},
				{Session: "c", Name: "child", Tip: two}},
			Ends: []share.Branch{{Session: "kept", Name: "main"}},
			Gone: []share.Branch{{Session: "gone", Name: "main"}},
			Parents: []share.Parent{{Session: "a b", Of: "c", Call: "call 1"},
				{Session: "c", Of: "d"}},
			Abouts: []share.About{{Session: "a b", Blob: two}, {Session: "c"}}},
	}
}

func sampleHead() *share.Head {
	return &share.Head{Store: store, Label: "laptop", Number: 12, Digest: one, Time: when,
		Trash: []share.Trash{{Time: when, Name: "log/1-3-" + two.String()}}}
}

func TestPush(t *testing.T) {
	for _, want := range samplePushes() {
		b, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, digest, err := share.DecodePush(b)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if digest != format.Sum(b) || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestHead(t *testing.T) {
	h := sampleHead()
	b, err := h.Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := share.DecodeHead(b)
	if err != nil || !reflect.DeepEqual(got, h) {
		t.Errorf("got %+v, error %v, want %+v", got, err, h)
	}
	// No byte of a head can be changed.
	for i := range b {
		c := bytes.Clone(b)
		c[i] ^= 1
		if _, err := share.DecodeHead(c); err == nil {
			t.Errorf("byte %d changed, and nobody sees it:\n%s", i, c)
		}
	}
}

func TestRefused(t *testing.T) {
	good, err := samplePushes()[1].Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to string }{
		{"push 1", "push 2"},
		{"number 2", "number 02"},
		{"number 2", "number 1"},
		{"a%20b", "a b"},
		{"end kept main\n", "end gone main\nend gone main\n"},
		{"forest ", "wood "},
		{store, strings.ToUpper(store)},
		{"time 2026-11-21T00:42:09.328Z\n", ""},
	} {
		bad := strings.Replace(string(good), c.from, c.to, 1)
		if bad == string(good) {
			t.Fatalf("%q is not in the sample", c.from)
		}
		if _, _, err := share.DecodePush([]byte(bad)); err == nil {
			t.Errorf("takes %q", bad)
		}
	}
}

func TestSegment(t *testing.T) {
	want := [][]byte{[]byte("push 1\n"), []byte("x"), bytes.Repeat([]byte("y"), 1000)}
	b := share.EncodeSegment(want)
	got, err := share.DecodeSegment(b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, error %v", got, err)
	}
	for _, bad := range []string{"7\npush 1", "07\npush 1\n", "-1\n", "x", "0\n",
		"99999999999999999999\n"} {
		if _, err := share.DecodeSegment([]byte(bad)); err == nil {
			t.Errorf("takes %q", bad)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		b     string
		known []string
		ok    bool
	}{
		{string(share.Format()), nil, true},
		{string(share.Format("age")), []string{"age"}, true},
		{string(share.Format("age")), nil, false},
		{"remote 2\n", nil, false},
		{"ctx-remote 1\n", nil, false},
		{"remote 1\nunknown line\n", nil, false},
		{"ref: refs/heads/main\n", nil, false},
		{"", nil, false},
	} {
		if err := share.CheckFormat([]byte(c.b), c.known...); (err == nil) != c.ok {
			t.Errorf("%q: error %v", c.b, err)
		}
	}
}

func TestFileName(t *testing.T) {
	f := share.File{First: 3, Last: 17, Digest: one}
	folder, got, err := share.ParseFileName(share.PackFolder + f.Name())
	if err != nil || got != f || folder != share.PackFolder {
		t.Errorf("got %v in %q, error %v", got, folder, err)
	}
	for _, bad := range []string{"", "log/", "log/1-2", "pack/2-1-" + one.String(),
		"log/01-2-" + one.String(), "head", "tree/1-2-" + one.String()} {
		if _, _, err := share.ParseFileName(bad); err == nil {
			t.Errorf("takes %q", bad)
		}
	}
}

// The example in docs/format/remote.md is what is written.
func TestPage(t *testing.T) {
	tip, err := format.ParseID("7385fa2b09c206005203904a7e8a5e568b636feb8b2a1499f88f7bc5b56fd89c")
	if err != nil {
		t.Fatal(err)
	}
	p := &share.Push{Store: store, Number: 1, Time: when,
		Branches: []share.Branch{{Session: "9f77ed91-4c41-4a3c-9d53-0c2f4b8f0a11",
			Name: "main", Tip: tip}}}
	push, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	h := &share.Head{Store: store, Label: "laptop", Number: 1, Digest: format.Sum(push), Time: when}
	head, err := h.Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/format/remote.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{push, head, share.Format()} {
		want := "    " + strings.ReplaceAll(strings.TrimSuffix(string(b), "\n"), "\n", "\n    ") +
			"\n"
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks\n%s", want)
		}
	}
}

// FuzzDecode holds that what is accepted is what would be written, and that nothing else happens.
func FuzzDecode(f *testing.F) {
	for _, p := range samplePushes() {
		b, err := p.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(share.EncodeSegment([][]byte{b, b}))
	}
	b, err := sampleHead().Encode(key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(share.Format("age"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, _, err := share.DecodePush(b); err == nil {
			if again, err := p.Encode(); err != nil || !bytes.Equal(again, b) {
				t.Errorf("%q is written as %q, error %v", b, again, err)
			}
		}
		if list, err := share.DecodeSegment(b); err == nil &&
			!bytes.Equal(share.EncodeSegment(list), b) {
			t.Errorf("%q is another segment when it is written", b)
		}
		_, _ = share.DecodeHead(b)
		_ = share.CheckFormat(b, "age")
		_, _, _ = share.ParseFileName(string(b))
	})
}
