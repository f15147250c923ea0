package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func hooks() []Hook {
	members := []Member{{"type", "command"}, {"name", "ctx"},
		Command("ctx hook gemini-cli; exit 0"), {"timeout", 10000}}
	return []Hook{{Event: "BeforeAgent", Members: members}, {Event: "AfterAgent", Members: members}}
}

const fresh = `{
  "hooks": {
    "BeforeAgent": [
      {
        "hooks": [
          {
            "type": "command",
            "name": "ctx",
            "command": "ctx hook gemini-cli; exit 0",
            "timeout": 10000
          }
        ]
      }
    ],
    "AfterAgent": [
      {
        "hooks": [
          {
            "type": "command",
            "name": "ctx",
            "command": "ctx hook gemini-cli; exit 0",
            "timeout": 10000
          }
        ]
      }
    ]
  }
}
`

// texts are settings as people write them.
func texts() []string {
	return []string{
		"{}", "{}\n", "{ }", "{\n}\n", `{"a":1}`, "{\n  \"a\": 1\n}\n",
		"{\n\t\"a\": 1, // why\n\t\"b\": [1, 2] // and this\n\t// the end\n}",
		"// settings\n{\r\n    \"theme\": \"x\" /* y */\r\n}\r\n", "{\n  // nothing yet\n}\n",
		"{ // nothing\n}", "{/* nothing */}", "{ \"a\": 1 // why\n}", "{ \"a\":1//00 \n}",
		"{\n  \"hooks\": {\n    \"AfterAgent\": [\n      { \"matcher\": \"*\", \"hooks\": [ { " +
			"\"type\": \"command\", \"command\": \"make\" } ] } // mine\n    ]\n  },\n " +
			" \"z\": {}\n}\n",
		`{"hooks":{"BeforeAgent":[{"hooks":[{"type":"command","command":"a"}]}]}}`,
		"{\"hooks\":{\"Notification\":[]},\n\"hooksConfig\":{\"disabled\":[\"x\"]}}",
		`{"s":"// not /* a comment \" {","t":"\\"}`, "{\"hooks\": {} , \"a\": [ [] ] }",
	}
}

// value decodes settings.
func value(t testing.TB, b []byte) map[string]any {
	t.Helper()
	plain, err := Standard(b)
	if err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	var v map[string]any
	if err := json.Unmarshal(plain, &v); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return v
}

func TestInstallIntoNothing(t *testing.T) {
	got, err := Install(nil, Groups("gemini-cli"), hooks())
	if err != nil || string(got) != fresh {
		t.Errorf("%v:\n%s", err, got)
	}
}

func TestInstall(t *testing.T) {
	for _, text := range texts() {
		check(t, []byte(text))
	}
	got, err := Install([]byte("{\n\t\"a\": 1 // why\n\t// end\n}"),
		Groups("gemini-cli"), hooks()[:1])
	want :=
		"{\n\t\"a\": 1, // why\n\t// end\n\t\"hooks\": {\n\t\t\"BeforeAgent\": " +
			"[\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n" +
			"\t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"name\": " +
			"\"ctx\",\n\t\t\t\t\t\t\"command\": \"ctx hook gemini-cli; exit " +
			"0\",\n\t\t\t\t\t\t\"timeout\": 10000\n" +
			"\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}"
	if err != nil || string(got) != want {
		t.Errorf("%v:\n%s", err, got)
	}
}

// check installs into settings and removes again.
func check(t testing.TB, text []byte) {
	t.Helper()
	before, err := Look(text, Groups("gemini-cli"))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	in, err := Install(text, Groups("gemini-cli"), hooks())
	if err != nil {
		return // hooks is something else there
	}
	state, err := Look(in, Groups("gemini-cli"))
	if err != nil || state.Commands["BeforeAgent"] != "ctx hook gemini-cli; exit 0" ||
		state.Commands["AfterAgent"] != "ctx hook gemini-cli; exit 0" {
		t.Fatalf("%v, %+v:\n%s", err, state, in)
	}
	if again, err := Install(in, Groups("gemini-cli"), hooks()); err != nil ||
		!bytes.Equal(again, in) {
		t.Errorf("a second time: %v:\n%s", err, again)
	}
	if !hasAll(in, text) && len(before.Commands) == 0 {
		t.Errorf("something was lost of\n%s\nin\n%s", text, in)
	}
	out, err := Remove(in, Groups("gemini-cli"))
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Commands) > 0 {
		return
	}
	if got, want := pruned(value(t, out)), pruned(value(t, text)); !reflect.DeepEqual(got, want) {
		t.Errorf("after removing:\n%s\nof\n%s", out, text)
	}
	if len(bytes.ReplaceAll(text, []byte("{}"), nil)) == len(text) &&
		!bytes.Contains(text, []byte(`"hooks"`)) && bytes.Contains(text, []byte("\n}")) &&
		strings.ContainsAny(string(text), ":") && !bytes.Equal(out, text) {
		t.Errorf("after removing:\n%q\nbefore:\n%q", out, text)
	}
}

