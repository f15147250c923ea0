package agent

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

func claudeOn(
	r io.Reader, m *transcript.Mark, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	return claudecode.ReadOn("", r, m, emit)
}

// TestReadOn reads the session, and with CTX_TRANSCRIPTS those in a directory, piece by piece.
func TestClaudeReadOn(t *testing.T) {
	if read, _ := claude.CheckOn(t, claudeSession(t), 1, claudeOn); read == 0 {
		t.Error("nothing was read on")
	}
	files, _ := filepath.Glob(filepath.Join(os.Getenv("CTX_TRANSCRIPTS"), "*.jsonl"))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(b, []byte("\n"))
		read, whole := claude.CheckOn(t, b, 1+n/40, claudeOn)
		t.Logf("%s: %d lines, %d pieces read on, %d whole", filepath.Base(file), n, read, whole)
	}
}

// TestReadOnRandom reads random transcripts, of which most records follow the one before.
func TestClaudeReadOnRandom(t *testing.T) {
	read, whole := 0, 0
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r, w := claude.CheckOn(t, randomSession(rand.New(rand.NewPCG(seed, 5)), 40),
				1+int(seed%4), claudeOn)
			read, whole = read+r, whole+w
		})
	}
	t.Logf("%d pieces read on, %d whole", read, whole)
	if read < whole/4 {
		t.Errorf("%d pieces read on, %d whole", read, whole)
	}
}

// randomSession returns a transcript of n records.
func randomSession(draw *rand.Rand, n int) []byte {
	var b strings.Builder
	ids := []string{}
	open := []string{} // calls without a result
	some := func(list []string) string { return list[draw.IntN(len(list))] }
	texts := []string{"go on", "stop", "why?"}
	for i := range n {
		id, parent := fmt.Sprintf("u%d", i), "null"
		if len(ids) > 0 {
			parent = ids[len(ids)-1]
			if draw.IntN(14) == 0 {
				parent = some(ids)
			}
			parent = fmt.Sprintf("%q", parent)
		}
		if draw.IntN(40) == 0 {
			parent = `"missing"`
		}
		if len(ids) > 0 && draw.IntN(50) == 0 {
			id = some(ids) // once more
		}
		front := fmt.Sprintf(
			`{"parentUuid":%s,"sessionId":"s","uuid":"%s","version":"2.1.%d","timestamp":"2026-01-02T10:%02d:00.000Z",`, parent, id, 30+draw.IntN(20), i)
		if draw.IntN(40) == 0 {
			front += `"isSidechain":true,`
		}
		named := true
		switch kind := draw.IntN(12); {
		case kind < 3:
			fmt.Fprintf(&b, `%s"type":"user","message":{"role":"user","content":%q}}`,
				front, some(texts))
		case kind < 6:
			fmt.Fprintf(&b,
				`%s"type":"assistant","message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":"t%d"}],"usage":{"output_tokens":%d}}}`,
				front, i-draw.IntN(2), i, draw.IntN(50))
		case kind < 8:
			call := fmt.Sprintf("c%d", i)
			open = append(open, call)
			fmt.Fprintf(&b,
				`%s"type":"assistant","message":{"id":"m%d","role":"assistant","content":[{"type":"tool_use","id":"%s","name":"Read","input":{}}]}}`,
				front, i, call)
		case kind < 10 && len(open) > 0:
			at := draw.IntN(len(open))
			fmt.Fprintf(&b,
				`%s"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"r%d"}]}}`, front, open[at], i)
			open = append(open[:at], open[at+1:]...)
		case kind == 10:
			named = false
			fmt.Fprintf(&b,
				`{"type":"queue-operation","operation":%q,"timestamp":"2026-01-02T10:%02d:30.000Z","sessionId":"s","content":%q}`,
				some([]string{"enqueue", "dequeue", "remove", "popAll"}), i, some(texts))
		default:
			fmt.Fprintf(&b, `%s"type":%q,"content":"c%d"}`, front,
				some([]string{"system", "progress", "attachment", "new-kind"}), i)
		}
		b.WriteByte('\n')
		if named {
			ids = append(ids, id)
		}
	}
	return []byte(b.String())
}

func FuzzClaudeCodeOn(f *testing.F) {
	f.Add(claudeSession(f), uint8(1))
	f.Add(randomSession(rand.New(rand.NewPCG(1, 5)), 20), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, every uint8) {
		if len(data) < 8<<10 {
			claude.CheckOn(t, data, 1+int(every%8)+bytes.Count(data, []byte("\n"))/24, claudeOn)
		}
	})
}
