package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/lock"
)

// bytesOf is a source of bytes that is the same for everybody, but for a seed.
type bytesOf [sha256.Size]byte

func (b bytesOf) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = b[i%len(b)] + byte(i)
	}
	return len(p), nil
}

// testEnv is the world of a test: a directory, a clock that gives a second more each time, and
// small windows.
func testEnv(dir string) repo.Env {
	t := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var seconds atomic.Int64 // calls run beside each other
	return repo.Env{
		WorkDir: dir, Random: bytesOf(sha256.Sum256([]byte(dir))),
		UserData: filepath.Join(dir, "data"),
		Owner:    lock.Owner{PID: 1, Host: "test", Command: "test"},
		Now: func() time.Time {
			return t.Add(time.Duration(seconds.Add(1)) * time.Second)
		},
		Overrides: []string{"window.graduate_at=4", "window.evict_at=6"},
	}
}

// newStore makes a store in a new directory.
func newStore(t testing.TB) (string, *session.Store) {
	t.Helper()
	dir := durabletest.TempDir(t)
	e := testEnv(dir)
	if _, _, err := repo.Init(e, dir); err != nil {
		t.Fatal(err)
	}
	r, err := repo.Open(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s := session.New(r)
	s.History.Warn = func(string) {}
	return dir, s
}

func say(t testing.TB, s *session.Store, name, role, text string) format.ID {
	t.Helper()
	done, _, err := s.Conversation.Append(context.Background(), name, history.MainBranch,
		[]conversation.Message{{Role: role, Text: text}}, conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID
}

// talk says so many messages on a few topics.
func talk(t testing.TB, s *session.Store, name string, n int) {
	t.Helper()
	topics := []string{"postgres migration schema port %d table index",
		"parser lexer token line %d nil pointer panic", "deploy rollback release server %d canary"}
	for i := range n {
		say(t, s, name, []string{"user", "model"}[i%2], fmt.Sprintf(topics[i/4%3], i))
	}
}

// connect returns a client of a server for the store in a directory, over memory.
func connect(t testing.TB, dir string) *mcp.ClientSession {
	t.Helper()
	there, here := mcp.NewInMemoryTransports()
	running, err := newServer(testEnv(dir), io.Discard).Connect(context.Background(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(
		context.Background(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); _ = running.Wait() })
	return client
}

type object = map[string]any

// ask calls a tool and returns its text, and whether it is an error.
func ask(t testing.TB, c *mcp.ClientSession, tool string, args object) (string, bool) {
	t.Helper()
	result, err := c.CallTool(context.Background(),
		&mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	var said []string
	for _, content := range result.Content {
		said = append(said, content.(*mcp.TextContent).Text)
	}
	return strings.Join(said, "\n"), result.IsError
}

// answer is ask for what has to succeed.
func answer(t testing.TB, c *mcp.ClientSession, tool string, args object) string {
	t.Helper()
	text, failed := ask(t, c, tool, args)
	if failed {
		t.Fatalf("%s %v: %s", tool, args, text)
	}
	return text
}

// result is what lists return.
type result struct {
	V        int
	Entries  []item
	Hits     []item
	Sessions []sessionItem
	Lines    []written
	Changed  bool
	Next     string
}

func listOf(t testing.TB, c *mcp.ClientSession, tool string, args object) result {
	t.Helper()
	var r result
	text := answer(t, c, tool, args)
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%s %v: %v: %s", tool, args, err, text)
	}
	if r.V != 1 {
		t.Fatalf("%s: version %d: %s", tool, r.V, text)
	}
	return r
}

// clustersOf returns the ids of the clusters, which are resources.
func clustersOf(t testing.TB, c *mcp.ClientSession) (ids []string) {
	t.Helper()
	params := &mcp.ListResourcesParams{}
	for {
		page, err := c.ListResources(context.Background(), params)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Resources {
			if id, ok := strings.CutPrefix(r.URI, clusterURI); ok {
				ids = append(ids, id)
			}
		}
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			return ids
		}
	}
}
