package view

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// Output is never over its budget, whatever is printed and however small the budget is, and JSON
// stays JSON.
func TestNeverOverBudget(t *testing.T) {
	for seed := range thirds.Range(t, int64(60)) {
		r := rand.New(rand.NewSource(seed))
		in := randomInput(seed, seed, r.Intn(25))
		o := Options{Format: formats[seed%5]}
		if len(in.Clusters) > 0 && seed%3 == 0 {
			o.Expand = map[format.ID][]Message{in.Clusters[0].ID: randomTail(r, 9),
				id("other"): randomTail(r, 3)}
		}
		for o.Budget = 1; o.Budget <= 5000; o.Budget += 1 + r.Intn(1+o.Budget/2) {
			out := render(t, in, o)
			switch n := summarize.Tokens(string(out.Bytes)); {
			case n > o.Budget || n != out.Tokens:
				t.Fatalf("seed %d, %s: %d tokens, said %d, of %d", seed, o.Format, n,
					out.Tokens, o.Budget)
			case o.Format != Text && len(out.Bytes) > 0 && !json.Valid(out.Bytes):
				t.Fatalf("seed %d, %s: not JSON: %s", seed, o.Format, out.Bytes)
			case len(out.Bytes) == 0 && out.Dropped == nil && len(in.Tail)+len(in.Clusters) > 0:
				t.Fatalf("seed %d, %s: nothing printed, nothing said to be missing", seed, o.Format)
			}
			checkDrops(t, in, o, out)
		}
	}
}

// checkDrops checks that the printed messages of the tail and the dropped ones are all messages.
func checkDrops(t *testing.T, in Input, o Options, out Output) {
	t.Helper()
	if o.Format != JSON || o.Expand != nil || len(out.Bytes) == 0 {
		return
	}
	var doc struct {
		Tokens     int
		Tail       []json.RawMessage
		Clusters   []json.RawMessage
		Tombstones []json.RawMessage
		Older      int `json:"older_tombstones"`
		Dropped    tally
	}
	if err := json.Unmarshal(out.Bytes, &doc); err != nil {
		t.Fatal(err)
	}
	switch {
	case doc.Tokens != out.Tokens:
		t.Fatalf("says %d tokens, has %d", doc.Tokens, out.Tokens)
	case doc.Dropped != tallyOf(out.Dropped):
		t.Fatalf("says %+v, returns %+v", doc.Dropped, out.Dropped)
	case len(doc.Tail)+doc.Dropped.Messages != len(in.Tail):
		t.Fatalf("%d messages and %d dropped of %d", len(doc.Tail),
			doc.Dropped.Messages, len(in.Tail))
	case len(doc.Clusters)+doc.Dropped.Clusters != len(in.Clusters):
		t.Fatalf("%d clusters and %d dropped of %d", len(doc.Clusters), doc.Dropped.Clusters,
			len(in.Clusters))
	case len(doc.Tombstones)+doc.Dropped.Tombstones != min(len(in.Tombstones), maxTombstones):
		t.Fatalf("%d tombstones and %d dropped of %d", len(doc.Tombstones), doc.Dropped.Tombstones,
			len(in.Tombstones))
	}
}

// The same pin at the same budget gives the same prefix, byte for byte, whatever was said since.
func TestPrefixIsStable(t *testing.T) {
	for seed := range thirds.Range(t, int64(12)) {
		for _, f := range formats {
			for _, budget := range []int{0, 40, 90, 130, 200, 700, 4000} {
				first := render(t, randomInput(seed, 0, 0), Options{Format: f, Budget: budget})
				want := first.Bytes[:first.Prefix]
				for n := range 4 {
					out := render(t, randomInput(seed, int64(n), n*n*4+1),
						Options{Format: f, Budget: budget})
					if !bytes.Equal(out.Bytes[:out.Prefix], want) {
						t.Fatalf("seed %d, %s, budget %d: prefix\n%s\nwas\n%s", seed, f, budget,
							out.Bytes[:out.Prefix], want)
					}
				}
				if most := perToken * budget * prefixShare / 32; budget > 0 && f != JSON &&
					cost(string(want)) > max(most, 15) {
					t.Errorf("%s: a prefix of %d quarters of %d tokens", f,
						cost(string(want)), budget)
				}
			}
		}
	}
}

