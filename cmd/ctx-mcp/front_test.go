package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/cli/command"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// served runs the server on an input to its end, and returns the answers by their ids as they were
// written.
func served(t *testing.T, input string) map[string][]map[string]any {
	t.Helper()
	dir, s := newStore(t)
	say(t, s, "work", "user", "hello")
	var out, errs bytes.Buffer
	code := run(context.Background(), nil, testEnv(dir),
		io.NopCloser(strings.NewReader(hello+input)), &out, &errs)
	if code != command.Done || errs.Len() > 0 {
		t.Errorf("code %d: %s", code, &errs)
	}
	answers := map[string][]map[string]any{}
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		id, _ := json.Marshal(m["id"]) // it was JSON
		answers[string(id)] = append(answers[string(id)], m)
	}
	return answers
}

// A line that is no message is answered with an error, and the next request is served.
func TestBadLines(t *testing.T) {
	for line, code := range map[string]float64{
		"not json":                   -32700,
		`{"jsonrpc":"2.0","id":1,`:   -32700,
		`[{"jsonrpc":"2.0","id":1}]`: -32600,
		`[]`:                         -32600,
		`"text"`:                     -32600,
		`{"id":1,"method":"ping"}`:   -32600,
		`{"jsonrpc":"1.0","id":1}`:   -32600,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:  -32600,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`: -32600,
		`{"jsonrpc":"2.0","id":1,"method":7}`:        -32600,
		strings.Repeat("x", 2*maxFrame):              -32600,
	} {
		answers := served(t, line+"\n"+`{"jsonrpc":"2.0","id":7,"method":"ping"}`+"\n")
		refused := answers["null"]
		if len(refused) != 1 || refused[0]["error"].(map[string]any)["code"] != code {
			t.Errorf("%.60s: answered with %v", line, refused)
		}
		if len(answers["7"]) != 1 || answers["7"][0]["error"] != nil {
			t.Errorf("%.60s: the next request got %v", line, answers["7"])
		}
	}
}

// Whatever was asked before the input ends is answered, and once.
func TestAnsweredBeforeTheEnd(t *testing.T) {
	var in strings.Builder
	for i := range 60 {
		fmt.Fprintf(&in,
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search_past_sessions","arguments":{"query":"hello"}}}`+"\n", i+1)
	}
	// Without a line end
	answers := served(t, in.String()+`{"jsonrpc":"2.0","id":"last","method":"tools/list"}`)
	for i := range 60 {
		if got := answers[fmt.Sprint(i+1)]; len(got) != 1 || got[0]["result"] == nil {
			t.Errorf("request %d: %v", i+1, got)
		}
	}
	if got := answers[`"last"`]; len(got) != 1 || got[0]["result"] == nil {
		t.Errorf("the last request: %v", got)
	}
}

// A request that was cancelled is not waited for.
func TestCancelledIsNotWaitedFor(t *testing.T) {
	f := newFront(strings.NewReader(`{"jsonrpc":"2.0","id":3,"method":"ping"}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}
`), io.Discard)
	if got, err := io.ReadAll(f.reader(context.Background())); err != nil ||
		bytes.Count(got, []byte("\n")) != 2 {
		t.Errorf("%q, %v", got, err)
	}
}
