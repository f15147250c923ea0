package vscode

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/transcript/transcripttest"
)

var kit = transcripttest.Format{
	Read: func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
		return Read("s-1", r, emit)
	},
	Whole: true,
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(changes), uint(9))
	kit.FuzzFixtures(f)
}

func TestTraces(t *testing.T) {
	for _, data := range transcripttest.Fixtures(t) {
		kit.CheckErrors(t, string(data))
	}
	kit.CheckTraces(t, map[string]transcripttest.Expected{
		"session.json": {Session: "f0000000-0000-4000-8000-000000000001"},
	}, "text", "ada", // the account
		"copilot/auto", "copilot/harbour-2", "GitHub Copilot", "panel", "c2ln",
		// of parts of a response
		"mcpServersStarting", "Running tide", "input", "embed", "{}", "thinking", "inlineReference", "toolInvocationSerialized",
		"markdownContent", "terminal", "/src/quay/lamps.txt",
		// calls that the model's own arguments tell
		"copilot_readFile", "Reading lamps.txt", "Running make", "call_1__vscode-1",
		`{"filePath":"/src/quay/lamps.txt"}`, `{"query":"south"}`,
		"I should ", "look.", ".", "south: off", "I look at ", "I look at lamps.txt.", "north: on", "\nend", "The north one. ", "It is old.")
}

// changes are lines that make a session.
const changes = `{"kind":0,"v":{"version":3,"sessionId":"s-2","requests":[],"inputState":{"a":1}}}
{"kind":1,"k":["inputState","a"],"v":2}
{"kind":2,"k":["requests"],"v":[{"requestId":"r1","message":{"text":"Which lamps?"},"response":[{"value":"x"}]}]}
{"kind":2,"k":["requests",0,"response"],"i":0,"v":[{"value":"The north"},{"value":" one."},{"value":"y"}]}
{"kind":2,"k":["requests",0,"response"],"i":2}
{"kind":1,"k":["customTitle"],"v":"Lamps"}
{"kind":3,"k":["inputState","a"]}
{"kind":1,"k":["requests",7,"message"],"v":"nowhere"}
`

// Lines with changes give what the object says that they make; a torn one is counted.
func TestReplay(t *testing.T) {
	steps, _, stats := kit.Steps(t, []byte(changes))
	want := "message user r1 \"Which lamps?\"\nmessage model r1:0 \"The north one.\"\n"
	if got := transcripttest.Trace(steps); got != want || stats.Session != "s-2" ||
		len(stats.Skipped) > 0 {
		t.Errorf("got\n%s%+v", got, stats)
	}
	torn, _, stats := kit.Steps(t, []byte(changes+`{"kind":9}`+"\n"+`{"kind":1,"k":["requ`))
	if transcripttest.Trace(torn) != want || stats.Skipped[transcript.SkipTornTail] != 1 ||
		stats.Skipped[transcript.SkipUnknown] != 1 {
		t.Errorf("torn: %s%v", transcripttest.Trace(torn), stats.Skipped)
	}
	for _, data := range transcripttest.Fixtures(t) {
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		lines := fmt.Sprintf("{\"kind\":0,\"v\":{\"requests\":[]}}\n"+
			"{\"kind\":2,\"k\":[\"requests\"],\"v\":%s}\n",
			strings.ReplaceAll(string(doc["requests"]), "\n", " "))
		for name, value := range doc {
			if name != "requests" {
				lines += fmt.Sprintf("{\"kind\":1,\"k\":[%q],\"v\":%s}\n", name, value)
			}
		}
		whole, _, _ := kit.Steps(t, data)
		made, _, _ := kit.Steps(t, []byte(lines))
		if transcripttest.Trace(made) != transcripttest.Trace(whole) {
			t.Errorf("lines say\n%s", transcripttest.Trace(made))
		}
	}
	for _, in := range []string{`{"a":1}`, `{"kind":0,"v":7}`, `{"kind":0,"v":{}}`, "[1]"} {
		if steps, _, stats := kit.Steps(t, []byte(in)); len(steps) > 0 || len(stats.Skipped) == 0 {
			t.Errorf("%s: %d steps, %v", in, len(steps), stats.Skipped)
		}
	}
}
