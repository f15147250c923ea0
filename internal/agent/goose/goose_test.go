package goose

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/transcript/transcripttest"
)

var kit = transcripttest.Format{
	Read: func(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
		return Read("20260203_1", r, emit)
	},
}

func TestFixtures(t *testing.T) { kit.CheckFixtures(t) }

func FuzzRead(f *testing.F) { kit.FuzzFixtures(f) }

func TestTraces(t *testing.T) {
	kit.CheckTraces(t,
		map[string]transcripttest.Expected{"20260203_1.jsonl": {Session: "20260203_1"}},
		"user", "assistant", "text", "toolRequest", "toolResponse", "thinking", "image", "success",
		"error")
}

// An export says the same as lines.
func TestExport(t *testing.T) {
	lines := string(transcripttest.Fixtures(t)["20260203_1.jsonl"])
	want, _, _ := kit.Steps(t, []byte(lines))
	list := slices.Collect(strings.Lines(lines))
	var doc map[string]any
	if err := json.Unmarshal([]byte(list[0]), &doc); err != nil {
		t.Fatal(err)
	}
	doc["conversation"] = json.RawMessage("[" + strings.Join(list[1:], ",") + "]")
	export, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got, _, stats := kit.Steps(t, export)
	if transcripttest.Trace(got) != transcripttest.Trace(want) || stats.Session != "20260203_1" {
		t.Errorf("%+v says\n%s", stats, transcripttest.Trace(got))
	}
	if _, _, stats := kit.Steps(t, export[:len(export)-9]); stats.Skipped["bad json"] != 1 {
		t.Errorf("cut off: %v", stats.Skipped)
	}
}
