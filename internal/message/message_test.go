package message

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func TestParse(t *testing.T) {
	tests := []struct {
		name, in string
		want     Part
	}{
		{"text", `{"text":"a"}`, Part{Text: "a", HasText: true}},
		{"empty text", `{"text":""}`, Part{HasText: true}},
		{"string", `"a"`, Part{Text: "a", HasText: true}},
		{"null", `null`, Part{}},
		{"number", `1`, Part{Malformed: true}},
		{"array", `[{"text":"a"}]`, Part{Malformed: true}},
		{"empty", `{}`, Part{}},
		{"thought", `{"text":"a","thought":true}`, Part{Text: "a", HasText: true, Thought: true}},
		{"thought as text", `{"thought":"a"}`, Part{Thought: true}},
		{"no thought", `{"text":"a","thought":false}`, Part{Text: "a", HasText: true}},
		{"null thought", `{"text":"a","thought":null}`, Part{Text: "a", HasText: true}},
		{"empty thought", `{"text":"a","thought":""}`, Part{Text: "a", HasText: true}},
		{"escaped name", `{"te\u0078t":"a"}`, Part{Text: "a", HasText: true}},
		{"other case",
			`{"Text":"a","Thought":true,"FunctionCall":{"name":"n"},"functionresponse":{}}`,
			Part{}},
		{"other case beside", `{"TEXT":"b","text":"a"}`, Part{Text: "a", HasText: true}},
		{"other case within", `{"functionCall":{"ID":"c","Name":"n","ARGS":{}}}`,
			Part{Call: &Call{}}},
		{"other kinds", `{"text":5,"functionCall":"x","functionResponse":[],"inlineData":1}`,
			Part{Malformed: true}},
		{"other kind beside", `{"text":"a","functionCall":"x"}`,
			Part{Text: "a", HasText: true, Malformed: true}},
		{"attached of another kind", `{"functionResponse":{"parts":{}}}`,
			Part{Result: &Result{}, Malformed: true}},
		{"null within",
			`{"functionCall":{"id":null,"name":null},"functionResponse":{"parts":null}}`,
			Part{Call: &Call{}, Result: &Result{}}},
		{"null members",
			`{"text":null,"functionCall":null,"functionResponse":null,"fileData":null}`, Part{}},
		{"call", `{"functionCall":{"id":"c","name":"n","args":{"a": 1}}}`,
			Part{Call: &Call{ID: "c", Name: "n", Args: raw(`{"a": 1}`)}}},
		{"call without args", `{"functionCall":{"name":"n","args":null}}`,
			Part{Call: &Call{Name: "n"}}},
		{"args of any kind", `{"functionCall":{"args":[1]}}`, Part{Call: &Call{Args: raw(`[1]`)}}},
		{"names twice in args", `{"functionCall":{"args":{"a":1,"a":2}}}`,
			Part{Call: &Call{Args: raw(`{"a":1,"a":2}`)}}},
		{"id of another kind", `{"functionCall":{"id":7,"name":"n"}}`,
			Part{Call: &Call{Name: "n"}, Malformed: true}},
		{"result", `{"functionResponse":{"id":"c","name":"n","response":{"output":"o"}}}`,
			Part{Result: &Result{ID: "c", Name: "n", Response: raw(`{"output":"o"}`)}}},
		{"attached", `{"functionResponse":{"parts":[{"inlineData":{}}, 2],"response":null}}`,
			Part{Result: &Result{Parts: []json.RawMessage{raw(`{"inlineData":{}}`), raw(`2`)}}}},
		{"text and call", `{"text":"a","functionCall":{"id":"c"}}`,
			Part{Text: "a", HasText: true, Call: &Call{ID: "c"}}},
		{"thought and call", `{"thought":true,"text":"a","functionCall":{"id":"c"}}`,
			Part{Text: "a", HasText: true, Thought: true, Call: &Call{ID: "c"}}},
		{"result and call", `{"functionResponse":{"id":"c"},"functionCall":{"id":"d"}}`,
			Part{Call: &Call{ID: "d"}, Result: &Result{ID: "c"}}},
		{"bytes", `{"inlineData":{"mimeType":"image/png","data":"AA=="}}`,
			Part{Media: &Media{MimeType: "image/png", Data: "AA=="}}},
		{"file", `{"fileData":{"mimeType":"image/png","fileUri":"gs://x"}}`,
			Part{Media: &Media{MimeType: "image/png", URI: "gs://x"}}},
		{"bad UTF-8", "{\"text\":\"a\xff\"}", Part{Text: "a\ufffd", HasText: true}},
		{"half a pair", `{"text":"a\ud800b"}`, Part{Text: "a\ufffdb", HasText: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := " [ " + tt.in + " ,\n {\"text\":\"next\"} ] "
			got, err := Parse([]byte(in))
			if err != nil || len(got) != 2 {
				t.Fatalf("%d parts, %v", len(got), err)
			}
			if string(got[0].Raw) != tt.in {
				t.Errorf("raw is %s", got[0].Raw)
			}
			if one, err := ParsePart(got[0].Raw); err != nil || !reflect.DeepEqual(one, got[0]) {
				t.Errorf("alone it is %+v, %v", one, err)
			}
			got[0].Raw = nil
			if !reflect.DeepEqual(got[0], tt.want) {
				t.Errorf("got %+v, want %+v", got[0], tt.want)
			}
			if got[1].Text != "next" || string(got[1].Raw) != `{"text":"next"}` {
				t.Errorf("then came %+v", got[1])
			}
		})
	}
}

