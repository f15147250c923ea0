package summarizer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// step is one transition, at a number of seconds after start.
type step struct {
	at int
	do func(h *Health, now time.Time)
}

func quota(h *Health, now time.Time)     { h.MarkTerminal("m", ReasonQuota, now) }
func capacity(h *Health, now time.Time)  { h.MarkTerminal("m", ReasonCapacity, now) }
func retry(h *Health, now time.Time)     { h.MarkRetryOncePerTurn("m", 1, now) }
func retry3(h *Health, now time.Time)    { h.MarkRetryOncePerTurn("m", 3, now) }
func consume(h *Health, _ time.Time)     { h.Consume("m") }
func healthy(h *Health, _ time.Time)     { h.MarkHealthy("m") }
func resetTurn(h *Health, _ time.Time)   { h.ResetTurn() }
func resetOthers(h *Health, _ time.Time) { h.ResetTurn("x", "y") }
func resetOwn(h *Health, _ time.Time)    { h.ResetTurn("x", "models/m") }
func reset(h *Health, _ time.Time)       { h.Reset() }

// TestHealth goes through every transition from every state.
func TestHealth(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []step
		at    int
		want  string // state and reason, or attempts
	}{
		{"nothing", nil, 0, "healthy"},
		{"healthy to quota", []step{{0, quota}}, 1_000_000, "terminal quota"},
		{"healthy to capacity", []step{{0, capacity}}, 0, "terminal capacity"},
		{"capacity at its end", []step{{0, capacity}}, 29, "terminal capacity"},
		{"capacity after its end", []step{{0, capacity}}, 30, "healthy"},
		{"capacity again", []step{{0, capacity}, {29, capacity}}, 58, "terminal capacity"},
		{"capacity from the future", []step{{100, capacity}}, 50, "healthy"},
		{"healthy to retry", []step{{0, retry}}, 0, "sticky_retry 1"},
		{"healthy to three tries", []step{{0, retry3}}, 0, "sticky_retry 3"},
		{"healthy consumed", []step{{0, consume}}, 0, "healthy"},
		{"healthy to healthy", []step{{0, healthy}, {0, resetTurn}, {0, reset}}, 0, "healthy"},
		{"retry to consumed", []step{{0, retry}, {0, consume}}, 1_000_000,
			"sticky_retry retry_once_per_turn"},
		{"consumed twice", []step{{0, retry}, {0, consume}, {1, consume}}, 1,
			"sticky_retry retry_once_per_turn"},
		{"consumed stays consumed when marked", []step{{0, retry}, {0, consume}, {1, retry3}}, 1,
			"sticky_retry retry_once_per_turn"},
		{"a turn brings it back", []step{{0, retry3}, {0, consume}, {1, resetTurn}}, 1,
			"sticky_retry 3"},
		{"a turn of others", []step{{0, retry}, {0, consume}, {1, resetOthers}}, 1,
			"sticky_retry retry_once_per_turn"},
		{"a turn of its own", []step{{0, retry}, {0, consume}, {1, resetOwn}}, 1, "sticky_retry 1"},
		{"consumed to quota", []step{{0, retry}, {0, consume}, {1, quota}}, 1, "terminal quota"},
		{"consumed to healthy", []step{{0, retry}, {0, consume}, {1, healthy}}, 1, "healthy"},
		{"consumed, reset", []step{{0, retry}, {0, consume}, {1, reset}}, 1, "healthy"},
		{"quota stays when marked retry", []step{{0, quota}, {1, retry}}, 1, "terminal quota"},
		{"quota consumed", []step{{0, quota}, {1, consume}}, 1, "terminal quota"},
		{"quota in the next turn", []step{{0, quota}, {1, resetTurn}}, 1, "terminal quota"},
		{"quota to capacity", []step{{0, quota}, {1, capacity}}, 31, "healthy"},
		{"capacity to quota", []step{{0, capacity}, {1, quota}}, 100, "terminal quota"},
		{"quota, reset", []step{{0, quota}, {1, reset}}, 1, "healthy"},
		{"quota to healthy", []step{{0, quota}, {1, healthy}}, 1, "healthy"},
		{"capacity stays when marked retry", []step{{0, capacity}, {1, retry}}, 29,
			"terminal capacity"},
		{"capacity that is over, marked retry", []step{{0, capacity}, {31, retry}}, 31,
			"sticky_retry 1"},
	} {
		var h Health
		for _, s := range c.steps {
			s.do(&h, start.Add(time.Duration(s.at)*time.Second))
		}
		s := h.Snapshot("m", start.Add(time.Duration(c.at)*time.Second))
		got := string(s.State)
		switch {
		case s.Why() != "":
			got += " " + s.Why()
		case s.State == StateSticky:
			got += " " + string(rune('0'+s.Attempts))
		}
		if got != c.want || s.Available != (s.Why() == "") {
			t.Errorf("%s: got %s (%+v), want %s", c.name, got, s, c.want)
		}
	}
}

