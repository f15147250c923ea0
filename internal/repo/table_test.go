package repo

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	table := settings()
	if !slices.IsSortedFunc(table,
		func(a, b setting) int { return strings.Compare(a.key, b.key) }) {
		t.Error("not sorted by key")
	}
	seen := map[string]bool{}
	for _, s := range table {
		many := s.named != nil
		if seen[variable(s.key)] || strings.Contains(s.key, ".*") != many ||
			!many && strings.Count(s.key, ".") > 1 || (s.doc == "") != many {
			t.Errorf("bad row: %q, %q, %q", s.key, variable(s.key), s.doc)
		}
		seen[variable(s.key)] = true
		if many {
			continue
		}
		if plain, err := s.put(s.def); err != nil || plain != s.def {
			t.Errorf("%s: default %q reads as %q, %v", s.key, s.def, plain, err)
		}
	}
	if got := variable("window.graduate_at"); got != "CTX_WINDOW_GRADUATE_AT" {
		t.Error(got)
	}
}

// TestTemplate takes the # away from every line that holds a setting: the result says what the
// defaults say.
func TestTemplate(t *testing.T) {
	if list, err := parseConfig(template(), "template", settings()); err != nil || len(list) > 0 {
		t.Errorf("the template gives settings: %v, %v", list, err)
	}
	var active strings.Builder
	for line := range strings.Lines(template()) {
		if strings.Contains(line, " = ") {
			active.WriteString(strings.TrimPrefix(line, "# "))
		}
	}
	table := settings()
	got, err := parseConfig(active.String(), "file x", table)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(defaults(table), func(g assignment) bool {
		s, _ := find(table, g.key)
		return s.from != anywhere // the template is a store's
	})
	if !slices.EqualFunc(got, want,
		func(a, b assignment) bool { return a.key == b.key && a.text == b.text }) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "10s": 10 * time.Second, "1.5h": 90 * time.Minute, "90d": 90 * day,
		"2w": 14 * day, "1w2d": 9 * day,
		"1w3h": 7*day + 3*time.Hour, "1d0.5s": day + time.Second/2,
		"106751d": 106751 * day, "0w": 0,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "d", "w", "10", "-1s", "-1d", "+1d", "1.5d", "1d2w", "1d1d", "1 d", " 1d", "1d ",
		"106752d", "15251w", "106751d24h",
		"9223372036854775807w", "99999999999999999999d", "1y", "1e3d",
	} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range durationSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDuration(text)
		if err != nil {
			return
		}
		if d < 0 {
			t.Errorf("%q is %v", text, d)
		}
		if again, err := parseDuration(d.String()); err != nil || again != d {
			t.Errorf("%q is %v, which reads as %v, %v", text, d, again, err)
		}
	})
}

func durationSeeds() []string { return []string{"90d", "1w2d12h", "10s", "-1s", "106751d24h"} }

func FuzzParseConfig(f *testing.F) {
	for _, seed := range configSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table := settings()
		got, err := parseConfig(text, "file x", table)
		if err != nil {
			return
		}
		for _, g := range got {
			if _, ok := find(table, g.key); !ok {
				t.Errorf("unknown key %q was let through", g.key)
			}
			if line := g.line(); line < 0 || line > strings.Count(text, "\n")+1 {
				t.Errorf("%q is on line %d", g.key, line)
			}
		}
	})
}

func configSeeds() []string {
	return []string{
		template(),
		"window.evict_at = 40\n[gc]\nauto = 0x10\n",
		"window = { evict_at = 40 }\n",
		"[[window]]\nevict_at = 3\n",
		"\"window.evict_at\" = 3\n",
		"window = [{evict_at = 3}]\n",
		"[gc.auto.x]\n",
		"summarize.chain = [\"mine\", \"extractive\"]\n[summarizer.mine]\ncommand = " +
			"[\"/bin/mine\", \"-x\"]\ntimeout = \"1m\"\n",
		"[summarizer.\"a.b\"]\ncommand = []\n",
	}
}

func TestSeeds(t *testing.T) {
	if len(durationSeeds()) == 0 || len(configSeeds()) == 0 {
		t.Error("a fuzz target has no seeds")
	}
}

func TestNearest(t *testing.T) {
	known := []string{"gc.auto", "gc.grace", "window.evict_at", "window.graduate_at"}
	for key, want := range map[string]string{
		"gc.atuo": "gc.auto", "auto": "gc.auto", "evict_at": "window.evict_at",
		"window.graduate-at": "window.graduate_at",
		"window_evict_at":    "window.evict_at", "": "", "nothing.like_it": "",
		strings.Repeat("x", 1000): ""} {
		if got := Nearest(key, known); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}

func TestNearestSwaps(t *testing.T) {
	if got := Nearest("stauts", []string{"stats", "status"}); got != "status" {
		t.Errorf("stauts: %s", got)
	}
}

func TestSameDevice(t *testing.T) {
	here, err := os.Stat(".")
	if err != nil {
		t.Fatal(err)
	}
	if !sameDevice(here, here) {
		t.Error("a directory is not on its own device")
	}
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: files have no device here")
	}
	proc, err := os.Stat("/proc/self")
	if err != nil {
		t.Skip("no second file system at hand")
	}
	if sameDevice(here, proc) {
		t.Error("/proc is on the device of this directory")
	}
}

func TestIgnores(t *testing.T) {
	const store = ".gemini/context/"
	for _, line := range []string{
		".gemini/context/", ".gemini/context", "/.gemini/context/", "  .gemini/context/\r",
		".gemini/context/**", ".gemini/",
		"/.gemini", ".gemini/*", "node_modules\n.gemini/context/\n*.log",
	} {
		if !ignores(line, store) {
			t.Errorf("%q does not count", line)
		}
	}
	for _, line := range []string{"", "# .gemini/context/", "!.gemini/context/", "context/",
		".gemini/context/objects", "x.gemini/"} {
		if ignores(line, store) {
			t.Errorf("%q counts", line)
		}
	}
}
