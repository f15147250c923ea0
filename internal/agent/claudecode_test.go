package agent

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func claudeSession(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("claudecode/testdata/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestClaudeSession(t *testing.T) {
	steps, replay, stats := claude.Steps(t, claudeSession(t))
	want := `note system summary:f2da27bc-bea1-8242-81bc-140729aabcfe "Harbour lights"
message user 00000001-0000-4000-8000-000000000001 "Which lamps are <b>lit</b>?"
message model 00000002-0000-4000-8000-000000000002 thought "I should look." tokens=3
message model 00000003-0000-4000-8000-000000000003 call toolu_1 Read {"file_path":"lamps.txt"} tokens=37
message model 00000004-0000-4000-8000-000000000004 call toolu_2 Task {"description":"count","prompt":"Count the lamps","subagent_type":"helper"} tokens=15
[00000051-0000-4000-8000-000000000051] message user 00000051-0000-4000-8000-000000000051 "Count the lamps"
[00000051-0000-4000-8000-000000000051] message model 00000052-0000-4000-8000-000000000052 "Four." tokens=2
message tool 00000005-0000-4000-8000-000000000005 result toolu_1 Read "north: on\nsouth: off"
message tool 00000006-0000-4000-8000-000000000006 result toolu_2 Task "Four."
message model 00000007-0000-4000-8000-000000000007 "The north one is lit." tokens=7
message user 00000008-0000-4000-8000-000000000008 "Switch it off"
message model 00000009-0000-4000-8000-000000000009 "It is off." tokens=4
rewind to 00000008-0000-4000-8000-000000000008
message user 0000000a-0000-4000-8000-00000000000a "Leave it on, see the picture" media image/png iVBORw0KGgo=
note system 0000000b-0000-4000-8000-00000000000b "Conversation compacted"
note system 0000000c-0000-4000-8000-00000000000c "This session is being continued: lamps were counted."
message user 0000000d-0000-4000-8000-00000000000d "and the buoy?"
`
	if got := Trace(steps); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(stats.Skipped) > 0 || stats.Kept["tide-table"] != 1 || len(stats.Kept) != 1 ||
		stats.Passed["progress"] != 1 || len(stats.Passed) != 1 {
		t.Errorf("%+v", stats)
	}
	if fmt.Sprint(stats.Spawned) != "[{toolu_2 00000051-0000-4000-8000-000000000051}]" ||
		stats.Session != "5e55a000-0000-4000-8000-000000000001" {
		t.Errorf("%+v", stats)
	}
	// What a record has besides is there, and comes out again.
	out, _, err := claude.Write(Items(replay.Threads[""]),
		transcript.WriteOptions{Session: stats.Session})
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{`"trackedFileBackups":{"quay.go"`, `"signature":"c2ln"`,
		`"preTokens":155000`, `"numLines":2`, `"height":3`,
		`"usage":{"input_tokens":9,"output_tokens":55}`} {
		if !bytes.Contains(out, []byte(piece)) {
			t.Errorf("no %s", piece)
		}
	}
	// Only what had left, and what says nothing, is not in it; nothing that ctx would have to
	// explain is.
	if bytes.Contains(out, []byte(`"ctx":`)) || bytes.Contains(out, []byte("Switch it off")) {
		t.Errorf("%s", out)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(claudeSession(t)), []byte("\n")) {
		rec := jsonvalue.AsObject(line)
		id := rec.Text("uuid")
		if rec.Text("type") == "progress" || rec.True("isSidechain") ||
			id >= "00000008" && id < "0000000a" || id == "" {
			continue
		}
		found := false
		for _, back := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
			if jsonvalue.AsObject(back).Text("uuid") == id {
				found = jsonvalue.Same(line, back)
				if !found {
					t.Logf("%s\n%s", line, back)
				}
			}
		}
		if !found {
			t.Errorf("record %s is not what it was", id)
		}
	}
}

func TestClaudeRoundTrips(t *testing.T) {
	data := claudeSession(t)
	for cut := 0; cut < len(data); cut += 97 {
		claude.Check(t, data, cut)
	}
}

func user(id, parent, text string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(
		`{"parentUuid":%s,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":%q},"uuid":%q,"timestamp":"2026-02-03T08:00:00.000Z"}`, up, text, id)
}

func lines(list ...string) string { return strings.Join(list, "\n") + "\n" }

func boundary(id string) string {
	return fmt.Sprintf(
		`{"parentUuid":null,"logicalParentUuid":"b","sessionId":"s","type":"system","subtype":"compact_boundary","content":"compacted","uuid":%q,"timestamp":"2026-02-03T08:00:00.000Z"}`, id)
}

func summary(id, parent, text string) string {
	return strings.Replace(user(id, parent, text), `"type"`, `"isCompactSummary":true,"type"`, 1)
}

