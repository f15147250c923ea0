package transcript

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// FuzzNormalJSON compares with the decoded form.
func FuzzNormalJSON(f *testing.F) {
	for _, s := range []string{
		`[{"text":"a"},{"text":"b","thoughtSignature":"x"},{"text":"c","thought":true},{"text":"d"},{"text":1}]`, `[]`, `{}`, `[1,-0,0.10,1e400,1e-400,12345678901234567890,1e21,1e5]`,
		`[{"text":"a\"}"},{"text":"\ud800"},{"text":"\udc00"}] x`,
		`[{"b":1,"a":{"text":"q"},"thoughtSignature":{}}]`, `[`,
		`[{"text":"","text":"a"},{"te\u0078t":"b"}, {"text" : "\/"} ]`,
		`["a",null,[{"text":"a"},{"text":"b"}]]`,
		`[{"text":"a"},{"text":"b","u":"c"},{"text":"\n"},{}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		parts, _ := jsonvalue.Decode(in).([]any)
		want := jsonvalue.Encode(append([]any{}, normalParts(parts)...))
		if got := NormalJSON(in); !bytes.Equal(got, want) {
			t.Fatalf("%q: got %s, want %s", in, got, want)
		}
	})
}

// normalise returns a copy of a decoded JSON value without the opaque signatures of models, which
// agents add and drop, and with each number in one form: as JavaScript writes it, which agents do
// with whatever they copy.
func normalise(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if name != signature {
				out[name] = normalise(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = normalise(value)
		}
		return out
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		switch {
		case err != nil || math.IsInf(f, 0):
			return v
		case f == 0:
			return 0.0 // also for -0
		}
		return f
	}
	return v
}

// normalParts returns decoded parts as normalise does, with plain texts that follow each other as
// one.
func normalParts(parts []any) (out []any) {
	var run *string // the text that may go on
	for _, part := range parts {
		v := normalise(part)
		m, _ := v.(map[string]any)
		text, ok := m["text"].(string)
		if !ok || len(m) != 1 {
			out, run = append(out, v), nil
		} else if run != nil {
			*run += text
		} else {
			run = &text
			out = append(out, map[string]*string{"text": run})
		}
	}
	return out
}
