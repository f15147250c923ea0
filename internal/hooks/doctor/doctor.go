// Package doctor checks the chain by which agents call ctx: the program, the store, the installed
// hooks, and a turn that the agent's shell records.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/hooks/settings"
	"github.com/gemini-ctx/ctx/internal/session"
)

// The states of a check.
const (
	OK   = "ok"
	Warn = "warn" // worth knowing; recording goes on
	Fail = "fail" // something is not recorded, or will not be
)

// Check is the result for one link of the chain from the agent to the store.
type Check struct {
	Name   string
	State  string
	Detail string
	Hint   string
}

// Doctor has what Run needs to check the hooks of a project.
type Doctor struct {
	Store   *session.Store // nil if it cannot be opened
	Err     error          // why Store is nil
	Project string         // the directory that the agent works in
	Home    string         // the home directory of Gemini CLI, which holds .gemini
	Program string         // this program's path
	Version string
	Now     time.Time
	// Probe makes a store in a new directory, lets the shell run the command of an agent's hook
	// there, and checks what the command recorded.
	Probe func(ctx context.Context, agent, command string) error

	Getenv   func(name string) string // an environment variable
	UserHome string                   // the home directory; "" if there is none
}

// maxFile limits the files of other programs that are read, in bytes.
const maxFile = 1 << 20

// Run checks each link of the chain. It changes nothing but scratch files of its own.
func Run(ctx context.Context, d Doctor) []Check {
	found := d.installed()
	if len(found) == 0 && !d.used() {
		unused := Check{Name: "hooks", State: OK,
			Detail: "not installed: Gemini CLI is not used in this project, as far as is known"}
		list := append([]Check{d.program(), d.store(ctx), unused}, d.others(ctx)...)
		return append(append(list, d.drift()...), d.ignore(), d.trouble())
	}
	list := []Check{d.program(), d.store(ctx), d.hooks(found)}
	if c, ok := d.trust(found); ok {
		list = append(list, c)
	}
	list = append(list, d.probe(ctx, found))
	list = append(append(list, d.others(ctx)...), d.drift()...)
	if d.Store != nil {
		list = append(list, d.ignore(), d.last(found), d.trouble())
	}
	return list
}

// Sound reports whether no check has failed.
func Sound(list []Check) bool {
	return !slices.ContainsFunc(list, func(c Check) bool { return c.State == Fail })
}

