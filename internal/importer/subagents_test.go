package importer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/codex"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// rollouts are a thread of Codex and two subagents that begin with a copy of its history, the
// second with that of the call that began the first as well.
func rollouts() (parent, first, second string) {
	item := func(payload string) string {
		return `{"timestamp":"2026-04-11T20:00:01.000Z","type":"response_item","payload":` +
			payload + "}\n"
	}
	meta := func(id, of string) string {
		if of != "" {
			of = fmt.Sprintf(
				`,"forked_from_id":%q,"source":{"subagent":{"thread_spawn":{"parent_thread_id":%q,"depth":1}}}`, of, of)
		}
		return fmt.Sprintf(
			`{"timestamp":"2026-04-11T20:00:00.000Z","type":"session_meta","payload":{"id":%q,"cwd":"/x"%s}}`+"\n", id, of)
	}
	says := func(role, text string) string {
		kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
		return item(fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}`,
			role, kind, text))
	}
	spawn := func(call, child string) string {
		return item(fmt.Sprintf(
			`{"type":"function_call","name":"spawn_agent","arguments":"{}","call_id":%q}`, call)) +
			item(fmt.Sprintf(
				`{"type":"function_call_output","call_id":%q,"output":"{\"agent_id\":\"%s\"}"}`,
				call, child))
	}
	history := says("user", "review the walrus code") + says("assistant", "I will ask two helpers")
	parent = meta("p", "") + history + spawn("call_a", "a") + spawn("call_b", "b") +
		says("assistant", "both are done")
	first = meta("a", "p") + history + says("assistant", "answer of the first")
	second = meta("b", "p") + history + spawn("call_a", "a") +
		says("assistant", "answer of the second")
	return parent, first, second
}

func importCodex(t *testing.T, s *session.Store, in string) importer.ImportedTranscript {
	t.Helper()
	done := storetest.Must[importer.ImportedTranscript](t)(
		s.Importer.ImportTranscript(
			context.Background(), func(emit func(transcript.Step) error) (transcript.Stats, error) {
				return codex.Read(strings.NewReader(in), emit)
			}, ""))
	storetest.Must[int](t)(s.Importer.LinkChildren(context.Background(), done.Children))
	return done
}

// A subagent works for the thread that its rollout names, whatever order the rollouts come in, and
// also where that one never comes. What it has a copy of is not said again as long as the store has
// it.
func TestCodexSubagents(t *testing.T) {
	parent, first, second := rollouts()
	for _, c := range []struct {
		name   string
		in     []string
		calls  [2]string // of a and b
		spoken [2]int    // messages of a and b
	}{
		{"the parent first", []string{parent, first, second}, [2]string{"call_a", "call_b"},
			[2]int{1, 1}},
		{"the parent last", []string{first, second, parent}, [2]string{"call_a", "call_b"},
			[2]int{3, 3}},
		{"a sibling first", []string{second, parent, first}, [2]string{"call_a", "call_b"},
			[2]int{1, 5}},
		{"no parent", []string{first, second}, [2]string{"", ""}, [2]int{3, 3}},
	} {
		s := storetest.Create(t)
		for _, in := range c.in {
			importCodex(t, s, in)
		}
		for i, name := range []string{"a", "b"} {
			p, ok, err := s.History.ParentOf(storetest.View(t, s), name)
			if err != nil || !ok || p.Session != "p" || p.Call != c.calls[i] {
				t.Errorf("%s: %s works for %+v, %v, %v", c.name, name, p, ok, err)
			}
			tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), name,
				history.MainBranch))
			n := 0
			for _, m := range storetest.Must[[]*history.Shown](t)(
				s.Recall.Log(tip.ID, recall.LogOptions{})) {
				if m.Entry.Kind == format.KindMessage {
					n++
				}
			}
			if n != c.spoken[i] {
				t.Errorf("%s: %s has %d messages, want %d", c.name, name, n, c.spoken[i])
			}
		}
		number := storetest.View(t, s).Number
		for _, in := range c.in {
			if again := importCodex(t, s, in); again.Messages+again.Notes > 0 {
				t.Errorf("%s again: %+v", c.name, again)
			}
		}
		if storetest.View(t, s).Number != number {
			t.Errorf("%s again: %d operations", c.name, storetest.View(t, s).Number-number)
		}
		storetest.Check(t, s)
	}
}
