package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/antigravity"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/copilot"
	"github.com/gemini-ctx/ctx/internal/agent/cursor"
	"github.com/gemini-ctx/ctx/internal/agent/opencode"
	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/session"
)

// probeText is the text of a probe's messages; it begins with probeWords.
const (
	probeWords = "A probe of ctx doctor"
	probeText  = probeWords + ": é, \"quotes\", <tags> & a tab\t."
)

// probeSession is the session of a probe, a form that every agent but opencode accepts.
const (
	probeSession         = "c7c0d0c7-0000-4000-8000-000000000001"
	opencodeProbeSession = "ses_ctxdoctorprobe0000000000001"
)

// sessionOfProbe returns the session of a probe of an agent.
func sessionOfProbe(agent string) string {
	if agent == opencode.Agent {
		return opencodeProbeSession
	}
	return probeSession
}

// writeProbe writes the transcript of one turn of an agent into dir, and returns the event that the
// agent would then send to its hook.
func writeProbe(agent, dir string, now time.Time) (event []byte, err error) {
	if agent != hooks.GeminiCLI {
		return writeOther(agent, dir, now)
	}
	line := func(v any) []byte {
		b, _ := json.Marshal(v) // strings and lists of them
		return append(b, '\n')
	}
	when := now.UTC().Format(time.RFC3339)
	transcript := bytes.Join([][]byte{
		line(map[string]string{"sessionId": probeSession, "projectHash": strings.Repeat("0", 64),
			"startTime": when, "lastUpdated": when, "kind": "main"}),
		line(map[string]string{"id": "probe-1", "timestamp": when, "type": "user",
			"content": probeText}),
		line(map[string]string{"id": "probe-2", "timestamp": when, "type": "gemini",
			"content": probeText,
			"model":   "none"}),
	}, nil)
	path := filepath.Join(dir, "session-probe.jsonl")
	if err := os.WriteFile(path, transcript, 0o600); err != nil {
		return nil, err
	}
	return line(map[string]string{"session_id": probeSession, "transcript_path": path, "cwd": dir,
		"hook_event_name": hooks.AfterAgent, "timestamp": when, "prompt": probeText}), nil
}

// writeOther is writeProbe for the agents whose forms a Writer writes.
func writeOther(agent, dir string, now time.Time) (event []byte, err error) {
	row, ok := catalog.Named(agent)
	if !ok {
		return nil, fmt.Errorf("no transcripts of %q can be written", agent)
	}
	name := sessionOfProbe(agent)
	if row.Write == nil {
		return writeRead(agent, name, dir, now)
	}
	var text bytes.Buffer
	w := row.Write(&text, transcript.WriteOptions{Session: name, Dir: dir, Now: now})
	for i, role := range []string{transcript.RoleUser, transcript.RoleModel} {
		m := transcript.Message{Role: role, Time: now, Text: probeText,
			Origin: transcript.Origin{Agent: transcript.Own, Session: name,
				Message: fmt.Sprintf("probe-%d", i)}}
		if err := w.Add(transcript.Item{Message: m, Number: i, Caller: -1}); err != nil {
			return nil, err
		}
	}
	if _, err := w.Close(); err != nil {
		return nil, err
	}
	said := map[string]any{"hook_event_name": "Stop", "session_id": name, "cwd": dir}
	if agent == opencode.Agent {
		said["hook_event_name"], said["document"] = "session.idle", json.RawMessage(text.Bytes())
		return json.Marshal(said)
	}
	path := filepath.Join(dir, name+".jsonl")
	said["transcript_path"] = path
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		return nil, err
	}
	return json.Marshal(said)
}

// writeRead is writeProbe for the agents whose transcripts are only read.
func writeRead(agent, name, dir string, now time.Time) (event []byte, err error) {
	when := now.UTC().Format(time.RFC3339)
	text := []map[string]string{{"type": "text", "text": probeText}}
	var records []any
	switch agent {
	case antigravity.Agent:
		records = []any{
			map[string]any{"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT",
				"created_at": when, "content": probeText},
			map[string]any{"step_index": 1, "source": "MODEL", "type": "PLANNER_RESPONSE",
				"created_at": when, "content": probeText},
		}
	case copilot.Agent:
		records = []any{
			map[string]any{"type": "session.start", "id": "probe-0", "timestamp": when,
				"data": map[string]string{"sessionId": name}},
			map[string]any{"type": "user.message", "id": "probe-1", "timestamp": when,
				"data": map[string]string{"content": probeText}},
			map[string]any{"type": "assistant.message", "id": "probe-2", "timestamp": when,
				"data": map[string]string{"content": probeText}},
		}
	case cursor.Agent:
		records = []any{
			map[string]any{"role": "user", "message": map[string]any{"content": text}},
			map[string]any{"role": "assistant", "message": map[string]any{"content": text}},
		}
	case shape.DroidAgent:
		records = []any{
			map[string]any{"type": "session_start", "id": name, "cwd": dir},
			map[string]any{"type": "message", "id": "probe-1", "timestamp": when,
				"message": map[string]any{"role": "user", "content": text}},
			map[string]any{"type": "message", "id": "probe-2", "timestamp": when,
				"message": map[string]any{"role": "assistant", "content": text}},
		}
	default:
		return nil, fmt.Errorf("no transcripts of %q can be made", agent)
	}
	var lines bytes.Buffer
	for _, rec := range records {
		b, err := json.Marshal(rec)
		if err != nil {
			return nil, err
		}
		lines.Write(append(b, '\n'))
	}
	path := filepath.Join(dir, name+".jsonl")
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		return nil, err
	}
	of, _ := hooks.AgentNamed(agent)
	return json.Marshal(map[string]string{"hook_event_name": of.Turn, "session_id": name,
		"cwd": dir, "transcript_path": path})
}

// startOfProbe returns the event that an agent sends to its hook when the session after that of the
// probe begins: at the event at which the model is told of others.
func startOfProbe(agent *hooks.Agent, dir string) ([]byte, error) {
	name := "next" + sessionOfProbe(agent.Name)
	return json.Marshal(map[string]string{
		"hook_event_name": agent.Tells(), "session_id": name, "cwd": dir, "source": "startup",
		"prompt":          probeText,
		"transcript_path": filepath.Join(dir, name+".jsonl"),
	})
}

// readProbe checks that the store has the turn of a probe of an agent.
func readProbe(s *session.Store, agent string) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	tip := v.Get(history.RefName(sessionOfProbe(agent), history.MainBranch))
	if !tip.Exists() {
		said := "nothing was recorded"
		if list, _ := hooks.Troubles(s.Dir); len(list) > 0 {
			said += ": " + list[len(list)-1].Problem
		}
		return errors.New(said)
	}
	shown, err := s.History.Entry(tip.ID)
	if err == nil && (shown.Text != probeText || shown.Entry.Seq != 2) {
		err = fmt.Errorf("what was recorded is not what was said: %.100q", shown.Text)
	}
	return err
}
