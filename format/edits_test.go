package format_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// TestEditsRefuse changes sample masks and replacements so that the decoders must refuse them.
func TestEditsRefuse(t *testing.T) {
	q, a := idOf(sampleQuestion().Encode()).String(), idOf(sampleAnswer().Encode()).String()
	decode := map[string]func([]byte) error{
		"mask":    func(b []byte) error { _, err := format.DecodeMask(b); return err },
		"replace": func(b []byte) error { _, err := format.DecodeReplacement(b); return err },
	}
	for _, c := range []struct{ kind, old, new, why string }{
		{"mask", `"part":0`, `"part":-1`, "a part of nothing"},
		{"mask", `"part":0`, `"part":0.0`, "cannot unmarshal"},
		{"mask", a, strings.Repeat("0", 64), "not an id"},
		{"mask", a, a[:40], "not an id"},
		{"mask", `"text":"`, `"text":"\u0041`, "one encoding"},
		{"mask", `"text":"`, ` "text":"`, "one encoding"},
		{"mask", "}\n", "}", "one encoding"},
		{"mask", "}\n", "}\n\n", "one encoding"},
		{"mask", `"call"`, `"CALL"`, "one encoding"},
		{"mask", `"tool":`, `"tools":`, "unknown field"},
		{"mask", `"v":1,"parts":[{`,
			`"v":1,"parts":[{"entry":"` + a + `","part":0,"call":"","tool":"","text":"x"},{`,
			"twice"},
		{"replace", `"part":0`, `"part":-1`, "bad part"},
		{"replace", `"part":0`, `"part":null`, "one encoding"},
		{"replace", q, a, "and all of it"},
		{"replace", `"text":"Temporary files go into tmp/."`, `"text":""`, "no text"},
		{"replace", `{"entry":"` + q + `"},{"entry":"` + a + `","part":0}`, ``, "no targets"},
		{"replace", `{"entry":"` + q + `"}`, `{"entry":"` + q + `"},{"entry":"` + q + `"}`,
			"twice"},
	} {
		was := string(codecOf(t, c.kind).samples[0])
		b := strings.Replace(was, c.old, c.new, 1)
		if b == was {
			t.Errorf("%s: %q is not in the sample", c.kind, c.old)
		}
		if err := decode[c.kind]([]byte(b)); err == nil ||
			!strings.Contains(err.Error(), c.why) &&
				!strings.Contains(err.Error(), "not in its one") {
			t.Errorf("%s: %q for %q: %v, want %q", c.kind, c.new, c.old, err, c.why)
		}
	}
	for kind, f := range decode {
		var version *format.VersionError
		if err := f([]byte(`{"v":2,"other":true}`)); !errors.As(err, &version) ||
			version.Got != 2 || version.Known != 1 {
			t.Errorf("%s of a newer version: %v", kind, err)
		}
	}
}

func TestEditsEncodeRefuses(t *testing.T) {
	id := idOf(sampleQuestion().Encode())
	for name, f := range map[string]func() ([]byte, error){
		"a mask of nothing":     (&format.Mask{}).Encode,
		"a mask without a text": (&format.Mask{Parts: []format.MaskedPart{{Entry: id}}}).Encode,
		"a mask that is not UTF-8": (&format.Mask{
			Parts: []format.MaskedPart{{Entry: id, Text: "\xff"}},
		}).Encode,
		"a replacement of nothing": (&format.Replacement{Text: "x"}).Encode,
		"a target below all": (&format.Replacement{Text: "x",
			Targets: []format.Target{{Entry: id, Part: -2}}}).Encode,
		"a text that is not UTF-8": (&format.Replacement{Text: "\xff",
			Targets: []format.Target{{Entry: id}}}).Encode,
	} {
		if b, err := f(); err == nil {
			t.Errorf("%s is written as %s", name, b)
		}
	}
}