func TestParseNone(t *testing.T) {
	if got, err := Parse([]byte("[]")); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ in, want string }{
		{``, "the parts of a message are not valid JSON at byte 0"},
		{`{"text":"a"}`, "the parts of a message are a JSON array"},
		{`"a"`, "the parts of a message are a JSON array"},
		{`null`, "the parts of a message are a JSON array"},
		{`[] []`, "the parts of a message are not valid JSON at byte 4"},
		{`[{"text":"a"}`, "the parts of a message are not valid JSON at byte 13"},
		{`[{"text":"a",}]`, "the parts of a message are not valid JSON at byte 12"},
		{`[{"text"]`, "the parts of a message are not valid JSON at byte 8"},
		{`[{},{"text":"a","text":"b"}]`, `part 2: the member "text" is there twice`},
		{`[{"text":"a","te\u0078t":"b"}]`, `part 1: the member "text" is there twice`},
		{`[{"x":1,"x":2}]`, `part 1: the member "x" is there twice`},
		{`[{"functionCall":{"id":"a","id":"b"}}]`, `part 1: the member "id" is there twice`},
		{`[{"functionResponse":{"response":1,"response":2}}]`,
			`part 1: the member "response" is there twice`},
		{`[{"` + strings.Repeat("é", 80) + `":1,"` + strings.Repeat("é", 80) + `":1}]`,
			`part 1: the member "` + strings.Repeat(`\u00e9`, 60) + `..." is there twice`},
	}
	for _, tt := range tests {
		if got, err := Parse([]byte(tt.in)); err == nil || err.Error() != tt.want || got != nil {
			t.Errorf("%s: got %v, %v; want %s", tt.in, got, err, tt.want)
		}
	}
}

func TestParsePartRefuses(t *testing.T) {
	tests := []struct{ in, want string }{
		{``, "the parts of a message are not valid JSON at byte 0"},
		{`{} {}`, "the parts of a message are not valid JSON at byte 4"},
		{`{"a":1,"a":1}`, `part 1: the member "a" is there twice`},
	}
	for _, tt := range tests {
		if _, err := ParsePart([]byte(tt.in)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v; want %s", tt.in, err, tt.want)
		}
	}
}

const several = `[
	{"text":"first"}, {"text":"hidden","thought":true}, {"text":""},
	{"text":"second","functionCall":{"id":"c1","name":"sh","args":{"dir":"<a>","cmd":"\u003cls\u003e"}}},
	{"functionResponse":{"id":"c1","name":"sh","response":{"output":"out"}},"functionCall":{"id":"c2","name":"ls"}},
	{"text":"idea","thought":true,"functionCall":{"id":"c3","name":"cat","args":{"path":"a b"}}},
	{"inlineData":{"mimeType":"image/png","data":""}}, "last"]`