// Any tail becomes what the providers take.
func TestProviderRules(t *testing.T) {
	for seed := range thirds.Range(t, int64(300)) {
		in := randomInput(seed, seed, int(seed%30))
		if seed%2 == 0 {
			in.Clusters, in.Tombstones = nil, nil
		}
		for _, budget := range []int{0, 300} {
			checkGemini(t, render(t, in, Options{Format: Gemini, Budget: budget}).Bytes)
			checkAnthropic(t, render(t, in, Options{Format: Anthropic, Budget: budget}).Bytes)
			checkOpenAI(t, render(t, in, Options{Format: OpenAI, Budget: budget}).Bytes)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

type ruleMessage struct {
	Role      string
	Content   json.RawMessage
	Parts     []ruleBlock
	ToolCalls []struct{ ID string } `json:"tool_calls"`
	CallID    string                `json:"tool_call_id"`
}

type ruleBlock struct {
	Type, Text, ID   string
	CallID           string // tool_use_id
	Thought          bool
	FunctionCall     *ruleCall
	FunctionResponse *ruleCall
}

type ruleCall struct{ ID, Name string }

// Providers know a name in one case, which decoding into a struct does not ask for.
func (b *ruleBlock) UnmarshalJSON(raw []byte) error {
	return exactly(raw, map[string]any{
		"type": &b.Type, "text": &b.Text, "id": &b.ID, "tool_use_id": &b.CallID,
		"thought":      &b.Thought,
		"functionCall": &b.FunctionCall, "functionResponse": &b.FunctionResponse,
	})
}

func (c *ruleCall) UnmarshalJSON(raw []byte) error {
	return exactly(raw, map[string]any{"id": &c.ID, "name": &c.Name})
}

// exactly decodes the members of an object that have exactly these names.
func exactly(raw []byte, into map[string]any) error {
	var members map[string]json.RawMessage
	err := json.Unmarshal(raw, &members)
	for name, to := range into {
		if value, ok := members[name]; ok && err == nil {
			err = json.Unmarshal(value, to)
		}
	}
	return err
}

func parseMessages(t *testing.T, b []byte) []ruleMessage {
	t.Helper()
	var body struct{ Messages, Contents []ruleMessage }
	if len(b) == 0 {
		return nil
	}
	if err := json.Unmarshal(b, &body); err != nil {
		t.Fatal(err)
	}
	return append(body.Messages, body.Contents...)
}

// checkTurns checks that roles alternate from user on, and that each turn begins with the results
// of the calls before it.
func checkTurns(
	t *testing.T, ms []ruleMessage, model string, calls, answers func(ruleMessage) []string,
) {
	t.Helper()
	var waiting []string
	for i, m := range ms {
		if want := []string{"user", model}[i%2]; m.Role != want {
			t.Errorf("message %d is of role %q, not %q", i, m.Role, want)
		}
		if got := answers(m); strings.Join(got, "\n") != strings.Join(waiting, "\n") {
			t.Errorf("message %d answers %q, not %q", i, got, waiting)
		}
		waiting = calls(m)
	}
	if len(waiting) > 0 {
		t.Errorf("no answer to %q", waiting)
	}
}

func checkGemini(t *testing.T, b []byte) {
	t.Helper()
	name := func(c *ruleCall) string { return c.ID + "/" + c.Name }
	pick := func(get func(ruleBlock) *ruleCall) func(ruleMessage) []string {
		return func(m ruleMessage) (out []string) {
			if len(m.Parts) == 0 {
				t.Error("no parts")
			}
			for _, p := range m.Parts {
				if p.Thought {
					t.Error("a thought")
				}
				if c := get(p); c != nil {
					out = append(out, name(c))
				}
			}
			return out
		}
	}
	checkTurns(t, parseMessages(t, b), "model",
		pick(func(p ruleBlock) *ruleCall { return p.FunctionCall }),
		pick(func(p ruleBlock) *ruleCall { return p.FunctionResponse }))
}

func checkAnthropic(t *testing.T, b []byte) {
	t.Helper()
	seen := map[string]bool{}
	blocks := func(m ruleMessage) (out []ruleBlock) {
		if json.Unmarshal(m.Content, &out) != nil || len(out) == 0 {
			t.Errorf("content %s", m.Content)
		}
		return out
	}
	calls := func(m ruleMessage) (out []string) {
		for _, p := range blocks(m) {
			if p.Type == "text" && strings.TrimSpace(p.Text) == "" {
				t.Error("a blank text")
			}
			if p.Type != "tool_use" {
				continue
			}
			if out = append(out, p.ID); seen[p.ID] || !plainName(p.ID, idBytes) {
				t.Errorf("bad or second id %q", p.ID)
			}
			seen[p.ID] = true
		}
		return out
	}
	answers := func(m ruleMessage) (out []string) {
		for i, p := range blocks(m) {
			if p.Type == "tool_result" {
				if out = append(out, p.CallID); len(out) != i+1 {
					t.Error("a result after something else")
				}
			}
		}
		return out
	}
	checkTurns(t, parseMessages(t, b), "assistant", calls, answers)
}

func checkOpenAI(t *testing.T, b []byte) {
	t.Helper()
	var waiting []string
	last := ""
	for i, m := range parseMessages(t, b) {
		switch {
		case m.Role == "tool":
			if len(waiting) == 0 || waiting[0] != m.CallID {
				t.Fatalf("message %d answers %q, waiting are %q", i, m.CallID, waiting)
			}
			waiting = waiting[1:]
		case len(waiting) > 0:
			t.Fatalf("message %d comes before the answer to %q", i, waiting)
		case m.Role == last:
			t.Errorf("message %d has the role of the one before, %q", i, last)
		case i == 0 && m.Role == "assistant":
			t.Error("begins with the model")
		}
		for _, c := range m.ToolCalls {
			waiting = append(waiting, c.ID)
		}
		last = m.Role
	}
	if len(waiting) > 0 {
		t.Errorf("no answer to %q", waiting)
	}
}

// Random bytes in place of parts are shown and never fail.
func FuzzParts(f *testing.F) {
	for _, s := range partSeeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in := Input{Tail: []Message{{ID: id("m"), Role: "model", Parts: b},
			{ID: id("n"), Role: "user", Parts: b}}}
		checkGemini(t, render(t, in, Options{Format: Gemini}).Bytes)
		checkAnthropic(t, render(t, in, Options{Format: Anthropic}).Bytes)
		checkOpenAI(t, render(t, in, Options{Format: OpenAI, Budget: 50}).Bytes)
		if out := render(t, in, Options{Format: JSON}); !json.Valid(out.Bytes) {
			t.Errorf("not JSON: %s", out.Bytes)
		}
	})
}

func partSeeds() []string {
	return []string{`[]`, `null`, `"text"`, `["text",null,5,{}]`, `[{"text":5}]`,
		`[{"functionCall":{"args":[1]}}]`,
		`[{"functionResponse":{"response":"x"}},{"functionCall":{"id":"a"}}]`,
		`[{"functionCall":{"name":"n"}},{"functionResponse":{"name":"n"}}]`,
		`[{"thought":"why"}]`, `[{"funCtionCAll":{"id":"0"},"Text":"a"}]`, `{"text":"one"}`,
		`[`, "[\"\xff\"]"}
}

// The seeds are there and are not all alike.
func TestPartSeeds(t *testing.T) {
	kinds := map[kind]bool{}
	for _, s := range partSeeds() {
		for _, it := range readParts(Message{Parts: json.RawMessage(s)}) {
			kinds[it.kind] = true
		}
	}
	for k := textItem; k <= otherItem; k++ {
		if k != mediaItem && !kinds[k] {
			t.Errorf("no seed has kind %d", k)
		}
	}
}
