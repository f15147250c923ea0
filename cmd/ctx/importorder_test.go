package main

import (
	"testing"
	"time"
)

func TestNewestTime(t *testing.T) {
	at := time.Date(2026, 2, 3, 8, 0, 1, 0, time.UTC)
	for name, tail := range map[string]string{
		"the last record": `{"timestamp":"2026-02-03T08:00:00.000Z"}` + "\n" +
			`{"timestamp":"2026-02-03T08:00:01.000Z"}`,
		"spaces":               `{"timestamp" : "2026-02-03T08:00:01.000Z"}`,
		"words about times":    `{"timestamp":"2026-02-03T08:00:01Z","text":"{\"timestamp\":\"2027-02-03T08:00:00Z\"}"}`,
		"a value of no time":   `{"timestamp":"2026-02-03T08:00:01Z"}{"timestamp":{"x":1}}{"timestamp":"soon"}`,
		"milliseconds":         `{"time":{"created":1770105600000,"updated":1770105601000}}`,
		"a chat of Gemini CLI": `{"startTime":"2026-02-01T08:00:00Z","lastUpdated":"2026-02-03T08:00:01Z"}`,
	} {
		if got := newestTime([]byte(tail)); !got.Equal(at) {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, tail := range []string{"", `{"updated":12}`, `"timestamp"`, `{"timestamp":`} {
		if got := newestTime([]byte(tail)); !got.IsZero() {
			t.Errorf("%q: %v", tail, got)
		}
	}
}