func TestHealthUntil(t *testing.T) {
	var h Health
	capacity(&h, start)
	if s := h.Snapshot(" models/m ",
		start.Add(time.Second)); !s.Until.Equal(start.Add(capacityTTL)) || s.Name != "m" {
		t.Errorf("got %+v", s)
	}
	quota(&h, start)
	if s := h.Snapshot("m", start); !s.Until.IsZero() {
		t.Errorf("got %+v", s)
	}
}

func TestSelectFirstAvailable(t *testing.T) {
	var h Health
	h.MarkTerminal("a", ReasonQuota, start)
	h.MarkTerminal("models/b", ReasonCapacity, start)
	h.MarkRetryOncePerTurn("c", 2, start)
	h.MarkRetryOncePerTurn("d", 2, start)
	h.Consume("c")
	names := []string{"a", "b", "c", "d", "e"}
	skipped := []Skip{{"a", ReasonQuota}, {"b", ReasonCapacity}, {"c", ReasonRetry}}
	if got := h.SelectFirstAvailable(names, start); got.Name != "d" || got.Attempts != 2 ||
		!slices.Equal(got.Skipped, skipped) {
		t.Errorf("got %+v", got)
	}
	if got := h.SelectFirstAvailable(names[:3], start); got.Name != "" ||
		!slices.Equal(got.Skipped, skipped) {
		t.Errorf("got %+v", got)
	}
	if got := h.SelectFirstAvailable(names, start.Add(capacityTTL)); got.Name != "b" ||
		got.Attempts != 0 || len(got.Skipped) != 1 {
		t.Errorf("got %+v", got)
	}
	if got := h.SelectFirstAvailable(nil, start); got.Name != "" || got.Skipped != nil {
		t.Errorf("got %+v", got)
	}
}

func healthFile(t *testing.T) *HealthFile {
	t.Helper()
	return &HealthFile{Path: HealthPath(t.TempDir())}
}

func update(t *testing.T, f *HealthFile, change func(*Health)) {
	t.Helper()
	if err := f.Update(change); err != nil {
		t.Fatal(err)
	}
}

func TestHealthFile(t *testing.T) {
	f := healthFile(t)
	update(t, f, func(h *Health) {
		h.MarkTerminal("a", ReasonQuota, start)
		h.MarkTerminal("b", ReasonCapacity, start)
		h.MarkRetryOncePerTurn("c", 3, start)
		h.Consume("c")
	})
	const want = `{"v":1,"marks":[{"name":"a","state":"terminal","reason":"quota","at":"2026-01-02T03:04:05.000Z"},` +
		`{"name":"b","state":"terminal","reason":"capacity","at":"2026-01-02T03:04:05.000Z"},` +
		`{"name":"c","state":"sticky_retry","consumed":true,"attempts":3}]}` + "\n"
	b, err := os.ReadFile(f.Path)
	if err != nil || string(b) != want {
		t.Errorf("got %s, %v", b, err)
	}
	h := f.Load()
	if again, err := encodeHealth(h); err != nil || string(again) != want {
		t.Errorf("got %s, %v", again, err)
	}
	// A change without effect writes nothing.
	f.FS = &durable.FS{Hook: func(durable.Call) error { t.Error("a step"); return nil }}
	update(t, f, func(h *Health) { h.ResetTurn("x"); h.MarkHealthy("y") })
}

// Many concurrent writers leave a readable file, which has the last change.
func TestHealthFileStorm(t *testing.T) {
	f := healthFile(t)
	update(t, f, func(h *Health) { h.MarkTerminal("first", ReasonQuota, start) })
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for range 25 {
				if err := f.Update(func(h *Health) {
					h.MarkRetryOncePerTurn(string(rune('a'+n)), n+1, start)
					h.Consume("a")
					h.ResetTurn()
				}); err != nil {
					t.Error(err)
				}
				if len(f.Load().Names()) == 0 {
					t.Error("a reader saw nothing")
				}
			}
		})
	}
	wg.Wait()
	update(t, f, func(h *Health) { h.MarkTerminal("last", ReasonQuota, start) })
	if names := f.Load().Names(); !slices.Contains(names, "last") ||
		!slices.Contains(names, "first") {
		t.Errorf("got %q", names)
	}
}

