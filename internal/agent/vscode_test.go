package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

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
func TestVSCodeReplay(t *testing.T) {
	steps, _, stats := chats.Steps(t, []byte(changes))
	want := "message user r1 \"Which lamps?\"\nmessage model r1:0 \"The north one.\"\n"
	if got := Trace(steps); got != want || stats.Session != "s-2" ||
		len(stats.Skipped) > 0 {
		t.Errorf("got\n%s%+v", got, stats)
	}
	torn, _, stats := chats.Steps(t, []byte(changes+`{"kind":9}`+"\n"+`{"kind":1,"k":["requ`))
	if Trace(torn) != want || stats.Skipped[transcript.SkipTornTail] != 1 ||
		stats.Skipped[transcript.SkipUnknown] != 1 {
		t.Errorf("torn: %s%v", Trace(torn), stats.Skipped)
	}
	for _, data := range chats.Fixtures(t) {
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
		whole, _, _ := chats.Steps(t, data)
		made, _, _ := chats.Steps(t, []byte(lines))
		if Trace(made) != Trace(whole) {
			t.Errorf("lines say\n%s", Trace(made))
		}
	}
	for _, in := range []string{`{"a":1}`, `{"kind":0,"v":7}`, `{"kind":0,"v":{}}`, "[1]"} {
		steps, _, stats := chats.Steps(t, []byte(in))
		if len(steps) > 0 || len(stats.Skipped) == 0 {
			t.Errorf("%s: %d steps, %v", in, len(steps), stats.Skipped)
		}
	}
}
