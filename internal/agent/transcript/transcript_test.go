package transcript

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Hints make of any message any other one.
func TestHints(t *testing.T) {
	at := time.Date(2026, 2, 3, 8, 0, 0, 0, time.UTC)
	parts := func(list ...string) Message {
		m := Message{Role: RoleModel}
		var raw []json.RawMessage
		for _, p := range list {
			raw = append(raw, json.RawMessage(p))
		}
		m.SetParts(raw)
		m.Text, m.Parts = "", jsonvalue.Array(raw)
		return m
	}
	list := []Message{
		{Origin: Origin{"a", "", "b"}, Role: RoleSystem}, {Role: RoleUser, Text: "a"},
		{Role: RoleUser, Text: "a", Author: "Ada", Time: at, Tokens: 7, Note: true,
			Invocation: "i"},
		{Origin: Origin{"x", "y", "z"}, Role: RoleTool, Text: "a", Results: []string{"r"}},
		{Role: RoleModel, Text: "b", Calls: []format.Call{{ID: "c", Tool: "t"}}},
		parts(`{"text":"a"}`), parts(`{"text":"a"}`, `{"x":1,"thought":true}`),
		parts(`{"text":"t","thought":true}`, `{"text":"a"}`,
			`{"functionCall":{"args":{},"id":"c","name":"n"}}`),
		parts(), parts(`{"x":1,"thought":true}`), parts(`"bare"`),
	}
	for i := range list {
		if list[i].Origin == (Origin{}) {
			list[i].Origin = Origin{"n", "", fmt.Sprint(i)}
		}
	}
	for i := range list {
		for j := range list {
			h := Diff(&list[i], &list[j])
			if h.Empty() != (i == j) {
				t.Errorf("%d and %d: %s", i, j, jsonvalue.Encode(h))
			}
			read := ReadHints(jsonvalue.Encode(h))
			if read == nil {
				t.Fatalf("%s cannot be read", jsonvalue.Encode(h))
			}
			back := list[j]
			read.Apply(&back)
			if again := Diff(&list[i], &back); !again.Empty() {
				t.Errorf("%d from %d by %s: still %s", i, j, jsonvalue.Encode(h),
					jsonvalue.Encode(again))
			}
		}
	}
	for _, bad := range []string{`7`, `{}`, `{"v":2}`, `{"v":1,"role":"king"}`,
		`{"v":1,"of":[{"role":"king"}]}`, `{"v":1,"hidden":7}`} {
		if ReadHints(json.RawMessage(bad)) != nil {
			t.Errorf("%s was taken", bad)
		}
	}
	// A message is named, or has the name that it had.
	named := Message{Origin: Origin{"a", "s", "b"}}
	ReadHints(json.RawMessage(`{"v":1,"from":{"agent":"x"}}`)).Apply(&named)
	if named.Origin != (Origin{"a", "s", "b"}) {
		t.Errorf("%v", named.Origin)
	}
	// Places that cannot be are none.
	m := Message{Text: "a"}
	ReadHints(json.RawMessage(
		`{"v":1,"hidden":[{"at":-5,"part":{"thought":true}},{"at":99,"part":{"thought":true}}],"time":999999999999999999}`)).Apply(&m)
	if string(m.Parts) != `[{"thought":true},{"text":"a"},{"thought":true}]` || !m.Time.IsZero() {
		t.Errorf("%s %v", m.Parts, m.Time)
	}
}

