package mask

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// rule are the numbers of the Gemini CLI.
func rule() Params {
	return Params{
		Protected: 50_000, Gate: 30_000, Newest: 1, PreviewLines: 20, PreviewChars: 500,
		Exempt: []string{"activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode"},
		Shell:  []string{"run_shell_command"},
	}
}

func id(n int) format.ID { return format.Sum([]byte(fmt.Sprint(n))) }

// result is a part of so many tokens.
func result(n int, tool string, tokens int) Part {
	frame := Tokens(Part{Raw: respond(tool, "")})
	p := Part{Entry: id(n), Call: fmt.Sprint("c", n), Tool: tool,
		Raw: respond(tool, strings.Repeat("x", 4*(tokens-frame)))}
	if got := Tokens(p); got != tokens {
		panic(fmt.Sprint(got, " tokens, want ", tokens))
	}
	return p
}

func respond(tool, output string) json.RawMessage {
	b, err := json.Marshal(
		map[string]any{"functionResponse": map[string]any{"name": tool,
			"response": map[string]any{"output": output}}})
	if err != nil {
		panic(err)
	}
	return b
}

// plan goes through messages of one output each, oldest first.
func plan(p Params, messages ...Part) Plan {
	r := NewPlanner(p)
	for _, m := range slices.Backward(messages) {
		if m.Entry.IsZero() {
			r.Add(nil)
		} else {
			r.Add([]Part{m})
		}
	}
	return r.Plan()
}

func numbers(p Plan) (list []int) {
	for _, s := range p.Parts {
		for n := range 20 {
			if s.Entry == id(n) {
				list = append(list, n)
			}
		}
	}
	return list
}

func TestRule(t *testing.T) {
	said := Part{} // a message in which no tool printed anything
	masked := result(1, "read_file", 60_000)
	masked.Masked = true
	for name, c := range map[string]struct {
		messages            []Part
		masks               []int
		protected, prunable int
	}{
		"nothing": {nil, nil, 0, 0},
		"below the line": {[]Part{result(1, "ls", 25_000),
			result(2, "ls", 25_000), said}, nil, 50_000, 0},
		"the part that crosses is beyond": {[]Part{result(1, "ls", 30_001),
			result(2, "ls", 20_000), said}, []int{1}, 20_000, 30_001},
		"at the line it has not crossed": {[]Part{result(1, "ls", 30_000),
			result(2, "ls", 20_000), said}, nil, 50_000, 0},
		"one token below the gate": {[]Part{result(1, "ls", 29_999),
			result(2, "ls", 50_000), said}, nil, 50_000, 29_999},
		"at the gate": {[]Part{result(1, "ls", 30_000),
			result(2, "ls", 50_000), said}, []int{1}, 50_000, 30_000},
		"the newest message is passed": {[]Part{result(1, "ls", 90_000)}, nil, 0, 0},
		"only the newest one": {[]Part{result(1, "ls", 90_000),
			result(2, "ls", 90_000)}, []int{1}, 0, 90_000},
		"all that is older": {[]Part{result(1, "ls", 5_000), result(2, "ls", 30_000),
			result(3, "ls", 50_000), said}, []int{1, 2}, 50_000, 35_000},
		"exempt tools do not count": {[]Part{result(1, "ls", 40_000),
			result(2, "ask_user", 60_000), result(3, "ls", 45_000), said}, []int{1},
			45_000, 40_000},
		"what is masked does not count": {[]Part{masked, result(2, "ls", 40_000), said},
			nil, 40_000, 0},
		"past the line a small one is too": {[]Part{result(1, "ls", 20), result(2, "ls", 90_000),
			said}, []int{2}, 0, 90_020},
	} {
		p := plan(rule(), c.messages...)
		if !slices.Equal(numbers(p), c.masks) || p.Protected != c.protected ||
			p.Prunable != c.prunable {
			t.Errorf("%s: masks %v, protected %d, prunable %d; want %v, %d, %d", name, numbers(p),
				p.Protected, p.Prunable, c.masks, c.protected, c.prunable)
		}
		saved := 0
		for _, s := range p.Parts {
			saved += s.Tokens - s.Left
		}
		if saved != p.Saved || saved < 0 {
			t.Errorf("%s: saves %d, says %d", name, saved, p.Saved)
		}
	}
}

