package sanitize

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// checkJSON reads a whole value.
func checkJSON(b []byte) error {
	w := walker{reader: newReader(b)}
	return w.walk()
}

// TestReader compares the reader with json.Valid on values, on other text, and on both cut off
// and changed at every byte.
func TestReader(t *testing.T) {
	for _, in := range []string{
		`{"a":[1,-2.5e+10,0,true,false,null,"x\u00e9\n\"\\\/"],"b":{}, "c" : [ ] }`,
		` "long text that has more than eight bytes \" and goes on" `,
		`-`, `01`, `1.`, `1.e2`, `1e`, `.5`, `+1`, `"\x"`, `"\u12g4"`, "\"a\nb\"", "\"\x7f\xff\"",
		`[1,]`, `{"a"}`, `{"a":}`, `{,}`, `{1:2}`, `tru`, `nul`, `"`, ``, ` `, `[] []`,
	} {
		for n := range len(in) + 1 {
			for _, b := range []string{in[:n], in[:n] + "\x1f", in[:n] + `\`, in[:n] + `"` + in[n:],
				in[:n] + in[min(n+1, len(in)):]} {
				if err, want := checkJSON([]byte(b)), json.Valid([]byte(b)); (err == nil) != want {
					t.Errorf("checkJSON(%q) = %v", b, err)
				}
			}
		}
	}
	deep := strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2)
	if err := checkJSON([]byte(deep)); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Errorf("one level too many: %v", err)
	}
	if err := checkJSON([]byte(deep[1 : len(deep)-1])); err != nil {
		t.Errorf("as many levels as may be: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e+10,"x\u00e9\n"]}`, `"\ud800"`, "[\"\xff\x00\"]",
		`[[[[1]]]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		err := checkJSON(in)
		if errors.Is(err, errDeep) {
			return
		}
		if want := json.Valid(in); (err == nil) != want {
			t.Fatalf("checkJSON(%q) = %v", in, err)
		}
	})
}
