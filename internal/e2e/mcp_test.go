package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Gemini CLI starts `ctx mcp` as its settings say, finds its tools, and hands their results to the
// model.
func TestMCPToolsAreCalled(t *testing.T) {
	t.Parallel()
	bundle := os.Getenv("CTX_E2E_GEMINI_CLI")
	if bundle == "" {
		t.Skip(
			"SKIPPED: CTX_E2E_GEMINI_CLI does not name " +
				"node_modules/@google/gemini-cli/bundle/gemini.js")
	}
	dir := t.TempDir()
	home, project, bin := filepath.Join(dir, "home"), filepath.Join(dir, "project"),
		filepath.Join(dir, "bin")
	for path, text := range map[string]string{
		filepath.Join(home, ".gemini", "settings.json"): `{
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}, "ide": {"enabled": false, "hasSeenNudge": true},
  "mcpServers": {"ctx": {"command": "ctx", "args": ["mcp"]}}
}
`,
		filepath.Join(project, "note.txt"): "nothing about it here\n",
		filepath.Join(bin, "README"):       "ctx and ctx-mcp\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home,
		"GEMINI_CLI_HOME=" + home,
		"GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true",
		"NO_COLOR=1", "TERM=xterm",
	}
	run := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = project, env
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s%s", program, args, err, out, stderr.Bytes())
		}
		return string(out)
	}
	install(t, bin, "ctx-mcp")
	ctx := filepath.Join(bin, "ctx")
	run(ctx, "init")
	run(ctx, "append", "-s", "yesterday", "--role", "user", "-m",
		"At what pressure does the pump run?")
	id := strings.TrimSpace(run(ctx, "append", "-s", "yesterday", "--role", "model", "-m",
		"The pump runs at 42 bar, as its plate says."))

	var answers strings.Builder
	reply := func(part any) {
		b, err := json.Marshal(map[string]any{"method": "generateContentStream",
			"response": []any{map[string]any{
				"candidates": []any{map[string]any{
					"content":      map[string]any{"parts": []any{part}, "role": "model"},
					"finishReason": "STOP", "index": 0,
				}},
				"usageMetadata": map[string]int{"promptTokenCount": 100, "candidatesTokenCount": 9,
					"totalTokenCount": 109},
			}}})
		if err != nil {
			t.Fatal(err)
		}
		answers.Write(append(b, '\n'))
	}
	call := func(tool string, args map[string]any) {
		reply(
			map[string]any{"functionCall": map[string]any{"name": "mcp_ctx_" + tool, "args": args}})
	}
	call("search_past_sessions", map[string]any{"query": "pump pressure", "limit": 3})
	call("read_past_messages", map[string]any{"id": id[:12]})
	call("list_past_sessions", map[string]any{})
	call("project_brief", map[string]any{"session": "yesterday", "max_tokens": 500})
	call("who_wrote_line", map[string]any{"file": "note.txt"})
	call("read_past_messages", map[string]any{"id": "zzzz"})
	reply(map[string]any{"text": "It runs at 42 bar."})
	file := filepath.Join(dir, "answers.jsonl")
	if err := os.WriteFile(file, []byte(answers.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := run("node", bundle, "--fake-responses-non-strict", file, "-m", "gemini-2.5-flash",
		"--approval-mode=yolo", "-o", "json", "-p", "Which pressure did we find?")
	var said struct {
		Session  string `json:"session_id"`
		Response string
		Stats    struct {
			Tools struct {
				Calls  int `json:"totalCalls"`
				Fails  int `json:"totalFail"`
				ByName map[string]struct{ Success int }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if said.Response != "It runs at 42 bar." || said.Stats.Tools.Calls != 6 ||
		said.Stats.Tools.Fails != 1 {
		t.Errorf("the agent ended with: %s", out)
	}
	// What the tools answered is what the agent wrote down, and what the model was sent.
	list, err := filepath.Glob(filepath.Join(home, ".gemini", "tmp", "*", "chats",
		"session-*-"+said.Session[:8]+".jsonl"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%d transcripts, %v", len(list), err)
	}
	b, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	results := toolResults(t, b)
	for tool, want := range map[string]string{
		"mcp_ctx_search_past_sessions": `"id":"` + id[:12] + `"`,
		"mcp_ctx_read_past_messages":   "42 bar, as its plate says",
		"mcp_ctx_list_past_sessions":   `"session":"yesterday"`,
		"mcp_ctx_project_brief":        "42 bar, as its plate says",
		"mcp_ctx_who_wrote_line":       `{"line":1,"to":1}`,
	} {
		if !strings.Contains(results[tool], want) {
			t.Errorf("%s answered %q, without %q", tool, results[tool], want)
		}
	}
	if !strings.Contains(results["mcp_ctx_read_past_messages"], "ctx: not found: no session, ref or object") {
		t.Errorf("the error that the model was told: %q", results["mcp_ctx_read_past_messages"])
	}
}

// toolResults collects what each tool answered, out of the agent's transcript.
func toolResults(t *testing.T, transcript []byte) map[string]string {
	t.Helper()
	results := map[string]string{}
	for line := range bytes.Lines(transcript) {
		var record struct {
			Calls []struct {
				Name   string
				Result []struct {
					Response struct {
						Response map[string]any
					} `json:"functionResponse"`
				}
			} `json:"toolCalls"`
		}
		if json.Unmarshal(line, &record) != nil {
			continue // a record of another kind
		}
		for _, c := range record.Calls {
			for _, r := range c.Result {
				for _, v := range r.Response.Response {
					text, _ := v.(string)
					results[c.Name] += text + "\n"
				}
			}
		}
	}
	return results
}
