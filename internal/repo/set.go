package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// SetConfig writes a setting into the store's config.toml, or with user into the user's own config
// file. Everything else in the file stays as it is, comments included. text has the form that -c
// takes. The file is replaced by rename, so a crash leaves the old one or the new one. Errors:
// ErrNoUserConfig; a *ConfigError for a key or a value that no file accepts, and for a file that
// sets the key in a form that has to be edited by hand; those of the file system.
func (r *Repo) SetConfig(key, text string, user bool) error {
	path, level := filepath.Join(r.Dir, configName), byStoreFile
	if user {
		if path, level = r.userConfig, byUserFile; path == "" {
			return ErrNoUserConfig
		}
	}
	origin := "file " + path
	value, err := tomlValue(key, text, origin, level)
	if err != nil {
		return err
	}
	b, err := durable.ReadAtMost(path, maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read config: %w", err)
	}
	changed, ok := setLine(string(b), key, key+" = "+value)
	if ok {
		list, err := parseConfig(changed, origin, settings())
		ok = err == nil &&
			slices.ContainsFunc(list,
				func(g assignment) bool { return g.key == key && g.text != "" })
	}
	if !ok {
		return (assignment{key: key, origin: origin}).fault(
			errors.New("cannot be set here by a program"),
			"edit the file: it has the setting in a table")
	}
	if err := r.wouldAgree(changed, origin, user); err != nil {
		return err
	}
	if err := r.FS.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return r.FS.WriteDurable(path, []byte(changed), mode)
}

// wouldAgree checks that the settings would fit each other with a new text of one of the files.
func (r *Repo) wouldAgree(text, origin string, user bool) error {
	l := newLoader()
	layers := [2][]assignment{}
	for i, path := range []string{r.userConfig, filepath.Join(r.Dir, configName)} {
		var err error
		if (i == 0) == user {
			layers[i], err = parseConfig(text, origin, l.table)
		} else {
			layers[i], err = fromFile(path, l.table)
		}
		if err != nil {
			return err
		}
	}
	_, err := l.load(layers[0], layers[1])
	return err
}

// tomlValue checks the value of a setting and returns it as TOML.
func tomlValue(key, text, origin string, level int) (string, error) {
	l := newLoader()
	g := assignment{key: key, text: text, origin: origin}
	s, ok := find(l.table, key)
	if !ok {
		return "", unknown(g)
	}
	if _, err := l.load(); err != nil {
		return "", err
	}
	if err := l.take(g, level); err != nil {
		return "", err
	}
	plain := l.last[l.index(key)].text
	switch s.form {
	case duration, word:
		return strconv.Quote(plain), nil
	case names:
		if plain == "" {
			return "[]", nil
		}
		return jsonList(strings.Split(plain, ",")), nil
	case words:
		var list []string
		if err := json.Unmarshal([]byte(plain), &list); err != nil {
			return "", g.fault(err, "")
		}
		return jsonList(list), nil
	}
	return plain, nil
}

// setLine puts a line that sets a key into a config file: in the place of the line that sets it
// now, or that shows its default as a comment, or else before the first table. ok is false if the
// file sets the key in another way.
func setLine(text, key, line string) (changed string, ok bool) {
	lines := strings.SplitAfter(text, "\n")
	comment, table := -1, len(lines)
	for i, one := range lines {
		trimmed := strings.TrimSpace(one)
		if strings.HasPrefix(trimmed, "[") && table == len(lines) {
			table = i
		}
		if i > table {
			continue
		}
		name, value, found := strings.Cut(trimmed, "=")
		switch {
		case found && strings.TrimSpace(name) == key:
			if !isWhole(value) {
				return "", false
			}
			lines[i] = line + "\n"
			return strings.Join(lines, ""), true
		case found && comment < 0 && strings.TrimSpace(strings.TrimPrefix(name, "#")) == key:
			comment = i
		}
	}
	if comment >= 0 {
		lines[comment] = line + "\n"
		return strings.Join(lines, ""), true
	}
	before, after := strings.Join(lines[:table], ""), strings.Join(lines[table:], "")
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	if after != "" {
		after = "\n" + after
	}
	return before + line + "\n" + after, true
}

// isWhole reports whether a value is complete on its line.
func isWhole(value string) bool {
	var to map[string]any
	_, err := toml.Decode("x = "+value, &to)
	return err == nil
}

// aliasOf reads the command line that a name stands for: an array of a command of ctx and its
// arguments.
func (c *Config) aliasOf(name string) func(string) (string, error) {
	return func(text string) (string, error) {
		list, err := commandLine(text,
			`not an array of a command and its arguments, as ["log", "--oneline"]`)
		if err != nil {
			return "", err
		}
		c.Aliases[name] = list
		return jsonList(list), nil
	}
}

// Alias returns the command line that a name stands for, as the user's config file says; nil for
// none. A store has no say in it. Errors: *ConfigError, and those of the file system.
func Alias(env Env, name string) ([]string, error) {
	l := newLoader()
	byUser, err := fromFile(env.UserConfig, l.table)
	if err != nil || len(byUser) == 0 {
		return nil, err
	}
	config, err := l.load(byUser)
	if err != nil {
		return nil, err
	}
	return config.Aliases[name], nil
}
