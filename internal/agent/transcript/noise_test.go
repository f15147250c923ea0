package transcript_test

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

func TestNoise(t *testing.T) {
	for head, want := range map[string][2]int{
		`{"a":1}`:                         {0, 0},
		"\ufeff{\"a\":1}":                 {0, 0},
		"\n\n[{\"a\":1}]":                 {2, 0},
		"Exporting\n{\"a\":1}":            {10, 1},
		"[info] x\n{old}\n\n{\n\"a\": 1}": {16, 2},
		"[3] + done\n[]":                  {11, 1},
		"nothing\nof it":                  {0, 0},
		"":                                {0, 0},
	} {
		length, lines := transcript.Noise([]byte(head))
		if got := [2]int{length, lines}; got != want {
			t.Errorf("Noise(%q) = %v, want %v", head, got, want)
		}
	}
}
