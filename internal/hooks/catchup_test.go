package hooks

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

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

// TestFinish reads on after an import has finished what the deadline of a hook cut short.
func TestFinish(t *testing.T) {
	s, path, c := newStore(t), filepath.Join(t.TempDir(), "s.jsonl"), context.Background()
	write(t, path, turns(0, 60))
	if err := Finish(c, s, "claude-code", path); err != nil {
		t.Fatal(err)
	}
	if _, ok := loadCopied(s, path); ok {
		t.Error("a transcript that no hook has copied has a cursor")
	}
	stopped, stop := context.WithCancel(c)
	stop()
	if _, err := catchUp(stopped, s, "claude-code", path, false); err == nil {
		t.Fatal("a copy that was stopped has come to its end")
	}
	if err := Finish(c, s, "claude-code", path); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, turns(60, 61))
	got, err := catchUp(c, s, "claude-code", path, false)
	if err != nil || got.whole || got.new != 1 {
		t.Errorf("after that the next hook reads %+v, error %v", got, err)
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

// TestHeadFollowsLater ends a hook after it has recorded a turn and before HEAD moved, as a client
// does that ends; the next hook has nothing to record.
func TestHeadFollowsLater(t *testing.T) {
	s, path := newStore(t), filepath.Join(t.TempDir(), "s.jsonl")
	c := context.Background()
	if _, _, err := s.Conversation.Append(c, "old", "main",
		[]conversation.Message{{Role: "user", Text: "before",
			Time: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)}},
		conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.ReplaceAll(turns(0, 2), "T10:", "T03:"))
	if _, err := catchUp(c, s, "claude-code", path, false); err != nil {
		t.Fatal(err)
	}
	agent := named(t, "claude-code")
	call := fmt.Sprintf(`{"hook_event_name":"SessionEnd","session_id":"s","transcript_path":%q}`,
		path)
	Run(c, s, agent, Hear(agent, strings.NewReader(call)))
	v, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	if head := v.Get("HEAD").Name; head != "s" {
		t.Errorf("HEAD is %q", head)
	}
}

// TestCatchUpText reads a transcript as an import does, however its text is written, and reads it
// again when it has grown.
func TestCatchUpText(t *testing.T) {
	wide := func(order binary.AppendByteOrder) func(string) string {
		return func(text string) string {
			var b []byte
			for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
				b = order.AppendUint16(b, unit)
			}
			return string(b)
		}
	}
	for name, as := range map[string]func(string) string{
		"plain":        func(text string) string { return text },
		"a mark":       func(text string) string { return "\ufeff" + text },
		"UTF-16LE":     wide(binary.LittleEndian),
		"UTF-16BE":     wide(binary.BigEndian),
		"gzip":         zipped,
		"gzip, UTF-16": func(text string) string { return zipped(wide(binary.LittleEndian)(text)) },
	} {
		s, path := newStore(t), filepath.Join(t.TempDir(), "s.jsonl")
		for _, step := range []struct{ end, new int }{{3, 3}, {5, 2}, {5, 0}} {
			write(t, path, as(turns(0, step.end)))
			got, err := catchUp(t.Context(), s, "claude-code", path, true)
			if err != nil || got.new != step.new || got.session != "s" || len(got.skipped) > 0 {
				t.Errorf("%s, %d messages: %d new, session %q, skipped %v, error %v", name, step.end,
					got.new, got.session, got.skipped, err)
			}
		}
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // a buffer takes all
	_ = z.Close()
	return b.String()
}
