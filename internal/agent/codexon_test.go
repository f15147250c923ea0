package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/codex"
)

// TestReadOn reads the rollout, and with CTX_ROLLOUTS those in a directory, piece by piece.
func TestCodexReadOn(t *testing.T) {
	for every := 1; every < 6; every++ {
		read, whole := rollouts.CheckOn(t, rollout(t), every, codex.ReadOn)
		t.Logf("every %d lines: %d pieces read on, %d whole", every, read, whole)
		if read == 0 {
			t.Errorf("every %d lines: nothing was read on", every)
		}
	}
	files, _ := filepath.Glob(filepath.Join(os.Getenv("CTX_ROLLOUTS"), "*.jsonl"))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(b, []byte("\n"))
		read, whole := rollouts.CheckOn(t, b, 1+n/40, codex.ReadOn)
		t.Logf("%s: %d lines, %d pieces read on, %d whole", filepath.Base(file), n, read, whole)
	}
}

func FuzzCodexOn(f *testing.F) {
	f.Add(rollout(f), uint8(1))
	f.Add([]byte(`{"type":"session_meta","payload":{"id":"s"}}
{"type":"response_item","payload":{"type":"function_call","call_id":"c","name":"shell","arguments":"{}"}}
{"type":"turn_context","payload":{"model":"m"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"x"}}
{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}
`), uint8(2))
	f.Add([]byte(lines(`{"type":"session_meta","payload":{"id":"s"}}`, said("1"), asked("1"),
		answered("2"), asked("3"), answered("4"), asked("5"), said("5"))), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, every uint8) {
		if len(data) < 8<<10 {
			n := bytes.Count(data, []byte("\n"))
			rollouts.CheckOn(t, data, 1+int(every%8)+n/24, codex.ReadOn)
		}
	})
}
