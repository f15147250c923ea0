package digest

import "testing"

// TestVocabulary has a call of every tool in the table, with the arguments that its agent gives.
func TestVocabulary(t *testing.T) {
	const patch = `*** Begin Patch\n*** Update File: a/b.go\n@@ func Old()\n-\told := 1\n+\tnew := 2\n*** End Patch`
	tests := []struct{ tool, args, want string }{
		// Claude Code
		{"Read", `{"file_path":"/p/a.go","offset":10,"limit":20}`, "read: read /p/a.go"},
		{"NotebookRead", `{"notebook_path":"/p/a.ipynb"}`, "read: read /p/a.ipynb"},
		{"LS", `{"path":"/p"}`, "search: listed /p"},
		{"Glob", `{"pattern":"**/*.go"}`, "search: searched **/*.go"},
		{"Grep", `{"pattern":"parse","path":"/p/a.go","-n":true,"output_mode":"content"}`,
			"search: searched parse in /p/a.go"},
		{"Edit",
			`{"file_path":"/p/a.go","old_string":"x := 1","new_string":"lastToken := 1","replace_all":false}`,
			"edit: edited /p/a.go: lastToken"},
		{"MultiEdit", `{"file_path":"/p/a.go","edits":[{"old_string":"x","new_string":"firstToken"},
			{"old_string":"y","new_string":"lastToken"}]}`,
			"edit: edited /p/a.go: firstToken, lastToken"},
		{"NotebookEdit", `{"notebook_path":"/p/a.ipynb","new_source":"x"}`,
			"edit: edited /p/a.ipynb"},
		{"Write", `{"file_path":"/p/a.go","content":"func Parse() {}\n"}`,
			"edit: wrote /p/a.go: Parse"},
		{"Bash", `{"command":"make build","description":"Build it"}`,
			"command: ran make build # Build it"},
		{"TodoWrite",
			`{"todos":[{"content":"Mend it","status":"in_progress","activeForm":"Mending"}]}`,
			"todo[active]: Mend it"},
		{"TaskCreate",
			`{"subject":"Mend it","description":"The parser loses tokens.","activeForm":"Mending"}`,
			"todo[open]: Mend it"}, // its description says no more than what is then done
		{"TaskUpdate", `{"taskId":"9","status":"completed"}`, ""},
		{"Task",
			`{"description":"Review the parser","prompt":"Look for lost tokens.","subagent_type":"x"}`,
			"act: asked a subagent: Review the parser\ntask: Look for lost tokens."},
		{"Agent", `{"description":"Review the parser","prompt":"Look for lost tokens."}`,
			"act: asked a subagent: Review the parser\ntask: Look for lost tokens."},
		{"WebFetch", `{"url":"https://go.dev/ref","prompt":"What changed?"}`,
			"act: fetched https://go.dev/ref"},
		{"WebSearch", `{"query":"go scanner"}`, "act: searched the web: go scanner"},
		{"ExitPlanMode", `{"plan":"First mend the parser."}`, "report: First mend the parser."},
		{"AskUserQuestion",
			`{"questions":[{"question":"Which parser?","header":"Parser"},{"question":"Which branch?"}]}`,
			"question: Which parser?\nquestion: Which branch?"},
		{"request_user_input", `{"questions":[{"id":"parser","question":"Which parser?"}]}`,
			"question: Which parser?"},
		{"Skill", `{"skill":"review","args":"12"}`, "act: Skill: review"},
		{"TaskOutput", `{"task_id":"a","block":true}`, ""},
		{"TaskStop", `{"task_id":"a"}`, ""},
		{"TaskList", `{}`, ""},
		{"TaskGet", `{"taskId":"1"}`, ""},
		{"BashOutput", `{"bash_id":"a"}`, ""},
		{"KillShell", `{"shell_id":"a"}`, ""},
		{"KillBash", `{"shell_id":"a"}`, ""},
		{"ToolSearch", `{"query":"select:Read"}`, ""},
		// Codex
		{"shell", `{"command":["bash","-lc","make build"],"workdir":"/p"}`,
			"command: ran make build"},
		{"shell", `{"command":["make","build"]}`, "command: ran make build"},
		{"shell_command", `{"command":"make build","workdir":"/p"}`, "command: ran make build"},
		{"local_shell_call", `{"command":["make","build"]}`, "command: ran make build"},
		{"container.exec", `{"cmd":["bash","-lc","make build"]}`, "command: ran make build"},
		{"exec_command", `{"cmd":"make build","workdir":"/p","yield_time_ms":1000}`,
			"command: ran make build"},
		{"shell", `{"command":["apply_patch","` + patch + `"]}`, "edit: edited a/b.go: Old"},
		{"apply_patch", `{"input":"` + patch + `"}`, "edit: edited a/b.go: Old"},
		{"apply_patch", `"` + patch + `"`, "edit: edited a/b.go: Old"},
		{"update_plan",
			`{"explanation":"The parser comes first.","plan":[{"step":"Mend it","status":"completed"}]}`,
			"todo[done]: Mend it\nsaid: The parser comes first."},
		{"write_stdin", `{"session_id":7,"chars":""}`, ""},
		{"spawn_agent", `{"agent_type":"explorer","message":"Look for lost tokens."}`,
			"act: asked a subagent: Look for lost tokens.\ntask: Look for lost tokens."},
		{"send_input", `{"id":"x","message":"Look again at the parser."}`,
			"act: asked a subagent: Look again at the parser.\ntask: Look again at the parser."},
		{"wait_agent", `{"targets":["x"]}`, ""},
		{"close_agent", `{"target":"x"}`, ""},
		{"view_image", `{"path":"/p/a.png"}`, "read: read /p/a.png"},
		// Gemini CLI
		{"read_file", `{"file_path":"a.go"}`, "read: read a.go"},
		{"read_file", `{"absolute_path":"/p/a.go","offset":1}`, "read: read /p/a.go"},
		{"read_many_files", `{"paths":["a.go","b c.go"]}`, "read: read a.go\nread: read b c.go"},
		{"read_many_files", `{"include":["a.go"]}`, "read: read a.go"},
		{"list_directory", `{"dir_path":"/p"}`, "search: listed /p"},
		{"search_file_content", `{"pattern":"parse","include":"*.go"}`,
			"search: searched parse in *.go"},
		{"grep_search", `{"pattern":"parse","dir_path":"src"}`, "search: searched parse in src"},
		{"replace",
			`{"file_path":"/p/a.go","old_string":"x","new_string":"lastToken","instruction":"Name it."}`,
			"edit: edited /p/a.go: lastToken"},
		{"write_file", `{"file_path":"/p/a.go","content":"x"}`, "edit: wrote /p/a.go"},
		{"run_shell_command", `{"command":"make build","description":"Build it"}`,
			"command: ran make build # Build it"},
		{"google_web_search", `{"query":"go scanner"}`, "act: searched the web: go scanner"},
		{"web_fetch", `{"prompt":"Read https://go.dev/ref please"}`,
			"act: fetched Read https://go.dev/ref please"},
		{"save_memory", `{"fact":"The user wants tabs."}`, "act: remembered: The user wants tabs."},
		{"write_todos", `{"todos":[{"description":"Mend it","status":"pending"}]}`,
			"todo[open]: Mend it"},
		{"ask_user", `{"questions":[{"question":"Which parser?","type":"choice"}]}`,
			"question: Which parser?"},
		{"activate_skill", `{"name":"review"}`, "act: activate_skill: review"},
		// opencode
		{"read", `{"filePath":"/p/a.go"}`, "read: read /p/a.go"},
		{"list", `{"path":"/p"}`, "search: listed /p"},
		{"edit", `{"filePath":"/p/a.go","oldString":"x","newString":"lastToken"}`,
			"edit: edited /p/a.go: lastToken"},
		{"write", `{"filePath":"/p/a.go","content":"x"}`, "edit: wrote /p/a.go"},
		{"bash", `{"command":"make build","description":"Build it"}`,
			"command: ran make build # Build it"},
		{"patch", `{"patchText":"` + patch + `"}`, "edit: edited a/b.go: Old"},
		{"todowrite",
			`{"todos":[{"id":"1","content":"Mend it","status":"cancelled","priority":"high"}]}`,
			"todo[done]: Mend it"},
		{"todoread", `{}`, ""},
		{"question", `{"questions":[{"question":"Which parser?"}]}`, "question: Which parser?"},
		// Tools of servers
		{"mcp__files__read_file", `{"path":"a.go"}`, "read: read a.go"},
		{"mcp__linear-server__create_issue", `{"title":"Tokens are lost","team":"x"}`,
			"act: tried to open an issue: Tokens are lost"},
		{"mcp_linear_get_issue", `{"id":"ABC-1"}`, "act: mcp_linear_get_issue: ABC-1"},
		{"linear.create_issue", `{"title":"Tokens are lost"}`,
			"act: tried to open an issue: Tokens are lost"},
		{"mcp__lonely", `{}`, "act: lonely"},
		// A known name with the arguments of another tool
		{"read", `{"url":"https://go.dev"}`, "act: fetched https://go.dev"},
		{"shell", `{"path":"a.go"}`, "read: read a.go"},
	}
	for _, tt := range tests {
		t.Run(tt.tool, func(t *testing.T) {
			got := showAll(Of(numbered(called("a", tt.tool, tt.args))))
			if want := tt.want + "\n"; got != want && got+tt.want != "" {
				t.Errorf("%s %s: got\n%swant\n%s", tt.tool, tt.args, got, want)
			}
		})
	}
}

