package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A session that ctx wrote for the agent goes on, whole or with its old part as summaries.
func TestExportGoesOn(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	session := a.prompt("At what pressure does the pump run?",
		[]string{reads("note.txt"), says("It runs at 42 bar.")})
	for i := range 60 {
		a.ctx("append", "-s", session, "--role", "user", "-m",
			fmt.Sprintf("Valve %d of the parcel lift leaks at %d bar, what now?", i, 60+i))
		a.ctx("append", "-s", session, "--role", "model", "-m",
			fmt.Sprintf("Valve %d gets a new seal of type S%d.", i, i))
	}
	a.ctx("compact", "-s", session)
	said := texts(a.log(session))
	sizes := map[string]int{}
	for _, form := range []string{"whole", "compacted"} {
		file := filepath.Join(a.dir, form+".jsonl")
		args := []string{"export", "-s", session, "--format", "gemini-cli", "-o", file}
		if form == "compacted" {
			args = append(args, "--compacted")
		}
		a.ctx(args...)
		next := a.prompt("And which seal for valve 59?", []string{says("Seal S59, as before.")},
			"--session-file", file)
		if next == session {
			t.Errorf("%s: the agent goes on under the same id", form)
		}
		b, err := os.ReadFile(a.transcripts(next)[0])
		if err != nil {
			t.Fatal(err)
		}
		got := string(b)
		sizes[form] = len(got)
		for _, want := range []string{"Valve 59 gets a new seal of type S59.",
			"Seal S59, as before."} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in the transcript", form, want)
			}
		}
		if strings.Contains(got, "was interrupted before it completed") {
			t.Errorf("%s: a call has no answer:\n%s", form, got)
		}
		// What the session began with is not told to it again.
		for line := range strings.Lines(got) {
			var record struct {
				Content json.RawMessage
				Set     struct {
					Messages []struct{ Content json.RawMessage }
				} `json:"$set"`
			}
			if err := json.Unmarshal([]byte(line), &record); err != nil {
				t.Fatal(err)
			}
			prompts := []string{string(record.Content)}
			for _, m := range record.Set.Messages {
				prompts = append(prompts, string(m.Content))
			}
			for _, prompt := range prompts {
				if strings.Contains(prompt, "which seal for valve 59") &&
					strings.Contains(prompt, "Valve ") {
					t.Errorf("%s: it was told what it has: %s", form, prompt)
				}
			}
		}
		// The turn is one of the session that the agent was handed.
		said += "user: And which seal for valve 59?\nmodel: Seal S59, as before.\n"
		if got := texts(a.log(session)); got != said {
			t.Errorf("%s: recorded:\n%s\nwant:\n%s", form, got, said)
		}
	}
	if sizes["compacted"] >= sizes["whole"] {
		t.Errorf("the transcript has %d bytes compacted, %d whole", sizes["compacted"],
			sizes["whole"])
	}
	if n := strings.Count(a.ctx("session", "list", "--json"), "\n"); n != 1 {
		t.Errorf("the store has %d sessions", n)
	}
	a.wellNoted()
}
