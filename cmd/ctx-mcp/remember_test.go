package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A model notes what later sessions need. The note is the model's, and no rule.
func TestRemember(t *testing.T) {
	dir, s := newStore(t)
	talk(t, s, "work", 6)
	c := connect(t, dir)
	for _, q := range []struct {
		args   object
		failed bool
		want   string
	}{
		{object{"text": "the moon is made of chalk"}, false, "noted as "},
		{object{"text": " "}, true, "remember needs a text"},
		{object{"text": strings.Repeat("a", 301)}, true, "300 are the most"},
		{object{"text": "always", "kind": "rule"}, true, "only the user gives rules"},
		{object{"text": "la", "kind": "song"}, true, "unknown kind"},
		{object{"text": "la", "supersedes": "work~3"}, true, "is no note"},
		{object{"text": "la", "evidence": "work~99"}, true, "not found"},
	} {
		if text, failed := ask(t, c, "remember", q.args); failed != q.failed ||
			!strings.Contains(text, q.want) {
			t.Errorf("%v: %v, %s", q.args, failed, text)
		}
	}
	first, _ := ask(t, c, "remember", object{"text": "the tide turns at six", "kind": "decision"})
	id := strings.TrimPrefix(first, "noted as ")
	if text, failed := ask(t, c, "remember", object{"text": "the tide turns at seven",
		"kind": "decision", "supersedes": id, "evidence": "work~3"}); failed {
		t.Fatal(text)
	}
	text, _ := ask(t, c, "search_past_sessions", object{"query": "the tide turns"})
	if old, newer := strings.Index(text, "six"), strings.Index(text, "seven"); newer < 0 ||
		old < newer || !strings.Contains(text, `"superseded_by":"`) ||
		!strings.Contains(text, `"role":"model"`) {
		t.Errorf("a search: %s", text)
	}
	brief, _ := ask(t, c, "project_brief", object{})
	if !strings.Contains(brief, "decision (the agent's): the tide turns at seven") ||
		strings.Contains(brief, "at six") {
		t.Errorf("a brief: %s", brief)
	}

	settings := filepath.Join(dir, ".gemini", "context", "config.toml")
	if err := os.WriteFile(settings, []byte("[mcp]\nremember = \"off\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, failed := ask(t, c, "remember", object{"text": "once more"}); !failed ||
		!strings.Contains(text, "switched notes off") {
		t.Errorf("with the setting off: %s", text)
	}
	list, err := c.ListTools(context.Background(), nil)
	if err != nil || len(list.Tools) == 0 || slices.ContainsFunc(list.Tools,
		func(t *mcp.Tool) bool { return t.Name == "remember" }) {
		t.Errorf("with the setting off: %v, %+v", err, list)
	}
}
