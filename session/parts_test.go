package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// sayParts appends a message with parts.
func sayParts(t *testing.T, s *Store, role, parts string) (Appended, error) {
	t.Helper()
	done, _, err := s.Append(context.Background(), "zoo", MainBranch, []Message{{Role: role, Parts: json.RawMessage(parts)}}, AppendOptions{})
	if err != nil {
		return Appended{}, err
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
		if got := Words([]byte(tt.parts)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.parts, got, tt.want)
		}
	}
}

func TestAppendOfParts(t *testing.T) {
	s := create(t)
	say(t, s, "zoo", "user", "go on")
	for _, tt := range []struct{ parts, want string }{
		{`{"text":"a"}`, "a JSON array"},
		{`[{"text":"a","text":"b"}]`, `part 1: the member "text" is there twice`},
		{`[{},{"functionCall":{"id":"a","id":"b"}}]`, `part 2: the member "id" is there twice`},
	} {
		if _, err := sayParts(t, s, "model", tt.parts); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.parts, err)
		}
	}
	stored := ` [{"text" : "zebra", "functionCall":{"name":"sh","id":"c1"}, "TEXT":"x"}] `
	done, err := sayParts(t, s, "model", stored)
	if err != nil {
		t.Fatal(err)
	}
	shown := must[*Shown](t)(s.Entry(done.ID))
	if string(shown.Parts) != stored {
		t.Errorf("stored as %s", shown.Parts)
	}
	if got := fmt.Sprint(shown.Entry.Calls, shown.Entry.Results); got != "[{c1 sh}] []" {
		t.Errorf("its links are %s", got)
	}
	if done, err = sayParts(t, s, "tool", `[{"functionCall":{"id":"c2","name":"ls"},"functionResponse":{"id":"c1","response":{"output":"giraffe"}}}]`); err != nil {
		t.Fatal(err)
	}
	shown = must[*Shown](t)(s.Entry(done.ID))
	if got := fmt.Sprint(shown.Entry.Calls, shown.Entry.Results); got != "[{c2 ls}] [c1]" {
		t.Errorf("its links are %s", got)
	}
}

// A mask and a replacement of an output leave the call beside it, and a part that holds a call and
// no output is not replaced.
func TestEditsLeaveTheCall(t *testing.T) {
	s := create(t)
	say(t, s, "s", "user", "go on")
	add := func(role, parts string) format.ID {
		batch := []Message{{Role: role, Parts: json.RawMessage(parts)}}
		done, _, err := s.Append(context.Background(), "s", MainBranch, batch, AppendOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return done[0].ID
	}
	call := `"functionCall":{"id":"c2","name":"ls","args":{}}`
	partAt := func(id format.ID) format.Target { return format.Target{Entry: id, Part: 0} }
	text := add("model", `[{"text":"zebra","functionCall":{"id":"c1","name":"sh"}}]`)
	output := add("tool", `[{"functionResponse":{"id":"c1","name":"sh","response":{"output":"`+strings.Repeat("giraffe ", 3000)+`"}},`+call+`}]`)
	say(t, s, "s", "user", "and now")
	if _, err := s.ApplyMasks(context.Background(), "s", MainBranch, []MaskTarget{partAt(output)}); err != nil {
		t.Fatal(err)
	}
	m := messageAt(t, s, output)
	if !strings.Contains(string(m.Parts), "tool_output_masked") || !strings.HasSuffix(string(m.Parts), call+"}]") || len(m.Masked) != 1 {
		t.Errorf("masked it is %s", m.Parts)
	}
	mustCommit(t, s, begin(t, s, partAt(output)), "short")
	if m = messageAt(t, s, output); !strings.HasSuffix(string(m.Parts), `short"}},`+call+"}]") {
		t.Errorf("replaced it is %s", m.Parts)
	}
	list := []format.Target{partAt(text)}
	if _, err := s.BeginReplace(s.mustView(t), "s", MainBranch, list, nil); !errors.Is(err, ErrRefused) {
		t.Errorf("a text beside a call: %v", err)
	}
}
