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

func TestConfigSummarizers(t *testing.T) {
	w := newWorld(t)
	c := w.init().Config
	if !slices.Equal(c.Summarize.Chain, []string{"extractive"}) {
		t.Errorf("got %v", c.Summarize.Chain)
	}
	user := filepath.Join(w.home, "config.toml")
	w.env.UserConfig = user
	w.write(user, `summarize.chain = ["mine", "gemini", "extractive"]
[summarizer.mine]
command = ["/opt/my model", "--quiet", "a<b"]
timeout = "5m"
[summarizer.openai]
timeout = "10s"
`)
	c = w.open().Config
	if !slices.Equal(c.Summarize.Chain, []string{"mine", "gemini", "extractive"}) {
		t.Errorf("got %v", c.Summarize.Chain)
	}
	mine, openai := c.Summarizers["mine"], c.Summarizers["openai"]
	if !slices.Equal(mine.Command, []string{"/opt/my model", "--quiet", "a<b"}) ||
		mine.Timeout != 5*time.Minute ||
		!slices.Equal(openai.Command, []string{"ctx-summarize-openai"}) ||
		openai.Timeout != 10*time.Second {
		t.Errorf("got %+v", c.Summarizers)
	}
	for _, want := range []repo.Setting{
		{Key: "summarize.chain", Value: "mine,gemini,extractive", Origin: "file " + user},
		{Key: "summarizer.mine.command", Value: `["/opt/my model","--quiet","a<b"]`,
			Origin: "file " + user},
		{Key: "summarizer.openai.timeout", Value: "10s", Origin: "file " + user},
	} {
		if got, err := c.Get(want.Key); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	if !slices.IsSortedFunc(c.List(),
		func(a, b repo.Setting) int { return strings.Compare(a.Key, b.Key) }) {
		t.Error("not sorted")
	}
	w.vars["CTX_SUMMARIZE_CHAIN"] = "openai, extractive"
	if c = w.open().Config; !slices.Equal(c.Summarize.Chain, []string{"openai", "extractive"}) {
		t.Errorf("got %v", c.Summarize.Chain)
	}
	w.env.Overrides = []string{"summarize.chain=gemini"}
	if c = w.open().Config; !slices.Equal(c.Summarize.Chain, []string{"gemini"}) {
		t.Errorf("got %v", c.Summarize.Chain)
	}
}

// TestConfigSummarizersFaults gives settings of summarizers that cannot be, or from where they are
// not taken.
func TestConfigSummarizersFaults(t *testing.T) {
	const store, user, env, flag = "store", "user", "env", "flag"
	for _, c := range []struct {
		where, text, key string
		why, hint        string // parts of them
	}{
		{store, "summarize.chain = ['extractive']\n", "summarize.chain", "not taken from a store",
			"own config file"},
		{store, "[summarizer.x]\ncommand = ['/bin/sh']\n", "summarizer.x.command",
			"not taken from a store", "own config file"},
		{store, "[summarizer.gemini]\ntimeout = '1s'\n", "summarizer.gemini.timeout",
			"not taken from a store", "own config file"},
		{flag, "summarizer.x.command=[\"/bin/sh\"]", "summarizer.x.command",
			"your own config file only", "environment"},
		{flag, "summarize.chain=x", "summarize.chain", `no such summarizer: "x"`,
			`[summarizer.x] command = ["PROGRAM"]`},
		{env, "x", "summarize.chain", `no such summarizer: "x"`, "own config file"},
		{env, "extractive,gemini", "summarize.chain", "not the last one", "extractive"},
		{env, "gemini,,extractive", "summarize.chain", "not the name", "extractive"},
		{user, "summarize.chain = []\n", "summarize.chain", "not the name", "extractive"},
		{user, "summarize.chain = ['gemini', 'gemini']\n", "summarize.chain", "twice", ""},
		{user, "summarize.chain = 'gemini'\n", "summarize.chain", "not an array of names", ""},
		{user, "summarize.chain = ['a,b']\n", "summarize.chain", "not an array of names", ""},
		{user, "summarize.chain = [1]\n", "summarize.chain", "not an array of names", ""},
		{user, "summarize.chain = ['../x']\n", "summarize.chain", "not the name", ""},
		{user, "summarize.chain = ['x']\n[summarizer.x]\ntimeout = '1s'\n", "summarize.chain",
			"no such summarizer", "command"},
		{user, "[summarizer.x]\ncommand = '/bin/sh -c x'\n", "summarizer.x.command",
			"not an array of strings", ""},
		{user, "[summarizer.x]\ncommand = []\n", "summarizer.x.command",
			"not an array of a program", ""},
		{user, "[summarizer.x]\ncommand = ['']\n", "summarizer.x.command",
			"not an array of a program", ""},
		{user, "[summarizer.x]\ncommand = ['" + strings.Repeat("x", 5000) + "']\n",
			"summarizer.x.command", "4096 bytes", ""},
		{user, "[summarizer.x]\ntimeout = '0s'\n", "summarizer.x.timeout", "not above 0s", ""},
		{user, "[summarizer.x]\ntimeout = '2d'\n", "summarizer.x.timeout", "not above 0s", ""},
		{user, "[summarizer.x]\ncomand = ['x']\n", "summarizer.x.comand", "unknown setting",
			`"summarizer.x.command"`},
		{user, "[summarizer.extractive]\ncommand = ['x']\n", "summarizer.extractive.command",
			"unknown setting", ""},
		{user, "[summarizer.\"a.b\"]\ncommand = ['x']\n", `summarizer."a.b".command`,
			"unknown setting", ""},
		{user, "[summarizer.X]\ncommand = ['x']\n", "summarizer.X.command", "unknown setting", ""},
		{user, "summarizer.x = 3\n", "summarizer.x", "not a table", ""},
		{user, "[[summarizer.x]]\ncommand = ['x']\n", "summarizer.x", "not a table", ""},
		{user, "[summarizer]\n[summarizer.x]\n[summarizer.y.z]\n", "summarizer.y.z",
			"unknown setting", ""},
	} {
		w := newWorld(t)
		w.init()
		w.env.UserConfig = filepath.Join(w.home, "config.toml")
		switch c.where {
		case store:
			w.write(w.path("config.toml"), c.text)
		case user:
			w.write(w.env.UserConfig, c.text)
		case env:
			w.vars["CTX_SUMMARIZE_CHAIN"] = c.text
		case flag:
			w.env.Overrides = []string{c.text}
		}
		_, err := repo.Open(w.env)
		var bad *repo.ConfigError
		if !errors.As(err, &bad) || bad.Key != c.key || !strings.Contains(bad.Why, c.why) ||
			!strings.Contains(bad.Hint, c.hint) {
			t.Errorf("%s %q: got %+v", c.where, c.text, err)
		}
	}
}
