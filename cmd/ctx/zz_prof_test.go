package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"os"
	"testing"
	"time"
)

func TestProf(t *testing.T) {
	if os.Getenv("PROF") == "" {
		t.Skip()
	}
	dir := t.TempDir()
	w := func(out io.Writer) world {
		return world{stdin: bytes.NewReader(nil), stdout: out, stderr: os.Stderr, dir: dir, getenv: func(string) string { return "" }, now: time.Now, random: rand.Reader}
	}
	run(context.Background(), w(io.Discard), []string{"init"})
	t0 := time.Now()
	n := &lineCounter{}
	code := run(context.Background(), w(n), []string{"append", "-s", "S", "--jsonl", os.Getenv("PROF")})
	t.Log(code, n.n, "ids after", n.last.Sub(t0), "all", time.Since(t0))
}

type lineCounter struct {
	n    int
	last time.Time
}

func (l *lineCounter) Write(p []byte) (int, error) {
	l.n += bytes.Count(p, []byte("\n"))
	l.last = time.Now()
	return len(p), nil
}