// program looks for ctx on the PATH, as the agent's shell does.
func (d *Doctor) program() Check {
	c := Check{Name: "program", State: OK}
	path, err := exec.LookPath("ctx")
	switch {
	case err != nil:
		c.State, c.Detail = Warn, "ctx is not on the PATH"
		c.Hint = "put its directory on the PATH of the shell that starts the agent; " +
			"`ctx install` names it by its full path until then"
	case !sameFile(path, d.Program):
		c.State, c.Detail = Warn, fmt.Sprintf("the PATH leads to another ctx than this one: %s", path)
		c.Hint = "the hooks use the one on the PATH"
	default:
		c.Detail = fmt.Sprintf("%s, version %s", path, d.Version)
	}
	return c
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// store checks that the store can be written.
func (d *Doctor) store(ctx context.Context) Check {
	c := Check{Name: "store", State: OK}
	if d.Store == nil {
		return Check{
			"store", Fail,
			d.Err.Error(), "`ctx init` makes one; without one the hooks do nothing",
		}
	}
	c.Detail = d.Store.Dir
	held, err := d.Store.Lock(ctx)
	if err == nil {
		err = held.Release()
	}
	if err == nil {
		_, err = d.Store.Digest16([]byte("doctor"))
	}
	if err != nil {
		c.State, c.Detail = Fail, "cannot be written: "+err.Error()
	}
	return c
}

// hookPlace is a file in which hooks may be installed.
type hookPlace struct {
	kind  string
	path  string
	state settings.State
	err   error
}

// installed reads every file that may hold our hooks.
func (d *Doctor) installed() (list []hookPlace) {
	for _, one := range []hookPlace{
		{kind: "project", path: filepath.Join(d.Project, ".gemini", "settings.json")},
		{kind: "user", path: filepath.Join(d.Home, ".gemini", "settings.json")},
		{kind: "extension",
			path: filepath.Join(d.Home, ".gemini", "extensions", hooks.ExtensionName, "hooks",
				"hooks.json")},
	} {
		b, err := durable.ReadAtMost(one.path, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			one.state, err = settings.Look(b, settings.Groups(hooks.GeminiCLI))
		}
		if one.err = err; err != nil || len(one.state.Commands) > 0 || one.state.Off {
			list = append(list, one)
		}
	}
	return list
}

// hooks checks that all hooks are installed and switched on.
func (d *Doctor) hooks(found []hookPlace) Check {
	c := Check{"hooks", Fail, "not installed", "`ctx install gemini-cli` puts them in"}
	agent, _ := hooks.AgentNamed(hooks.GeminiCLI)
	var said []string
	for _, one := range found {
		isThere := func(event string) bool { return one.state.Commands[event] != "" }
		missing := slices.DeleteFunc(agent.EventNames(), isThere)
		switch {
		case one.err != nil:
			return Check{
				"hooks", Fail,
				fmt.Sprintf("%s cannot be read: %v", one.path, one.err),
				"mend the file: the agent cannot read it either",
			}
		case one.state.Off:
			return Check{
				"hooks", Fail,
				"switched off by hooksConfig.enabled in " + one.path, "take that line out",
			}
		case one.state.Disabled:
			return Check{
				"hooks", Fail,
				"switched off by hooksConfig.disabled in " + one.path, "take ctx out of that list",
			}
		case len(missing) > 0:
			c.Detail = fmt.Sprintf("%s has none for %s", one.path, strings.Join(missing, ", "))
			c.Hint = "`ctx install gemini-cli` adds them"
			return c
		}
		said = append(said, fmt.Sprintf("in the settings of the %s (%s)", one.kind, one.path))
	}
	if len(said) == 0 {
		return c
	}
	c = Check{Name: "hooks", State: OK, Detail: strings.Join(said, " and ")}
	if len(said) > 1 {
		c.State = Warn
		c.Hint = "one place is enough: with two each turn is copied twice, " +
			"which changes nothing and takes time"
	}
	return c
}

// trust reads what the agent has recorded about this directory and the hooks. ok is false if no
// hook that needs trust is installed.
func (d *Doctor) trust(found []hookPlace) (c Check, ok bool) {
	needsTrust := func(one hookPlace) bool {
		return one.kind != "extension" && len(one.state.Commands) > 0
	}
	i := slices.IndexFunc(found, needsTrust)
	if i < 0 {
		return c, false
	}
	c = Check{
		"trust", Warn,
		"the agent has not run with these hooks in this directory yet",
		"start it here once; it says that it found new hooks",
	}
	names := []string{d.Project}
	if real, err := filepath.EvalSymlinks(d.Project); err == nil && real != d.Project {
		names = append(names, real)
	}
	var folders map[string]string
	var trusted map[string][]string
	readJSON(filepath.Join(d.Home, ".gemini", "trustedFolders.json"), &folders)
	readJSON(filepath.Join(d.Home, ".gemini", "trusted_hooks.json"), &trusted)
	for _, name := range names {
		if folders[name] == "DO_NOT_TRUST" {
			return Check{
				"trust", Fail,
				"the agent does not trust this directory, and calls no hooks in it",
				"/permissions in the agent changes that",
			}, true
		}
		if slices.Contains(trusted[name], hooks.HookName+":"+found[i].state.Commands[hooks.AfterAgent]) {
			c = Check{Name: "trust", State: OK, Detail: "the agent knows the hooks"}
		}
	}
	return c, true
}

// readJSON reads a file of another program. It leaves to unchanged if the file cannot be read.
func readJSON(path string, to any) {
	if b, err := durable.ReadAtMost(path, maxFile); err == nil {
		_ = json.Unmarshal(b, to)
	}
}

// probe lets the agent's shell run the installed command on an invented turn, in a store of its
// own.
func (d *Doctor) probe(ctx context.Context, found []hookPlace) Check {
	c := Check{Name: "probe", State: OK}
	agent, _ := hooks.AgentNamed(hooks.GeminiCLI)
	own := []string{agent.Command("ctx", runtime.GOOS == "windows"),
		agent.Command(d.Program, runtime.GOOS == "windows")}
	command := own[0]
	for _, one := range found {
		if installed := one.state.Commands[hooks.AfterAgent]; slices.Contains(own, installed) {
			command = installed
		} else if installed != "" {
			c.State, c.Hint = Warn, "`ctx install gemini-cli` brings it up to date"
			c.Detail = fmt.Sprintf("the command in %s is not the one of this ctx, and was not run: %.100q; ",
				one.path, installed)
		}
	}
	if err := d.Probe(ctx, hooks.GeminiCLI, command); err != nil {
		return Check{
			"probe", Fail,
			fmt.Sprintf("`%s` did not record a turn: %v", command, err),
			"run it by hand in this directory: it says what is missing",
		}
	}
	c.Detail += "a turn was recorded by the installed command and read back, byte for byte"
	if len(found) == 0 {
		c.Detail = "a turn was recorded by `" + command + "` and read back, byte for byte"
	}
	return c
}

// ignore checks that neither git nor the agent reads the files of the store.
func (d *Doctor) ignore() Check {
	b, err := durable.ReadAtMost(filepath.Join(d.Store.Dir, ".gitignore"), maxFile)
	switch advice := d.Store.IgnoreAdvice(); {
	case err != nil || !slices.Contains(strings.Fields(string(b)), "*"):
		return Check{
			"ignore", Warn,
			"the store's .gitignore does not say *",
			"write the line * into " + filepath.Join(d.Store.Dir, ".gitignore"),
		}
	case advice != "":
		return Check{
			"ignore", Warn,
			"outside git the agent lists and searches the store's files",
			"add the line " + advice + " to .geminiignore",
		}
	}
	return Check{Name: "ignore", State: OK, Detail: "git and the agent's searches leave the store out"}
}

// last tells when a hook ran last.
func (d *Doctor) last(found []hookPlace) Check {
	c := Check{Name: "last hook", State: OK}
	l, ok := hooks.LastHook(d.Store, hooks.GeminiCLI)
	switch {
	case !ok && len(found) > 0:
		return Check{
			"last hook", Warn,
			"no hook has run yet, as far as is known", "say something to the agent, then look again",
		}
	case !ok:
		return Check{Name: "last hook", State: Warn, Detail: "no hook has run yet, as far as is known"}
	}
	c.Detail = fmt.Sprintf("%s at %s, session %s", l.Event, l.Time.UTC().Format(time.RFC3339),
		l.Session)
	if !l.Recorded.IsZero() {
		c.Detail += fmt.Sprintf("; last recorded something at %s", l.Recorded.UTC().Format(time.RFC3339))
	}
	return c
}

// recent is how long the doctor reports trouble.
const recent = 7 * 24 * time.Hour

// trouble tells what failed lately.
func (d *Doctor) trouble() Check {
	list, err := hooks.Troubles(d.Store.Dir)
	if err != nil {
		return Check{Name: "trouble", State: Warn, Detail: err.Error()}
	}
	isOld := func(t hooks.Trouble) bool { return t.Time.Before(d.Now.Add(-recent)) }
	list = slices.DeleteFunc(list, isOld)
	if len(list) == 0 {
		return Check{Name: "trouble", State: OK, Detail: "none in seven days"}
	}
	t := list[len(list)-1]
	return Check{
		"trouble", Warn,
		fmt.Sprintf("%d in seven days; the last at %s, %s: %s",
			len(list), t.Time.UTC().Format(time.RFC3339), t.Event, t.Problem),
		"all of it is in " + hooks.TroubleLog(d.Store.Dir),
	}
}
