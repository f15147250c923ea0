package view

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

func told(name, text string) Message {
	return Message{ID: id(name), Role: "system", Time: noon, Text: text, Update: true}
}

func user(text string) Message { return Message{ID: id(text), Role: "user", Text: text} }

func model(text string) Message { return Message{ID: id(text), Role: "model", Text: text} }

func callOf(ids ...string) Message {
	var parts []string
	for _, c := range ids {
		parts = append(parts, `{"functionCall":{"id":"`+c+`","name":"ls","args":{}}}`)
	}
	return Message{ID: id("call " + strings.Join(ids, " ")), Role: "model",
		Parts: json.RawMessage("[" + strings.Join(parts, ",") + "]")}
}

func resultFor(c string) Message {
	return Message{ID: id("result " + c), Role: "tool",
		Parts: json.RawMessage(
			`[{"functionResponse":{"id":"` + c + `","name":"ls","response":{"output":"x"}}}]`)}
}

// body describes the messages that a provider gets of a tail, without its envelope: u(…) m(…) s(…)
// t(…) for messages of user, model, system and tool.
func body(t *testing.T, f Format, in Input) string {
	t.Helper()
	var out []string
	for _, m := range parseMessages(t, render(t, in, Options{Format: f}).Bytes) {
		var said []string
		var blocks []ruleBlock
		var text string
		switch {
		case json.Unmarshal(m.Content, &text) == nil && text != "":
			said = append(said, text)
		case json.Unmarshal(m.Content, &blocks) == nil:
		}
		for _, p := range append(blocks, m.Parts...) {
			switch {
			case p.FunctionCall != nil || p.Type == "tool_use":
				said = append(said, "call")
			case p.FunctionResponse != nil || p.Type == "tool_result":
				said = append(said, "result")
			default:
				said = append(said, p.Text)
			}
		}
		for range m.ToolCalls {
			said = append(said, "call")
		}
		who := map[string]string{"user": "u", "model": "m", "assistant": "m", "system": "s",
			"tool": "t"}[m.Role]
		out = append(out, who+"("+strings.Join(said, " + ")+")")
	}
	return strings.NewReplacer("<system-update>\n", "<", "\n</system-update>", ">", "\n",
		"/").Replace(strings.Join(out, " "))
}

// What a model is told to have changed stands behind what the user said last, as each provider
// takes it.
func TestE44_where_updates_stand(t *testing.T) {
	for _, tt := range []struct {
		name                      string
		tail                      []Message
		gemini, openai, anthropic string
	}{
		{"after results",
			[]Message{user("go"), callOf("a", "b"), resultFor("a"), resultFor("b"),
				told("1", "one"), told("2", "two"), model("ok")},
			"u(go) m(call + call) u(result + result) u(<one> + <two>) m(ok)",
			"u(go) m(call + call) t(x) t(x) u(<one>/<two>) m(ok)",
			"u(go) m(call + call) u(result + result + <one> + <two>) m(ok)"},
		{"after results, before a prompt",
			[]Message{user("go"), callOf("a"), resultFor("a"), told("1", "one"), user("next")},
			"u(go) m(call) u(result) u(<one> + next)",
			"u(go) m(call) t(x) u(<one> + next)",
			"u(go) m(call) u(result + <one> + next)"},
		{"after a prompt", []Message{user("go"), told("1", "one"), told("2", "two"), model("ok")},
			"u(go + <one> + <two>) m(ok)", "u(go/<one>/<two>) m(ok)",
			"u(go + <one> + <two>) m(ok)"},
		{"after the model", []Message{user("go"), model("ok"), told("1", "one"), user("next")},
			"u(go) m(ok) u(<one> + next)", "u(go) m(ok) u(<one> + next)",
			"u(go) m(ok) u(<one> + next)"},
		{"first", []Message{told("1", "one"), user("go")}, "u(<one> + go)", "u(<one> + go)",
			"u(<one> + go)"},
		{"alone", []Message{told("1", "a & </system-update>")},
			"u(<a &amp; &lt;/system-update&gt;>)", "u(<a &amp; &lt;/system-update&gt;>)",
			"u(<a &amp; &lt;/system-update&gt;>)"},
	} {
		for f, want := range map[Format]string{Gemini: tt.gemini, OpenAI: tt.openai,
			Anthropic: tt.anthropic} {
			if got := body(t, f, Input{Tail: tt.tail}); got != want {
				t.Errorf("%s, %s: got\n%s\nwant\n%s", tt.name, f, got, want)
			}
		}
	}
	// With the block of clusters in front, an update that comes first is a part beside it.
	in := conversation()
	in.Tail = []Message{told("1", "one"), user("go")}
	for _, f := range []Format{Gemini, OpenAI, Anthropic} {
		if got := body(t, f, in); !strings.HasPrefix(got, "u(<context_clusters>") ||
			!strings.HasSuffix(got, " + <one> + go)") {
			t.Errorf("%s: got %s", f, got)
		}
	}
}

