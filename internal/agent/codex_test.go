package agent

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func rollout(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("codex/testdata/rollout.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCodexRollout(t *testing.T) {
	steps, replay, stats := rollouts.Steps(t, rollout(t))
	want := `note system session_meta
note system derived:4e "<permissions instructions>ask</permissions instructions>"
note system derived:6b "<environment_context>\n  <cwd>/src/quay</cwd>\n</environment_context>"
message user derived:6e "Which lamps are lit?" media image/png iVBORw0KGgo=
message model derived:e5 thought "**Looking**"
message model call:call_1 call call_1 shell {"command":["cat","lamps.txt"]}
message model call:call_2 call call_2 apply_patch {"input":"*** Begin Patch\n*** End Patch"}
message tool result:call_1 result call_1 shell "{\"output\":\"north: on\\n\",\"metadata\":{\"exit_code\":0}}"
message tool result:call_2 result call_2 apply_patch "Done"
message model call:call_3 call call_3 spawn_agent {"message":"count"}
message tool result:call_3 result call_3 spawn_agent "{\"agent_id\":\"0199aaaa-0000-7000-8000-000000000002\"}"
message model derived:de "The north one."
message user derived:a5 "Switch it off"
message model derived:6d "It is off."
rewind to derived:a5
note system derived:51 "Lamps were counted."
note system derived:52 "tides"
message user derived:ea "Leave it on"
`
	got := regexp.MustCompile(`derived:([0-9a-f]{2})[0-9a-f]{14}`).ReplaceAllString(
		Trace(steps), "derived:$1")
	if names := regexp.MustCompile(`derived:..`); names.ReplaceAllString(got,
		"derived") != names.ReplaceAllString(want, "derived") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(stats.Skipped) > 0 || stats.Kept["tide_state"] != 1 ||
		stats.Passed["copy of a message"] != 3 || stats.Passed["copies in a compaction"] != 1 {
		t.Errorf("%+v", stats)
	}
	if fmt.Sprint(stats.Spawned) != "[{call_3 0199aaaa-0000-7000-8000-000000000002}]" ||
		stats.Session != "0199aaaa-0000-7000-8000-000000000001" {
		t.Errorf("%+v", stats)
	}
	for _, m := range replay.Threads[""] {
		if m.Role == "model" && m.Author != "gpt-x-codex" {
			t.Errorf("author %q", m.Author)
		}
	}
	out, _, err := rollouts.Write(Items(replay.Threads[""]),
		transcript.WriteOptions{Session: stats.Session})
	if err != nil {
		t.Fatal(err)
	}
	// Every record that says something is there as it was, in order; what was rolled back and what
	// a compaction copied is not.
	back := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	for i, line := range bytes.Split(bytes.TrimSpace(rollout(t)), []byte("\n")) {
		rec := jsonvalue.AsObject(line)
		if i >= 18 && i <= 21 ||
			rec.Text("type") == "event_msg" &&
				rec.Object("payload").Text("type") == "agent_reasoning" ||
			rec.Object("payload").Has("images") {
			continue
		}
		if !slices.ContainsFunc(back, func(b []byte) bool { return jsonvalue.Same(b, line) }) {
			t.Errorf("no %s in\n%s", line, out)
		}
	}
	if bytes.Contains(out, []byte("Switch it off")) ||
		bytes.Contains(out, []byte("replacement_history")) {
		t.Errorf("%s", out)
	}
}

func TestCodexRoundTrips(t *testing.T) {
	data := rollout(t)
	for cut := 0; cut < len(data); cut += 97 {
		rollouts.Check(t, data, cut)
	}
}

func said(text string) string {
	return fmt.Sprintf(
		`{"timestamp":"2026-02-03T08:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`, text)
}

func back(n int) string {
	return fmt.Sprintf(
		`{"timestamp":"2026-02-03T08:00:00.000Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":%d}}`, n)
}

// asked is an event with a prompt.
func asked(text string) string {
	return fmt.Sprintf(
		`{"timestamp":"2026-02-03T08:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":%q,"images":[]}}`, text)
}

func answered(text string) string {
	return strings.NewReplacer(`"user"`, `"assistant"`, "input_text", "output_text").Replace(
		said(text))
}

// compacted is a compaction that repeats a prompt.
func compacted(text string) string {
	item := jsonvalue.AsObject([]byte(said(text)))["payload"]
	return `{"timestamp":"2026-02-03T08:00:00.000Z","type":"compacted","payload":{"message":"",` +
		`"replacement_history":[` + string(item) + `]}}`
}

func TestCodexDamage(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, c := range []struct {
		name, in, want string
		skipped        map[string]int
	}{
		{"no line feed at the end", said("1") + "\n" + said("2"), "user 1 user 2", nil},
		{"a torn tail", said("1") + "\n" + said("2")[:50], "user 1",
			map[string]int{transcript.SkipTornTail: 1}},
		{"two records on a line", lines(said("1") + said("2")), "user 1 user 2", nil},
		{"a record after a torn one", lines(said("1"), said("3")[:90]+said("2")), "user 1 user 2",
			map[string]int{transcript.SkipBadJSON: 1}},
		{"nul runs", said("1") + "\n\x00\x00" + said("2") + "\n\x00\n", "user 1 user 2",
			map[string]int{transcript.SkipNULRun: 2}},
		{"JSON that is no record",
			lines("7", said("1"), `{"x":1}`, `{"type":"response_item","payload":3}`, said("2")),
			"user 1 user 2", map[string]int{transcript.SkipUnknown: 3}},
		{"nested too deep", lines(said("1"), `{"type":"response_item","payload":`+deep+`}`),
			"user 1", map[string]int{transcript.SkipDeep: 1}},
		{"a megabyte", lines(said(long)), "user " + long, nil},
		{"a prompt that only a compaction has", lines(compacted("1"), said("2")),
			"user 1 system user 2", nil},
		{"a prompt that a compaction repeats", lines(said("1"), compacted("1"), said("2")),
			"user 1 system user 2", nil},
		{"the same twice", lines(said("1"), said("1")), "user 1 user 1", nil},
		{"prompts in events alone", lines(asked("1"), answered("2"), asked("3")),
			"user 1 model 2 user 3", nil},
		{"an event behind its item", lines(said("1"), asked("1"), answered("2")),
			"user 1 model 2", nil},
		{"an event before its item", lines(asked("1"), said("<environment_context>x"+
			"</environment_context>"), said("1"), answered("2")),
			"system <environment_context>x</environment_context> user 1 model 2", nil},
		{"some in events alone", lines(said("1"), asked("1"), asked("1"), asked("4"),
			answered("2"), said("3\n5"), asked("3\n\n5")),
			"user 1 user 1 user 4 model 2 user 3\n5", nil},
		{"an event that is rolled back", lines(said("1"), asked("1"), asked("2"), back(1),
			said("3")), "user 1 user 3", nil},
		{"a review", lines(asked("Review the current code changes (staged, unstaged, and "+
			"untracked files) and provide prioritized findings."), said("3")),
			"system Review the current code changes (staged, unstaged, and untracked files) " +
				"and provide prioritized findings. user 3", nil},
		{"rolled back", lines(said("1"), said("2"), said("3"), back(2), said("4")),
			"user 1 user 4", nil},
		{"rolled back beyond the first", lines(said("1"), said("2"), back(9), said("4")),
			"user 4", nil},
		{"rolled back twice", lines(said("1"), back(1), back(1), said("2"), back(0), said("3")),
			"user 2 user 3", nil},
		{"without envelopes",
			lines(`{"id":"s","timestamp":"2025-06-01T00:00:00.000Z","instructions":null}`,
				`{"record_type":"state"}`,
				`{"type":"message","role":"user","content":[{"type":"input_text","text":"1"}]}`,
				`{"type":"function_call","id":"f","name":"shell","arguments":"x","call_id":"c"}`),
			"user 1 model", nil},
		{"strange types",
			lines(
				`{"timestamp":7,"type":"response_item","payload":{"type":"message","role":7,"content":"x"}}`,
				`{"timestamp":"x","type":"response_item","payload":{"type":"function_call","call_id":"c"}}`,
				`{"timestamp":"x","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":{"content":[{"text":"a"}],"success":false}}}`,
				`{"timestamp":"x","type":"response_item","payload":{"type":"local_shell_call","call_id":"d","action":[]}}`,
				`{"timestamp":"x","type":"response_item","payload":{"type":"reasoning","summary":[7]}}`), "system model tool model model", nil},
	} {
		_, replay, stats := rollouts.Steps(t, []byte(c.in))
		var said []string
		for _, m := range replay.Threads[""] {
			said = append(said, m.Role)
			for _, p := range transcript.PartsOf(&m) {
				if p.Kind == transcript.PartText {
					said = append(said, p.Text)
				}
			}
		}
		if got := strings.Join(said, " "); got != c.want {
			t.Errorf("%s: %.300q, want %.300q", c.name, got, c.want)
		}
		if !maps.Equal(stats.Skipped, c.skipped) {
			t.Errorf("%s: skipped %v, want %v", c.name, stats.Skipped, c.skipped)
		}
		rollouts.Check(t, []byte(c.in), len(c.in)/2)
	}
}

func FuzzCodex(f *testing.F) {
	data := rollout(f)
	f.Add(data, uint(len(data)/2))
	for _, line := range bytes.SplitAfter(data, []byte("\n")) {
		f.Add(line, uint(len(line)/2))
	}
	f.Add([]byte(lines(said("1"), said("2"), back(1), said("3"))), uint(300))
	if out, _, err := rollouts.Write(Items(Others()),
		transcript.WriteOptions{Session: "s",
			Home: &transcript.Home{Store: "a", Session: "b"}}); err == nil {
		f.Add(out, uint(1000))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint) { rollouts.Check(t, data, int(cut%(1<<30))) })
}

