package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/capture/settings"
	"github.com/gemini-ctx/ctx/lock"
)

// HookName is what our entries in an agent's settings are called.
const HookName = "ctx"

// hookTimeout is what the agent is told to wait for a hook, in milliseconds: longer than anybody sets hook.deadline to.
const hookTimeout = 30_000

// HookCommand is what an agent runs. program is how ctx is called: a name that is found on the PATH, or an absolute path. Whatever becomes of the program, the
// shell ends with 0, in bash as in PowerShell: any other code but 1 blocks the agent. That the program is gone is then said by the shell, and the
// agent shows it.
func HookCommand(program string, windows bool) string {
	switch {
	case isPlain(program):
	case windows:
		program = "& '" + strings.ReplaceAll(program, "'", "''") + "'"
	default:
		program = "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
	}
	return program + " hook gemini-cli; exit 0"
}

// isPlain reports whether every shell takes a word as it stands.
func isPlain(word string) bool {
	return word != "" && strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r))
	}) < 0
}

// Hooks are the entries for an agent's settings.
func Hooks(command string) []settings.Hook {
	var list []settings.Hook
	for _, event := range Events() {
		list = append(list, settings.Hook{Event: event, Name: HookName, Command: command, Timeout: hookTimeout})
	}
	return list
}

// maxSettings bounds an agent's file of settings, in bytes.
const maxSettings = 1 << 20

// backupSuffix is added to the name of a file of settings for what it was before. An empty backup says that there was no file.
const backupSuffix = ".before-ctx"

// Change is what is to become of a file of settings.
type Change struct {
	Path   string // of the file itself, links followed
	Before []byte // nil where there is none
	After  []byte // nil where it is to go
	Backup string // the path of the copy of what was there before ctx

	perm    fs.FileMode
	restore bool // After is what Backup has, which goes
}

// Changed reports whether there is anything to be done.
func (c *Change) Changed() bool {
	return !bytes.Equal(c.Before, c.After) || (c.Before == nil) != (c.After == nil)
}

// SettingsError says that a file of settings was left alone.
type SettingsError struct {
	Path string
	Err  error
}

func (e *SettingsError) Error() string { return fmt.Sprintf("%q is left alone: %v", e.Path, e.Err) }

func (e *SettingsError) Unwrap() error { return e.Err }

// PlanInstall says how a file of settings gets the hooks. It changes nothing.
func PlanInstall(path, command string) (*Change, error) {
	c, err := readSettings(path)
	if err != nil {
		return nil, err
	}
	if c.Before != nil && len(c.Before) == 0 {
		return nil, &SettingsError{c.Path, errors.New("the file is empty")}
	}
	if c.After, err = settings.Install(c.Before, Hooks(command)); err != nil {
		return nil, &SettingsError{c.Path, err}
	}
	return c, nil
}

// PlanUninstall says how a file of settings loses the hooks: it becomes what it was, byte for byte, if nobody has changed it since; else our entries go and everything
// else stays. It changes nothing.
func PlanUninstall(path string) (*Change, error) {
	c, err := readSettings(path)
	if err != nil || c.Before == nil {
		return c, err
	}
	state, err := settings.Look(c.Before)
	if err != nil {
		return nil, &SettingsError{c.Path, err}
	}
	if backup, err := lock.ReadAtMost(c.Backup, maxSettings); err == nil {
		command := ""
		for _, event := range Events() {
			command = state.Commands[event]
		}
		if again, err := settings.Install(backup, Hooks(command)); err == nil && bytes.Equal(again, c.Before) {
			c.restore = true
			if len(backup) > 0 {
				c.After = backup
			}
			return c, nil
		}
	}
	if c.After, err = settings.Remove(c.Before); err != nil {
		return nil, &SettingsError{c.Path, err}
	}
	return c, nil
}

func readSettings(path string) (*Change, error) {
	c := &Change{Path: path, perm: 0o644}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		c.Path = real
	}
	c.Backup = c.Path + backupSuffix
	info, err := os.Stat(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a file")
	}
	if err == nil {
		c.perm = info.Mode().Perm()
		c.Before, err = lock.ReadAtMost(c.Path, maxSettings)
	}
	if err != nil {
		return nil, &SettingsError{c.Path, err}
	}
	if c.Before == nil {
		c.Before = []byte{}
	}
	return c, nil
}

// Apply does what was planned, if the file is still as it was then.
func (c *Change) Apply(fsys *lock.FS) error {
	now, err := readSettings(c.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now.Before, c.Before) {
		return &SettingsError{c.Path, errors.New("somebody changed it just now")}
	}
	if !c.Changed() {
		return nil
	}
	state, err := settings.Look(c.Before)
	if first := err != nil || len(state.Commands) == 0; first && c.After != nil {
		// What was there before ctx; an older copy is of before an earlier time.
		if err := fsys.MkdirAll(filepath.Dir(c.Path)); err != nil {
			return err
		}
		if err := fsys.WriteFile(c.Backup, c.Before, c.perm, true); err != nil {
			return fmt.Errorf("cannot back up %q: %w", c.Path, err)
		}
	}
	if c.After == nil {
		err = fsys.Remove(c.Path)
	} else {
		err = fsys.WriteFile(c.Path, c.After, c.perm, true)
	}
	if err != nil {
		return err
	}
	if c.restore {
		err = fsys.Remove(c.Backup)
	}
	return errors.Join(err, fsys.SyncDir(filepath.Dir(c.Path)))
}