// The block is what the model is told first, word for word, before the clusters.
func TestInitialBlock(t *testing.T) {
	parts := []EpochPart{{"core/a", "Read <this> & that.\n"}, {"core/b", "```\n\"b\"\n```"}}
	text := "Read <this> & that.\n\n\n```\n\"b\"\n```"
	for _, clusters := range []bool{true, false} {
		in := Input{Tail: []Message{user("go")}, EpochID: id("epoch")}
		if clusters {
			in = conversation()
			in.EpochID = id("epoch")
		}
		for _, f := range formats {
			without := render(t, in, Options{Format: f})
			with := in
			with.Epoch = parts
			out := render(t, with, Options{Format: f})
			var doc struct {
				System            string
				SystemInstruction struct{ Parts []struct{ Text string } }
				Messages          []struct{ Role, Content any }
				Epoch             struct{ Parts []EpochPart }
			}
			if f != Text {
				if err := json.Unmarshal(out.Bytes, &doc); err != nil {
					t.Fatalf("%s: %v: %s", f, err, out.Bytes)
				}
			}
			ok := false
			switch f {
			case Text:
				ok = string(out.Bytes) == text+"\n\n"+string(without.Bytes)
			case JSON:
				ok = slices.Equal(doc.Epoch.Parts, parts)
			case Gemini:
				rest := strings.TrimPrefix(string(without.Bytes), "{")
				ok = len(doc.SystemInstruction.Parts) == 1 &&
					doc.SystemInstruction.Parts[0].Text == text &&
					strings.HasSuffix(string(out.Bytes), ","+rest)
			case OpenAI:
				rest := strings.TrimPrefix(string(without.Bytes), `{"messages":[`)
				ok = doc.Messages[0].Role == "system" && doc.Messages[0].Content == text &&
					strings.HasSuffix(string(out.Bytes), "},"+rest)
			case Anthropic:
				rest := strings.TrimPrefix(string(without.Bytes), "{")
				ok = doc.System == text && strings.HasSuffix(string(out.Bytes), ","+rest)
			}
			if !ok {
				t.Errorf("%s, clusters %v: got %s", f, clusters, out.Bytes)
			}
			// With nothing else to say it is whole, too.
			alone := render(t, Input{Epoch: parts}, Options{Format: f})
			if f != Text && !json.Valid(alone.Bytes) {
				t.Errorf("%s: alone: %s", f, alone.Bytes)
			}
		}
	}
}

// randomTold puts a block and updates into an input.
func randomTold(in Input, seed int64, updates int) Input {
	r := rand.New(rand.NewSource(seed))
	in.EpochID = id("epoch")
	for i := range r.Intn(4) {
		in.Epoch = append(in.Epoch,
			EpochPart{Key: "core/" + string(rune('a'+i)),
				Text: "told " + randomText(r, 40) + " end " + string(rune('a'+i))})
	}
	r = rand.New(rand.NewSource(seed + int64(updates)))
	in.Tail = slices.Clone(in.Tail)
	for i := range updates {
		name := string(rune('A' + i))
		m := told(name, name+": "+randomText(r, 30)+" :"+name)
		in.Tail = slices.Insert(in.Tail, r.Intn(len(in.Tail)+1), m)
	}
	return in
}

