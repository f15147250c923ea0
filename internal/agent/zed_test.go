package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// The messages have the text of the thread, in its order: nothing is lost, and nothing doubled.
func TestZedWords(t *testing.T) {
	data := threads.Fixtures(t)["thread.json"]
	threads.CheckErrors(t, string(data))
	steps, _, stats := threads.Steps(t, data)
	var doc struct{ Text string }
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, st := range steps {
		for _, p := range transcript.PartsOf(&st.Message) {
			text := p.Text
			if text == "" {
				text = p.Body.Object(shape.ZedAgent).Object("block").Text("text")
			}
			said = append(said, strings.Fields(text)...)
		}
	}
	all := strings.Join(strings.Fields(doc.Text), " ")
	if got := strings.Join(said, " "); got != all {
		t.Errorf("got\n%s\nwant\n%s", got, all)
	}
	const want = `message user message-0 "Which lamps — 灯 — are lit?" "Look at both."
message model message-1 thought "I should look." "The north one."
message user message-2 "Thank you."
message model message-3 "It is"
note system message-4 "Be short."
`
	if got := Trace(steps); got != want || len(stats.Skipped) > 0 ||
		stats.Session != "d0000000-0000-4000-8000-000000000001" {
		t.Errorf("got\n%swant\n%s%+v", got, want, stats)
	}
}

// Places outside of the text, and in the middle of a character, do no harm.
func TestZedPlaces(t *testing.T) {
	const doc = `{"zed":"context","text":"灯","messages":[{"start":1,"metadata":{"role":"user"}},` +
		`{"start":99,"metadata":{"role":"user"}},{"start":0,"metadata":{"role":"assistant"}}],` +
		`"slash_command_output_sections":[{"range":{"start":2,"end":1}},{"range":{"start":0,"end":88}}]}`
	if steps, _, _ := threads.Steps(t, []byte(doc)); len(steps) != 3 {
		t.Errorf("%s", Trace(steps))
	}
}
