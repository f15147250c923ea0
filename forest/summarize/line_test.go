package summarize

import (
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestSpan(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 11, d, 23, 30, 0, 0, time.UTC) }
	for _, tt := range []struct {
		n           int
		first, last time.Time
		want        string
	}{
		{3, day(20), day(21), "(3 messages, 2026-11-20 to 2026-11-21)"},
		{1, day(20), day(20), "(1 message, 2026-11-20)"},
		{1, time.Time{}, day(20), "(1 message)"},
		{2, day(1), day(1).In(time.FixedZone("", 3600)), "(2 messages, 2026-11-01)"},
	} {
		if got := Span(tt.n, tt.first, tt.last); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestLabelOfOneIsShort(t *testing.T) {
	for _, text := range []string{
		strings.Repeat(
			"some/very/long/path/that/goes/on/and/on/for/more/than/sixty/bytes/file.go "+
				"other/path/number/two.go x.go ", 3),
		strings.Repeat("漢字かな", 200), strings.Repeat("a_b", 70), "evil\u202E\u0007name\x1b[31m_x",
		"$ rm\u0085x y",
	} {
		got := new(Others).Label(Topic{Said: said(text)})
		if columns(got) > LabelColumns || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}

// A label that other clusters have too does not identify this one.
func TestNamesAmongOthers(t *testing.T) {
	var others Others
	for range 20 {
		others.Add(said("We run make check in tools/build.sh on every push, says Ingrid."))
		others.AddLine("tools/build.sh, Ingrid (3 messages, 2026-11-20)")
	}
	src := said("We run make check in tools/build.sh on every push, says Ingrid.",
		"The parser in src/lexer.go fails in parseList.")
	got := others.Label(Topic{Said: src})
	if at := strings.Index(got,
		"tools/build.sh"); !strings.HasPrefix(got, "src/lexer.go, parseList") ||
		at >= 0 && at < strings.Index(got, "parseList") {
		t.Errorf("got %q", got)
	}
	if plain := new(Others).Label(Topic{Said: src}); !strings.HasPrefix(plain,
		"tools/build.sh") {
		t.Errorf("without others: %q", plain)
	}
}
