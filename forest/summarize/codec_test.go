package summarize

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

func codecSeeds() [][]byte {
	id := format.Sum([]byte("x"))
	return [][]byte{
		Encode(nil),
		Encode([]Sentence{{Text: "a"}}),
		Encode(
			[]Sentence{
				{Entry: id, Seq: 1<<64 - 1, Pos: 7, Weight: -3,
					Text: "<a> & \"b\"\\ \x01\n\t\r\u2028 é"}, {Entry: id, Role: "tool", Text: "z"},
			}),
		Encode(Extract(said("The port is 5433. It is open.", "Use src/a.go"), 100)),
		[]byte("[]"),
		[]byte("null"),
		bytes.Replace(Encode([]Sentence{{Text: "a"}}), []byte("a"), []byte(`\u0061`), 1),
	}
}

func TestEncode(t *testing.T) {
	zero := strings.Repeat("0", format.IDLen)
	got := string(
		Encode([]Sentence{{Seq: 3, Role: "user", Weight: 1250, Text: "Use <5433> \"\x02\n"},
			{Seq: 9, Role: "tool", Pos: 2, Weight: 800, Text: "It\u2028is"}}))
	want := "[\n" +
		`{"entry":"` + zero + `","seq":3,"pos":0,"weight":1250,"text":"Use <5433> \"\u0002\n"},` +
		"\n" +
		`{"entry":"` + zero + `","seq":9,"role":"tool","pos":2,"weight":800,"text":"It` + "\u2028" +
		`is"}` + "\n]\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(Encode(nil)); got != "[\n]\n" {
		t.Errorf("empty: %q", got)
	}
	if got := Encode([]Sentence{{Text: "a\xffb"}}); !bytes.Contains(got, []byte("a\uFFFDb")) {
		t.Errorf("bad UTF-8: %q", got)
	}
}

func TestDecode(t *testing.T) {
	for _, seed := range codecSeeds()[:4] {
		list, err := Decode(seed)
		if err != nil || !bytes.Equal(Encode(list), seed) {
			t.Errorf("%s: %v", seed, err)
		}
	}
	list := []Sentence{{Entry: format.Sum(nil), Role: "user", Seq: 5, Pos: 1, Weight: 9,
		Text: "a \x00 \u007f 😀"}}
	if got, err := Decode(Encode(list)); err != nil || !slices.Equal(got, list) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := string(Encode([]Sentence{{Seq: 1, Text: "a"}}))
	for _, tt := range [][2]string{
		{good, good + " "},
		{good, strings.TrimSuffix(good, "\n")},
		{`"seq":1`, `"seq":01`},
		{`"seq":1`, `"seq":-1`},
		{`"seq":1`, `"seq":1.0`},
		{`"seq":1,`, ``},
		{`"seq":1,`, `"seq":1,"more":2,`},
		{`"seq":1,`, `"seq":1,"role":"",`},
		{`"seq":1,`, `"seq":1,"role":"user",`},
		{`"seq":1,`, `"role":"tool","seq":1,`},
		{`"seq":1,`, `"seq":1,"role":"tool","role":"tool",`},
		{`"seq":1,`, `"seq":2,"seq":1,`},
		{`"seq"`, `"Seq"`},
		{`"pos":0`, `"pos":-1`},
		{`"a"`, `""`},
		{`"a"`, `"\u0061"`},
		{`"a"`, `"\/"`},
		{`"a"`, "\"\xff\""},
		{`"a"`, `"\ud800"`},
		{`000"`, `00A"`},
		{`000"`, `00"`},
		{good, "null"},
		{good, "[]"},
		{good, "[\nnull\n]\n"},
		{good, ""},
	} {
		if bad := strings.Replace(good, tt[0], tt[1], 1); bad == good {
			t.Errorf("%q changes nothing", tt)
		} else if list, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%q is accepted as %v", bad, list)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range codecSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := Decode(b)
		if err != nil {
			return
		}
		if again := Encode(list); !bytes.Equal(again, b) {
			t.Fatalf("%q reads as %v, which writes as %q", b, list, again)
		}
	})
}

func FuzzEncode(f *testing.F) {
	f.Add(uint64(0), 0, int64(0), "a")
	f.Add(uint64(1<<64-1), 9, int64(-1), "\"\\\n\x00é😀\u2028")
	f.Fuzz(func(t *testing.T, seq uint64, pos int, weight int64, text string) {
		list := []Sentence{{Seq: seq, Role: []string{"user", "model"}[seq%2], Pos: max(pos, 0),
			Weight: weight, Text: strings.ToValidUTF8(text, "?") + "."}}
		got, err := Decode(Encode(list))
		if err != nil || !slices.Equal(got, list) {
			t.Fatalf("%v comes back as %v, %v", list, got, err)
		}
	})
}
