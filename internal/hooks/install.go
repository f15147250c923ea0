package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/hooks/settings"
)

// HookName is the name of our entries in an agent's settings.
const HookName = "ctx"

// Command returns the command that the agent runs. program is how to call ctx: a name on the
// PATH, or an absolute path. The shell, bash or PowerShell, always ends with 0, since any code but
// 0 and 1 blocks the agent. If the program is missing, the shell prints so, and the agent shows
// it.
func (a *Agent) Command(program string, windows bool) string {
	if a.Plugin() != "" {
		return program // which no shell runs
	}
	switch {
	case isPlain(program):
	case windows && !a.Bash:
		program = "& '" + strings.ReplaceAll(program, "'", "''") + "'"
	default:
		program = "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
	}
	return program + " hook " + a.Name + "; exit 0"
}

// isPlain reports whether no shell needs quotes around a word.
func isPlain(word string) bool {
	return word != "" && strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("/._-", r))
	}) < 0
}

// At returns the command for an event: it names the event to a hook that the agent does not tell.
func (a *Agent) At(event, command string) string {
	if !a.EventInCommand {
		return command
	}
	before, after, _ := strings.Cut(command, " hook "+a.Name)
	return before + " hook " + a.Name + " " + event + after
}

// hooks returns the entries for the agent's settings. command and shell return the commands for an
// event; shell is for PowerShell, where an agent has a command for that besides.
func (a *Agent) hooks(command, shell func(event string) string) []settings.Hook {
	var list []settings.Hook
	for _, event := range a.Events {
		var members []settings.Member
		if !a.Untyped {
			members = append(members, settings.Member{Name: "type", Value: "command"})
		}
		if a.Named {
			members = append(members, settings.Member{Name: "name", Value: HookName})
		}
		if a.Shells {
			members = append(members,
				settings.Member{Name: settings.Bash, Value: command(event.Name)},
				settings.Member{Name: settings.PowerShell, Value: shell(event.Name)})
		} else {
			members = append(members, settings.Command(command(event.Name)))
		}
		if a.Timeout > 0 {
			members = append(members,
				settings.Member{Name: cmp.Or(a.TimeoutIn, "timeout"), Value: a.Timeout})
		}
		if event.does == doAside {
			members = append(members, settings.Member{Name: "async", Value: true})
		}
		list = append(list,
			settings.Hook{Event: event.Name, Matcher: event.only(), Members: members})
	}
	return list
}

// install returns the entries with which the agent's shell runs a program.
func (a *Agent) install(program string, windows bool) []settings.Hook {
	command := a.Command(program, windows && !a.Shells)
	shell := a.Command(program, true)
	return a.hooks(func(event string) string { return a.At(event, command) },
		func(event string) string { return a.At(event, shell) })
}

// maxSettings limits an agent's settings file, in bytes.
const maxSettings = 1 << 20

// backupSuffix ends the name of the backup of a settings file. An empty backup means that there
// was no file.
const backupSuffix = ".before-ctx"

// LocalFiles returns the files of an installation in a project that are for this machine alone, as
// patterns of git.
func (a *Agent) LocalFiles() []string {
	list := []string{"*" + backupSuffix}
	if a.Local {
		list = append(list, "**/"+a.Project)
	}
	return list
}

// Change is a planned change of a settings file.
type Change struct {
	Path   string // path of the file itself, with links resolved
	Before []byte // nil if there is no file
	After  []byte // nil if the file is to be removed
	Backup string // path of the copy of the file as it was before ctx
	Below  string // if not "", the directories below it that become empty are removed

	form    settings.Form
	perm    fs.FileMode
	plugin  bool // the file is ours
	restore bool // After is the content of Backup, which is removed
}

// Changed reports whether the plan changes the file.
func (c *Change) Changed() bool {
	return !bytes.Equal(c.Before, c.After) || (c.Before == nil) != (c.After == nil)
}

// SettingsError says why a settings file was left unchanged.
type SettingsError struct {
	Path string
	Err  error
}

func (e *SettingsError) Error() string { return fmt.Sprintf("%q is left alone: %v", e.Path, e.Err) }

func (e *SettingsError) Unwrap() error { return e.Err }

// PlanInstall plans how the hooks get into a settings file, so that the agent's shell runs a
// program. It changes nothing.
func (a *Agent) PlanInstall(path, program string, windows bool) (*Change, error) {
	c, err := a.readSettings(path)
	if err != nil {
		return nil, err
	}
	if a.Plugin() != "" {
		return c, a.planPlugin(c, program)
	}
	if c.Before != nil && len(c.Before) == 0 {
		return nil, &SettingsError{c.Path, errors.New("the file is empty")}
	}
	if c.After, err = settings.Install(c.Before, a.Settings(),
		a.install(program, windows)); err != nil {
		return nil, &SettingsError{c.Path, err}
	}
	return c, nil
}