// hasAll reports whether the bytes of text are in b in their order.
func hasAll(b, text []byte) bool {
	i := 0
	for _, c := range b {
		if i < len(text) && c == text[i] {
			i++
		}
	}
	return i == len(text)
}

// pruned takes empty lists of hooks away: those that held nothing but ours go with them.
func pruned(v map[string]any) map[string]any {
	if hooks, ok := v["hooks"].(map[string]any); ok {
		for event, list := range hooks {
			if l, ok := list.([]any); ok && len(l) == 0 {
				delete(hooks, event)
			}
		}
		if len(hooks) == 0 {
			delete(v, "hooks")
		}
	}
	return v
}

func TestNewerCommand(t *testing.T) {
	in, err := Install([]byte(strings.ReplaceAll(fresh, "ctx hook", "/old/ctx hook")),
		Groups("gemini-cli"), hooks())
	if err != nil || string(in) != fresh {
		t.Errorf("%v:\n%s", err, in)
	}
}

func TestBad(t *testing.T) {
	for text, line := range map[string]int{
		"": 1, "{": 1, "[]": 1, "{\n\"a\": 1,\n}": 3, "{\n\"a\" 1}": 2, "{'a':1}": 1,
		"{\"a\":\n\"b\n\"}": 2, "{} x": 1, "{\"a\":nul}": 1, "{/*}": 1, "{\"a\":01}": 1,
		strings.Repeat("[", 1000): 1, strings.Repeat("[", 1<<20): 1,
	} {
		_, err := Look([]byte(text), Groups("gemini-cli"))
		if err == nil ||
			!regexp.MustCompile(fmt.Sprintf("^line %d[:,]", line)).MatchString(err.Error()) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	for _, text := range []string{`{"hooks":[]}`, `{"hooks":{"AfterAgent":{}}}`, `{"hooks":null}`} {
		if out, err := Install([]byte(text), Groups("gemini-cli"), hooks()); err == nil {
			t.Errorf("%s: %s", text, out)
		}
	}
}

func TestLook(t *testing.T) {
	s, err := Look(
		[]byte(
			strings.Replace(fresh, "{\n",
				"{\n\"hooksConfig\":{\"enabled\":false,\"disabled\":[\"ctx\"]},\n", 1)),
		Groups("gemini-cli"))
	if err != nil || !s.Off || !s.Disabled || len(s.Commands) != 2 {
		t.Errorf("%v: %+v", err, s)
	}
}

func FuzzInstall(f *testing.F) {
	for _, text := range append(texts(), fresh) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := Look(text, Groups("gemini-cli")); err == nil {
			check(t, text)
		} else if out, err := Install(text, Groups("gemini-cli"), hooks()); err == nil &&
			len(text) > 0 {
			t.Errorf("bad settings were changed: %s", out)
		}
	})
}

// Hooks of other programs are theirs, whatever their names and paths have in common with ours.
func TestOthersHooksStay(t *testing.T) {
	for command, ours := range map[string]bool{
		"ctx hook claude-code": true, "ctx hook claude-code; exit 0": true,
		"/opt/bin/ctx hook claude-code; exit 0":        true,
		"'/opt/my tools/ctx' hook claude-code; exit 0": true,
		"/opt/gctx hook claude-code; exit 0":           true, "gctx.exe hook claude-code": true,
		"/opt/ectx hook claude-code":                       false,
		`& 'C:\my tools\ctx.exe' hook claude-code; exit 0`: true,
		"cd ~/ctx && sometool hook claude-code":            false,
		"/opt/bin/ctxguard hook claude-code":               false,
		"ctx hook claude-code-audit":                       false,
		"ctx hook claude-code; notify-send done":           false,
		"cd /x; /bin/ctx hook claude-code":                 false,
	} {
		in := []byte("{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":" +
			quoted(command) + "}]}]}}")
		out, err := Remove(in, Groups("claude-code"))
		if err != nil || bytes.Equal(out, in) == ours {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
}
