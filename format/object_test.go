package format_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

func TestLoose(t *testing.T) {
	header := "blob 1\nbody sha256:" + hexOf + " 3 text/plain\n"
	tests := []struct {
		name string
		raw  format.Raw
		file string
	}{
		{"header alone", format.Raw{Header: []byte(header)}, header},
		{"body", format.Raw{Header: []byte(header), Body: []byte("a\nb")}, header + "\na\nb"},
		{"empty body", format.Raw{Header: []byte(header), Body: []byte{}}, header + "\n"},
		{"body of newlines", format.Raw{Header: []byte(header), Body: []byte("\n\n")},
			header + "\n\n\n"},
		{"body that looks like a header",
			format.Raw{Header: []byte(header), Body: []byte(header + "\n")},
			header + "\n" + header + "\n"},
	}
	for _, tt := range tests {
		file := format.AppendRaw(nil, tt.raw)
		if string(file) != tt.file {
			t.Errorf("%s: got %q, want %q", tt.name, file, tt.file)
		}
		raw, err := format.DecodeRaw(file)
		if err != nil || !bytes.Equal(raw.Header, tt.raw.Header) ||
			!bytes.Equal(raw.Body, tt.raw.Body) ||
			(raw.Body == nil) != (tt.raw.Body == nil) || raw.ID() != format.Sum([]byte(header)) {
			t.Errorf("%s: got %q, error %v", tt.name, raw, err)
		}
	}
	for _, s := range []string{"", "blob 1", header[:len(header)-1]} {
		if raw, err := format.DecodeRaw([]byte(s)); err == nil {
			t.Errorf("%q was read as %q", s, raw)
		}
	}
}

func TestHeaderKind(t *testing.T) {
	for s, want := range map[string]int{"blob 1\n": 1, "a-b9 1000\nx": 1000,
		strings.Repeat("a", 32) + " 7\n": 7} {
		kind, version, err := format.HeaderKind([]byte(s))
		if err != nil || version != want || kind != strings.Fields(s)[0] {
			t.Errorf("%q: got %q %d, error %v", s, kind, version, err)
		}
	}
	for _, s := range []string{
		"", "\n", "blob\n", "blob 1", " 1\n", "9 1\n", "blob 1 \n", "blob  1\n", "blob -1\n",
		"blob 1x\n", "Blob 1\n",
		strings.Repeat("a", 33) + " 1\n",
	} {
		if kind, version, err := format.HeaderKind([]byte(s)); err == nil {
			t.Errorf("%q was read as %q %d", s, kind, version)
		}
	}
}

// TestHeaderBody checks that HeaderBody works for every kind.
func TestHeaderBody(t *testing.T) {
	for _, c := range codecs(t) {
		if c.name == "operation" || c.name == "checkpoint" || c.name == "store" ||
			c.name == "absent" || c.name == "forgotten" {
			continue
		}
		for i, b := range c.samples {
			_, ok, err := format.HeaderBody(b)
			if err != nil || ok != bytes.Contains(b, []byte("\nbody ")) {
				t.Errorf("%s %d: got %v, error %v", c.name, i, ok, err)
			}
		}
	}
	body, ok, err := format.HeaderBody([]byte("thing 12\nbody sha256:" + hexOf + " 0 a/b\n"))
	if err != nil || !ok || body.Size != 0 || body.Media != "a/b" {
		t.Errorf("an unknown kind: got %+v, %v, error %v", body, ok, err)
	}
	if _, ok, err := format.HeaderBody([]byte("blob 1\nbody sha256:12 0 a/b\n")); err == nil || ok {
		t.Error("a bad body line was accepted")
	}
}

func TestBodyCheck(t *testing.T) {
	b := format.SumBody([]byte("text"), format.MediaText)
	if err := b.Check([]byte("text")); err != nil {
		t.Error(err)
	}
	for _, s := range []string{"", "texts", "tex", "Text"} {
		if err := b.Check([]byte(s)); err == nil {
			t.Errorf("%q passes for \"text\"", s)
		}
	}
}

func TestHasNonce(t *testing.T) {
	for kind, want := range map[string]bool{
		"entry": true, "summary": true, "tombstone": true, "blob": false, "epoch": false,
		"node": false, "forest": false, "page": false,
	} {
		if format.HasNonce(kind) != want {
			t.Errorf("%s: got %v", kind, !want)
		}
	}
}

// TestSetBody checks that a header with another body line is what encoding it with that body gives.
func TestSetBody(t *testing.T) {
	long := format.SumBody(make([]byte, format.MaxBody), format.MediaParts)
	short := format.SumBody([]byte("sixteen bytes of n"), format.MediaText)
	e := &format.Entry{Session: "s", Seq: 1, Kind: format.KindMessage, Role: "user",
		Body: &format.Body{Media: format.MediaText}}
	for _, b := range []format.Body{short, long, short} {
		blank, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := format.SetBody(blank, b)
		if err != nil {
			t.Fatal(err)
		}
		e.Body = &b
		want, err := e.Encode()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("got %q, want %q, error %v", got, want, err)
		}
	}
	header := "blob 1\nbody sha256:" + hexOf + " 3 text/plain\n"
	for _, bad := range []struct {
		header string
		body   format.Body
	}{
		{"", short}, {"blob 1\n", short}, {header + "more\n", short},
		{header, format.Body{Media: "no media"}},
		{header, format.Body{Media: format.MediaText, Size: format.MaxBody + 1}},
	} {
		if got, err := format.SetBody([]byte(bad.header), bad.body); err == nil {
			t.Errorf("%q with %v became %q", bad.header, bad.body, got)
		}
	}
}
