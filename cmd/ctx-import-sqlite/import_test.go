package main

import (
	"database/sql"
	"encoding/hex"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/internal/faults"
)

// TestImport has homes in which agents have left databases, and what ctx says of what it imports.
func TestImport(t *testing.T) {
	if testing.Short() {
		t.Skip("builds ctx")
	}
	if err := register(); err != nil {
		t.Fatal(err)
	}
	bin := faults.Programs(t, "ctx", "ctx-import-sqlite")
	reader := filepath.Join(bin, "ctx-import-sqlite")
	for _, c := range []struct {
		agent, file string // below the home directory; the project is p
		made        []string
		log         string // the texts of the log
		later       []string
		more        string
	}{
		{"crush", "p/.crush/crush.db", crushMade,
			"Mend the parser | I look at it. | asked a subagent: Look for callers | Two callers. | " +
				"Leap years were missing. | The parser was mended. | ! go test",
			[]string{`insert into messages values ('m7', 's1', 'user',
				'[{"type":"text","data":{"text":"Now the docs"}}]', null, 7, 7, 0)`}, "Now the docs"},
		{"crush", "p/.crush/crush.db", []string{ // of its first year
			crushMade[0], strings.Replace(crushMade[1], ",\n\t\tis_summary_message integer not null", "", 1),
			`insert into sessions values ('s2', null, 'The parser', 9, 1)`,
			`insert into messages values
			('o1', 's2', 'user', '[{"type":"text","data":{"text":"Mend the parser"}}]', null, 1, 1),
			('o2', 's2', 'assistant', '[{"type":"text","data":{"text":"Mended."}}]', 'gpt-5', 2, 2)`},
			"Mend the parser | Mended.", []string{`insert into messages values ('o3', 's2', 'user',
				'[{"type":"text","data":{"text":"Now the docs"}}]', null, 7, 7)`}, "Now the docs"},
		{"goose", ".local/share/goose/sessions/sessions.db", gooseMade,
			"Mend the parser | I look at it. | $ go test → failed | FAIL: leap years | Mended.",
			[]string{`insert into messages (session_id, message_id, role, content_json,
				created_timestamp) values ('20260203_1', 'm5', 'user',
				'[{"type":"text","text":"Now the docs"}]', 1770000005)`}, "Now the docs"},
		{"zed", ".local/share/zed/threads/threads.db", zedMade,
			"Mend the parser | I look at it. | $ go test → failed | FAIL: leap years | Mended.",
			[]string{`update threads set updated_at = '2026-02-03T08:01:00.5+00:00', data =
				json_insert(data, '$.messages[#]', json('{"User":{"id":"u2","content":
				[{"Text":"Now the docs"}]}}'))`}, "Now the docs"},
		{"zed", "Library/Application Support/Zed/threads/threads.db", []string{
			`create table threads (id text primary key, summary text not null, updated_at text not null,
				data_type text not null, data blob not null)`,
			"insert into threads values ('z2', 'The parser', '2025-07-03T08:00:00Z', 'zstd', PACKED)"},
			"Mend the parser | I look at it. | $ go test → failed | FAIL: leap years",
			[]string{`update threads set data_type = 'json', data = json_insert(unzstd(data),
				'$.messages[#]', json('{"id":3,"role":"user","segments":[{"type":"text",
				"text":"Now the docs"}],"tool_uses":[],"tool_results":[]}'))`}, "Now the docs"},
		{"kiro", ".local/share/kiro-cli/data.sqlite3", kiroMade,
			"Mend the parser | $ go test → failed | FAIL: leap years | Mended.",
			[]string{`update conversations_v2 set updated_at = updated_at + 1, value =
				json_insert(value, '$.history[#]', json('{"user":{"content":{"Prompt":{"prompt":
				"Now the docs"}}},"assistant":{"Response":{"message_id":"a4","content":"Yes."}}}'))`},
			"Now the docs | Yes."},
		{"kiro", ".local/share/amazon-q/data.sqlite3", []string{
			"create table conversations (key text primary key, value text)",
			"insert into conversations values ('PROJECT', '" + kiroTalk + "')"},
			"Mend the parser | $ go test → failed | FAIL: leap years | Mended.",
			[]string{`update conversations set value =
				json_insert(value, '$.history[#]', json('{"user":{"content":{"Prompt":{"prompt":
				"Now the docs"}}},"assistant":{"Response":{"message_id":"a4","content":"Yes."}}}'))`},
			"Now the docs | Yes."},
		{"cursor", ".config/Cursor/User/globalStorage/state.vscdb", cursorMade,
			"Mend the parser | I look at it. | $ go test → failed | FAIL: leap years | exit status: 1 | " +
				"Mended.",
			[]string{`insert into cursorDiskKV values ('bubbleId:e1:b5',
				'{"bubbleId":"b5","type":1,"text":"Now the docs"}')`,
				`update cursorDiskKV set value = replace(value, '"b4","type":2}',
				'"b4","type":2},{"bubbleId":"b5","type":1}') where key = 'composerData:e1'`},
			"Now the docs"},
		{"cursor", "AppData/Roaming/Cursor/User/globalStorage/state.vscdb", []string{
			"create table ItemTable (key text unique on conflict replace, value blob)",
			"create table cursorDiskKV (key text unique on conflict replace, value blob)",
			`insert into cursorDiskKV values ('composerData:e4', '{"composerId":"e4","createdAt":
			1770105600000,"conversation":[{"bubbleId":"b1","type":1,"text":"Mend the parser"}]}')`},
			"Mend the parser",
			[]string{`update cursorDiskKV set value = json_insert(value, '$.conversation[#]',
				json('{"bubbleId":"b2","type":2,"text":"Mended."}'))`}, "Mended."},
	} {
		t.Run(c.file, func(t *testing.T) {
			home := t.TempDir()
			project := filepath.Join(home, "p")
			file := filepath.Join(home, filepath.FromSlash(c.file))
			for _, dir := range []string{project, filepath.Dir(file)} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			db, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			execute(t, db, append([]string{"pragma journal_mode=wal"}, c.made...), project)
			if strings.HasPrefix(c.file, "AppData") {
				workspace(t, filepath.Join(filepath.Dir(file), "../workspaceStorage/w"), project)
			}
			run := func(want string, args ...string) string {
				t.Helper()
				cmd := exec.Command(filepath.Join(bin, "ctx"), args...)
				cmd.Dir = project
				cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home,
					"PATH=" + os.Getenv("PATH"), "TMP=" + home, "TMPDIR=" + home}
				out, err := cmd.CombinedOutput()
				notFound := cmd.ProcessState.ExitCode() == 15
				if err != nil && !notFound || !strings.Contains(string(out), want) {
					t.Errorf("ctx %q: %v, without %q\n%s", args, err, want, out)
				}
				return string(out)
			}
			texts := func() string {
				var said []string
				for line := range strings.Lines(run("", "log")) {
					if text, ok := strings.CutPrefix(line, "    "); ok {
						said = append(said, strings.TrimSpace(text))
					}
				}
				return strings.Join(said, " | ")
			}
			run("", "init")
			run(c.agent, "import", "--all")
			if got := texts(); got != c.log {
				t.Errorf("got  %s\nwant %s", got, c.log)
			}
			run("0 with something new: 0 messages", "import", "--all")
			run("0 messages", "import", c.agent, file)
			run("0 messages", "import", file)
			execute(t, db, c.later, project) // they are in the log of the database alone
			run("1 with something new: ", "import", "--all")
			if got := texts(); got != c.log+" | "+c.more {
				t.Errorf("later: %s", got)
			}
			if err := os.Rename(reader, reader+".away"); err != nil {
				t.Fatal(err)
			}
			execute(t, db, []string{"create table other (n)"}, project)
			run("ctx-import-sqlite is not on the PATH", "import", "--all")
			if err := os.Rename(reader+".away", reader); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func execute(t *testing.T, db *sql.DB, statements []string, project string) {
	t.Helper()
	for _, s := range statements {
		of := strings.NewReplacer("PROJECT", filepath.ToSlash(project))
		s = strings.Replace(of.Replace(s), "PACKED", "x'"+packed(of.Replace(zedOlder))+"'", 1)
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

var crushMade = []string{
	`create table sessions (id text primary key, parent_session_id text, title text not null,
		updated_at integer not null, created_at integer not null)`,
	`create table messages (id text primary key, session_id text not null, role text not null,
		parts text not null, model text, created_at integer not null, updated_at integer not null,
		is_summary_message integer not null)`,
	`insert into sessions values ('s1', null, 'The parser', 9, 1), ('m2$$c2', 's1', 'Callers', 9, 3)`,
	`insert into messages values
	('m1', 's1', 'user', '[{"type":"text","data":{"text":"Mend the parser"}}]', null, 1, 1, 0),
	('m2', 's1', 'assistant', '[{"type":"reasoning","data":{"thinking":"hm"}},
		{"type":"text","data":{"text":"I look at it."}},
		{"type":"tool_call","data":{"id":"c2","name":"agent","input":"{\"prompt\":\"Look for callers\"}"}},
		{"type":"finish","data":{"reason":"tool_use","time":2}}]', 'gpt-5', 2, 2, 0),
	('m3', 's1', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"c2","name":"agent",
		"content":"Two callers.","is_error":false}}]', null, 3, 3, 0),
	('m4', 's1', 'assistant', '[{"type":"text","data":{"text":"Leap years were missing."}}]', 'gpt-5',
		4, 4, 0),
	('m5', 's1', 'assistant', '[{"type":"text","data":{"text":"The parser was mended."}}]', 'gpt-5',
		5, 5, 1),
	('m6', 's1', 'user', '[{"type":"shell_command","data":{"command":"go test","output":"ok"}}]', null,
		6, 6, 0),
	('n1', 'm2$$c2', 'user', '[{"type":"text","data":{"text":"Look for callers"}}]', null, 3, 3, 0),
	('n2', 'm2$$c2', 'assistant', '[{"type":"text","data":{"text":"Two callers."}}]', 'gpt-5', 4, 4, 0)`,
}

var gooseMade = []string{
	`create table sessions (id text primary key, name text, description text, working_dir text,
		created_at timestamp, updated_at timestamp)`,
	`create table messages (id integer primary key autoincrement, message_id text, session_id text,
		role text, content_json text, created_timestamp integer, metadata_json text)`,
	`insert into sessions values ('20260203_1', 'The parser', '', 'PROJECT', '2026-02-03 10:00:00',
		'2026-02-03 10:00:09'), ('20260203_2', 'Elsewhere', '', '/elsewhere', '2026-02-03 10:00:00',
		'2026-02-03 10:00:09'), ('20260203_3', 'Empty', '', 'PROJECT', '2026-02-03 10:00:00',
		'2026-02-03 10:00:09')`,
	`insert into messages (session_id, message_id, role, content_json, created_timestamp, metadata_json)
	values
	('20260203_1', 'm1', 'user', '[{"type":"text","text":"Mend the parser"}]', 1770000001, null),
	('20260203_2', 'x1', 'user', '[{"type":"text","text":"Not here"}]', 1770000001, null),
	('20260203_1', 'm2', 'assistant', '[{"type":"text","text":"I look at it."},{"type":"toolRequest",
		"id":"c1","toolCall":{"status":"success","value":{"name":"developer__shell",
		"arguments":{"command":"go test"}}}}]', 1770000002, '{"userVisible":true}'),
	('20260203_1', 'm3', 'user', '[{"type":"toolResponse","id":"c1","toolResult":{"status":"success",
		"value":{"content":[{"type":"text","text":"FAIL: leap years"}],"isError":true}}}]', 1770000003,
		null),
	('20260203_1', 'm4', 'assistant', '[{"type":"text","text":"Mended."}]', 1770000004, null)`,
}

var zedMade = []string{
	`create table threads (id text primary key, summary text not null, updated_at text not null,
		data_type text not null, data blob not null, parent_id text, folder_paths text,
		folder_paths_order text, created_at text)`,
	`insert into threads values ('z1', 'The parser', '2026-02-03T08:00:00.123456789+00:00', 'json',
	'{"title":"The parser","updated_at":"2026-02-03T08:00:00.123456789Z","version":"0.3.0",
	"model":{"provider":"zed.dev","model":"harbour-2"},"messages":[
	{"User":{"id":"u1","content":[{"Text":"Mend the parser"}]}},
	{"Agent":{"content":[{"Text":"I look at it."},{"ToolUse":{"id":"c1","name":"terminal",
		"raw_input":"","input":{"command":"go test"},"is_input_complete":true}}],
		"tool_results":{"c1":{"tool_use_id":"c1","tool_name":"terminal","is_error":true,
		"content":[{"Text":"FAIL: leap years"}],"output":null}}}},
	{"Agent":{"content":[{"Text":"Mended."}],"tool_results":{}}}],"imported":false}', null,
	'PROJECT', '0', '2026-02-03T08:00:00+00:00')`,
}

// zedOlder is of a version that kept no folders beside the thread.
const zedOlder = `{"version":"0.2.0","summary":"The parser","updated_at":"2025-07-03T08:00:00Z",
	"initial_project_snapshot":{"worktree_snapshots":[{"worktree_path":"PROJECT"}]},"messages":[
	{"id":0,"role":"user","segments":[{"type":"text","text":"Mend the parser"}],"tool_uses":[],
		"tool_results":[]},
	{"id":1,"role":"assistant","segments":[{"type":"text","text":"I look at it."}],
		"tool_uses":[{"id":"c1","name":"terminal","input":{"command":"go test"}}],"tool_results":[]},
	{"id":2,"role":"user","segments":[],"tool_uses":[],"tool_results":[{"tool_use_id":"c1",
		"is_error":true,"content":"FAIL: leap years"}]}]}`

// packed returns the digits of what zstd makes of a text.
func packed(text string) string {
	w, _ := zstd.NewWriter(nil) // no option can be wrong
	return hex.EncodeToString(w.EncodeAll([]byte(text), nil))
}

const kiroTalk = `{"conversation_id":"k1","history":[
	{"user":{"content":{"Prompt":{"prompt":"Mend the parser"}},"timestamp":"2026-02-03T08:00:00Z"},
	"assistant":{"ToolUse":{"message_id":"a1","content":"","tool_uses":[{"id":"c1",
		"name":"execute_bash","args":{"command":"go test"}}]}}},
	{"user":{"content":{"ToolUseResults":{"tool_use_results":[{"tool_use_id":"c1","content":
		[{"Text":"FAIL: leap years"}],"status":"Error"}]}}},
	"assistant":{"Response":{"message_id":"a2","content":"Mended."}}}]}`

var kiroMade = []string{
	`create table conversations_v2 (key text, conversation_id text, value text, created_at integer,
		updated_at integer)`,
	"insert into conversations_v2 values ('PROJECT', 'k1', '" + kiroTalk +
		"', 1770105600000, 1770105600000)",
}

// workspace makes the files of a workspace of Cursor, whose composer is e4.
func workspace(t *testing.T, dir, project string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	folder := (&url.URL{Scheme: "file", Path: filepath.ToSlash(project)}).String()
	if err := os.WriteFile(filepath.Join(dir, "workspace.json"),
		[]byte(`{"folder":"`+folder+`"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "state.vscdb"))
	if err != nil {
		t.Fatal(err)
	}
	execute(t, db, []string{"create table ItemTable (key text, value blob)",
		`insert into ItemTable values ('composer.composerData',
		'{"allComposers":[{"composerId":"e0"},{"composerId":"e4"}]}')`}, project)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// One composer says where it began, another one only in the list of its workspace.
var cursorMade = []string{
	"create table ItemTable (key text unique on conflict replace, value blob)",
	"create table cursorDiskKV (key text unique on conflict replace, value blob)",
	`insert into ItemTable values ('composer.composerHeaders', cast('{"allComposers":[{"composerId":"e1",
	"workspaceIdentifier":{"id":"w","uri":{"fsPath":"PROJECT","scheme":"file"}}},{"composerId":"e2",
	"workspaceIdentifier":{"id":"x","uri":{"fsPath":"/elsewhere","scheme":"file"}}}]}' as blob))`,
	`insert into cursorDiskKV values
	('composerData:e1', cast('{"_v":9,"composerId":"e1","name":"The parser","createdAt":1770105600000,
		"lastUpdatedAt":1770105609000,"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},
		{"bubbleId":"b2","type":2},{"bubbleId":"b3","type":2},{"bubbleId":"b4","type":2}]}' as blob)),
	('composerData:e2', '{"_v":9,"composerId":"e2","createdAt":1770105600000,
		"fullConversationHeadersOnly":[{"bubbleId":"b9","type":1}]}'),
	('composerData:e3', '{"composerId":"e3","createdAt":1770105600000,"conversation":[]}'),
	('bubbleId:e1:b1', cast('{"bubbleId":"b1","type":1,"text":"Mend the parser"}' as blob)),
	('bubbleId:e1:b2', '{"bubbleId":"b2","type":2,"text":"I look at it."}'),
	('bubbleId:e1:b3', '{"bubbleId":"b3","type":2,"text":"","toolFormerData":{"toolCallId":"c1",
		"name":"run_terminal_cmd","rawArgs":"{\"command\":\"go test\"}","status":"error",
		"result":"{\"output\":\"FAIL: leap years\",\"exitCodeV2\":1}"}}'),
	('bubbleId:e1:b4', '{"bubbleId":"b4","type":2,"text":"Mended."}'),
	('bubbleId:e2:b9', '{"bubbleId":"b9","type":1,"text":"Not here"}')`,
}

// TestRun has queries, and what is printed.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a b?#.db")
	db, err := sql.Open("sqlite", filepath.Join(dir, "made.db"))
	if err != nil {
		t.Fatal(err)
	}
	execute(t, db, []string{"create table t (n integer, s text)", "insert into t values (1, 'one'), (2, 'two')"}, "")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "made.db"), file); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string // what is printed; after "error: " what the error says
	}{
		{[]string{file, "select s from t order by n"}, "one\ntwo\n"},
		{[]string{file, "select s from t where n = ?1", "2"}, "two\n"},
		{[]string{file, "select null"}, "\n"},
		{[]string{file, "select unzstd('plain')"}, "plain\n"},
		{[]string{file, "select unzstd(x'28b52ffd0403190000616263f1b1c94b')"}, "error: "},
		{[]string{file, "select s from u"}, "error: no such table: u"},
		{[]string{file, "delete from t"}, "error: "},
		{[]string{filepath.Join(dir, "none.db"), "select 1"}, "error: unable to open"},
		{[]string{file}, usage},
	} {
		var out strings.Builder
		err := run(c.args, &out)
		if want, fails := strings.CutPrefix(c.want, "error: "); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", c.args[1:], err)
			}
		} else if err != nil || out.String() != c.want {
			t.Errorf("%q: %q, %v", c.args[1:], out.String(), err)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || !slices.Equal(names, []string{file}) {
		t.Errorf("%q beside the database: %v", names, err)
	}
}