// A file that cannot be read counts as empty, and the next change replaces it.
func TestHealthFileDamaged(t *testing.T) {
	for _, text := range healthSeeds() {
		f := healthFile(t)
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if names := f.Load().Names(); len(names) > 0 && !strings.Contains(text, "good") {
			t.Errorf("%s: got %v", text, names)
		}
		update(t, f, func(h *Health) { h.MarkTerminal("m", ReasonQuota, start) })
		if !slices.Contains(f.Load().Names(), "m") {
			t.Errorf("%s: stays", text)
		}
	}
}

func healthSeeds() []string {
	return []string{
		"", "{", "[]", "null",
		`{"v":2,"marks":[{"name":"m","state":"terminal","reason":"quota","at":"2026-01-02T03:04:05.000Z"}]}`,
		`{"v":1,"marks":[{"name":"","state":"sticky_retry","attempts":1}]}`,
		`{"v":1,"marks":[{"name":"m","state":"sticky_retry"}]}`,
		`{"v":1,"marks":[{"name":"m","state":"tired"}]}`,
		`{"v":1,"marks":[{"name":"m","state":"terminal","reason":"bored","at":"2026-01-02T03:04:05.000Z"}]}`,
		`{"v":1,"marks":[{"name":"m","state":"terminal","reason":"quota","at":"yesterday"}]}`,
		`{"v":1,"marks":[{"name":"a\u001bb","state":"sticky_retry","attempts":1}]}`,
		`{"v":1,"marks":[{"name":"good","state":"sticky_retry","attempts":1}]}`,
		strings.Repeat(" ", maxHealth+1),
	}
}

func FuzzHealthFile(f *testing.F) {
	for _, seed := range healthSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := decodeHealth([]byte(text))
		if err != nil {
			return
		}
		b, err := encodeHealth(h)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeHealth(b)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := encodeHealth(again); err != nil || string(c) != string(b) {
			t.Errorf("%s reads as %s, %v", b, c, err)
		}
	})
}

func TestHealthFileTooMany(t *testing.T) {
	f := healthFile(t)
	err := f.Update(func(h *Health) {
		for i := range maxMarks + 1 {
			h.MarkTerminal(strings.Repeat("m", i+1), ReasonQuota, start)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "reset") {
		t.Errorf("got %v", err)
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"gemini", "models/gemini-2.5-pro", "qwen3:8b", "größer"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", " ", "models/", "a\nb", "a\x00b", "\x1b[31m", "\xff",
		strings.Repeat("x", 201), "a\u202eb"} {
		if CheckName(name) == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

// TestC6_09_NeverTerminalCapacityReturnsStickyOnce: a terminal model is never picked, one without
// capacity is picked again after 30 seconds by the given clock, and one that may be asked once per
// turn is picked once per turn.
func TestC6_09_NeverTerminalCapacityReturnsStickyOnce(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var h Health
	pick := func(at time.Time) string {
		name := h.SelectFirstAvailable([]string{"quota", "capacity", "sticky", "last"}, at).Name
		h.Consume(name)
		return name
	}
	h.MarkTerminal("quota", ReasonQuota, now)
	h.MarkTerminal("capacity", ReasonCapacity, now)
	h.MarkRetryOncePerTurn("sticky", 1, now)
	for _, c := range []struct {
		after time.Duration
		turn  bool // begins
		want  string
	}{
		{0, false, "sticky"}, {1, false, "last"}, {capacityTTL - 1, false, "last"},
		{capacityTTL - 1, true, "sticky"}, {capacityTTL - 1, false, "last"},
		{capacityTTL, false, "capacity"}, {capacityTTL, true, "capacity"},
		{1000 * time.Hour, false, "capacity"},
	} {
		if c.turn {
			h.ResetTurn()
		}
		if got := pick(now.Add(c.after)); got != c.want {
			t.Errorf("after %v, turn %v: %q, want %q", c.after, c.turn, got, c.want)
		}
	}
	h.MarkTerminal("capacity", ReasonQuota, now)
	for _, want := range []string{"sticky", "last"} {
		if got := pick(now.Add(1000 * time.Hour)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
