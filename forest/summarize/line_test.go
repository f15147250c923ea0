package summarize

import (
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestLine(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 11, d, 23, 30, 0, 0, time.UTC) }
	src := said(
		"Hello! The parser in src/lexer/parser.go fails with a nil pointer.",
		"I looked at src/lexer/parser.go, parseList is the culprit. We run PostgreSQL 16.2 there.",
		"```\n$ go test ./...\n```\nthanks",
	)
	for _, tt := range []struct {
		src         []Source
		first, last time.Time
		want        string
	}{
		{src, day(20), day(21),
			"src/lexer/parser.go, go test, parseList, PostgreSQL, 16.2, fails (3 messages, " +
				"2026-11-20 to 2026-11-21)"},
		{src[:1], day(20), day(20),
			"src/lexer/parser.go, fails, nil, pointer (1 message, 2026-11-20)"},
		{src[:1], time.Time{}, day(20), "src/lexer/parser.go, fails, nil, pointer (1 message)"},
		{nil, time.Time{}, time.Time{}, "(0 messages)"},
		{said("ok", "the"), day(1), day(1).In(time.FixedZone("", 3600)),
			"(2 messages, 2026-11-01)"},
	} {
		if got := new(Others).Line(tt.src, len(tt.src), tt.first, tt.last); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestLineIsShort(t *testing.T) {
	for _, text := range []string{
		strings.Repeat(
			"some/very/long/path/that/goes/on/and/on/for/more/than/sixty/bytes/file.go "+
				"other/path/number/two.go x.go ", 3),
		strings.Repeat("漢字かな", 200), strings.Repeat("a_b", 70), "evil\u202E\u0007name\x1b[31m_x",
		"$ rm\u0085x y",
	} {
		got := new(Others).Line(said(text), len(said(text)), time.Unix(0, 0), time.Unix(1e9, 0))
		if len(got) > MaxLine || strings.ContainsFunc(got, unicode.IsControl) ||
			!strings.HasSuffix(got, "(1 message, 1970-01-01 to 2001-09-09)") {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}

// A label that other clusters have too does not identify this one.
func TestLineAmongOthers(t *testing.T) {
	var others Others
	for range 20 {
		others.Add(said("We run make check in tools/build.sh on every push, says Ingrid."))
		others.AddLine("tools/build.sh, make check, Ingrid (3 messages, 2026-11-20)")
	}
	src := said("We run make check in tools/build.sh on every push, says Ingrid.",
		"The parser in src/lexer.go fails in parseList.")
	got := others.Line(src, 2, time.Time{}, time.Time{})
	if at := strings.Index(got,
		"tools/build.sh"); !strings.HasPrefix(got, "src/lexer.go, parseList") ||
		at >= 0 && at < strings.Index(got, "parseList") {
		t.Errorf("got %q", got)
	}
	if plain := new(Others).Line(src, 2, time.Time{}, time.Time{}); !strings.HasPrefix(plain,
		"tools/build.sh") {
		t.Errorf("without others: %q", plain)
	}
}
