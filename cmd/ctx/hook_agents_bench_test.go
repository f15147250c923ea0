package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The hooks of each agent as whole processes, in a session of one turn and in one of 200 turns with
// 10,000 entries, beside a shell that does nothing. On a busy machine processor time (cpu) says
// more than what a clock does, and ratios more than both:
//
//	go test ./cmd/ctx -run '^$' -bench AgentHook -benchtime 20x
func BenchmarkAgentHook(b *testing.B) {
	for _, agent := range []string{"claude-code", "codex", "opencode", "gemini-cli"} {
		for _, turns := range []int{1, 200} {
			b.Run(fmt.Sprintf("%s/%d-turns", agent, turns),
				func(b *testing.B) { benchAgentHook(b, agent, turns) })
		}
	}
}

// The events of an agent: the session begins, and a turn ends.
var benchEvents = map[string][2]string{
	"claude-code": {"SessionStart", "Stop"},
	"codex":       {"SessionStart", "Stop"},
	"opencode":    {"session.start", "session.idle"},
	"gemini-cli":  {"SessionStart", "AfterAgent"},
}

func benchAgentHook(b *testing.B, agent string, turns int) {
	w := newBench(b)
	s := &written{agent: agent,
		path: filepath.Join(filepath.Dir(w.dir), "chats",
			"0199aaaa-0000-7000-8000-000000000001.jsonl")}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		b.Fatal(err)
	}
	for range turns {
		s.turn()
	}
	s.save(b)
	start, end := benchEvents[agent][0], benchEvents[agent][1]
	call := func(event, session string) *exec.Cmd {
		return w.cmd(s.call(event, session, w.dir), w.ctx, "hook", agent)
	}
	b.Setenv("CTX_HOOK_DEADLINE", "10m")
	b.Setenv("CTX_GC_AUTO", "0")
	if out, err := call(end, s.session()).CombinedOutput(); err != nil || len(out) > 0 {
		b.Fatalf("%v: %s", err, out)
	}
	took := map[string][]time.Duration{}
	timed := func(name string, cmd *exec.Cmd) {
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		took[name] = append(took[name], time.Since(began))
		took[name+"-cpu"] = append(took[name+"-cpu"],
			cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	for n := 0; w.Loop(); n++ {
		timed("sh", w.cmd("", "sh", "-c", "true"))
		timed("start", call(start, fmt.Sprintf("0199bbbb-0000-7000-8000-%012d", n)))
		s.turn()
		s.save(b)
		timed("turn", call(end, s.session()))
		timed("nothing-new", call(end, s.session()))
	}
	if out := w.run("", w.ctx, "status"); strings.Contains(out, "could not do") {
		b.Fatal(out)
	}
	at := func(name string, percent int) float64 {
		list := slices.Sorted(slices.Values(took[name]))
		return float64(list[(len(list)-1)*percent/100]) / 1e6
	}
	for _, name := range []string{"start", "turn", "nothing-new"} {
		for _, percent := range []int{50, 95} {
			b.ReportMetric(at(name, percent), fmt.Sprintf("%s-p%d-ms", name, percent))
			b.ReportMetric(at(name+"-cpu", percent), fmt.Sprintf("%s-cpu-p%d-ms", name, percent))
			b.ReportMetric(at(name, percent)/at("sh", percent),
				fmt.Sprintf("%s-p%d-sh", name, percent))
		}
	}
	b.ReportMetric(at("sh", 50), "sh-p50-ms")
	b.ReportMetric(at("sh", 95), "sh-p95-ms")
	b.ReportMetric(float64(len(s.document(0)))/1e6, "transcript-MB")
	b.ReportMetric(0, "ns/op")
}

// written is a session as an agent writes it down. Its first turn has one call; every later one has
// 24, so that a turn has 50 entries.
type written struct {
	agent, path string
	n           int // records
	turns       int
	records     []string
	handed      int // records that a hook of opencode was given
}

func (s *written) session() string { return "0199aaaa-0000-7000-8000-000000000001" }

func (s *written) turn() {
	calls := 24
	if s.turns == 0 {
		calls = 1
	}
	s.turns++
	s.add("user", text(s.n)[:100])
	for range calls {
		s.add("call", fmt.Sprintf("cat f%d", s.n))
		if s.agent != "opencode" && s.agent != "gemini-cli" { // whose calls have their results
			s.add("result", text(s.n)[:400])
		}
	}
	s.add("model", text(s.n)[:300])
}

// add adds a record of the agent's.
func (s *written) add(what, said string) {
	n, id := s.n, s.session()
	s.n++
	const when = "2026-01-02T10:00:00.000Z"
	record := ""
	switch s.agent {
	case "claude-code":
		kind, role, content := "assistant", "assistant",
			fmt.Sprintf(`[{"type":"text","text":%q}]`, said)
		switch what {
		case "user":
			kind, role, content = "user", "user", fmt.Sprintf("%q", said)
		case "call":
			content = fmt.Sprintf(
				`[{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":%q}}]`, n, said)
		case "result":
			kind, role, content = "user", "user",
				fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"c%d","content":%q}]`, n-1, said)
		}
		parent := "null"
		if n > 0 {
			parent = fmt.Sprintf(`"u%d"`, n-1)
		}
		record = fmt.Sprintf(
			`{"parentUuid":%s,"isSidechain":false,"version":"2.1.197","cwd":"/","type":%q,"message":{"id":"msg_%d","role":%q,"content":%s},"uuid":"u%d","timestamp":%q,"sessionId":%q}`,
			parent, kind, n, role, content, n, when, id)
	case "codex":
		if n == 0 {
			s.records = append(s.records,
				fmt.Sprintf(
					`{"timestamp":%q,"type":"session_meta","payload":{"id":%q,"timestamp":%q,"cwd":"/","originator":"codex","cli_version":"0.169.0"}}`, when, id, when))
		}
		payload := fmt.Sprintf(
			`{"type":"message","id":"m%d","role":"assistant","content":[{"type":"output_text","text":%q}]}`, n, said)
		switch what {
		case "user":
			payload = fmt.Sprintf(
				`{"type":"message","id":"m%d","role":"user","content":[{"type":"input_text","text":%q}]}`, n, said)
		case "call":
			payload = fmt.Sprintf(
				`{"type":"function_call","name":"exec_command","arguments":%q,"call_id":"c%d"}`,
				fmt.Sprintf(`{"cmd":%q}`, said), n)
		case "result":
			payload = fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":%q}`,
				n-1, said)
		}
		record = fmt.Sprintf(`{"timestamp":%q,"type":"response_item","payload":%s}`, when, payload)
	case "opencode":
		role, part := "assistant", fmt.Sprintf(`{"type":"text","text":%q,`, said)
		switch what {
		case "user":
			role = "user"
		case "call":
			part = fmt.Sprintf(
				`{"type":"tool","callID":"c%d","tool":"bash","state":{"status":"completed","input":{"command":%q},"output":%q,"title":"","metadata":{},"time":{"start":1,"end":2}},`,
				n, said, text(n)[:400])
		}
		record = fmt.Sprintf(
			`{"info":{"id":"msg_%08d","sessionID":%q,"role":%q,"time":{"created":1767348000000,"completed":1767348000001},"finish":"stop"},"parts":[%s"id":"prt_%08d","messageID":"msg_%08d","sessionID":%q}]}`,
			n, id, role, part, n, n, id)
	case "gemini-cli":
		if n == 0 {
			s.records = append(s.records,
				fmt.Sprintf(
					`{"sessionId":%q,"projectHash":"ab","startTime":%q,"lastUpdated":%q,"kind":"main"}`, id, when, when))
		}
		switch what {
		case "user":
			record = fmt.Sprintf(
				`{"id":"r%d","timestamp":%q,"type":"user","content":[{"text":%q}]}`, n, when, said)
		case "call":
			record =
				fmt.Sprintf(`{"id":"r%d","timestamp":%q,"type":"gemini","content":"","toolCalls":[{"id":"c%d","name":"bash","args":{"command":%q},"status":"success",`+
					`"result":[{"functionResponse":{"id":"c%d","name":"bash","response":{"output":%q}}}]}]}`, n, when, n, said, n, text(n)[:400])
		default:
			record = fmt.Sprintf(`{"id":"r%d","timestamp":%q,"type":"gemini","content":%q}`,
				n, when, said)
		}
	}
	s.records = append(s.records, record)
}

// document is what the agent hands over or writes into its file. opencode hands over what follows
// the first from records.
func (s *written) document(from int) string {
	if s.agent == "opencode" {
		return fmt.Sprintf(
			`{"info":{"id":%q,"slug":"s","title":"Lamps","directory":"/","version":"1.18.33","time":{"created":1,"updated":2}},"messages":[%s]}`,
			s.session(), strings.Join(s.records[from:], ","))
	}
	return strings.Join(s.records, "\n") + "\n"
}

// save writes the transcript, as an agent does that appends to it.
func (s *written) save(b *testing.B) {
	b.Helper()
	if s.agent == "opencode" {
		return
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(s.document(0))
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

func (s *written) call(event, session, dir string) string {
	front := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q,"source":"startup"`,
		session, dir, event)
	if session != s.session() {
		return front + "}"
	}
	if s.agent == "opencode" {
		from := s.handed
		if s.handed = len(s.records); from > 0 {
			front += fmt.Sprintf(`,"after":"msg_%08d"`, from-1)
		}
		return front + `,"document":` + s.document(from) + "}"
	}
	return front + fmt.Sprintf(`,"transcript_path":%q}`, s.path)
}
