package transcripts

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// The sessions are of a size that says something, and the same in every run.
func TestSessions(t *testing.T) {
	list, again := All(), All()
	if len(list) < 6 {
		t.Fatalf("%d sessions", len(list))
	}
	size, summaries, queued := 0, 0, 0
	agents := map[string]int{}
	for i, s := range list {
		if !bytes.Equal(s.Data, again[i].Data) {
			t.Errorf("%s: another transcript", s.Name)
		}
		records := strings.Split(strings.TrimSpace(string(s.Data)), "\n")
		t.Logf("%s: %d records, %d bytes", s.Name, len(records), len(s.Data))
		if len(records) < 60 || len(records) > 330 {
			t.Errorf("%s: %d records", s.Name, len(records))
		}
		for n, line := range records {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: record %d is no JSON", s.Name, n)
			}
		}
		agents[s.Agent]++
		size += len(s.Data)
		summaries += bytes.Count(s.Data, []byte(`"isCompactSummary":true`))
		queued += bytes.Count(s.Data, []byte(`"operation":"enqueue"`))
	}
	if agents["claude-code"] < 4 || agents["codex"] < 2 || summaries < 4 || queued < 2 ||
		size > 1_000_000 {
		t.Errorf("%v, %d compactions, %d queued prompts, %d bytes", agents, summaries, queued, size)
	}
}

// An answer stands in its own session, and in no other.
func TestFactsAreInTheirSession(t *testing.T) {
	texts := map[string]string{}
	for _, s := range All() {
		texts[s.Name] = string(s.Data)
	}
	for _, f := range Facts() {
		for name, text := range texts {
			if strings.Contains(text, f.Answer) != (name == f.Conversation) {
				t.Errorf("%q of %s: wrong in %s", f.Answer, f.Conversation, name)
			}
		}
	}
}

func TestBadScripts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"agent: codex\ncolour: red\n\n@user\nhello", `unknown name: "colour"`},
		{"agent: codex\n\n@dance\nhello", `unknown step: "dance"`},
		{"agent: codex\n\nhello", `no step: "hello"`},
		{"start: today\n\n@user\nhello", `parsing time "today"`},
	} {
		if _, err := parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// What an edit replaces is in the file that was read before it, and what it puts there afterwards.
func TestEditsAreOfWhatWasRead(t *testing.T) {
	s, err := parse("agent: codex\n\n@read a/b.go\n@edit a/b.go\n-\told()\n+\tnew()\n@read a/b.go")
	if err != nil {
		t.Fatal(err)
	}
	d := newDisk(s)
	if before := d.numbered("a/b.go", 0, 9999); !strings.Contains(before, "→\told()\n") {
		t.Errorf("not there before:\n%s", before)
	}
	d.edit("a/b.go", []string{"\told()"}, []string{"\tnew()"})
	if after := d.numbered("a/b.go", 0, 9999); strings.Contains(after, "old()") ||
		!strings.Contains(after, "→\tnew()\n") {
		t.Errorf("afterwards:\n%s", after)
	}
}