func TestCodexErrors(t *testing.T) { rollouts.CheckErrors(t, string(rollout(t))) }

// Who said what is in a message of the user.
func TestCodexVoices(t *testing.T) {
	user := func(texts ...string) string {
		var list []string
		for _, s := range texts {
			list = append(list, `{"type":"input_text","text":"`+s+`"}`)
		}
		return `{"timestamp":"2026-02-03T08:00:00.000Z","type":"response_item","payload":` +
			`{"type":"message","role":"user","content":[` + strings.Join(list, ",") + `]}}`
	}
	rollouts.CheckVoices(t, []Voice{
		{"words", user("paint it"), "user: paint it"},
		{"an editor", user(`# Context from my IDE setup:\n\n## Open tabs:\n- a.go: a.go\n\n` +
			`## My request for Codex:\npaint it\n`), "user: paint it\n"},
		{"files of the app", user(`# Files mentioned by the user:\n\n## a.png: /w/a.png\n\n` +
			`## My request for Codex:\npaint it`), "user: paint it"},
		{"the names of pictures", user(`<image name=[Image #1]>`, `</image>`, "paint it"),
			"user: paint it"},
		{"a picture without a name", user(`<image>`, `</image>`, "paint it"), "user: paint it"},
		{"a picture of an own name", user(`<image name=\"a b.png\">`, `</image>`, "paint it"),
			"user: paint it"},
		{"an element before words", user(`<environment_context>x</environment_context>`, "paint it"),
			"user: paint it"},
		{"an element alone", user(`<environment_context>x</environment_context>`),
			"note: <environment_context>x</environment_context>"},
		{"a warning", user("Warning: apply_patch was requested via shell. Use the tool."),
			"note: Warning: apply_patch was requested via shell. Use the tool."},
		{"words of a warning", user("Warning: the paint is wet"), "user: Warning: the paint is wet"},
		{"a plan", user(`PLEASE IMPLEMENT THIS PLAN:\n# Lamps`),
			"model: PLEASE IMPLEMENT THIS PLAN:\n# Lamps"},
	})
}

