package format_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// TestEncodeRefuses checks that an encoder refuses what its decoder would refuse.
func TestEncodeRefuses(t *testing.T) {
	entry := func(change func(*format.Entry)) func() ([]byte, error) {
		return func() ([]byte, error) {
			e := sampleAnswer()
			change(e)
			return e.Encode()
		}
	}
	forest := func(change func(*format.Forest)) func() ([]byte, error) {
		return func() ([]byte, error) {
			f := sampleForest()
			change(f)
			return f.Encode()
		}
	}
	epoch := func(change func(*format.Epoch)) func() ([]byte, error) {
		return func() ([]byte, error) {
			e := sampleEpoch()
			change(e)
			return e.Encode()
		}
	}
	tests := []struct {
		name   string
		encode func() ([]byte, error)
		want   string
	}{
		{"zero parent", entry(func(e *format.Entry) { e.Parents[0] = format.ID{} }), "zeros"},
		{"two parents",
			entry(func(e *format.Entry) { e.Parents = append(e.Parents, e.Parents[0]) }),
			"one parent"},
		{"no session", entry(func(e *format.Entry) { e.Session = "" }), "session: empty name"},
		{"bad UTF-8", entry(func(e *format.Entry) { e.Author = "\xff" }), "not UTF-8"},
		{"long name", entry(func(e *format.Entry) { e.Author = strings.Repeat("é", 34) }),
			"200 is the most"},
		{"call without tool", entry(func(e *format.Entry) { e.Calls[0].Tool = "" }),
			"call: empty name"},
		{"empty result", entry(func(e *format.Entry) { e.Results = []string{""} }),
			"result: empty name"},
		{"source without a message", entry(func(e *format.Entry) {
			e.Source = &format.Source{Agent: "a", Session: "s", Digest: "0123456789abcdef"}
		}), "source: empty name"},
		{"microseconds", entry(func(e *format.Entry) { e.Time = e.Time.Add(time.Microsecond) }),
			"millisecond"},
		{"year 10000",
			entry(func(e *format.Entry) { e.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }),
			"years 0 to 9999"},
		{"year 10000 in UTC alone", entry(func(e *format.Entry) {
			e.Time = time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("west", -2*3600))
		}), "years 0 to 9999"},
		{"body too large", entry(func(e *format.Entry) { e.Body.Size = format.MaxBody + 1 }),
			"bad body"},
		{"media with a parameter",
			entry(func(e *format.Entry) { e.Body.Media = "text/plain;charset=utf-8" }), "bad body"},
		{"message without a body", entry(func(e *format.Entry) { e.Body = nil }), "body missing"},

		{"negative size",
			func() ([]byte, error) {
				return format.EncodeBlob(format.Body{Size: -1, Media: "a/b"})
			}, "bad body"},
		{"no media type", func() ([]byte, error) { return format.EncodeBlob(format.Body{}) },
			"bad body"},

		{"node over nothing", func() ([]byte, error) { return (&format.Node{}).Encode() },
			"0 children"},
		{"node over zero",
			func() ([]byte, error) {
				return (&format.Node{Count: 1, Children: make([]format.ID, 1)}).Encode()
			}, "zeros"},
		{"negative level", func() ([]byte, error) { return (&format.Node{Level: -1}).Encode() },
			"level -1"},

		{"summary of nothing", func() ([]byte, error) {
			s := sampleSummary()
			s.Node = format.ID{}
			return s.Encode()
		}, "zeros"},
		{"input of nothing", func() ([]byte, error) {
			s := sampleSummary()
			s.Inputs = []format.Input{{}}
			return s.Encode()
		}, "zeros"},
		{"summary by nobody", func() ([]byte, error) {
			s := sampleSummary()
			s.Summarizer = ""
			return s.Encode()
		}, "empty name"},
		{"tombstone of nothing", func() ([]byte, error) { return (&format.Tombstone{}).Encode() },
			"no members"},

		{"empty page", func() ([]byte, error) { return (&format.Page{}).Encode() }, "0 lines"},
		{"page of nothing",
			func() ([]byte, error) {
				return (&format.Page{Slots: []format.Slot{{Count: 1}}}).Encode()
			}, "zeros"},
		{"page of 257",
			func() ([]byte, error) {
				return (&format.Page{Slots: make([]format.Slot, 257)}).Encode()
			}, "257 lines"},

		{"forest without a name", forest(func(f *format.Forest) { f.Name = "" }), "name is empty"},
		{"cluster of nothing", forest(func(f *format.Forest) { f.Clusters[0].Node = format.ID{} }),
			"zeros"},
		{"cover of nothing",
			forest(func(f *format.Forest) { f.Clusters[1].Covers[0].Summary = format.ID{} }),
			"zeros"},
		{"covers swapped", forest(func(f *format.Forest) {
			c := f.Clusters[1].Covers
			c[0], c[1] = c[1], c[0]
		}), "overlaps"},
		{"tombstones without a page", forest(func(f *format.Forest) { f.Tombs = format.ID{} }),
			"do not agree"},
		{"a page without tombstones", forest(func(f *format.Forest) { f.TombCount = 0 }),
			"do not agree"},

		{"epoch of no step", epoch(func(e *format.Epoch) { e.Step = "" }), "unknown step"},
		{"update without a text", epoch(func(e *format.Epoch) { e.Body = nil }),
			"belongs to an update"},
		{"update of no text", epoch(func(e *format.Epoch) { e.Body.Size = 0 }),
			"belongs to an update"},
		{"fold with a text", epoch(func(e *format.Epoch) { e.Step = format.EpochFold }),
			"belongs to an update"},
		{"initial removed", epoch(func(e *format.Epoch) { e.Initial[0].Value = format.ID{} }),
			"zeros"},
		{"epoch key twice", epoch(func(e *format.Epoch) { e.Current[1].Key = "core/branch" }),
			"key twice"},
		{"initial key twice", epoch(func(e *format.Epoch) { e.Initial[1].Key = "core/branch" }),
			"key twice"},
		{"initial key that is not current",
			epoch(func(e *format.Epoch) { e.Initial[1].Key = "core/x" }), "not among the current"},
		{"removed with a text",
			epoch(func(e *format.Epoch) { e.Current[0].Gone = e.Current[1].Gone }),
			"removed has none"},
		{"value without a text", epoch(func(e *format.Epoch) { e.Current[1].First = format.ID{} }),
			"a value has its text"},
		{"fold of other values",
			epoch(func(e *format.Epoch) { e.Step, e.Body = format.EpochFold, nil }),
			"other values"},

		{"absent for no reason", func() ([]byte, error) { return (&format.Absent{}).Encode() },
			"unknown reason"},
		{"absent nothing",
			func() ([]byte, error) { return (&format.Absent{Reason: "forgotten"}).Encode() },
			"zeros"},
		{"absent in the year 10000", func() ([]byte, error) {
			a := sampleAbsent()
			a.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
			return a.Encode()
		}, "not a time"},
	}
	for _, tt := range tests {
		if b, err := tt.encode(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %q, error %v, want %q", tt.name, b, err, tt.want)
		}
	}
}

