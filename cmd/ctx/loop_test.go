package main

import (
	"fmt"
	"strings"
	"testing"
)

const said = "The quick brown fox jumps over the lazy dog and rests a bit. "

func delta(text string) string { return fmt.Sprintf("{\"text\":%q,\"partial\":true}\n", text) }
func whole(text string) string { return fmt.Sprintf("{\"text\":%q}\n", text) }

// TestC6_08_EqualVerdict: a stream as deltas, and the same with the whole of each message after its
// deltas, have one verdict.
func TestC6_08_EqualVerdict(t *testing.T) {
	dir := t.TempDir()
	for n := 1; n <= 12; n++ {
		deltas, both := "", ""
		for i := range n {
			deltas += delta(said)
			both += delta(said)
			if i%3 == 2 {
				both += whole(strings.Repeat(said, 3)) + "{\"text\":\"\",\"partial\":false}\n"
			}
		}
		a, outA, _ := runIn(t, dir, deltas, "loop", "check")
		b, outB, _ := runIn(t, dir, both, "loop", "check")
		want := 0
		if n >= 10 {
			want = exitFailed
		}
		if a != want || b != want || outA != outB {
			t.Errorf("%d times: exit %d %q as deltas, %d %q with the whole, want %d", n, a, outA,
				b, outB, want)
		}
	}
}

// TestC6_03_PartialNeverStored: a piece of a message is not stored, and touches neither the
// session, nor its time, nor its state.
func TestC6_03_PartialNeverStored(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, "", "init")
	piece :=
		"{\"role\":\"model\",\"text\":\"Hel\",\"partial\":true,\"time\":\"2030-01-02T12:00:00Z\"}\n"
	if out := mustRun(t, dir, piece, "append", "-s", "work", "--jsonl"); out != "" {
		t.Errorf("a piece has an id: %q", out)
	}
	if code, _, _ := runIn(t, dir, "", "log", "-s", "work"); code != exitNotFound {
		t.Errorf("a piece made a session: exit %d", code)
	}
	mustRun(t, dir, "", "append", "-s", "work", "--role", "user", "-m", "hello")
	mustRun(t, dir, "", "session", "state", "set", "-s", "work", "--app", "shop", "n=1", "app:m=2")
	look := func() string {
		return mustRun(t, dir, "", "log", "-s", "work", "--json") +
			mustRun(t, dir, "", "session", "state", "-s", "work", "--app", "shop", "--json") +
			mustRun(t, dir, "", "op", "log") + mustRun(t, dir, "", "show-ref")
	}
	before := look()
	mustRun(t, dir, piece+piece, "append", "-s", "work", "--jsonl")
	if after := look(); after != before {
		t.Errorf("pieces changed\n%s\nto\n%s", before, after)
	}
}

// TestLoopStops has the answer come while the model goes on talking.
func TestLoopStops(t *testing.T) {
	p := talk(t.Context(), t.TempDir(), "loop", "check", "--stop")
	for range 10 {
		fmt.Fprint(p.in, delta(said))
	}
	if !p.out.Scan() || !strings.HasPrefix(p.out.Text(), "loop: content") {
		t.Errorf("the answer is %q", p.out.Text())
	}
	if code := <-p.code; code != exitFailed {
		t.Errorf("exit %d: %s", code, p.errs)
	}
	_ = p.in.Close()
}
