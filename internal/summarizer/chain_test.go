package summarizer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
)

// link is a chain of played helpers with a clock, and the chain's warnings.
type link struct {
	*Chain
	now    time.Time
	warned []string
}

// chainOf makes a chain of played helpers, one for each part; "extractive" stands for itself.
// Members are named after their parts.
func chainOf(t *testing.T, f *HealthFile, parts ...string) *link {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := &link{now: start}
	c := Config{Context: t.Context(), Health: f, Now: func() time.Time { return l.now },
		Warn: func(text string) { l.warned = append(l.warned, text) }}
	for _, part := range parts {
		c.Members = append(c.Members,
			Member{Name: part, Command: []string{self, "play", part}, Timeout: long})
	}
	if l.Chain, err = New(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func (l *link) state(name string) string {
	s := l.Health.Load().Snapshot(name, l.now)
	return strings.TrimSpace(string(s.State) + " " + s.Why())
}

func TestChainAlone(t *testing.T) {
	if c, err := New(Config{Members: []Member{{Name: Extractive}}}); c != nil || err != nil {
		t.Errorf("got %v, %v", c, err)
	}
	for _, members := range [][]Member{nil, {{Name: "x"}}} {
		if _, err := New(Config{Members: members}); err == nil {
			t.Errorf("%v is taken", members)
		}
	}
}

// TestChainFallsBack has each kind of failure at the front of a chain: the next member answers, and
// the failed one gets the right state.
func TestChainFallsBack(t *testing.T) {
	for part, want := range map[string]string{
		"quota": "terminal quota", "capacity": "terminal capacity",
		"terminal": "sticky_retry retry_once_per_turn",
		"dies":     "sticky_retry retry_once_per_turn",
		"garbage":  "sticky_retry retry_once_per_turn",
		"twice":    "sticky_retry retry_once_per_turn",
		"100 MB":   "sticky_retry retry_once_per_turn", "refuses": "healthy", "empty": "healthy",
		"long": "healthy",
	} {
		t.Run(part, func(t *testing.T) {
			l := chainOf(t, healthFile(t), part, "good")
			told, err := l.Summarize(t.Context(), askOf(1))
			if err != nil || told.Summarizer != "good" || told.Text != "port 5433" {
				t.Fatalf("got %+v, %v", told, err)
			}
			if got := l.state(part); got != want || l.state("good") != "healthy" {
				t.Errorf("%s, want %s", got, want)
			}
			if len(l.warned) != 1 || !strings.Contains(l.warned[0], "summarizer "+part+": ") {
				t.Errorf("warned %q", l.warned)
			}
			// The same failure again gives no second warning.
			if _, err := l.Summarize(t.Context(), askOf(2)); err != nil || len(l.warned) != 1 {
				t.Errorf("%v, warned %q", err, l.warned)
			}
		})
	}
}

func TestChainLastResort(t *testing.T) {
	l := chainOf(t, healthFile(t), "quota", "capacity", Extractive)
	for n := range byte(2) {
		told, err := l.Summarize(t.Context(), askOf(n+1))
		if err != nil || told.Summarizer != Extractive || !strings.Contains(told.Text, "5433") ||
			summarize.Tokens(told.Text) > 50 {
			t.Fatalf("got %+v, %v", told, err)
		}
	}
	if len(l.warned) != 2 {
		t.Errorf("warned %q", l.warned)
	}
}

func TestChainUnanswered(t *testing.T) {
	f := healthFile(t)
	l := chainOf(t, f, "quota", "capacity", "refuses")
	_, err := l.Summarize(t.Context(), askOf(1))
	var no *Unanswered
	if !errors.As(err, &no) || len(no.Failures) != 3 || len(no.Skipped) != 0 ||
		kindOf(err) != Refused {
		t.Fatalf("got %v", err)
	}
	_, err = l.Summarize(t.Context(), askOf(2))
	if !errors.As(err, &no) || len(no.Failures) != 1 || len(no.Skipped) != 2 ||
		no.Skipped[0].Skip != (Skip{"quota", ReasonQuota}) ||
		no.Skipped[1].Skip != (Skip{"capacity", ReasonCapacity}) ||
		err.Error() != "no summarizer answered: refuses: refused: unsafe; quota: quota: used up; "+
			"capacity: capacity: busy" || len(l.warned) > 0 {
		t.Fatalf("got %v, warned %q", err, l.warned)
	}
	// Another process sees the same state, until the lack of capacity is over.
	other := chainOf(t, f, "quota", "capacity")
	if _, err = other.Summarize(t.Context(), askOf(3)); kindOf(err) != None ||
		err.Error() != "no summarizer answered: quota: not asked: quota; capacity: not "+
			"asked: capacity" {
		t.Errorf("got %v", err)
	}
	other.now = other.now.Add(capacityTTL)
	if _, err = other.Summarize(t.Context(), askOf(3)); kindOf(err) != Capacity {
		t.Errorf("got %v", err)
	}
}

// A failed member is not asked again in the same run, but in the next one.
func TestChainTurn(t *testing.T) {
	f := healthFile(t)
	l := chainOf(t, f, "dies")
	for _, asked := range []int{1, 0, 0} {
		_, err := l.Summarize(t.Context(), askOf(1))
		var no *Unanswered
		if !errors.As(err, &no) || len(no.Failures) != asked || kindOf(err) != Crashed {
			t.Errorf("got %v", err)
		}
	}
	if len(l.warned) > 0 {
		t.Errorf("warned %q of what errors told", l.warned)
	}
	update(t, f, func(h *Health) { h.MarkRetryOncePerTurn("model", 1, start); h.Consume("model") })
	next := chainOf(t, f, "dies")
	if _, err := next.Summarize(t.Context(), askOf(1)); kindOf(err) != Crashed {
		t.Errorf("got %v", err)
	}
	if got := next.state("model"); got != "sticky_retry retry_once_per_turn" {
		t.Errorf("the run was a turn of somebody else: %s", got)
	}
}

// A member that works again is healthy again.
func TestChainRecovers(t *testing.T) {
	f := healthFile(t)
	update(t, f, func(h *Health) { h.MarkRetryOncePerTurn("good", 1, start); h.Consume("good") })
	l := chainOf(t, f, "good")
	if _, err := l.Summarize(t.Context(), askOf(1)); err != nil || len(f.Load().Names()) > 0 {
		t.Errorf("%v, %v", err, f.Load().Names())
	}
}

// A mark of another process holds for the next request.
func TestChainHeedsOthers(t *testing.T) {
	f := healthFile(t)
	l := chainOf(t, f, "good", Extractive)
	if told, err := l.Summarize(t.Context(), askOf(1)); err != nil || told.Summarizer != "good" {
		t.Fatalf("got %+v, %v", told, err)
	}
	update(t, f, func(h *Health) { h.MarkTerminal("good", ReasonQuota, start) })
	if told, err := l.Summarize(t.Context(), askOf(2)); err != nil ||
		told.Summarizer != Extractive {
		t.Errorf("got %+v, %v", told, err)
	}
}

func TestChainLimit(t *testing.T) {
	for _, c := range []struct {
		parts []string
		want  int
	}{
		{[]string{"good", Extractive}, 1000},
		{[]string{"dies", "good"}, 1000},
		{[]string{"dies", Extractive}, extractive{}.Limit()},
		{[]string{"dies"}, extractive{}.Limit()},
	} {
		if got := chainOf(t, healthFile(t), c.parts...).Limit(); got != c.want {
			t.Errorf("%q: %d, want %d", c.parts, got, c.want)
		}
	}
}

// A claim that is too long for one member goes to the next, and does not change the state of the
// first.
func TestChainTooLong(t *testing.T) {
	l := chainOf(t, healthFile(t), "good", Extractive)
	ask := askOf(1)
	ask.Inputs[0].Text = strings.Repeat("Port 5433 is taken again. ", 400)
	told, err := l.Summarize(t.Context(), ask)
	if err != nil || told.Summarizer != Extractive || l.state("good") != "healthy" {
		t.Errorf("got %+v, %v", told, err)
	}
}

func TestChainCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := chainOf(t, healthFile(t), "hangs", Extractive)
	if _, err := l.Summarize(ctx, askOf(1)); !errors.Is(err, context.Canceled) ||
		l.state("hangs") != "healthy" {
		t.Errorf("got %v, %s", err, l.state("hangs"))
	}
}

// An interruption while a helper starts does not change the state of the helper.
func TestChainLimitCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := chainOf(t, healthFile(t), "mute")
	l.Context = ctx
	if l.Limit(); l.state("mute") != "healthy" || len(l.warned) > 0 {
		t.Errorf("%s, warned %q", l.state("mute"), l.warned)
	}
}