func TestEncodeKeepsTimesInUTC(t *testing.T) {
	a, b := sampleAnswer(), sampleAnswer()
	b.Time = b.Time.In(time.FixedZone("east", 3600))
	if idOf(a.Encode()) != idOf(b.Encode()) {
		t.Error("the zone of a time changes the id")
	}
}

// TestEncodeWithBlankBody encodes headers with an empty body. The nonce is derived from such a
// header, which is never stored or decoded.
func TestEncodeWithBlankBody(t *testing.T) {
	blank := format.Body{Media: format.MediaText}
	e, s, d := sampleAnswer(), sampleSummary(), sampleTombstone()
	e.Body, s.Body, d.Body = &blank, blank, blank
	for kind, encode := range map[string]func() ([]byte, error){"entry": e.Encode,
		"summary": s.Encode, "tombstone": d.Encode} {
		b, err := encode()
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if _, err := codecOf(t, kind).again(b); err == nil ||
			!strings.Contains(err.Error(), "nonce alone") {
			t.Errorf("%s: read with a body that has no nonce, error %v", kind, err)
		}
	}
}

func TestKeyOfSource(t *testing.T) {
	e := sampleQuestion()
	key, err := e.Source.Key()
	if err != nil {
		t.Fatal(err)
	}
	header, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := format.SourceKey(header); !ok || got != key {
		t.Errorf("got %x, the header's is %x", key, got)
	}
	if _, err := (&format.Source{Agent: "a"}).Key(); err == nil {
		t.Error("a source without a message has a key")
	}
}