func parse(t *testing.T, s string) []Part {
	t.Helper()
	parts, err := Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

func TestOfParts(t *testing.T) {
	parts := parse(t, several)
	if got, want := Text(parts), "first\nsecond\nlast"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	want :=
		"first\nsecond\n[call sh] {\"dir\":\"<a>\",\"cmd\":\"<ls>\"}\nout\n[call ls] " +
			"\n[call cat] a b\nlast"
	if got := Words(parts); got != want {
		t.Errorf("words %q, want %q", got, want)
	}
	var ids []string
	for _, c := range Calls(parts) {
		ids = append(ids, c.ID+" "+c.Name)
	}
	if got := strings.Join(ids, ", "); got != "c1 sh, c2 ls, c3 cat" {
		t.Errorf("calls %s", got)
	}
	if got := Results(parts); len(got) != 1 || got[0].ID != "c1" || got[0].Output() != "out" {
		t.Errorf("results %+v", got)
	}
}

func TestResult(t *testing.T) {
	tests := []struct {
		in, output string
		failed     bool
	}{
		{``, "", false},
		{`"said"`, "said", false},
		{`null`, "null", false},
		{`{"output":"a\nb"}`, "a\nb", false},
		{` { "content" : "x" } `, "x", false},
		{`{"other":"x"}`, "x", false},
		{`{"error":"no"}`, "no", true},
		{`{"output":5}`, `{"output":5}`, false},
		{`{"output":["a"]}`, `{"output":["a"]}`, false},
		{`[ "a", 1.50 ]`, `["a",1.50]`, false},
		{`{"b": "\u003c&", "a": 100000000000000000001}`,
			`{"b":"<&","a":100000000000000000001}`, false},
		{`{"output":"x","error":""}`, `{"output":"x","error":""}`, false},
		{`{"output":"x","error":null}`, `{"output":"x","error":null}`, false},
		{`{"output":"x","error":{"code":1}}`, `{"output":"x","error":{"code":1}}`, true},
		{`{"is_error":true}`, `{"is_error":true}`, true},
		{`{"isError":false}`, `{"isError":false}`, false},
		{`{"exit_code":0}`, `{"exit_code":0}`, false},
		{`{"exit_code":2}`, `{"exit_code":2}`, true},
		{`{"exitCode":"127"}`, "127", true},
		{`{"returncode":-9}`, `{"returncode":-9}`, true},
		{`{"metadata":{"exit_code":1},"output":"x"}`, `{"metadata":{"exit_code":1},"output":"x"}`,
			true},
		{`{"Error":"x"}`, "x", false},
	}
	for _, tt := range tests {
		r := &Result{Response: raw(tt.in)}
		if got := r.Output(); got != tt.output {
			t.Errorf("%s: output %q, want %q", tt.in, got, tt.output)
		}
		if got := r.Failed(); got != tt.failed {
			t.Errorf("%s: failed %v", tt.in, got)
		}
	}
}

func TestSplit(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"text":"a"}`, `{"text":"a"}`},
		{`{ "x":1 , "functionCall":{"id":"c"} }`, `{ "x":1 , "functionCall":{"id":"c"} }`},
		{`1`, `1`},
		{`{"functionCall":{"id":"c"}, "text" : "a","sig":"s"}`,
			`{"text":"a"}|{"functionCall":{"id":"c"},"sig":"s"}`},
		{`{"functionCall":{"id":"d"},"functionResponse":{"id":"c"}}`,
			`{"functionResponse":{"id":"c"}}|{"functionCall":{"id":"d"}}`},
		{`{"functionCall":{"id":"c"},"functionResponse":{"id":"c"}}`,
			`{"functionCall":{"id":"c"}}|{"functionResponse":{"id":"c"}}`},
		{`{"functionResponse":{},"functionCall":{}}`,
			`{"functionCall":{}}|{"functionResponse":{}}`},
		{`{"functionCall":{"name":"a"},"functionResponse":{"name":"b"}}`,
			`{"functionResponse":{"name":"b"}}|{"functionCall":{"name":"a"}}`},
		{`{"text":"a","inlineData":{"data":"AA=="},"functionCall":{}}`,
			`{"text":"a"}|{"inlineData":{"data":"AA=="}}|{"functionCall":{}}`},
		{`{"text":"a","inlineData":{},"thought":true}`,
			`{"text":"a","inlineData":{},"thought":true}`},
		{`{"text":"a","functionCall":{},"thought":true,"k":{}}`,
			`{"text":"a","thought":true}|{"functionCall":{},"k":{}}`},
		{`{"functionCall":{},"thought":true}`, `{"functionCall":{},"thought":true}`},
		{`{"text":"a","thought":false,"functionCall":{}}`,
			`{"text":"a"}|{"thought":false,"functionCall":{}}`},
		{`{"text":"a","Text":"b","functionCall":{}}`,
			`{"text":"a"}|{"Text":"b","functionCall":{}}`},
	}
	for _, tt := range tests {
		parts := Split(parse(t, "["+tt.in+"]"))
		var got []string
		for _, p := range parts {
			got = append(got, string(p.Raw))
			if one, err := ParsePart(p.Raw); err != nil || !reflect.DeepEqual(one, p) {
				t.Errorf("%s: piece %+v reads as %+v, %v", tt.in, p, one, err)
			}
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, s, tt.want)
		}
		if again := Split(parts); len(again) != len(parts) {
			t.Errorf("%s: split again into %d", tt.in, len(again))
		}
	}
}

// FuzzParse checks that Parse does not panic, that Raw has the bytes of the input, and that Raw
// alone parses to the same part.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		several, `[]`, `null`, ` [1, "a" ,{}]`, `[{"text":"a","text":"b"}]`,
		"[\"\xff\"]", `[{"text"]`,
		`[{"functionResponse":{"response":{"exit_code":1e400},"parts":[{}]}}]`,
		`[{"text":"a","thought":1,"inlineData":{},"fileData":{},"functionResponse":{},"functionCall":{},"x\ud800":"y"}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		parts, err := Parse(in)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %v", err)
			}
			return
		}
		var elements []json.RawMessage
		if err := json.Unmarshal(in, &elements); err != nil || len(elements) != len(parts) {
			t.Fatalf("%d parts, %d elements, %v", len(parts), len(elements), err)
		}
		again := []byte{'['}
		for i, p := range parts {
			if !bytes.Equal(p.Raw, elements[i]) {
				t.Fatalf("part %d is %q, and was %q", i, p.Raw, elements[i])
			}
			if i > 0 {
				again = append(again, ',')
			}
			again = append(again, p.Raw...)
		}
		back, err := Parse(append(again, ']'))
		if err != nil || len(back) != len(parts) ||
			len(parts) > 0 && !reflect.DeepEqual(parts, back) {
			t.Fatalf("%q: %v", in, err)
		}
		split := Split(parts)
		if len(Split(split)) != len(split) || len(split) < len(parts) ||
			Words(split) != Words(parts) || Text(split) != Text(parts) ||
			len(Calls(split)) != len(Calls(parts)) || len(Results(split)) != len(Results(parts)) {
			t.Errorf("split, %q says something else", in)
		}
		if Words(parts) != Words(back) || len(Text(parts)) > len(Words(parts)) {
			t.Errorf("words of %q", in)
		}
		for _, r := range Results(parts) {
			r.Failed()
		}
	})
}