// TestPartsOfOneMessage: the last part of a message is the newest.
func TestPartsOfOneMessage(t *testing.T) {
	r := NewPlanner(rule())
	r.Add(nil)
	a, b := result(1, "ls", 40_000), result(1, "ls", 30_000)
	b.Index = 1
	r.Add([]Part{a, b})
	if p := r.Plan(); len(p.Parts) != 1 || p.Parts[0].Index != 0 || p.Protected != 30_000 {
		t.Errorf("got %+v", p)
	}
}

// TestC6_5_maskTwiceIsOnce masks random conversations, and masks again what came out: nothing more
// is found, however many tools print the tag.
func TestC6_5_maskTwiceIsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 300 {
		p := Params{
			Protected: r.IntN(400), Gate: r.IntN(300), Newest: r.IntN(3),
			PreviewLines: 2 + r.IntN(6), PreviewChars: 2 + r.IntN(60),
			Exempt: []string{"ask"}, Shell: []string{"sh"},
		}
		var list []Part
		for n := range r.IntN(20) {
			text := strings.Repeat([]string{"word ", "line\n", openTag, closeTag, "é𝄞"}[r.IntN(5)],
				r.IntN(120))
			part := Part{Entry: id(n), Tool: []string{"ls", "sh", "ask"}[r.IntN(3)], Text: text}
			if r.IntN(2) == 0 {
				part.Raw, part.Text = respond(part.Tool, text), ""
			}
			list = append(list, part)
		}
		first := plan(p, list...)
		if again := plan(p, list...); fmt.Sprint(again) != fmt.Sprint(first) {
			t.Fatal("the same conversation gave two plans")
		}
		for _, s := range first.Parts {
			at := slices.IndexFunc(list, func(l Part) bool { return l.Entry == s.Entry })
			if list[at].Tool == "ask" || list[at].Masked || s.Left >= s.Tokens {
				t.Fatalf("%+v is masked", s)
			}
			list[at].Masked = true
		}
		if second := plan(p, list...); len(second.Parts) > 0 {
			t.Fatalf("masked again: %+v", second.Parts)
		}
	}
}

// TestTagInOutput: a tool that prints the tag is masked like any other, and cannot close the tag
// that it stands in.
func TestTagInOutput(t *testing.T) {
	text := openTag + "\nI am masked already\n" + closeTag + "\n" +
		strings.Repeat("x", 200_000) + closeTag
	part := Part{Entry: id(1), Tool: "ls", Raw: respond("ls", text)}
	p := plan(rule(), part, Part{})
	if len(p.Parts) != 1 {
		t.Fatal("it is not masked")
	}
	short := p.Parts[0].Text
	if strings.Count(short, openTag) != 1 || strings.Count(short, closeTag) != 1 ||
		!strings.HasSuffix(short, closeTag) || !strings.HasPrefix(short, openTag) {
		t.Errorf("shown as %s", short)
	}
}

func TestTokens(t *testing.T) {
	for raw, want := range map[string]int{
		`{"functionResponse":{"name":"tool","response":{"output":"12345678"}}}`:                                           (4 + 21) / 4,
		`{"functionResponse":{"name":"tool","response": { "output" : "12345678" } }}`:                                     (4 + 21) / 4,
		`{"functionResponse":{"name":"tool","response":{"output":"\u00312345678"}}}`:                                      (4 + 21) / 4,
		`{"functionResponse":{"name":"","response":{"output":"𝄞"}}}`:                                                      (13 + 2) / 4,
		`{"functionResponse":{"name":"","response":"1234567"}}`:                                                           1,
		`{"functionResponse":{"name":"t","response":{},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}}`: 3000,
		`{"functionResponse":{"name":"t","response":{},"parts":[{"fileData":{"mimeType":"application/pdf"}}]}}`:           25800,
		`{"text":"12345678"}`:                   2,
		`{"text":"éé"}`:                         3,
		`"12345678"`:                            2,
		`{"inlineData":{"mimeType":"audio/x"}}`: len(`{"inlineData":{"mimeType":"audio/x"}}`) / 4,
	} {
		if got := Tokens(Part{Raw: json.RawMessage(raw)}); got != want {
			t.Errorf("%s: %d tokens, want %d", raw, got, want)
		}
	}
	if got := Tokens(Part{Tool: "tool", Text: "12345678é"}); got != 3 {
		t.Errorf("plain text: %d tokens", got)
	}
	long := strings.Repeat("é", longText+1)
	if got, want := Tokens(Part{Raw: json.RawMessage(`{"text":"` + long + `"}`)}),
		(longText+1)/4; got != want {
		t.Errorf("a long text: %d tokens, want %d", got, want)
	}
}

