package conversation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// sayParts appends a message with parts.
func sayParts(t *testing.T, s *session.Store, role, parts string) (conversation.Appended, error) {
	t.Helper()
	done, _, err := s.Conversation.Append(context.Background(), "zoo", history.MainBranch,
		[]conversation.Message{{Role: role, Parts: json.RawMessage(parts)}},
		conversation.AppendOptions{})
	if err != nil {
		return conversation.Appended{}, err
	}
	return done[0], nil
}

func TestWordsOfParts(t *testing.T) {
	for _, tt := range []struct{ parts, want string }{
		{`[{"text":"a","functionCall":{"name":"ls","args":{"dir":"d"}}}]`, "a\n[call ls] d"},
		{`[{"functionCall":{"id":"2","name":"ls"},"functionResponse":{"id":"1","response":{"output":"o"}}}]`, "o\n[call ls] "},
		{`[{"text":"a","Thought":true,"FunctionCall":{"name":"ls"}}]`, "a"},
		{`[{"text":"a","text":"b"}]`, `[{"text":"a","text":"b"}]`},
		{`{"text":"a"}`, `{"text":"a"}`},
	} {
		if got := history.Words([]byte(tt.parts)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.parts, got, tt.want)
		}
	}
}

func TestAppendOfParts(t *testing.T) {
	s := storetest.Create(t)
	storetest.Say(t, s, "zoo", "user", "go on")
	for _, tt := range []struct{ parts, want string }{
		{`{"text":"a"}`, "a JSON array"},
		{`[{"text":"a","text":"b"}]`, `part 1: the member "text" is there twice`},
		{`[{},{"functionCall":{"id":"a","id":"b"}}]`, `part 2: the member "id" is there twice`},
	} {
		if _, err := sayParts(t, s, "model", tt.parts); !errors.Is(err, history.ErrInput) ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.parts, err)
		}
	}
	stored := ` [{"text" : "zebra", "functionCall":{"name":"sh","id":"c1"}, "TEXT":"x"}] `
	done, err := sayParts(t, s, "model", stored)
	if err != nil {
		t.Fatal(err)
	}
	shown := storetest.Must[*history.Shown](t)(s.History.Entry(done.ID))
	if string(shown.Parts) != stored {
		t.Errorf("stored as %s", shown.Parts)
	}
	if got := fmt.Sprint(shown.Entry.Calls, shown.Entry.Results); got != "[{c1 sh}] []" {
		t.Errorf("its links are %s", got)
	}
	if done, err = sayParts(t, s, "tool",
		`[{"functionCall":{"id":"c2","name":"ls"},"functionResponse":{"id":"c1","response":{"output":"giraffe"}}}]`); err != nil {
		t.Fatal(err)
	}
	shown = storetest.Must[*history.Shown](t)(s.History.Entry(done.ID))
	if got := fmt.Sprint(shown.Entry.Calls, shown.Entry.Results); got != "[{c2 ls}] [c1]" {
		t.Errorf("its links are %s", got)
	}
}

// A mask and a replacement of an output leave the call beside it, and a part that holds a call and
// no output is not replaced.
func TestEditsLeaveTheCall(t *testing.T) {
	s := storetest.Create(t)
	storetest.Say(t, s, "s", "user", "go on")
	add := func(role, parts string) format.ID {
		batch := []conversation.Message{{Role: role, Parts: json.RawMessage(parts)}}
		done, _, err := s.Conversation.Append(context.Background(), "s", history.MainBranch, batch,
			conversation.AppendOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return done[0].ID
	}
	call := `"functionCall":{"id":"c2","name":"ls","args":{}}`
	partAt := func(id format.ID) format.Target { return format.Target{Entry: id, Part: 0} }
	text := add("model", `[{"text":"zebra","functionCall":{"id":"c1","name":"sh"}}]`)
	output := add("tool",
		`[{"functionResponse":{"id":"c1","name":"sh","response":{"output":"`+
			strings.Repeat("giraffe ", 3000)+`"}},`+call+`}]`)
	storetest.Say(t, s, "s", "user", "and now")
	if _, err := s.Edits.ApplyMasks(context.Background(), "s", history.MainBranch,
		[]edits.MaskTarget{partAt(output)}); err != nil {
		t.Fatal(err)
	}
	m := storetest.MessageAt(t, s, output)
	if !strings.Contains(string(m.Parts), "tool_output_masked") ||
		!strings.HasSuffix(string(m.Parts), call+"}]") || len(m.Masked) != 1 {
		t.Errorf("masked it is %s", m.Parts)
	}
	storetest.Replace(t, s, storetest.BeginReplace(t, s, partAt(output)), "short")
	if m = storetest.MessageAt(t, s, output); !strings.HasSuffix(string(m.Parts),
		`short"}},`+call+"}]") {
		t.Errorf("replaced it is %s", m.Parts)
	}
	list := []format.Target{partAt(text)}
	if _, err := s.Edits.BeginReplace(storetest.View(t, s), "s", history.MainBranch, list,
		nil); !errors.Is(err, history.ErrRefused) {
		t.Errorf("a text beside a call: %v", err)
	}
}
