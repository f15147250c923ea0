package repo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// Setting is the value of one setting and where it comes from.
type Setting struct {
	Key    string `json:"key"`    // as in "window.graduate_at"
	Value  string `json:"value"`  // in a form that a config file accepts
	Origin string `json:"origin"` // OriginDefault, "flag", "env CTX_…" or "file <path>"
}

// OriginDefault is the origin of a setting that is not set anywhere.
const OriginDefault = "default"

// List returns every setting, sorted by key.
func (c *Config) List() []Setting { return slices.Clone(c.list) }

// Get returns the setting of a key. An unknown key is a *ConfigError, with the nearest known key
// as its hint.
func (c *Config) Get(key string) (Setting, error) {
	i, ok := slices.BinarySearchFunc(c.list, key,
		func(s Setting, key string) int { return strings.Compare(s.Key, key) })
	if !ok {
		return Setting{}, unknown(assignment{key: key})
	}
	return c.list[i], nil
}

// given is one assignment of a value to a setting.
type assignment struct {
	key, text string
	origin    string
	line      func() int // line in a file; nil elsewhere. Called only for an error
}

func (g assignment) fault(why error, hint string) *ConfigError {
	e := &ConfigError{Origin: g.origin, Key: g.key, Why: why.Error(), Hint: hint}
	if g.line != nil {
		e.Line = g.line()
	}
	return e
}

func unknown(g assignment) *ConfigError {
	known := lists.Map(settings(), func(s setting) string {
		return strings.Replace(s.key, "*", userPart(g.key), 1)
	})
	hint := "`ctx config` lists the settings"
	if k := Nearest(g.key, known); k != "" {
		hint = fmt.Sprintf("did you mean %q?", k)
	}
	return g.fault(errors.New("unknown setting"), hint)
}

func defaultHint(s setting) string {
	if s.def == "" {
		return ""
	}
	return "the default is " + s.def
}

// loadConfig reads the settings. A later layer overrides an earlier one: defaults, the user's
// file, the store's file, the environment, the command line. Each value is checked, even one that
// is overridden. A missing file sets nothing. Errors: *ConfigError, and those of the file system.
func loadConfig(env Env, storeFile string) (*Config, error) {
	l := newLoader()
	byUser, err := fromFile(env.UserConfig, l.table)
	if err != nil {
		return nil, err
	}
	byStore, err := fromFile(storeFile, l.table)
	if err != nil {
		return nil, err
	}
	byFlag, err := fromFlags(env.Overrides)
	if err != nil {
		return nil, err
	}
	return l.load(byUser, byStore, envAssignments(env.Getenv, l.table), byFlag)
}

func defaults(table []setting) []assignment {
	out := make([]assignment, 0, len(table))
	for i := range table {
		if s := &table[i]; s.named == nil {
			out = append(out, assignment{key: s.key, text: s.def, origin: OriginDefault})
		}
	}
	return out
}

// fromEnv reads the variables of known settings only: CTX_DIR and others have other uses. An empty
// variable counts as not set.
func envAssignments(getenv func(string) string, table []setting) []assignment {
	if getenv == nil {
		return nil
	}
	var out []assignment
	for _, s := range table {
		if s.named != nil {
			continue
		}
		if text := getenv(variable(s.key)); text != "" {
			out = append(out, assignment{key: s.key, text: text, origin: "env " + variable(s.key)})
		}
	}
	return out
}

func fromFlags(overrides []string) ([]assignment, error) {
	var out []assignment
	for _, o := range overrides {
		key, text, ok := strings.Cut(o, "=")
		g := assignment{key: key, text: text, origin: "flag"}
		if !ok {
			return nil, g.fault(errors.New("no value"), "-c takes key=value")
		}
		out = append(out, g)
	}
	return out, nil
}

// The layers that settings are given in, in the order of loadConfig.
const (
	byDefault = iota
	byUserFile
	byStoreFile
	byEnv
	byFlag
)

// loader builds a Config.
type loader struct {
	table  []setting // the rows; then the settings with a name in their key that were assigned
	config *Config
	last   []assignment // the assignment in force, by index in table
	level  []int        // its layer
}

func newLoader() *loader {
	c := newConfig()
	table := c.rows()
	return &loader{table: table, config: c, last: make([]assignment, len(table)),
		level: make([]int, len(table))}
}

