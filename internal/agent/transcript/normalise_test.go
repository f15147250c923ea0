package transcript

import (
	"bytes"
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
		want := jsonvalue.Encode(append([]any{}, NormalParts(parts)...))
		if got := NormalJSON(in); !bytes.Equal(got, want) {
			t.Fatalf("%q: got %s, want %s", in, got, want)
		}
	})
}
