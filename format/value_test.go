package format_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

func TestValues(t *testing.T) {
	for _, s := range []string{
		"object " + hexOf,
		"session " + hexOf + " 0 - 0",
		"session " + hexOf + " 18446744073709551615 " + hexOf + " 30",
		"name a",
		"name caf%C3%A9%20noir",
	} {
		v, err := format.ParseValue(s)
		if err != nil || !v.Exists() || v.String() != s {
			t.Errorf("%q: got %q, error %v", s, v, err)
		}
	}
}

func TestValuesRefused(t *testing.T) {
	for _, s := range []string{
		"", "object", "object ", "object  " + hexOf, "object " + hexOf + " ", "object " + zeroHex,
		"object " + strings.ToUpper(hexOf),
		"Object " + hexOf, "session " + hexOf, "session " + hexOf + " 1 - 2",
		"session " + hexOf + " 1 " + zeroHex + " 1",
		"session " + hexOf + " 1 x 1", "session " + hexOf + " -1 - 0",
		"session " + zeroHex + " 1 - 0", "session " + hexOf + " 01 - 0",
		"name", "name ", "name a b", "name a/b", "name ..", "name %20a", "name %61", "name a%00",
		"blob " + hexOf,
	} {
		if v, err := format.ParseValue(s); err == nil {
			t.Errorf("%q was read as %q", s, v)
		}
	}
	if (format.Value{}).String() != "" || (format.Value{}).Exists() {
		t.Error("the zero value exists")
	}
}