// What the transcripts of two compactions have in common.
const (
	compactedOnce = "message user a \"1\"\nmessage model b \"2\"\nnote system k \"compacted\"\n" +
		"note system l \"sum\"\n"
	compactedTwice = "note system m \"compacted\"\nnote system n \"sum 2\"\n"
)

// The tree: where the person went back, and back again.
func TestClaudeTree(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
	}{
		{"a line", lines(user("a", "", "1"), user("b", "a", "2")),
			"message user a \"1\"\nmessage user b \"2\"\n"},
		{"back", lines(user("a", "", "1"), user("b", "a", "2"), user("c", "a", "3")),
			"message user a \"1\"\nmessage user b \"2\"\nrewind to b\nmessage user c \"3\"\n"},
		{"back to what had left",
			lines(user("a", "", "1"), user("b", "a", "2"), user("c", "a", "3"), user("d", "b", "4"),
				user("e", "d", "5")),
			"message user a \"1\"\nmessage user c \"3\"\nrewind to c\nmessage user b " +
				"\"2\"\nmessage user d \"4\"\nmessage user e \"5\"\n"},
		{"and again",
			lines(user("a", "", "1"), user("b", "a", "2"), user("c", "a", "3"), user("d", "b", "4"),
				user("e", "c", "5"), user("f", "b", "6")),
			"message user a \"1\"\nmessage user c \"3\"\nmessage user e \"5\"\nrewind to " +
				"c\nmessage user b \"2\"\nmessage user d \"4\"\n" +
				"rewind to d\nmessage user f \"6\"\n"},
		{"another beginning", lines(user("a", "", "1"), user("b", "a", "2"), user("c", "", "3")),
			"message user a \"1\"\nmessage user b \"2\"\nrewind to a\nmessage user c \"3\"\n"},
		{"another beginning, after the client's own command", lines(user("a", "", "1"),
			user("b", "a", "<local-command-stdout>$1</local-command-stdout>"), user("c", "", "3")),
			"message user a \"1\"\nnote system b \"<local-command-stdout>$1</local-command-stdout>\"\n" +
				"rewind to a\nmessage user c \"3\"\n"},
		{"a beginning after the client's own command alone", lines(
			user("b", "", "<local-command-stdout>$1</local-command-stdout>"), user("c", "", "3")),
			"note system b \"<local-command-stdout>$1</local-command-stdout>\"\nmessage user c \"3\"\n"},
		{"a parent that is not there", lines(user("a", "", "1"), user("b", "x", "2")),
			"message user a \"1\"\nmessage user b \"2\"\n"},
		{"written twice",
			lines(user("a", "", "1"), user("b", "a", "2"), user("a", "", "1"), user("c", "b", "3")),
			"message user a \"1\"\nmessage user b \"2\"\nmessage user c \"3\"\n"},
		{"a newer version",
			lines(user("a", "", "1"), user("b", "a", "2"), user("a", "", "1+"),
				user("c", "b", "3")),
			"message user a \"1\"\nmessage user b \"2\"\nmessage user a \"1+\"\nmessage " +
				"user c \"3\"\n"},
		{"a second compaction, and a parent before the first",
			lines(user("a", "", "1"), model("b", "a", "2"), boundary("k"), summary("l", "k", "sum"),
				user("c", "l", "3"), model("d", "c", "4"), boundary("m"),
				summary("n", "m", "sum 2"),
				user("e", "b", "5"), model("f", "e", "6")),
			compactedOnce + "message user c \"3\"\nmessage model d \"4\"\n" + compactedTwice +
				"message user e \"5\"\nmessage model f \"6\"\n"},
		{"the summary has that parent",
			lines(user("a", "", "1"), model("b", "a", "2"), boundary("k"), summary("l", "k", "sum"),
				user("c", "l", "3"), model("d", "c", "4"), boundary("m"),
				summary("n", "b", "sum 2"),
				user("e", "n", "5")),
			compactedOnce + "message user c \"3\"\nmessage model d \"4\"\n" + compactedTwice +
				"message user e \"5\"\n"},
		{"the client's own command stands before it",
			lines(user("a", "", "1"), model("b", "a", "2"), boundary("k"), summary("l", "k", "sum"),
				user("c", "l", "<command-name>/compact</command-name>"),
				user("d", "c", "<local-command-stdout>Compacted</local-command-stdout>"),
				user("e", "a", "3")),
			compactedOnce + "note system c \"<command-name>/compact</command-name>\"\n" +
				"note system d \"<local-command-stdout>Compacted</local-command-stdout>\"\n" +
				"message user e \"3\"\n"},
		{"a rule to remember, and a command that the person ran",
			lines(user("a", "", "<user-memory-input>use pnpm</user-memory-input>"),
				user("b", "a", "<bash-input>ls</bash-input>")),
			"message user a \"<user-memory-input>use pnpm</user-memory-input>\"\n" +
				"note system b \"<bash-input>ls</bash-input>\"\n"},
		{"back to before a compaction, after something was said",
			lines(user("a", "", "1"), model("b", "a", "2"), boundary("k"), summary("l", "k", "sum"),
				user("c", "l", "3"), user("d", "b", "4")),
			"message user a \"1\"\nmessage model b \"2\"\nnote system k \"compacted\"\n" +
				"note system l \"sum\"\nmessage user c \"3\"\nrewind to k\nmessage user d \"4\"\n"},
		{"parents in a ring",
			lines(`{"type":"progress","uuid":"p","parentUuid":"q"}`,
				`{"type":"progress","uuid":"q","parentUuid":"p"}`, user("a", "p", "1"),
				user("b", "q", "2")),
			"message user a \"1\"\nrewind to a\nmessage user b \"2\"\n"},
	} {
		steps, _, _ := claude.Steps(t, []byte(c.in))
		if got := Trace(steps); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
		for cut := 0; cut < len(c.in); cut += 13 {
			claude.Check(t, []byte(c.in), cut)
		}
	}
}