func BenchmarkWords(b *testing.B) {
	text := strings.Repeat("a line of what a tool printed\\n", 100)
	in := []byte(`[{"text":"I look."},{"functionCall":{"id":"c1","name":"sh","args":{"command":"ls -l",` +
		`"dir":"/p"}}},{"functionResponse":{"id":"c1","name":"sh","response":{"output":"` +
		text + `"}}}]`)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		parts, err := Parse(in)
		if err != nil || len(Words(parts)) < len(in)/2 {
			b.Fatal(err)
		}
	}
}

// TestCallFailed has what a client tells beside a call.
func TestCallFailed(t *testing.T) {
	for beside, want := range map[string]bool{
		`"opencode":{"state":{"status":"completed","metadata":{"exit":2}}}`: true,
		`"opencode":{"state":{"status":"completed","metadata":{"exit":0}}}`: false,
		`"opencode":{"state":{"metadata":{"exit":null}}},"thought":false`:   false,
		`"opencode":{"exit":2}`: false,
	} {
		parts, err := Parse([]byte(`[{"functionCall":{"id":"c","name":"bash","args":{}},` + beside +
			`}]`))
		if err != nil || len(Calls(parts)) != 1 || Calls(parts)[0].Failed != want {
			t.Errorf("%s: %+v, %v", beside, Calls(parts), err)
		}
	}
}
