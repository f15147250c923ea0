package geminicli

import (
	"bytes"
	"os"
	"testing"
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
func checkSteps(t *testing.T, steps []Step) {
	t.Helper()
	var conversation []Message
	find := func(key string) int {
		for i, m := range conversation {
			if m.Key == key {
				return i
			}
		}
		return -1
	}
	var offset int64
	for _, s := range steps {
		if s.Offset < offset {
			t.Errorf("offset %d after %d", s.Offset, offset)
		}
		offset = s.Offset
		if s.Kind == KindRewind {
			at := 0
			if !s.RewindUnknown {
				at = find(s.RewindTo)
			}
			if at < 0 {
				t.Fatalf("rewind to %q, which is not in the conversation", s.RewindTo)
			}
			conversation = conversation[:at]
			continue
		}
		checkMessage(t, s.Message)
		for i := len(conversation) - 1; i >= 0; i-- {
			if m := conversation[i]; m.Key == s.Message.Key {
				if bytes.Equal(m.Normal, s.Message.Normal) {
					t.Errorf("message %q again, unchanged", m.Key)
				}
				break
			}
		}
		conversation = append(conversation, s.Message)
	}
}

// checkPrefix tests that the transcript cut at n bytes gives the first of steps.
func checkPrefix(t *testing.T, data []byte, n int, steps []Step) {
	t.Helper()
	short, stats := readAll(t, data[:n])
	if len(short) > len(steps) {
		t.Fatalf("%d steps of %d bytes, %d of all", len(short), n, len(steps))
	}
	if got, want := trace(short), trace(steps[:len(short)]); got != want {
		t.Errorf("of %d bytes:\n%sof all:\n%s", n, got, want)
	}
	for i := range short {
		if !stats.Document && short[i].Offset != steps[i].Offset {
			t.Errorf("step %d at %d, of all at %d", i, short[i].Offset, steps[i].Offset)
		}
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
