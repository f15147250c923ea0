package adk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// readAll reads an input and returns what is in the conversation at its end, besides the steps.
func readAll(
	t testing.TB, in []byte, o ReadOptions,
) (steps []transcript.Step, now []transcript.Message, stats Stats) {
	t.Helper()
	stats, err := Read(bytes.NewReader(in), o, func(s transcript.Step) error {
		steps = append(steps, s)
		if s.Kind == transcript.KindMessage {
			now = append(now, s.Message)
			return nil
		}
		i := slices.IndexFunc(now,
			func(m transcript.Message) bool { return m.Origin == s.RewindTo })
		if i < 0 {
			t.Fatalf("rewind to %v, which is not there", s.RewindTo)
		}
		now = now[:i]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps, now, stats
}

// writeAll writes messages as a session does: with their calls and results paired and their
// invocations told.
func writeAll(
	t testing.TB, list []transcript.Message, o WriteOptions,
) ([]byte, transcript.Written) {
	t.Helper()
	if o.Agent == "" {
		o.Agent = "agent"
	}
	var kept []transcript.Message
	for i := range list {
		if IsSession(list[i].Origin) {
			o.Kept = &list[i]
		} else {
			kept = append(kept, list[i])
		}
	}
	var b bytes.Buffer
	w := NewWriter(&b, o)
	for _, it := range items(kept, o.Session) {
		if err := w.Add(it); err != nil {
			t.Fatal(err)
		}
	}
	done, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if !o.Lines && !json.Valid(b.Bytes()) {
		t.Fatalf("not JSON: %s", b.Bytes())
	}
	return b.Bytes(), done
}

func items(list []transcript.Message, session string) []transcript.Item {
	out := make([]transcript.Item, len(list))
	made := map[string]int{}
	invocation := InvocationID(session, "")
	for i, m := range list {
		it := transcript.Item{Message: m, Number: i, Caller: -1}
		switch {
		case m.Invocation != "":
			invocation = m.Invocation
		case m.Role == transcript.RoleUser && !m.Note:
			invocation = InvocationID(session, m.Origin.Message)
		}
		it.Turn = invocation
		if !m.Note {
			if len(m.Results) > 0 {
				it.Orphan = true
			}
			for _, r := range m.Results {
				if at, ok := made[r]; ok {
					it.Caller, it.Orphan = max(it.Caller, at), false
					out[at].Open = slices.DeleteFunc(out[at].Open,
						func(id string) bool { return id == r })
				}
			}
			for _, c := range m.Calls {
				made[c.ID] = i
				it.Open = append(it.Open, c.ID)
			}
		}
		out[i] = it
	}
	return out
}

// sameAll compares messages; what differs is reported.
func sameAll(t testing.TB, got, want []transcript.Message) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("message %d is missing: %s", i, show(want[i]))
		case i >= len(want):
			t.Fatalf("message %d is too much: %s", i, show(got[i]))
		case !same(&got[i], &want[i]):
			t.Fatalf("message %d\n got %s\nwant %s", i, show(got[i]), show(want[i]))
		}
	}
}

func show(m transcript.Message) string {
	return fmt.Sprintf("%v note=%v %s/%q %s inv=%q text=%q parts=%s calls=%v results=%v tokens=%d",
		m.Origin, m.Note, m.Role, m.Author,
		m.Time.Format(time.RFC3339Nano), m.Invocation, m.Text, m.Parts, m.Calls,
		m.Results, m.Tokens)
}

func sample(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "session.json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 250e6, time.UTC)

// own is a message that this store had first.
func own(n int, role, author, text string) transcript.Message {
	return transcript.Message{
		Origin: transcript.Origin{Agent: transcript.Own, Session: "s",
			Message: fmt.Sprintf("%064d", n)}, Role: role, Author: author, Text: text,
		Time: noon.Add(time.Duration(n) * time.Second),
	}
}

// ofParts is own with parts.
func ofParts(n int, role, author string, parts ...string) transcript.Message {
	m := own(n, role, author, "")
	m.Parts = json.RawMessage("[" + strings.Join(parts, ",") + "]")
	list, _ := jsonvalue.Elements(m.Parts)
	var links transcript.Message
	links.SetParts(list)
	m.Calls, m.Results = links.Calls, links.Results
	return m
}

func call(id, tool string) string {
	return fmt.Sprintf(`{"functionCall":{"args":{"n":1.0},"id":%q,"name":%q}}`, id, tool)
}

func result(id, tool, response string) string {
	return fmt.Sprintf(`{"functionResponse":{"id":%q,"name":%q,"response":%s}}`, id, tool, response)
}

// eventsOf takes a written session apart.
func eventsOf(t testing.TB, doc []byte) (list []map[string]any) {
	t.Helper()
	var s struct{ Events []map[string]any }
	if err := json.Unmarshal(doc, &s); err != nil {
		t.Fatal(err)
	}
	return s.Events
}

func calls(ids ...string) (list []format.Call) {
	for _, id := range ids {
		list = append(list, format.Call{ID: id, Tool: "ls"})
	}
	return list
}
