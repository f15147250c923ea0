package epoch

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

// The canonical form is stored and compared for good: a change here makes every value look like
// another one.
func TestCanonicalGolden(t *testing.T) {
	for _, tt := range [][2]string{
		{`null`, `null`},
		{` true `, `true`},
		{`[ ]`, `[]`},
		{`{ }`, `{}`},
		{"{\"b\" : 1,\n\t\"a\":[ 2 , {\"d\":null,\"c\":\"x\"} ]}",
			`{"a":[2,{"c":"x","d":null}],"b":1}`},
		{`"<script>&\u0026\/"`, `"<script>&&/"`},
		{`"\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"\/"`, `"€$\u000f\nA'B\"\\\\\"/"`},
		{`"\ud83d\ude00\u2028\u007f"`, "\"\U0001F600\u2028\x7f\""},
		{`"\b\t\n\f\r"`, `"\b\t\n\f\r"`},
		// The order of RFC 8785, by UTF-16 units: a character beyond the first plane goes before
		// U+FB33.
		{`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"\u00f6\":7,\"\u20ac\":1,\"\U0001F600\":5,\"\ufb33\":3}"},
		{`[0,-0,0.0,-0e7,1,1.0,10e-1,0.1e1]`, `[0,0,0,0,1,1,1,1]`},
		{`[4.50,2e-3,1e30,1E+27,0.000000000000000000000000001]`, `[4.5,0.002,1e+30,1e+27,1e-27]`},
		{`[1e20,1e21,123456789012345680000,0.000001,0.0000001,-1.5e-9]`,
			`[100000000000000000000,1e+21,123456789012345680000,0.000001,1e-7,-1.5e-9]`},
		{`[333333333.3333333,1234.5678e2,-120]`, `[333333333.3333333,123456.78,-120]`},
		// More digits than a double holds stay.
		{`[9007199254740993,1234567890123456789,0.10000000000000000001]`,
			`[9007199254740993,1234567890123456789,0.10000000000000000001]`},
		{`1e9998`, `1e+9998`},
	} {
		got, err := canonical([]byte(tt[0]))
		if err != nil || string(got) != tt[1] {
			t.Errorf("%s: got %s, error %v, want %s", tt[0], got, err, tt[1])
		}
	}
	for _, bad := range []string{"", "x", "{} {}", `{"a":1,"a":2}`, `{"a":{"b":1,"\u0062":2}}`,
		`"\ud800"`, `"\ud800x"`, `"\ude00"`, `"\ud800\ud800"`,
		`"\ud800\n\udc00"`, `1e99999`, `1e-99999`, `0e99999`, `[0E10000000000000000000]`,
		`1e999999999999999999999`, "\"\xff\""} {
		if got, err := canonical([]byte(bad)); err == nil {
			t.Errorf("%q: got %s, want an error", bad, got)
		}
	}
}

// A canonical form is its own, and says what the value said.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1,2.50,-0],"a":"\u00e9\n"}`,
		`[1e21,0.1,123456789012345678901234567890]`, `"\ud83d\ude00"`,
		`{"":{"\u0000":null}}`, `[[[]]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		once, err := canonical(b)
		if err != nil {
			return
		}
		twice, err := canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q becomes %q, then %q, error %v", b, once, twice, err)
		}
		if !sameValue(t, decode(t, b), decode(t, once)) {
			t.Fatalf("%q says another thing than %q", once, b)
		}
	})
}

func decode(t *testing.T, b []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func sameValue(t *testing.T, a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		for k := range a {
			ok = ok && sameValue(t, a[k], b[k])
		}
		return ok && len(a) == len(b)
	case []any:
		b, ok := b.([]any)
		for i := range a {
			ok = ok && i < len(b) && sameValue(t, a[i], b[i])
		}
		return ok && len(a) == len(b)
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, okX := new(big.Rat).SetString(string(a))
		y, okY := new(big.Rat).SetString(string(b))
		return okX && okY && x.Cmp(y) == 0
	}
	return a == b
}

// Two texts are one number if and only if they are one to exact arithmetic.
func TestCanonicalNumbersTellApart(t *testing.T) {
	numbers := strings.Fields(
		"0 -0 1 -1 10 1e1 100e-1 1.5 15e-1 0.15e1 9007199254740992 9007199254740993 " +
			"9007199254740993.0 1e400 10e399 1e-400 123e-402 1.23e-400")
	for _, a := range numbers {
		for _, b := range numbers {
			x, _ := new(big.Rat).SetString(a)
			y, _ := new(big.Rat).SetString(b)
			ca, errA := canonical([]byte(a))
			cb, errB := canonical([]byte(b))
			if errA != nil || errB != nil || bytes.Equal(ca, cb) != (x.Cmp(y) == 0) {
				t.Errorf("%s and %s become %s and %s, errors %v, %v", a, b, ca, cb, errA, errB)
			}
		}
	}
}