func TestNames(t *testing.T) {
	if id := UUID("a", "b"); !format.IsUUID(id) || id != UUID("a", "b") || id == UUID("ab") ||
		id == UUID("a", "b", "") {
		t.Errorf("%s", id)
	}
	for _, bad := range []string{"", "x", strings.Repeat("0", 36),
		"00000000-0000-4000-8000-00000000000G"} {
		if format.IsUUID(bad) {
			t.Errorf("%q", bad)
		}
	}
	if long := Fit(strings.Repeat("x", 5000)); len(long) > format.MaxName || Fit(long) != long ||
		Fit("a b") != "a b" {
		t.Errorf("%q", long)
	}
	for s, exact := range map[string]bool{"2026-02-03T08:00:00.000Z": true,
		"2026-02-03T08:00:00Z": false, "2026-02-03T10:00:00.000+02:00": false,
		"x": false, "": false} {
		if _, got := ParseTime(s); got != exact {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// Times are read in every spelling that writers of transcripts were seen to use.
func TestTimeOf(t *testing.T) {
	const want = "2026-02-03T08:00:01.000Z"
	for _, raw := range []string{
		`"2026-02-03T08:00:01.000Z"`, `"2026-02-03T08:00:01Z"`, `"2026-02-03T10:00:01+02:00"`,
		`"2026-02-03 08:00:01"`, `"2026-02-03T08:00:01"`, `"2026-02-03T08:00:01.000"`,
		`"2026-02-03 08:00:01+00:00"`, `"2026-02-03T10:00:01+0200"`, `"2026-02-03 10:00:01 +0200"`,
		`1770105601`, `1770105601.0`, `1770105601000`, `1770105601000000`, `1770105601000000000`,
		`"1770105601000"`, `1.770105601e12`,
	} {
		got, exact := TimeOf([]byte(raw))
		if Stamp(got) != want || exact != (raw == `"`+want+`"`) {
			t.Errorf("%s: %v, %v", raw, got, exact)
		}
	}
	for _, raw := range []string{``, `null`, `""`, `"x"`, `"2026"`, `true`, `-1`, `0`, `{}`, `1e300`} {
		if got, exact := TimeOf([]byte(raw)); !got.IsZero() || exact {
			t.Errorf("%s: %v, %v", raw, got, exact)
		}
	}
}

// endless is one line without an end, of n bytes.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.n)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.n -= n
	return n, nil
}

// What is too long is passed over without being kept in memory, and what follows it is read.
func TestLongLines(t *testing.T) {
	stats := NewStats()
	records := 0
	in := io.MultiReader(&endless{4 * MaxLine}, strings.NewReader("\n{\"a\":1}\n{\"b\":\""),
		&endless{MaxRecord}, strings.NewReader("\"}\n{\"c\":1}\n"), &endless{2 * MaxLine})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := Lines(in, &stats, []string{`{"`}, true,
		func(jsonvalue.Object) error { records++; return nil })
	runtime.ReadMemStats(&after)
	if err != nil || records != 2 ||
		fmt.Sprint(stats.Skipped) != "map[record too long:2 torn tail:1]" {
		t.Errorf("%v, %d records, %v", err, records, stats.Skipped)
	}
	if most := uint64(14 * MaxLine); after.TotalAlloc-before.TotalAlloc > most {
		t.Errorf("%d bytes were allocated", after.TotalAlloc-before.TotalAlloc)
	}
}

// A record that goes on in the next line is read, if its writer left line feeds in a string. What
// is torn costs no record behind it.
func TestLinesBroken(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
		skipped  int
	}{
		{"one line feed", "{\"t\":\"a\nb\"}\n{\"t\":\"c\"}\n", []string{"a\nb", "c"}, 0},
		{"several, and an empty line", "{\"t\":\"a\n{b\n\n}c\"}", []string{"a\n{b\n\n}c"}, 0},
		{"a torn record", "{\"t\":\"a\n{\"t\":\"c\"}\n", []string{"c"}, 1},
		{"a torn record that shares a line", "{\"t\":\"a{\"t\":\"b\"}\n", []string{"b"}, 1},
		{"at the end", "{\"t\":\"c\"}\n{\"t\":\"a\nb\n", []string{"c"}, 2},
		{"no record", "a \"b\nc\"}\n{\"t\":\"c\"}\n", []string{"c"}, 2},
	} {
		stats := NewStats()
		var got []string
		err := Lines(strings.NewReader(c.in), &stats, []string{`{"t":`}, true,
			func(o jsonvalue.Object) error {
				got = append(got, o.Text("t"))
				return nil
			})
		if n := stats.Skipped[SkipBadJSON]; err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) ||
			n != c.skipped {
			t.Errorf("%s: %q, %d skipped, %v; want %q, %d", c.name, got, n, err, c.want, c.skipped)
		}
	}
}
