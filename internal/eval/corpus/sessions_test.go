package corpus

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// The sessions are of a size that says something, in which clients compacted and users typed ahead.
func TestSessions(t *testing.T) {
	list, _ := Sessions()
	if len(list) < 6 {
		t.Fatalf("%d sessions", len(list))
	}
	size, summaries, queued := 0, 0, 0
	for _, s := range list {
		records := strings.Split(strings.TrimSpace(string(s.Data)), "\n")
		if len(records) < 60 || len(records) > 330 {
			t.Errorf("%s: %d records", s.Name, len(records))
		}
		for n, line := range records {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: record %d is no JSON", s.Name, n)
			}
		}
		size += len(s.Data)
		summaries += bytes.Count(s.Data, []byte(`"isCompactSummary":true`))
		queued += bytes.Count(s.Data, []byte(`"operation":"enqueue"`))
	}
	if summaries < 4 || queued < 2 || size > 1_000_000 {
		t.Errorf("%d compactions, %d queued prompts, %d bytes", summaries, queued, size)
	}
}

// An answer stands in its own session, and in no other.
func TestFactsAreInTheirSession(t *testing.T) {
	list, facts := Sessions()
	for _, f := range facts {
		for _, s := range list {
			if strings.Contains(string(s.Data), f.Answer) != (s.Name == f.Conversation) {
				t.Errorf("%q of %s: wrong in %s", f.Answer, f.Conversation, s.Name)
			}
		}
	}
}
