package geminicli

import (
	"bytes"
	"os"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// seeds are the transcripts in testdata and what the rules read.
func seeds(t testing.TB) [][]byte {
	t.Helper()
	var all [][]byte
	for _, file := range transcripts(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	for _, rule := range rules {
		all = append(all, []byte(rule.in))
	}
	return all
}

func TestSeedsExist(t *testing.T) {
	if n := len(seeds(t)); n < 30 {
		t.Errorf("%d seeds", n)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed, uint(len(seed)/2))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint) {
		steps, stats := readAll(t, data)
		checkSteps(t, steps)
		if stats.Bytes > int64(len(data)) {
			t.Errorf("%d of %d bytes", stats.Bytes, len(data))
		}
		again, _ := readAll(t, bytes.Clone(data))
		if trace(steps) != trace(again) {
			t.Error("a second reading gives other steps")
		}
		if len(data) > 0 {
			checkPrefix(t, data, int(cut%uint(len(data))), steps)
		}
	})
}

// checkSteps replays steps as a caller does and tests what they promise.
func checkSteps(t *testing.T, steps []transcript.Step) {
	t.Helper()
	var conversation []transcript.Message
	find := func(key string) int {
		for i, m := range conversation {
			if m.Origin.Message == key {
				return i
			}
		}
		return -1
	}
	for _, s := range steps {
		if s.Kind == transcript.KindRewind {
			at := 0
			if s.RewindTo != (transcript.Origin{}) {
				at = find(s.RewindTo.Message)
			}
			if at < 0 {
				t.Fatalf("rewind to %q, which is not in the conversation", s.RewindTo)
			}
			conversation = conversation[:at]
			continue
		}
		checkMessage(t, s.Message)
		for i := len(conversation) - 1; i >= 0; i-- {
			if m := conversation[i]; m.Origin.Message == s.Message.Origin.Message {
				if bytes.Equal(m.Record, s.Message.Record) {
					t.Errorf("message %q again, unchanged", m.Origin.Message)
				}
				break
			}
		}
		conversation = append(conversation, s.Message)
	}
}

// checkPrefix tests that the transcript cut at n bytes gives the first of steps.
func checkPrefix(t *testing.T, data []byte, n int, steps []transcript.Step) {
	t.Helper()
	short, _ := readAll(t, data[:n])
	if len(short) > len(steps) {
		t.Fatalf("%d steps of %d bytes, %d of all", len(short), n, len(steps))
	}
	if got, want := trace(short), trace(steps[:len(short)]); got != want {
		t.Errorf("of %d bytes:\n%sof all:\n%s", n, got, want)
	}
}

// TestPrefix cuts every seed everywhere.
func TestPrefix(t *testing.T) {
	for _, seed := range seeds(t) {
		steps, _ := readAll(t, seed)
		checkSteps(t, steps)
		step := 1 + len(seed)/200
		for n := 0; n < len(seed); n += step {
			checkPrefix(t, seed, n, steps)
		}
	}
}