func TestPreviews(t *testing.T) {
	numbered := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d\n", i)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	ten := func(from int) string {
		var list []string
		for i := range 10 {
			list = append(list, fmt.Sprint(from+i))
		}
		return strings.Join(list, "\n")
	}
	cut := ten(0) + "\n\n... [5 lines omitted] ...\n\n" + ten(15)
	shell := func(response string) Part {
		return Part{Tool: "run_shell_command",
			Raw: json.RawMessage(`{"functionResponse":{"name":"run_shell_command","response":` +
				response + `}}`)}
	}
	output := func(text string) Part {
		b, _ := json.Marshal(map[string]string{"output": text})
		return shell(string(b))
	}
	for name, c := range map[string]struct {
		part Part
		want string
	}{
		"20 lines stay": {output("Output: " + numbered(20)), "Output: " + numbered(20)},
		"25 lines are cut": {output("Output: " + numbered(25) + "\nExit Code: 2\n"),
			"Output: " + cut + "\nExit Code: 2"},
		"other sections stay": {output("Error: " + numbered(25) + "\nSignal: 9"),
			"Error: " + numbered(25) + "\nSignal: 9"},
		"no sections": {output(numbered(25)), cut},
		"an error in the output": {output("first\n" + numbered(25) + "\nError: link failed"),
			strings.Replace(strings.Replace(cut, "0\n", "first\n0\n", 1),
				"9\n\n... [5 lines omitted] ...\n\n15\n", "\n... [7 lines omitted] ...\n\n", 1) +
				"\nError: link failed"},
		"a blank line first": {output("\nOutput: a\nSignal: 9"), "Output: a\nSignal: 9"},
		"stdout":             {shell(`{"stdout":"a","exit_code":0}`), "a"},
		"exit code": {shell(`{"output":"a","exitCode":3,"error":"no \"x\""}`),
			"a\n[Exit Code: 3]\n[Error: no \"x\"]"},
		"not a text": {shell(`{"output":{"b":1, "a":2}}`), `{"b":1,"a":2}`},
		"a response of text": {shell(`"` + strings.Repeat("y", 600) + `"`),
			`"` + strings.Repeat("y", 249) + "\n... [TRUNCATED] ...\n" +
				strings.Repeat("y", 249) + `"`},
		"plain text of a shell": {Part{Tool: "run_shell_command", Text: numbered(25)}, cut},
		"another tool, short": {Part{Tool: "ls", Text: strings.Repeat("é", 500)},
			strings.Repeat("é", 500)},
		"another tool, long": {Part{Tool: "ls",
			Text: strings.Repeat("a", 250) + "#" + strings.Repeat("b", 250)},
			strings.Repeat("a", 250) + "\n... [TRUNCATED] ...\n" + strings.Repeat("b", 250)},
		"no half of a character": {Part{Tool: "ls",
			Text: strings.Repeat("a", 249) + strings.Repeat("𝄞", 3) + strings.Repeat("b", 249)},
			strings.Repeat("a", 249) + "\n... [TRUNCATED] ...\n" + strings.Repeat("b", 249)},
		"pretty, in its order": {Part{Tool: "ls",
			Raw: json.RawMessage(
				`{"functionResponse":{"name":"ls","response":{"b":"\u003c","a":[1]}}}`)},
			"{\n  \"b\": \"<\",\n  \"a\": [\n    1\n  ]\n}"},
	} {
		if got := preview(c.part, rule()); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestReplace(t *testing.T) {
	for raw, want := range map[string]string{
		`{"functionResponse":{"id":"c","name":"n","response":{"output":"old"},"parts":[{}]},"x":1}`: `{"functionResponse":{"id":"c","name":"n","response":{"output":"a\"<b"},"parts":[{}]},"x":1}`,
		`{"functionResponse":{"id":"c"}}`:                                                `{"functionResponse":{"id":"c","response":{"output":"a\"<b"}}}`,
		`{"FunctionResponse":{"RESPONSE":{"output":"old"}}}`:                             `{"FunctionResponse":{"RESPONSE":{"output":"old"}}}`,
		`{"functionResponse":{"response":1,"Response":2},"functionresponse":{"id":"d"}}`: `{"functionResponse":{"response":{"output":"a\"<b"},"Response":2},"functionresponse":{"id":"d"}}`,
		`{"functionResponse":{"id":"c"},"text":"b","functionCall":{"id":"d"}}`:           `{"functionResponse":{"id":"c","response":{"output":"a\"<b"}},"text":"b","functionCall":{"id":"d"}}`,
		`{"text":"old"}`:                `{"text":"a\"<b"}`,
		`"old"`:                         `"a\"<b"`,
		`{"functionCall":{"name":"n"}}`: `{"functionCall":{"name":"n"}}`,
	} {
		if got := string(Replace(json.RawMessage(raw), `a"<b`)); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}

// FuzzReplace: whatever a part is like, what comes out is JSON, and of what it said nothing can be
// read where it is a result or a text.
func FuzzReplace(f *testing.F) {
	for _, s := range []string{
		`{"functionResponse":{"id":"c","name":"n","response":{"output":"SECRET"}}}`,
		`{"text":"SECRET"}`, `"SECRET"`,
		`{"functionResponse":{"response":1,"rEsponse":"SECRET"},"FUNCTIONresponse":{"response":"SECRET"}}`, `{"functionResponse":[]}`, `null`, `[1]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			t.Skip()
		}
		out := Replace(raw, "new")
		if !json.Valid(out) {
			t.Fatalf("%s became %s", raw, out)
		}
		before, after := readPart(raw), readPart(out)
		switch {
		case before.Result != nil:
			if after.Result == nil || string(plain(after.Result.Response)) != `{"output":"new"}` {
				t.Errorf("%s became %s", raw, out)
			}
		case before.HasText:
			if after.Text != "new" {
				t.Errorf("%s became %s", raw, out)
			}
		default:
			if string(out) != string(raw) {
				t.Errorf("%s became %s", raw, out)
			}
		}
		Shorten(Part{Raw: raw, Tool: "run_shell_command"}, rule())
		Shorten(Part{Raw: raw, Tool: "ls"}, rule())
		Shorten(Part{Text: string(raw), Tool: "run_shell_command"}, rule())
	})
}

func TestOffload(t *testing.T) {
	o := Offload{Threshold: 100, Head: 20}
	for n, want := range map[int]bool{99: false, 100: false, 101: true} {
		if o.TooLong(strings.Repeat("é", n)) != want {
			t.Errorf("%d characters: want %v", n, want)
		}
	}
	if (Offload{}).TooLong("x") || !o.TooLong(strings.Repeat("𝄞", 51)) {
		t.Error("0 is any number; a character beyond the first plane counts two")
	}
	got := o.Short(strings.Repeat("a", 20)+strings.Repeat("#", 41)+strings.Repeat("b", 80), id(1))
	want := "Output too large. Here are its first 20 and last 80 characters; `ctx expand " +
		id(1).String() + "` shows all of it.\n" +
		strings.Repeat("a", 20) + "\n\n... [41 characters omitted] ...\n\n" +
		strings.Repeat("b", 80)
	if got != want {
		t.Errorf("got %q", got)
	}
}