// load reads layers above the defaults.
func (l *loader) load(layers ...[]assignment) (*Config, error) {
	for level, layer := range append([][]assignment{defaults(l.table)}, layers...) {
		for _, g := range layer {
			if err := l.take(g, level); err != nil {
				return nil, err
			}
		}
	}
	if err := l.agree(); err != nil {
		return nil, err
	}
	l.config.list = make([]Setting, 0, len(l.last))
	for i := range l.last {
		if g := &l.last[i]; g.key != "" {
			l.config.list = append(l.config.list,
				Setting{Key: g.key, Value: g.text, Origin: g.origin})
		}
	}
	slices.SortFunc(l.config.list, func(a, b Setting) int { return strings.Compare(a.Key, b.Key) })
	return l.config, nil
}

func (l *loader) take(g assignment, level int) error {
	i := l.index(g.key)
	if i < 0 {
		return unknown(g)
	}
	if err := allowed(l.table[i], g, level); err != nil {
		return err
	}
	plain, err := l.table[i].put(g.text)
	if err != nil {
		return g.fault(err, defaultHint(l.table[i]))
	}
	g.text = plain
	l.last[i], l.level[i] = g, level
	return nil
}

// index returns the index of a setting in the table, or -1. A setting with a name in its key gets
// a row of its own.
func (l *loader) index(key string) int {
	for i := range l.table {
		if s := &l.table[i]; s.key == key && s.named == nil {
			return i
		}
	}
	s, ok := find(l.table, key)
	if !ok {
		return -1
	}
	l.table, l.last, l.level = append(l.table, s), append(l.last, assignment{}),
		append(l.level, byDefault)
	return len(l.table) - 1
}

// find returns the setting of a key.
func find(table []setting, key string) (setting, bool) {
	for _, s := range table {
		if s.named == nil {
			if s.key == key {
				return s, true
			}
			continue
		}
		front, back, _ := strings.Cut(s.key, "*")
		if name := userPart(key); key == front+name+back && isSummarizerName(name) {
			s.key, s.put, s.named = key, s.named(name), nil
			return s, true
		}
	}
	return setting{}, false
}

// userPart returns the part of a key that the user names: the middle one of three.
func userPart(key string) string {
	_, rest, _ := strings.Cut(key, ".")
	name, _, _ := strings.Cut(rest, ".")
	return name
}

// allowed refuses a setting that names a program, or a receiver of the history, in a layer that
// somebody else may have written.
func allowed(s setting, g assignment, level int) error {
	switch {
	case s.from == anywhere, level == byDefault, level == byUserFile, s.from == notStore &&
		level != byStoreFile:
		return nil
	case level == byStoreFile:
		return g.fault(errors.New("not taken from a store: it may come from elsewhere"),
			"set it in your own config file: `ctx help environment` says where that is")
	}
	return g.fault(errors.New("taken from your own config file only"),
		"`ctx help environment` says where that is")
}

// agree checks that the settings fit each other.
func (l *loader) agree() error {
	if err := l.agreeOnWindow(); err != nil {
		return err
	}
	return l.agreeOnChain()
}

// agreeOnChain checks that every summarizer in the chain is known.
func (l *loader) agreeOnChain() error {
	at := l.index("summarize.chain")
	for _, name := range l.config.Summarize.Chain {
		if name == extractive || len(l.config.Summarizers[name].Command) > 0 {
			continue
		}
		return l.last[at].fault(fmt.Errorf("no such summarizer: %q", name),
			fmt.Sprintf(
				`say in your own config file which program it is: [summarizer.%s] command = ["PROGRAM"]`, name))
	}
	return nil
}

// agreeOnWindow checks the two settings of the window. It blames the one of the later layer.
func (l *loader) agreeOnWindow() error {
	w := l.config.Window
	if w.EvictAt >= w.GraduateAt {
		return nil
	}
	evict, graduate := l.index("window.evict_at"), l.index("window.graduate_at")
	if l.level[graduate] > l.level[evict] {
		return l.last[graduate].fault(fmt.Errorf("%d is more than window.evict_at, %d",
			w.GraduateAt, w.EvictAt),
			fmt.Sprintf("set window.evict_at to %d or more as well", w.GraduateAt))
	}
	return l.last[evict].fault(fmt.Errorf("%d is less than window.graduate_at, %d", w.EvictAt,
		w.GraduateAt),
		fmt.Sprintf("set window.graduate_at to %d or less as well", w.EvictAt))
}