// TestUnknownTools has tools that the table does not know: the shape of their arguments decides.
func TestUnknownTools(t *testing.T) {
	tests := []struct{ args, want string }{
		{`{"command":"make build"}`, "command: ran make build"},
		{`{"cmd":["make","build"],"timeout":3}`, "command: ran make build"},
		{`{"path":"a.go","old_str":"x","new_str":"lastToken"}`, "edit: edited a.go: lastToken"},
		{`{"path":"a.go","file_text":"x"}`, "edit: wrote a.go"},
		{`{"patch":"*** Begin Patch\n*** Delete File: a.go\n*** End Patch"}`, "edit: deleted a.go"},
		{`{"script":"make build"}`, "command: ran make build"},
		{`{"script":"export const meta = {\n  name: 'review',\n}"}`,
			"act: frobnicate: export const meta = { name: 'review', }"},
		{`{"url":"https://go.dev"}`, "act: fetched https://go.dev"},
		{`{"path":"src","pattern":"x"}`, "search: searched x in src"},
		{`{"path":"a.go","start":1,"end":20,"numbers":true,"more":null}`, "read: read a.go"},
		{`{"path":"a.go","mode":"fast"}`, "act: frobnicate: a.go"},
		{`{"name":"some thing"}`, "act: frobnicate: some thing"},
		{`{}`, "act: frobnicate"},
		{`[1]`, "act: frobnicate"},
		{`not JSON`, "act: frobnicate"},
		{`{"Command":"make build"}`, "act: frobnicate: make build"},
		{`{"path":["a.go","b.go"]}`, "read: read a.go\nread: read b.go"},
	}
	for _, tt := range tests {
		if got := showAll(Of(numbered(called("a", "frobnicate", tt.args)))); got != tt.want+"\n" {
			t.Errorf("%s: got\n%swant %s", tt.args, got, tt.want)
		}
	}
}
