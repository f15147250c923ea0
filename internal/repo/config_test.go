package repo_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/repo"
)

func TestConfigDefaults(t *testing.T) {
	w := newWorld(t)
	c := w.init().Config
	var want repo.Config
	want.Window.GraduateAt, want.Window.EvictAt = 26, 30
	want.Forest.MergeThreshold, want.Forest.MaxColdClusters = 0.5, 10
	want.Log.Keep, want.Lock.Timeout = 90*24*time.Hour, 10*time.Second
	want.GC.Grace, want.GC.Auto = 14*24*time.Hour, 50
	if c.Window != want.Window || c.Forest != want.Forest || c.Log != want.Log || c.GC != want.GC ||
		c.Lock != want.Lock {
		t.Errorf("got %+v", c)
	}
	for _, s := range c.List() {
		if s.Origin != "default" {
			t.Errorf("%s is from %q", s.Key, s.Origin)
		}
	}
}

func TestConfigList(t *testing.T) {
	w := newWorld(t)
	w.env.Overrides = []string{"gc.auto=007", "forest.merge_threshold=1e-1", "log.keep=2w"}
	c := w.init().Config
	list := c.List()
	if !slices.IsSortedFunc(list,
		func(a, b repo.Setting) int { return strings.Compare(a.Key, b.Key) }) {
		t.Error("not sorted")
	}
	for _, want := range []repo.Setting{
		{Key: "gc.auto", Value: "7", Origin: "flag"},
		{Key: "forest.merge_threshold", Value: "0.1", Origin: "flag"},
		{Key: "log.keep", Value: "2w", Origin: "flag"},
		{Key: "window.evict_at", Value: "30", Origin: "default"},
	} {
		if got, err := c.Get(want.Key); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
		if !slices.Contains(list, want) {
			t.Errorf("list lacks %v", want)
		}
	}
	list[0].Value = "changed"
	if c.List()[0].Value == "changed" {
		t.Error("a caller can change the list")
	}
	var bad *repo.ConfigError
	if _, err := c.Get("window.evict"); !errors.As(err, &bad) ||
		bad.Hint != `did you mean "window.evict_at"?` {
		t.Errorf("got %v", err)
	}
}

func TestConfigPrecedence(t *testing.T) {
	w := newWorld(t)
	w.init()
	user := filepath.Join(w.home, ".config", "ctx", "config.toml")
	w.env.UserConfig = user // which is not there yet
	steps := []struct {
		give   func()
		auto   int
		origin string
	}{
		{func() {}, 50, "default"},
		{func() { w.write(user, "[gc]\nauto = 1\n") }, 1, "file " + user},
		{func() { w.write(w.path("config.toml"), "gc.auto = 2\n") }, 2,
			"file " + w.path("config.toml")},
		{func() { w.vars["CTX_GC_AUTO"] = "3" }, 3, "env CTX_GC_AUTO"},
		{func() { w.env.Overrides = []string{"gc.auto=4"} }, 4, "flag"},
		{func() { w.env.Overrides = []string{"gc.auto=4", "gc.auto=5"} }, 5, "flag"},
	}
	for _, step := range steps {
		step.give()
		c := w.open().Config
		got, err := c.Get("gc.auto")
		if err != nil || c.GC.Auto != step.auto || got.Origin != step.origin {
			t.Errorf("got %d, %v, %v, want %d from %s", c.GC.Auto, got, err, step.auto, step.origin)
		}
	}
}

func TestConfigForms(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.write(w.path("config.toml"), `# a comment
window = { evict_at = 50, graduate_at = 40 }
log.keep = "1w2d12h30m"
[forest]
merge_threshold = 1
max_cold_clusters = 1
[lock]
timeout = "0s"
[gc]
`)
	w.vars["CTX_DIR"] = "of another use"
	w.vars["CTX_WINDOW_COLOUR"] = "unknown variables are no errors"
	c := w.open().Config
	if c.Window.EvictAt != 50 || c.Window.GraduateAt != 40 || c.Forest.MergeThreshold != 1 ||
		c.Forest.MaxColdClusters != 1 ||
		c.Log.Keep != 9*24*time.Hour+12*time.Hour+30*time.Minute || c.Lock.Timeout != 0 {
		t.Errorf("got %+v", c)
	}
}

