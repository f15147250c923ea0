package hooks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/hooks/settings"
)

// What is written for the shells of Windows and of other systems, with a path that needs quotes.
func TestCommandsOfShells(t *testing.T) {
	const windowsProgram, program = `C:\my tools\ctx.exe`, "/opt/my tools/ctx"
	for _, c := range []struct {
		agent, file string
		windows     bool
		want        string
	}{
		{"copilot", program, false,
			`"bash": "'/opt/my tools/ctx' hook copilot agentStop; exit 0",`},
		{"copilot", program, false,
			`"powershell": "& '/opt/my tools/ctx' hook copilot agentStop; exit 0",`},
		{"copilot", windowsProgram, true,
			`"bash": "'C:\\my tools\\ctx.exe' hook copilot agentStop; exit 0",`},
		{"copilot", windowsProgram, true,
			`"powershell": "& 'C:\\my tools\\ctx.exe' hook copilot agentStop; exit 0",`},
		{"antigravity", windowsProgram, true,
			`"command": "& 'C:\\my tools\\ctx.exe' hook antigravity Stop; exit 0",`},
		{"cursor", windowsProgram, true,
			`"command": "& 'C:\\my tools\\ctx.exe' hook cursor; exit 0"`},
		{"qwen", windowsProgram, true, `"command": "& 'C:\\my tools\\ctx.exe' hook qwen; exit 0",`},
		{"droid", windowsProgram, true,
			`"command": "& 'C:\\my tools\\ctx.exe' hook droid; exit 0",`},
		{"claude-code", windowsProgram, true,
			`"command": "'C:\\my tools\\ctx.exe' hook claude-code; exit 0",`},
	} {
		a, _ := AgentNamed(c.agent)
		out, err := settings.Install(nil, a.Settings(), a.install(c.file, c.windows))
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: no %s in\n%s\n%v", c.agent, c.want, out, err)
		}
		state, err := settings.Look(out, a.Settings())
		if err != nil || len(state.Commands) != len(a.Events) {
			t.Errorf("%s: %d of %d events, %v", c.agent, len(state.Commands), len(a.Events), err)
		}
		if out, err = settings.Remove(out, a.Settings()); err != nil ||
			strings.Contains(string(out), " hook ") {
			t.Errorf("%s: left\n%s\n%v", c.agent, out, err)
		}
	}
}

// Antigravity drops a file with one value of a kind that it does not expect: no fractions, nothing
// at the top but names of hooks, and of a hook nothing but lists of commands with a type, a command
// and a time.
func TestFormOfAntigravity(t *testing.T) {
	a, _ := AgentNamed("antigravity")
	out, err := settings.Install(nil, a.Settings(), a.install("ctx", false))
	if err != nil {
		t.Fatal(err)
	}
	var strict map[string]map[string][]struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&strict); err != nil || len(strict) != 1 ||
		len(strict["ctx"]) != len(a.Events) || strings.Contains(string(out), "//") {
		t.Errorf("%v: %+v in\n%s", err, strict, out)
	}
	for event, list := range strict["ctx"] {
		if len(list) != 1 || list[0].Type != "command" || list[0].Timeout != 30 ||
			!strings.Contains(list[0].Command, " "+event+";") {
			t.Errorf("%s: %+v", event, list)
		}
	}
}

// A row says at which event a turn ends, and does that event record.
func TestRows(t *testing.T) {
	for _, a := range Agents() {
		if does, ok := a.at(a.Turn); !ok || does != doRecord && does != doAside {
			t.Errorf("%s records nothing at the end of a turn", a.Name)
		}
	}
}
