package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestMembers(t *testing.T) {
	in := " { \"a\" : 1 , \"\\u0062\":[ {\"c\":\"}\"} ],\"a\":\"\\\"\" ,\"\xff\":null} \n"
	want := []Member{
		{"a", json.RawMessage("1")}, {"b", json.RawMessage(`[ {"c":"}"} ]`)},
		{"a", json.RawMessage(`"\""`)}, {"\xff", json.RawMessage("null")},
	}
	if got, err := Members([]byte(in)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, error %v, want %q", got, err, want)
	}
	if got, err := Members([]byte(" {} ")); err != nil || len(got) != 0 {
		t.Errorf("got %q, error %v of an empty object", got, err)
	}
	for _, bad := range []string{"", " ", "1", "[]", "{", `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1`,
		`{"a":1}}`, `{"a":1}{}`, `{a:1}`, `{"a":01}`, `{"a":"` + "\n" + `"}`} {
		if got, err := Members([]byte(bad)); err != ErrNotObject || got != nil {
			t.Errorf("%s: got %q, error %v", bad, got, err)
		}
	}
}

func TestElements(t *testing.T) {
	got, err := Elements([]byte("[ 1 , \"]\\\"\",[2, 3],{} ]\n"))
	if want := []json.RawMessage{[]byte("1"), []byte(`"]\""`), []byte("[2, 3]"),
		[]byte("{}")}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, error %v, want %q", got, err, want)
	}
	if got, err := Elements([]byte("[]")); err != nil || got == nil || len(got) != 0 {
		t.Errorf("got %q, error %v of an empty array", got, err)
	}
	for _, bad := range []string{"", "{}", "[", "[1", "[1,]", "[,]", "[1 2]", "[1]]", "[nul]"} {
		if got, err := Elements([]byte(bad)); err != ErrNotArray || got != nil {
			t.Errorf("%s: got %q, error %v", bad, got, err)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		`""`: "", `"a"`: "a", `"\n\u00e9\ud83d\ude00"`: "\né😀", "\"\xff\"": "\ufffd",
		`"\ud800x"`: "\ufffdx",
	} {
		if got, ok := Text([]byte(in)); !ok || got != want {
			t.Errorf("%s: got %q, %v, want %q", in, got, ok, want)
		}
	}
	for _, bad := range []string{"", `"`, "1", "null", `{"a":"b"}`} {
		if got, ok := Text([]byte(bad)); ok {
			t.Errorf("%s: got %q", bad, got)
		}
	}
}

func TestEncode(t *testing.T) {
	if got, want := string(Encode(map[string]any{"b": "<&>\n", "a": 1})),
		`{"a":1,"b":"<&>\n"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(Encode(make(chan int))); got != "null" {
		t.Errorf("got %s of a channel", got)
	}
	if got, want := string(Compact([]byte(" { \"a\" : \"b c\" } "))), `{"a":"b c"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(Compact([]byte("{ x"))); got != "{ x" {
		t.Errorf("got %s of what is not JSON", got)
	}
}

// FuzzMembers compares with encoding/json what an object holds, and what is none.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[{"c":"}"}]}`, `{"a":1,"a":2}`, "{\"\xff\":\"\\ud800\"}",
		`[1,"x",{}]`, `{"a":{"b":1}`, strings.Repeat("[", 50)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var want map[string]json.RawMessage
		bad := json.Unmarshal(in, &want) != nil || want == nil
		members, err := Members(in)
		if (err != nil) != bad {
			t.Fatalf("%q: error %v", in, err)
		}
		got := map[string]json.RawMessage{}
		for _, m := range members {
			got[string([]rune(m.Name))] = m.Value
		}
		if !bad && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %q, want %q", in, got, want)
		}
		var list []json.RawMessage
		bad = json.Unmarshal(in, &list) != nil || list == nil
		elements, err := Elements(in)
		if (err != nil) != bad ||
			!bad &&
				!slices.EqualFunc(elements, list,
					func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			t.Fatalf("%q: got %q, error %v, want %q", in, elements, err, list)
		}
	})
}

func TestRewrite(t *testing.T) {
	mark := func(scalar []byte) ([]byte, error) {
		if string(scalar) == "null" {
			return nil, errors.New("null")
		}
		return append([]byte("<"), append(scalar, '>')...), nil
	}
	in, want := ` {"a" : [1, "b" ,true,{}]} `, ` {<"a"> : [<1>, <"b"> ,<true>,{}]} `
	if got, err := Rewrite([]byte(in), mark); err != nil || string(got) != want {
		t.Errorf("got %s, error %v, want %s", got, err, want)
	}
	for _, bad := range []string{"[null]", "[1", `{"a"}`, "x"} {
		if got, err := Rewrite([]byte(bad), mark); err == nil || got != nil {
			t.Errorf("%s: got %s, error %v", bad, got, err)
		}
	}
}

