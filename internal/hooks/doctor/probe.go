package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/session"
)

// probeText is the text of a probe's messages.
const probeText = "A probe of ctx doctor: é, \"quotes\", <tags> & a tab\t."

// probeSession is the session of a probe.
const probeSession = "ctx-doctor-probe"

// WriteProbe writes the transcript of one turn into dir, and returns the event that an agent would
// then send to its hook.
func WriteProbe(dir string, now time.Time) (event []byte, err error) {
	line := func(v any) []byte {
		b, _ := json.Marshal(v) // strings and lists of them
		return append(b, '\n')
	}
	when := now.UTC().Format(time.RFC3339)
	transcript := bytes.Join([][]byte{
		line(map[string]string{"sessionId": probeSession, "projectHash": strings.Repeat("0", 64),
			"startTime": when, "lastUpdated": when, "kind": "main"}),
		line(map[string]string{"id": "probe-1", "timestamp": when, "type": "user", "content": probeText}),
		line(map[string]string{"id": "probe-2", "timestamp": when, "type": "gemini", "content": probeText,
			"model": "none"}),
	}, nil)
	path := filepath.Join(dir, "session-probe.jsonl")
	if err := os.WriteFile(path, transcript, 0o600); err != nil {
		return nil, err
	}
	return line(map[string]string{"session_id": probeSession, "transcript_path": path, "cwd": dir,
		"hook_event_name": hooks.AfterAgent, "timestamp": when, "prompt": probeText}), nil
}

// ReadProbe checks that the store has the turn of a probe.
func ReadProbe(s *session.Store) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	tip := v.Get(history.RefName(probeSession, history.MainBranch))
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

// Shell returns the process in which Gemini CLI runs a hook's command.
func Shell(ctx context.Context, command string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "powershell.exe", "-NoProfile", "-NonInteractive", "-Command",
			command)
	}
	return exec.CommandContext(ctx, "bash", "-c", command)
}