// A result has the exit status of the commands of its script where the events before it tell it.
func TestCodexScriptEnds(t *testing.T) {
	ended := func(code string) string {
		return `{"timestamp":"2026-09-28T13:47:52Z","type":"event_msg","payload":{"type":` +
			`"item_completed","item":{"type":"CommandExecution","exit_code":` + code + `}}}` + "\n"
	}
	for events, want := range map[string]string{
		"": "", ended("0"): `"exit_code":0`, ended("2"): `"exit_code":2`,
		ended("0") + ended("0"): `"exit_code":0`, ended("0") + ended("1"): `"exit_codes":[0,1]`,
	} {
		steps, _, _ := rollouts.Steps(t, []byte(`{"timestamp":"2026-09-28T13:47:51Z","type":`+
			`"response_item","payload":{"type":"custom_tool_call","name":"exec","call_id":"x",`+
			`"input":"text(1)"}}`+"\n"+events+`{"timestamp":"2026-09-28T13:47:53Z","type":`+
			`"response_item","payload":{"type":"custom_tool_call_output","call_id":"x","output":`+
			`[{"type":"input_text","text":"lit"}]}}`+"\n"))
		for _, p := range transcript.PartsOf(&steps[len(steps)-1].Message) {
			response := string(p.Response)
			if p.Kind == transcript.PartResult && (!strings.Contains(response, want) ||
				want == "" && strings.Contains(response, "exit_code")) {
				t.Errorf("%q: %s", events, response)
			}
		}
	}
}