func TestClaudeDamage(t *testing.T) {
	a, b := user("a", "", "1"), user("b", "a", "2")
	both := "message user a \"1\"\nmessage user b \"2\"\n"
	one := "message user a \"1\"\n"
	long := strings.Repeat("x", 1<<20)
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, c := range []struct {
		name, in, want string
		skipped        map[string]int
	}{
		{"no line feed at the end", a + "\n" + b, both, nil},
		{"a torn tail", a + "\n" + b[:len(b)-9], one, map[string]int{transcript.SkipTornTail: 1}},
		{"two records on a line", a + b + "\n", both, nil},
		{"a record after a torn one", lines(a, user("x", "a", "3")[:60]+b), both,
			map[string]int{transcript.SkipBadJSON: 1}},
		{"bad lines", lines("nonsense", a, "{", b), both,
			map[string]int{transcript.SkipBadJSON: 2}},
		{"nul runs", a + "\n\x00\x00\x00" + b + "\n\x00\x00", both,
			map[string]int{transcript.SkipNULRun: 2}},
		{"JSON that is no record", lines("7", a, "[]", "null", `{"x":1}`, b), both,
			map[string]int{transcript.SkipUnknown: 4}},
		{"nested too deep", lines(a, `{"type":"user","x":`+deep+`}`, b), both,
			map[string]int{transcript.SkipDeep: 1}},
		{"a megabyte", lines(user("a", "", long)), fmt.Sprintf("message user a %q\n", long), nil},
		{"bytes that are not UTF-8", lines(strings.Replace(a, `"1"`, "\"\xff\"", 1)),
			"message user a \"\uFFFD\"\n", nil},
		{"strange types",
			lines(
				`{"type":"user","uuid":"a","message":{"role":5,"content":{"x":1}},"parentUuid":7,"timestamp":[],"sessionId":{}}`,
				`{"type":"assistant","uuid":"b","message":{"content":[7,"bare",{"type":"tool_use"},{"type":"image","source":3}],"usage":"x"}}`, `{"type":"system","uuid":"c"}`),
			"message user a\nmessage model b \"bare\"\n", nil},
	} {
		steps, _, stats := claude.Steps(t, []byte(c.in))
		if got := Trace(steps); got != c.want {
			t.Errorf("%s: got\n%.2000swant\n%.2000s", c.name, got, c.want)
		}
		if !maps.Equal(stats.Skipped, c.skipped) {
			t.Errorf("%s: skipped %v, want %v", c.name, stats.Skipped, c.skipped)
		}
		claude.Check(t, []byte(c.in), len(c.in)/2)
	}
}

func TestClaudeErrors(t *testing.T) { claude.CheckErrors(t, user("a", "", "1")) }

func FuzzClaudeCode(f *testing.F) {
	data := claudeSession(f)
	f.Add(data, uint(len(data)/2))
	for _, line := range bytes.SplitAfter(data, []byte("\n")) {
		f.Add(line, uint(len(line)/2))
	}
	f.Add(
		[]byte(lines(user("a", "", "1"), user("b", "a", "2"), user("c", "a", "3"),
			user("d", "b", "4"))), uint(300))
	if out, _, err := claude.Write(Items(Others()),
		transcript.WriteOptions{Session: "s",
			Home: &transcript.Home{Store: "a", Session: "b"}}); err == nil {
		f.Add(out, uint(1000))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint) { claude.Check(t, data, int(cut%(1<<30))) })
}