// FuzzEncode compares with encoding/json what is written and read.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+7,true,false,null],"b\u00e9\/":"\ud83d\ude00\ud800"}`,
		" [ 1 , { \"a b\" : \"\\\" c\" } ] ", `"\ud800\u0041"`, `"a\nb\tc\"d\\e\u2028"`,
		"\"\xff\\n\"",
		"\u2028\u2029\x00\x1f\x7f\xff<>&\"\\\b\f\n\r\t", "", "[", "01", "1 2", "nul", "nullx",
		`{"a":1,}`, `"\'"`, "\"a\nb\"", "{\"\xff\":1}", `"a" `, "-", "1.", "1e",
		`{"a":{"b":[[]]}}x`,
		`{"b":1,"a":{"d":"\/","c":"\u0041\u2028\n"},"b":[2]}`,
		"{\"\xff\":1,\"\xfe\":2,\"\u2028\":3}",
		strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting),
		strings.Repeat("[", maxNesting+1) + strings.Repeat("]", maxNesting+1),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		s, raw := string(in), json.RawMessage(in)
		for _, v := range []any{
			s, raw, Object{s: raw, "a": nil, "b": json.RawMessage(`"` + s + `"`)},
			Object{"z": Encode(s), s: Encode("x")}, map[string]string{s: s, "a": s},
			[]json.RawMessage{raw, nil}, []json.RawMessage{Encode(s)}, Object(nil),
			[]json.RawMessage{}, json.RawMessage(nil), len(s) > 3,
		} {
			if got, want := Encode(v), encode(v); string(got) != string(want) {
				t.Fatalf("%q: got %q, want %q", v, got, want)
			}
		}
		for _, v := range []json.RawMessage{raw, Encode(s),
			json.RawMessage(`{"b":1,"a":[` + s + `],"a":{"` + s + `":2,"c":` + s + `}}`)} {
			if got, want := Canonical(v), encode(Decode(v)); string(got) != string(want) {
				t.Fatalf("%q: got %q, want %q", v, got, want)
			}
		}
		var b bytes.Buffer
		want := raw
		if json.Compact(&b, raw) == nil {
			want = b.Bytes()
		}
		if got := Compact(raw); string(got) != string(want) {
			t.Fatalf("%q: got %q, want %q", in, got, want)
		}
		for _, text := range []string{s, `"` + s + `"`, string(Encode(s))} {
			var said string
			if json.Unmarshal([]byte(text), &said) != nil || text[0] != '"' ||
				text[len(text)-1] != '"' {
				continue // Text need not find what is no value
			}
			if got, ok := Text([]byte(text)); !ok || got != said {
				t.Fatalf("%q: got %q, %v, want %q", text, got, ok, said)
			}
		}
		d := json.NewDecoder(bytes.NewReader(in))
		end := -1
		var first json.RawMessage
		if d.Decode(&first) == nil {
			end = int(d.InputOffset())
		}
		if got := Skip(in); got != end {
			t.Fatalf("%q: it ends at %d, want %d", in, got, end)
		}
	})
}

// What reads within a value that was read before finds what the others find.
func TestWithin(t *testing.T) {
	for _, in := range []string{`{}`, ` { "a" : [ 1 , "}" ] , "\u0062" : "\\" } `, `[]`,
		`["\\\"", {"c":"\\"}, "]", [""]]`, `{"a":"\"","a":{"b":"\\\\\""}}`, `"a"`, `1`, ``, `{"a"`,
		`["a`, `{"a":1}}`} {
		members, err := Members([]byte(in))
		if got, failed := MembersWithin([]byte(in)); failed != err ||
			!reflect.DeepEqual(got, members) {
			t.Errorf("%s: got %q, error %v, want %q, %v", in, got, failed, members, err)
		}
		list, err := Elements([]byte(in))
		if got, failed := ElementsWithin([]byte(in)); failed != err ||
			!reflect.DeepEqual(got, list) {
			t.Errorf("%s: got %q, error %v, want %q, %v", in, got, failed, list, err)
		}
		o, _ := ParseObject([]byte(in))
		if got := AsObject([]byte(in)); !reflect.DeepEqual(got, o) {
			t.Errorf("%s: got %q, want %q", in, got, o)
		}
	}
	for _, bad := range []string{`{"a":"` + "\n" + `"}`, `{"a":"\x"}`, `{"a":"\"}`, `{"a\":1}`,
		`["\`} {
		_ = AsObject([]byte(bad)) // whatever it finds
		_, _ = ElementsWithin([]byte(bad))
	}
}

func TestJoin(t *testing.T) {
	o := NewObject("b", []int{1, 2}, "a", "x", "\n", nil)
	if got, want := o.Join(), Encode(o); !bytes.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