// TestConfigFaults gives bad settings in the store's file.
func TestConfigFaults(t *testing.T) {
	for _, c := range []struct {
		text, key string
		line      int
		why, hint string // parts of them
	}{
		{"window.graduate = 3\n", "window.graduate", 1, "unknown", `"window.graduate_at"`},
		{"\n[window]\ngradute_at = 3\n", "window.gradute_at", 3, "unknown", `"window.graduate_at"`},
		{"[windw]\nevict_at = 3\n", "windw.evict_at", 2, "unknown", `"window.evict_at"`},
		{"graduate_at = 3\n", "graduate_at", 1, "unknown", `"window.graduate_at"`},
		{"summariser = 'x'\n", "summariser", 1, "unknown", ""},
		{"\"window.evict_at\" = 30\n", `"window.evict_at"`, 1, "unknown", `"window.evict_at"`},
		{"[colours]\n", "colours", 1, "unknown", "lists"},
		{"[gc.auto]\nx = 1\n", "gc.auto.x", 2, "unknown", ""},
		{"[gc.auto]\n", "gc.auto", 1, "not a whole number", "50"},
		{"[[window]]\nevict_at = 3\n", "window", 1, "not a table", ""},
		{"window = [{evict_at = 3}]\n", "window", 1, "not a table", ""},
		{"gc = 3\n", "gc", 1, "not a table", ""},
		{"[gc]\ngrace = '1d'\nauto = '3'\n", "gc.auto", 3, "not a whole number", "50"},
		{"gc.auto = 3.0\n", "gc.auto", 1, "not a whole number", "50"},
		{"gc.auto = [3]\n", "gc.auto", 1, "not a whole number", "50"},
		{"gc.auto = 1979-05-27\n", "gc.auto", 1, "not a whole number", "50"},
		{"gc.auto = -1\n", "gc.auto", 1, "not from 0 to", "50"},
		{"gc.grace = 14\n", "gc.grace", 1, "not a string", "14d"},
		{"gc.grace = '14'\n", "gc.grace", 1, "not a duration", "14d"},
		{"gc.grace = '-1h'\n", "gc.grace", 1, "not a duration", "14d"},
		{"lock.timeout = '2d'\n", "lock.timeout", 1, "more than", "10s"},
		{"forest.merge_threshold = nan\n", "forest.merge_threshold", 1, "not from 0 to 1", "0.5"},
		{"forest.merge_threshold = 1.01\n", "forest.merge_threshold", 1, "not from 0 to 1", "0.5"},
		{"forest.merge_threshold = true\n", "forest.merge_threshold", 1, "not a number", "0.5"},
		{"forest.max_cold_clusters = 0\n", "forest.max_cold_clusters", 1, "not from 1", "10"},
		{"window.graduate_at = 31\n", "window.graduate_at", 1, "more than window.evict_at, 30",
			"set window.evict_at to 31"},
		{"# x\nwindow.evict_at = 25\n", "window.evict_at", 2, "less than window.graduate_at, 26",
			"set window.graduate_at to 25"},
		{"gc.auto = 3\ngc.auto = 4\n", "", 2, "not TOML", ""},
		{"gc.auto =\n", "", 1, "not TOML", ""},
		{"# " + strings.Repeat("x", 1<<20), "", 0, "more than", ""},
	} {
		w := newWorld(t)
		w.write(w.path("format"), "store 1\nhash sha256\nid "+strings.Repeat("0a", 16)+"\n")
		w.write(w.path("config.toml"), c.text)
		_, err := repo.Open(w.env)
		var bad *repo.ConfigError
		if !errors.As(err, &bad) {
			t.Errorf("%.40q: got %v", c.text, err)
			continue
		}
		if bad.Key != c.key || bad.Line != c.line || !strings.Contains(bad.Why, c.why) ||
			!strings.Contains(bad.Hint, c.hint) {
			t.Errorf("%.40q: got %+v", c.text, bad)
		}
		if bad.Origin != "file "+w.path("config.toml") ||
			!strings.Contains(bad.Error(), w.path("config.toml")) {
			t.Errorf("%.40q: origin %q, error %q", c.text, bad.Origin, bad)
		}
	}
}

func TestConfigFaultsElsewhere(t *testing.T) {
	w := newWorld(t)
	w.init()
	check := func(origin, key string) {
		t.Helper()
		var bad *repo.ConfigError
		_, err := repo.Open(w.env)
		if !errors.As(err, &bad) || bad.Origin != origin || bad.Key != key {
			t.Errorf("got %v, want one about %s from %s", err, key, origin)
		}
	}
	w.vars["CTX_GC_AUTO"] = "many"
	check("env CTX_GC_AUTO", "gc.auto")
	w.env.Overrides = []string{"gc.auto=3"}
	check("env CTX_GC_AUTO", "gc.auto") // although it is replaced
	delete(w.vars, "CTX_GC_AUTO")
	for _, o := range []string{"gc.auto", "gc.auto=", "gc.auto=1.5"} {
		w.env.Overrides = []string{o}
		check("flag", "gc.auto")
	}
	w.env.Overrides = []string{"gc.atuo=3"}
	check("flag", "gc.atuo")
	w.vars["CTX_WINDOW_EVICT_AT"] = "40"
	w.env.Overrides = []string{"window.graduate_at=41"}
	check("flag", "window.graduate_at")
	w.env.Overrides = []string{"window.evict_at=20"}
	check("flag", "window.evict_at")
}

func TestConfigUnreadable(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.remove(w.path("config.toml"))
	w.open() // none is fine
	w.mkdir(w.path("config.toml"))
	if _, err := repo.Open(w.env); err == nil {
		t.Error("a directory: no error")
	}
}