// PlanUninstall plans how the hooks leave a settings file. If nobody has changed the file since
// the installation, it gets its old bytes back. Otherwise only our entries are removed.
// PlanUninstall changes nothing.
func (a *Agent) PlanUninstall(path string) (*Change, error) {
	c, err := a.readSettings(path)
	if err != nil || c.Before == nil {
		return c, err
	}
	if a.Plugin() != "" {
		return c, a.isPlugin(c)
	}
	state, err := settings.Look(c.Before, c.form)
	if err != nil {
		return nil, &SettingsError{c.Path, err}
	}
	if backup, err := durable.ReadAtMost(c.Backup, maxSettings); err == nil {
		entries := a.hooks(func(event string) string { return state.Commands[event] },
			func(event string) string { return state.Shells[event] })
		if again, err := settings.Install(backup, c.form, entries); err == nil &&
			bytes.Equal(again, c.Before) {
			c.restore = true
			if len(backup) > 0 {
				c.After = backup
			}
			return c, nil
		}
	}
	if c.After, err = settings.Remove(c.Before, c.form); err != nil {
		return nil, &SettingsError{c.Path, err}
	}
	return c, nil
}

// pluginHead begins every version of a plugin of ours.
const pluginHead = "// ctx records what is said in "

// planPlugin plans how the plugin gets into a file of its own.
func (a *Agent) planPlugin(c *Change, program string) error {
	if err := a.isPlugin(c); err != nil {
		return err
	}
	after, err := a.plugin(program)
	c.After = after
	return err
}

// IsPlugin reports whether a file of the agent is a plugin of ours, of this version or another.
func (a *Agent) IsPlugin(b []byte) bool { return bytes.HasPrefix(b, []byte(pluginHead)) }

// ReadPlugin reads a file of the agent: the program that it runs, and whether it is another version
// of the plugin than that of this ctx. ours is false for a file of somebody else.
func (a *Agent) ReadPlugin(b []byte) (program string, old, ours bool) {
	if !a.IsPlugin(b) {
		return "", false, false
	}
	_, rest, found := bytes.Cut(b, []byte(programLine))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	if !found || json.Unmarshal(bytes.TrimSpace(line), &program) != nil {
		return "", true, true
	}
	now, err := a.plugin(program)
	return program, err != nil || !bytes.Equal(now, b), true
}

// programLine begins the line of a plugin that names the program.
const programLine = "const program = "

// plugin returns the plugin that runs a program.
func (a *Agent) plugin(program string) ([]byte, error) {
	word, err := json.Marshal(program)
	if err != nil {
		return nil, err
	}
	return []byte(strings.Replace(a.Plugin(), programLine+`"ctx"`, programLine+string(word), 1)),
		nil
}

// isPlugin marks the change as one of a file of ours. It returns an error for a file of somebody
// else.
func (a *Agent) isPlugin(c *Change) error {
	if c.plugin = true; c.Before != nil && !a.IsPlugin(c.Before) {
		return &SettingsError{c.Path, errors.New("it is not the plugin of ctx")}
	}
	return nil
}

func (a *Agent) readSettings(path string) (*Change, error) {
	return readSettings(path, a.Settings())
}

func readSettings(path string, form settings.Form) (*Change, error) {
	c := &Change{Path: path, form: form, perm: 0o644}
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
		c.Before, err = durable.ReadAtMost(c.Path, maxSettings)
	}
	if err != nil {
		return nil, &SettingsError{c.Path, err}
	}
	if c.Before == nil {
		c.Before = []byte{}
	}
	return c, nil
}

// Apply carries out the plan if the file has not changed since.
func (c *Change) Apply(fsys *durable.FS) error {
	now, err := readSettings(c.Path, c.form)
	if err != nil {
		return err
	}
	if !bytes.Equal(now.Before, c.Before) {
		return &SettingsError{c.Path, errors.New("somebody changed it just now")}
	}
	if !c.Changed() {
		return nil
	}
	if c.After != nil {
		if err := fsys.MkdirAll(filepath.Dir(c.Path)); err != nil {
			return err
		}
	}
	state, err := settings.Look(c.Before, c.form)
	if first := err != nil || len(state.Commands) == 0; first && c.After != nil && !c.plugin {
		// Back up the file as it was before ctx. This replaces the backup of an earlier
		// installation.
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
	return errors.Join(err, fsys.SyncDir(c.removeEmpty(fsys)))
}

// removeEmpty removes the directories that have become empty, and returns the first that stays.
func (c *Change) removeEmpty(fsys *durable.FS) string {
	dir := filepath.Dir(c.Path)
	top, err := filepath.EvalSymlinks(c.Below)
	if c.Below == "" || c.After != nil || err != nil {
		return dir
	}
	for {
		rel, err := filepath.Rel(top, dir)
		list, unread := os.ReadDir(dir)
		if err != nil || rel == "." || !filepath.IsLocal(rel) || unread != nil || len(list) > 0 ||
			fsys.Remove(dir) != nil { // somebody wrote into it just now
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