// Under a budget nothing is over it, the block and every update are there whole or not at all, and
// what is not there is named.
func TestToldWithinTheBudget(t *testing.T) {
	seen := map[DropKind]int{}
	kept := 0
	for seed := range thirds.Range(t, int64(60)) {
		r := rand.New(rand.NewSource(seed))
		f := formats[seed%5]
		in := randomTold(randomInput(seed, seed, r.Intn(25)), seed, r.Intn(4))
		for budget := 1; budget <= 4000; budget += 1 + r.Intn(1+budget/2) {
			out := render(t, in, Options{Format: f, Budget: budget})
			if n := summarize.Tokens(string(out.Bytes)); n > budget || n != out.Tokens {
				t.Fatalf("seed %d, %s: %d tokens of %d", seed, f, n, budget)
			}
			if f != Text && len(out.Bytes) > 0 && !json.Valid(out.Bytes) {
				t.Fatalf("seed %d, %s: not JSON: %s", seed, f, out.Bytes)
			}
			checkDrops(t, in, Options{Format: f, Budget: budget}, out)
			dropped := map[format.ID]bool{}
			for _, d := range out.Dropped {
				for _, at := range d.IDs {
					dropped[at] = true
					if at == in.EpochID {
						seen[d.Kind]++
					}
				}
			}
			has := func(text string) bool {
				if f != Text {
					text = innerJSON(text)
				}
				return bytes.Contains(out.Bytes, []byte(text))
			}
			for _, p := range in.Epoch {
				if has(p.Text) == dropped[in.EpochID] {
					t.Fatalf("seed %d, %s, budget %d: %q dropped %v:\n%s", seed, f, budget, p.Text,
						dropped[in.EpochID], out.Bytes)
				}
			}
			for _, m := range in.Tail {
				text := epoch.Wrap(m.Text)
				if f == JSON {
					text = m.Text
				}
				if m.Update && has(text) == dropped[m.ID] {
					t.Fatalf("seed %d, %s, budget %d: %q dropped %v:\n%s", seed, f, budget, text,
						dropped[m.ID], out.Bytes)
				}
				if m.Update && !dropped[m.ID] {
					kept++
				}
			}
		}
	}
	if seen[DropEpoch] == 0 || len(seen) != 1 || kept == 0 {
		t.Errorf("the block was dropped as %v, %d updates stayed", seen, kept)
	}
}

// Within an epoch the prefix does not change by a byte, whatever is said and told since.
func TestToldPrefixIsStable(t *testing.T) {
	for seed := range thirds.Range(t, int64(12)) {
		for _, f := range formats {
			for _, budget := range []int{0, 40, 90, 200, 700, 4000} {
				first := render(t, randomTold(randomInput(seed, 0, 0), seed, 0),
					Options{Format: f, Budget: budget})
				for n := range 4 {
					in := randomTold(randomInput(seed, int64(n), n*n*4+1), seed, n)
					in.EpochID = id(string(rune('0' + n))) // every update has another one
					out := render(t, in, Options{Format: f, Budget: budget})
					if !bytes.Equal(out.Bytes[:out.Prefix], first.Bytes[:first.Prefix]) {
						t.Fatalf("seed %d, %s, budget %d: prefix\n%s\nwas\n%s", seed, f, budget,
							out.Bytes[:out.Prefix], first.Bytes[:first.Prefix])
					}
				}
			}
		}
	}
}

// With updates anywhere providers still get what they take, but for Gemini's turn of its own after
// results.
func TestToldProviderRules(t *testing.T) {
	for seed := range thirds.Range(t, int64(200)) {
		in := randomTold(randomInput(seed, seed, int(seed%30)), seed, int(seed%5))
		if seed%2 == 0 {
			in.Clusters, in.Tombstones = nil, nil
		}
		for _, budget := range []int{0, 300} {
			checkAnthropic(t, render(t, in, Options{Format: Anthropic, Budget: budget}).Bytes)
			out := render(t, in, Options{Format: Gemini, Budget: budget})
			var doc struct{ Contents []json.RawMessage }
			if err := json.Unmarshal(out.Bytes, &doc); len(out.Bytes) > 0 && err != nil {
				t.Fatal(err)
			}
			checkGemini(t, mergeApart(t, doc.Contents))
			open := in
			open.Epoch = nil // its system message comes before the user's
			checkOpenAI(t, render(t, open, Options{Format: OpenAI, Budget: budget}).Bytes)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// mergeApart joins a user content without results to one with results before it: what then
// alternates did so but for that.
func mergeApart(t *testing.T, contents []json.RawMessage) []byte {
	t.Helper()
	type content struct {
		Role  string            `json:"role"`
		Parts []json.RawMessage `json:"parts"`
	}
	var list []content
	for _, raw := range contents {
		var c content
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		n := len(list)
		if n > 0 && c.Role == "user" && list[n-1].Role == "user" &&
			bytes.Contains(list[n-1].Parts[0], []byte(`"functionResponse"`)) {
			if !bytes.Contains(c.Parts[0], []byte(`system-update`)) {
				t.Errorf("a turn of its own that begins with no update: %s", raw)
			}
			list[n-1].Parts = append(list[n-1].Parts, c.Parts...)
			continue
		}
		list = append(list, c)
	}
	b, err := json.Marshal(map[string]any{"contents": list})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
