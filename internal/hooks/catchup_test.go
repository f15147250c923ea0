package hooks

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/conversation"
)

// turns returns the records of Claude Code for messages with the numbers from n to the one before
// end, each said after the one before.
func turns(n, end int) string {
	var b strings.Builder
	for ; n < end; n++ {
		parent := "null"
		if n > 0 {
			parent = fmt.Sprintf(`"u%d"`, n-1)
		}
		fmt.Fprintf(&b,
			`{"parentUuid":%s,"sessionId":"s","uuid":"u%d","version":"2.1.197","timestamp":"2026-01-02T10:%02d:%02d.000Z","type":"user",`+
				`"message":{"role":"user","content":"word%d %s"}}`+"\n", parent, n, n/60, n%60, n,
			strings.Repeat("x", 900))
	}
	return b.String()
}

func TestCatchUp(t *testing.T) {
	s, path := newStore(t), filepath.Join(t.TempDir(), "s.jsonl")
	for _, step := range []struct {
		name  string
		do    func()
		new   int
		whole bool
	}{
		{"new", func() { write(t, path, turns(0, 60)) }, 60, true},
		{"nothing new", func() {}, 0, false},
		{"grown", func() { appendTo(t, path, turns(60, 62)) }, 2, false},
		{"with a torn record",
			func() { appendTo(t, path, strings.TrimSuffix(turns(62, 63), "xxx\"}}\n")) }, 0, false},
		{"written", func() { appendTo(t, path, "xxx\"}}\n") }, 1, false},
		{"changed in the middle, and grown", func() {
			patch(t, path, "word20", "WORD20")
			appendTo(t, path, turns(63, 64))
		}, 1, false},
		{"changed at the end, and grown", func() {
			patch(t, path, "word63", "WORD63")
			appendTo(t, path, turns(64, 65))
		}, 3, true}, // both changes, and the new message
		{"another line",
			func() { appendTo(t, path, strings.Replace(turns(66, 67), `"u65"`, `"u63"`, 1)) }, 2,
			true},
		{"replaced by an equal file", func() { replace(t, path, turns(0, 10)) }, 0, true},
		{"without the cache", func() { wipe(t, s) }, 0, true},
	} {
		step.do()
		got, err := catchUp(context.Background(), s, "claude-code", path, false)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got.new != step.new || got.whole != step.whole || got.session != "s" {
			t.Errorf("%s: %d new, whole %v, session %q; want %d, %v", step.name, got.new, got.whole,
				got.session, step.new, step.whole)
		}
	}
}

// TestCatchUpAfterAnother reads the whole if somebody has changed the session meanwhile.
func TestCatchUpAfterAnother(t *testing.T) {
	s, path := newStore(t), filepath.Join(t.TempDir(), "s.jsonl")
	c := context.Background()
	catch := func(whole bool) {
		t.Helper()
		if got, err := catchUp(c, s, "claude-code", path, false); err != nil || got.whole != whole {
			t.Errorf("whole %v, %v", got.whole, err)
		}
	}
	write(t, path, turns(0, 8))
	catch(true)
	appendTo(t, path, turns(8, 9))
	catch(false)
	if _, _, err := s.Conversation.Append(c, "s", "main",
		[]conversation.Message{{Role: "user", Text: "by hand"}},
		conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, turns(9, 10))
	catch(true)
}