func TestChainCloseTells(t *testing.T) {
	l := chainOf(t, healthFile(t), "last word")
	if _, err := l.Summarize(t.Context(), askOf(1)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil || len(l.warned) != 1 ||
		!strings.Contains(l.warned[0], "twice") {
		t.Errorf("%v, warned %q", err, l.warned)
	}
}

// Summaries work in a store that cannot be written to.
func TestChainReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := chainOf(t, &HealthFile{Path: filepath.Join(path, "avail.json")}, "quota", "good")
	for n := range byte(2) {
		if told, err := l.Summarize(t.Context(), askOf(n+1)); err != nil ||
			told.Summarizer != "good" {
			t.Errorf("got %+v, %v", told, err)
		}
	}
	if len(l.warned) != 2 ||
		!slices.ContainsFunc(l.warned,
			func(s string) bool { return strings.Contains(s, "cannot keep") }) {
		t.Errorf("warned %q", l.warned)
	}
}

func TestCheck(t *testing.T) {
	f := healthFile(t)
	c := Config{Health: f, Now: func() time.Time { return start }}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	update(t, f, func(h *Health) { h.MarkTerminal("good", ReasonQuota, start) })
	if told, err := Check(t.Context(), c,
		Member{Name: "good", Command: []string{self, "play", "good"}}, askOf(1)); err != nil ||
		told.Text != "port 5433" {
		t.Errorf("got %+v, %v", told, err)
	}
	for part, want := range map[string]Kind{"last word": Twice, "quota": Quota} {
		if _, err := Check(t.Context(), c,
			Member{Name: part, Command: []string{self, "play", part}},
			askOf(1)); kindOf(err) != want {
			t.Errorf("%s: got %v", part, err)
		}
	}
	if told, err := Check(t.Context(), c, Member{Name: Extractive}, askOf(1)); err != nil ||
		told.Summarizer != Extractive {
		t.Errorf("got %+v, %v", told, err)
	}
	if got := f.Load().Names(); !slices.Equal(got, []string{"last word", "quota"}) {
		t.Errorf("marked %q", got)
	}
}