func TestEncodeName(t *testing.T) {
	tests := []struct{ name, want string }{
		{"main", "main"},
		{"AZaz09._@:+/-", "AZaz09._@:+/-"},
		{"a b", "a%20b"},
		{"%", "%25"},
		{"é", "%C3%A9"},
		{"\n\x00\x7f", "%0A%00%7F"},
		{"~\"", "%7E%22"},
		{strings.Repeat("a", 200), strings.Repeat("a", 200)},
	}
	for _, tt := range tests {
		got, err := format.EncodeName(tt.name)
		if err != nil || got != tt.want {
			t.Errorf("%q: got %q, error %v, want %q", tt.name, got, err, tt.want)
		}
		if back, err := format.DecodeName(got); err != nil || back != tt.name {
			t.Errorf("%q: came back as %q, error %v", tt.name, back, err)
		}
	}
	for _, s := range []string{"", "\xff", "a\xc3", strings.Repeat("a", 201),
		strings.Repeat("%", 67)} {
		if got, err := format.EncodeName(s); err == nil {
			t.Errorf("%q was written as %q", s, got)
		}
	}
	for _, s := range []string{"", "%", "%4", "%zz", "%c3%a9", "%41", "%2F", "a b", "é", "%FF", "~",
		strings.Repeat("a", 201)} {
		if got, err := format.DecodeName(s); err == nil {
			t.Errorf("%q was read as %q", s, got)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, s := range []string{"a", "main", "a b", "...", ".hidden", "-x", "NUL", "café", "用户",
		"a:b@c", strings.Repeat("é", 33)} {
		if err := format.CheckName(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{
		"", ".", "..", "a/b", "/", " a", "a ", "\u00a0a", "a\tb", "a\x00", "a\x7f", "a\u0085b",
		"a\u2028b", "a\xff", strings.Repeat("é", 34),
	} {
		if err := format.CheckName(s); err == nil {
			t.Errorf("%q is a name", s)
		}
	}
}

func TestCheckRefName(t *testing.T) {
	half := strings.Repeat("a", 199)
	for _, s := range []string{"HEAD", "sessions/s/main", "user/a b", half + "/" + half,
		half + "/" + half + "a"} {
		if err := format.CheckRefName(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"", "/", "a/", "/a", "a//b", "a/../b", "a/ b",
		half + "/" + half + "/a", strings.Repeat("a", 201)} {
		if err := format.CheckRefName(s); err == nil {
			t.Errorf("%q is a ref name", s)
		}
	}
}

func TestTimes(t *testing.T) {
	for _, s := range []string{"2026-11-21T00:42:09.328Z", "0000-01-01T00:00:00.000Z",
		"9999-12-31T23:59:59.999Z", "2024-02-29T12:00:00.000Z"} {
		got, err := format.ParseTime(s)
		if err != nil || format.FormatTime(got) != s {
			t.Errorf("%q: got %q, error %v", s, format.FormatTime(got), err)
		}
	}
	for _, s := range []string{
		"", "2026-11-21", "2026-11-21T00:42:09Z", "2026-11-21T00:42:09.32Z",
		"2026-11-21T00:42:09.3280Z", "2026-11-21t00:42:09.328z",
		"2026-11-21 00:42:09.328Z", "2026-11-21T00:42:09.328+01:00", "2026-11-21T24:00:00.000Z",
		"2026-02-29T00:00:00.000Z",
		"2026-11-21T23:59:60.000Z", "2026-11-21T0:42:09.328Z", "2026-11-21T00:42:09,328Z",
		"-001-01-01T00:00:00.000Z",
	} {
		if got, err := format.ParseTime(s); err == nil {
			t.Errorf("%q was read as %v", s, got)
		}
	}
	if got := format.FormatTime(time.Date(2026, 1, 1, 0, 0, 0, 999_999,
		time.FixedZone("", 3600))); got != "2025-12-31T23:00:00.000Z" {
		t.Errorf("got %s", got)
	}
}

// Times are read and written as the standard library does with the same layout.
func TestTimesAsTheLibrary(t *testing.T) {
	const layout = "2006-01-02T15:04:05.000Z"
	r := rand.New(rand.NewPCG(7, 7))
	for range 50_000 {
		at := time.UnixMilli(r.Int64N(253402300800000*3) - 253402300800000).UTC()
		want := at.Format(layout)
		if got := format.FormatTime(at); got != want {
			t.Fatalf("%v is written as %q", at, got)
		}
		b := []byte(want)
		for range r.IntN(3) {
			b[r.IntN(len(b))] = "0123456789-T:.Z,"[r.IntN(16)]
		}
		s := string(b)
		known, err := time.Parse(layout, s)
		is := err == nil && known.Format(layout) == s && known.Year() <= 9999
		if got, err := format.ParseTime(s); (err == nil) != is || is && got != known {
			t.Fatalf("%q is read as %v, %v", s, got, err)
		}
	}
}

func TestIDs(t *testing.T) {
	id, err := format.ParseID(hexOf)
	if err != nil || id.String() != hexOf || id.Short(12) != hexOf[:12] ||
		id.Short(0) != hexOf[:4] || id.Short(99) != hexOf {
		t.Errorf("got %v, error %v", id, err)
	}
	for _, s := range []string{"", hexOf[1:], hexOf + "a", strings.ToUpper(hexOf), "x" + hexOf[1:],
		" " + hexOf[1:]} {
		if _, err := format.ParseID(s); err == nil {
			t.Errorf("%q is an id", s)
		}
	}
	a, b := format.ID{31: 1}, format.ID{0: 1}
	if a.Compare(b) != -1 || b.Compare(a) != 1 || a.Compare(a) != 0 ||
		!(format.ID{}).IsZero() || a.IsZero() {
		t.Error("ids do not compare by their bytes")
	}
	if got := format.Sum(nil).String(); got !=
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("the id of no bytes is %s", got)
	}
}

func TestEpochKeys(t *testing.T) {
	for _, s := range []string{"core/date", "a/b", "core/env/path", "0/0", "my.ns_1-x/k",
		"a/b/", "a/b."} {
		if !format.IsEpochKey(s) {
			t.Errorf("%q is no key", s)
		}
	}
	for _, s := range []string{"", "core", "core/", "/date", "Core/date", "core/Date", "core//x",
		"core/a b", "core/é", "core/x\n", ".a/b", "a/.b", "a_/b/é", "-/b"} {
		if format.IsEpochKey(s) {
			t.Errorf("%q is a key", s)
		}
	}
}
