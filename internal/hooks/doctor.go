package hooks

import (
	"bytes"
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
	"github.com/gemini-ctx/ctx/internal/history"
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

// DoctorEnv is what RunDoctor checks.
type DoctorEnv struct {
	Store   *session.Store // nil if it cannot be opened
	Err     error          // why Store is nil
	Project string         // the directory that the agent works in
	Home    string         // the home directory of the agent, which holds .gemini
	Program string         // this program's path
	Version string
	Now     time.Time
	// Probe makes a store in a new directory, lets the shell run command there, and checks what the
	// command recorded.
	Probe func(ctx context.Context, command string) error
}

// RunDoctor checks each link of the chain. It changes nothing but scratch files of its own.
func RunDoctor(ctx context.Context, p DoctorEnv) []Check {
	found := p.installed()
	if len(found) == 0 && !p.used() {
		unused := Check{Name: "hooks", State: OK, Detail: "not installed: Gemini CLI is not used in this project, as far as is known"}
		return []Check{p.program(), p.store(ctx), unused, p.ignore()}
	}
	list := []Check{p.program(), p.store(ctx), p.hooks(found)}
	if c, ok := p.trust(found); ok {
		list = append(list, c)
	}
	list = append(list, p.probe(ctx, found))
	if p.Store != nil {
		list = append(list, p.ignore(), p.last(found), p.trouble())
	}
	return list
}

// Sound reports whether no check has failed.
func Sound(list []Check) bool {
	return !slices.ContainsFunc(list, func(c Check) bool { return c.State == Fail })
}

// program looks for ctx on the PATH, as the agent's shell does.
func (p *DoctorEnv) program() Check {
	c := Check{Name: "program", State: OK}
	path, err := exec.LookPath("ctx")
	switch {
	case err != nil:
		c.State, c.Detail = Warn, "ctx is not on the PATH"
		c.Hint = "put its directory on the PATH of the shell that starts the agent; `ctx install` names it by its full path until then"
	case !sameFile(path, p.Program):
		c.State, c.Detail = Warn, fmt.Sprintf("the PATH leads to another ctx than this one: %s", path)
		c.Hint = "the hooks use the one on the PATH"
	default:
		c.Detail = fmt.Sprintf("%s, version %s", path, p.Version)
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
func (p *DoctorEnv) store(ctx context.Context) Check {
	c := Check{Name: "store", State: OK}
	if p.Store == nil {
		return Check{Name: "store", State: Fail, Detail: p.Err.Error(), Hint: "`ctx init` makes one; without one the hooks do nothing"}
	}
	c.Detail = p.Store.Dir
	held, err := p.Store.Lock(ctx)
	if err == nil {
		err = held.Release()
	}
	if err == nil {
		_, err = p.Store.Digest16([]byte("doctor"))
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
func (p *DoctorEnv) installed() (list []hookPlace) {
	for _, one := range []hookPlace{
		{kind: "project", path: filepath.Join(p.Project, ".gemini", "settings.json")},
		{kind: "user", path: filepath.Join(p.Home, ".gemini", "settings.json")},
		{kind: "extension", path: filepath.Join(p.Home, ".gemini", "extensions", ExtensionName, "hooks", "hooks.json")},
	} {
		b, err := durable.ReadAtMost(one.path, maxSettings)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			one.state, err = settings.Look(b)
		}
		if one.err = err; err != nil || len(one.state.Commands) > 0 || one.state.Off {
			list = append(list, one)
		}
	}
	return list
}

func (p *DoctorEnv) hooks(found []hookPlace) Check {
	c := Check{Name: "hooks", State: Fail, Detail: "not installed", Hint: "`ctx install gemini-cli` puts them in"}
	var said []string
	for _, one := range found {
		missing := slices.DeleteFunc(Events(), func(e string) bool { return one.state.Commands[e] != "" })
		switch {
		case one.err != nil:
			return Check{Name: "hooks", State: Fail, Detail: fmt.Sprintf("%s cannot be read: %v", one.path, one.err), Hint: "mend the file: the agent cannot read it either"}
		case one.state.Off:
			return Check{Name: "hooks", State: Fail, Detail: "switched off by hooksConfig.enabled in " + one.path, Hint: "take that line out"}
		case one.state.Disabled:
			return Check{Name: "hooks", State: Fail, Detail: "switched off by hooksConfig.disabled in " + one.path, Hint: "take ctx out of that list"}
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
		c.State, c.Hint = Warn, "one place is enough: with two each turn is copied twice, which changes nothing and takes time"
	}
	return c
}

// trust reads what the agent has recorded about this directory and the hooks. ok is false if no
// hook that needs trust is installed.
func (p *DoctorEnv) trust(found []hookPlace) (c Check, ok bool) {
	i := slices.IndexFunc(found, func(one hookPlace) bool { return one.kind != "extension" && len(one.state.Commands) > 0 })
	if i < 0 {
		return c, false
	}
	c = Check{Name: "trust", State: Warn, Detail: "the agent has not run with these hooks in this directory yet", Hint: "start it here once; it says that it found new hooks"}
	names := []string{p.Project}
	if real, err := filepath.EvalSymlinks(p.Project); err == nil && real != p.Project {
		names = append(names, real)
	}
	var folders map[string]string
	var hooks map[string][]string
	readJSON(filepath.Join(p.Home, ".gemini", "trustedFolders.json"), &folders)
	readJSON(filepath.Join(p.Home, ".gemini", "trusted_hooks.json"), &hooks)
	for _, name := range names {
		if folders[name] == "DO_NOT_TRUST" {
			return Check{Name: "trust", State: Fail, Detail: "the agent does not trust this directory, and calls no hooks in it", Hint: "/permissions in the agent changes that"}, true
		}
		if slices.Contains(hooks[name], HookName+":"+found[i].state.Commands[afterAgent]) {
			c = Check{Name: "trust", State: OK, Detail: "the agent knows the hooks"}
		}
	}
	return c, true
}

// readJSON reads a file of another program. It leaves to unchanged if the file cannot be read.
func readJSON(path string, to any) {
	if b, err := durable.ReadAtMost(path, maxSettings); err == nil {
		_ = json.Unmarshal(b, to)
	}
}

// probe lets the agent's shell run the installed command on an invented turn, in a store of its
// own.
func (p *DoctorEnv) probe(ctx context.Context, found []hookPlace) Check {
	c := Check{Name: "probe", State: OK}
	own := []string{HookCommand("ctx", runtime.GOOS == "windows"), HookCommand(p.Program, runtime.GOOS == "windows")}
	command := own[0]
	for _, one := range found {
		if installed := one.state.Commands[afterAgent]; slices.Contains(own, installed) {
			command = installed
		} else if installed != "" {
			c.State, c.Hint = Warn, "`ctx install gemini-cli` brings it up to date"
			c.Detail = fmt.Sprintf("the command in %s is not the one of this ctx, and was not run: %.100q; ", one.path, installed)
		}
	}
	if err := p.Probe(ctx, command); err != nil {
		return Check{Name: "probe", State: Fail, Detail: fmt.Sprintf("`%s` did not record a turn: %v", command, err), Hint: "run it by hand in this directory: it says what is missing"}
	}
	c.Detail += "a turn was recorded by the installed command and read back, byte for byte"
	if len(found) == 0 {
		c.Detail = "a turn was recorded by `" + command + "` and read back, byte for byte"
	}
	return c
}

func (p *DoctorEnv) ignore() Check {
	b, err := durable.ReadAtMost(filepath.Join(p.Store.Dir, ".gitignore"), maxSettings)
	switch advice := p.Store.IgnoreAdvice(); {
	case err != nil || !slices.Contains(strings.Fields(string(b)), "*"):
		return Check{Name: "ignore", State: Warn, Detail: "the store's .gitignore does not say *", Hint: "write the line * into " + filepath.Join(p.Store.Dir, ".gitignore")}
	case advice != "":
		return Check{Name: "ignore", State: Warn, Detail: "outside git the agent lists and searches the store's files", Hint: "add the line " + advice + " to .geminiignore"}
	}
	return Check{Name: "ignore", State: OK, Detail: "git and the agent's searches leave the store out"}
}

func (p *DoctorEnv) last(found []hookPlace) Check {
	c := Check{Name: "last hook", State: OK}
	l, ok := LastHook(p.Store, GeminiCLI)
	switch {
	case !ok && len(found) > 0:
		return Check{Name: "last hook", State: Warn, Detail: "no hook has run yet, as far as is known", Hint: "say something to the agent, then look again"}
	case !ok:
		return Check{Name: "last hook", State: Warn, Detail: "no hook has run yet, as far as is known"}
	}
	c.Detail = fmt.Sprintf("%s at %s, session %s", l.Event, l.Time.UTC().Format(time.RFC3339), l.Session)
	if !l.Recorded.IsZero() {
		c.Detail += fmt.Sprintf("; last recorded something at %s", l.Recorded.UTC().Format(time.RFC3339))
	}
	return c
}

// recent is how long the doctor reports trouble.
const recent = 7 * 24 * time.Hour

func (p *DoctorEnv) trouble() Check {
	list, err := Troubles(p.Store.Dir)
	if err != nil {
		return Check{Name: "trouble", State: Warn, Detail: err.Error()}
	}
	list = slices.DeleteFunc(list, func(t Trouble) bool { return t.Time.Before(p.Now.Add(-recent)) })
	if len(list) == 0 {
		return Check{Name: "trouble", State: OK, Detail: "none in seven days"}
	}
	t := list[len(list)-1]
	return Check{Name: "trouble", State: Warn, Detail: fmt.Sprintf("%d in seven days; the last at %s, %s: %s", len(list), t.Time.UTC().Format(time.RFC3339), t.Event, t.Problem),
		Hint: "all of it is in " + troubleLog(p.Store.Dir)}
}

// ProbeText is the text of a probe's messages.
const ProbeText = "A probe of ctx doctor: é, \"quotes\", <tags> & a tab\t."

// probeSession is the session of a probe.
const probeSession = "ctx-doctor-probe"

// WriteProbe writes the transcript of one turn into dir, and returns the event that an agent would
// then send to its hook.
func WriteProbe(dir string, now time.Time) (event []byte, err error) {
	line := func(v any) []byte {
		b, _ := json.Marshal(v) // strings and lists of them
		return append(b, '\n')
	}
	when := now.UTC().Format(time.RFC3339)
	transcript := bytes.Join([][]byte{
		line(map[string]string{"sessionId": probeSession, "projectHash": strings.Repeat("0", 64), "startTime": when, "lastUpdated": when, "kind": "main"}),
		line(map[string]string{"id": "probe-1", "timestamp": when, "type": "user", "content": ProbeText}),
		line(map[string]string{"id": "probe-2", "timestamp": when, "type": "gemini", "content": ProbeText, "model": "none"}),
	}, nil)
	path := filepath.Join(dir, "session-probe.jsonl")
	if err := os.WriteFile(path, transcript, 0o600); err != nil {
		return nil, err
	}
	return line(map[string]string{"session_id": probeSession, "transcript_path": path, "cwd": dir, "hook_event_name": afterAgent, "timestamp": when, "prompt": ProbeText}), nil
}

// ReadProbe checks that the store has the turn of a probe.
func ReadProbe(s *session.Store) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	tip := v.Get(history.RefName(probeSession, history.MainBranch))
	if !tip.Exists() {
		said := "nothing was recorded"
		if list, _ := Troubles(s.Dir); len(list) > 0 {
			said += ": " + list[len(list)-1].Problem
		}
		return errors.New(said)
	}
	shown, err := s.History.Entry(tip.ID)
	if err == nil && (shown.Text != ProbeText || shown.Entry.Seq != 2) {
		err = fmt.Errorf("what was recorded is not what was said: %.100q", shown.Text)
	}
	return err
}

// Shell returns the process in which Gemini CLI runs a hook's command.
func Shell(ctx context.Context, command string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "powershell.exe", "-NoProfile", "-NonInteractive", "-Command", command)
	}
	return exec.CommandContext(ctx, "bash", "-c", command)
}
