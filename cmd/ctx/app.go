package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// app is one run of ctx: its world, the flags that every command has, and the stores that it has
// opened. The constructor of each command gets it.
type app struct {
	world
	c   context.Context // of all work of the run; it ends when the user interrupts it
	out *output         // standard output, buffered; run flushes it at the end

	json  bool // --json
	nul   bool // -z
	quiet bool // -q

	noPager bool   // --no-pager
	allHelp bool   // ctx help --all
	color   string // color.ui, once a store is open; else ""

	dirs       []string // -C, in order
	overrides  []string // -c, in order
	command    string   // the command line without its arguments, as in "ctx op log"
	running    bool     // the command line was understood
	completing bool     // a shell asks how the command line may go on
	hook       bool     // an agent calls it
	opened     []io.Closer
	at         *place // with --everywhere: what is printed now is of this place
}

// run executes one command line and returns its exit code. A process may call it any number of
// times.
func run(c context.Context, w world, args []string) int {
	a := &app{world: w, c: c, out: newOutput(w.stdout)}
	args, err := a.withAlias(args)
	if err != nil {
		return a.report(c, nil, args, err)
	}
	if e, found, err := a.findExternal(args); found || err != nil {
		if a.dirs = e.dirs; err == nil {
			err = a.changeDir()
		}
		if err == nil {
			a.running = true
			var code int
			if code, err = a.runExternal(e); err == nil {
				return code
			}
		}
		return a.report(c, nil, args, err)
	}
	root := newRoot(a, args)
	root.SetArgs(withDashes(withCount(root, args)))
	cmd, err := root.ExecuteContextC(c)
	if name := commandName(args); err != nil && cmd == root && name != "" {
		err = noSuchCommand(root, []string{name}) // whatever flags stand behind it
	}
	if flushed := a.out.Flush(); err == nil {
		err = flushed
	}
	for _, o := range slices.Backward(a.opened) {
		_ = o.Close() // stores opened for reading, and the pager, whose reader decides when it ends
	}
	if errors.Is(err, errPagerGone) {
		err = nil
	}
	if err == nil {
		return exitDone
	}
	code := a.report(c, cmd, args, err)
	if isHook(cmd) {
		return exitDone // an agent takes any other code for a refusal of what its user asked
	}
	return code
}

// prepare runs before every command and does what all commands need.
func (a *app) prepare(cmd *cobra.Command) error {
	a.command = cmd.CommandPath()
	if cmd.Hidden { // another name of it
		a.command = "ctx " + cmd.Name()
	}
	if isHook(cmd) {
		a.hook = true
		a.watchInterrupts()
	}
	a.usePager(cmd, strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "ctx"), " "))
	return a.changeDir()
}

// changeDir makes the directory of -C the working directory.
func (a *app) changeDir() error {
	for _, dir := range a.dirs {
		a.dir = environ.Under(a.dir, dir)
		if info, err := os.Stat(a.dir); err != nil || !info.IsDir() {
			return withHint(usagef("cannot change to %q: not a directory", dir),
				"-C takes a directory that is there")
		}
	}
	return nil
}

// path returns the name of a file relative to the directory of -C.
func (a *app) path(name string) string { return environ.Under(a.dir, name) }

// env returns the part of the world that package repo needs.
func (a *app) env() repo.Env {
	return repo.Env{
		WorkDir:    a.dir,
		Home:       a.home,
		StoreDir:   a.getenv("CTX_DIR"),
		UserConfig: a.userConf,
		UserData:   a.userData,
		Getenv:     a.getenv,
		Overrides:  a.overrides,
		Now:        a.now,
		Random:     a.random,
		FS:         a.fs,
		Owner:      lock.Owner{PID: a.pid, Host: a.host, Command: a.command},
	}
}

// openStore finds and opens the store. run closes it.
func (a *app) openStore() (*session.Store, error) { return a.openIn(a.env()) }

func (a *app) openIn(env repo.Env) (*session.Store, error) {
	a.watchInterrupts()
	r, err := repo.Open(env)
	if err != nil {
		return nil, err
	}
	s := session.New(r)
	a.keep(s)
	return s, nil
}

// keep has the run close a store at its end.
func (a *app) keep(s *session.Store) {
	a.opened = append(a.opened, s.Repo)
	a.color = s.Config.Color.UI
	s.History.Warn = a.warn
}

// watchInterrupts makes an interrupt end the run. A hook then ends with 0, like always.
func (a *app) watchInterrupts() {
	switch {
	case a.watch == nil:
	case a.hook:
		a.watch(exitDone)
	default:
		a.watch(exitInterrupted)
	}
}

// openView opens the store and reads the current refs.
func (a *app) openView() (*session.Store, *refs.View, error) {
	s, err := a.openStore()
	if err != nil {
		return nil, nil, err
	}
	view, err := s.Refs.Read()
	return s, view, err
}

// onStore returns the work of a command that begins by opening the store.
func (a *app) onStore(work func(s *session.Store, args []string) error) runE {
	return func(args []string) error {
		s, err := a.openStore()
		if err != nil {
			return err
		}
		return work(s, args)
	}
}

// onView returns the work of a command that begins by opening the store and reading the refs.
func (a *app) onView(work func(s *session.Store, view *refs.View, args []string) error) runE {
	return func(args []string) error {
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		return work(s, view, args)
	}
}

// runE is what a command does with its arguments.
type runE = func(args []string) error

// sessionOr returns the session that -s names; without a name, the one that HEAD names. It returns
// an unknown name as it is.
func sessionOr(s *session.Store, view *refs.View, named string) (string, error) {
	return s.Recall.NamedOr(view, named)
}

func resolve(s *session.Store, view *refs.View, rev string) (format.ID, error) {
	return s.Clusters.ResolveObject(view, rev)
}

// oneLine removes line ends and terminal controls from text of other programs or of a store.
func oneLine(s string) string { return sanitize.Line(s) }

// withAlias puts the command line that the user's config file has for a name in the place of that
// name. Names of commands and programs stay what they are, and an alias stands for a command, not
// for another alias or a program.
func (a *app) withAlias(args []string) ([]string, error) {
	name := commandName(args)
	if name == "" || isCommand(name) {
		return args, nil
	}
	if _, found, err := a.findExternal(args); found || err != nil {
		return args, nil //nolint:nilerr // run finds it again, and says what is wrong
	}
	words, err := repo.Alias(repo.Env{UserConfig: a.userConf}, name)
	if err != nil || len(words) == 0 {
		return args, err
	}
	if !isCommand(words[0]) {
		return args, usagef("alias.%s: %q is not a command of ctx", name, oneLine(words[0]))
	}
	at := slices.Index(args, name)
	return slices.Concat(args[:at], words, args[at+1:]), nil
}
