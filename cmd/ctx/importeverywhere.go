package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/identity"
)

// foundProject is a project of which agents have sessions on this machine.
type foundProject struct {
	dir      string
	has      bool // a store
	sessions int
	bytes    int64
	agents   []string
}

// importEverywhere makes a store for each project of which agents have sessions on this machine,
// after one question, and imports them: it runs `ctx init` and `ctx import --all` there.
func importEverywhere(a *app, dryRun, force bool) error {
	a.watchInterrupts()
	a.here = a.sessionsHere(nil, a.asker()) // once, for all projects
	list, sessions := a.foundProjects(a.here)
	if len(list) == 0 {
		return notFound("a transcript of a project that is on this machine")
	}
	l := a.listing("PROJECT", "SESSIONS", "SIZE", "AGENTS", "STORE")
	stores := 0
	for _, p := range list {
		what := "is there"
		if !p.has {
			what = "to be made"
			stores++
		}
		l.add(fields("project", p.dir, "store", p.has, "sessions", p.sessions, "bytes", p.bytes,
			"agents", p.agents), oneLine(p.dir), fmt.Sprint(p.sessions), byteCount(p.bytes),
			strings.Join(p.agents, ", "), what)
	}
	if !a.quiet {
		_ = l.print() // the output keeps the error
	}
	if dryRun {
		return nil
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	if !force {
		err := a.confirm("make %s, and import what is new of %s", plural(stores, "store", "stores"),
			plural(sessions, "session", "sessions"))
		if err != nil {
			return err
		}
	}
	a.stderr = &hintsOnce{a.stderr, map[string]bool{}}
	var failed []foundProject
	for _, p := range list { // first all stores: what is below one project may be another one
		if !p.has && !a.runIn(p, "init") {
			failed = append(failed, p)
		}
	}
	for _, p := range list {
		if err := a.c.Err(); err != nil {
			return err
		}
		if slices.ContainsFunc(failed, func(f foundProject) bool { return f.dir == p.dir }) {
			continue
		}
		a.say("ctx: import: %s", p.dir)
		if !a.runIn(p, "import", "--all") {
			failed = append(failed, p)
		}
	}
	if n := len(failed); n > 0 {
		return fmt.Errorf("%s of %d could not be imported whole", plural(n, "project", "projects"),
			len(list))
	}
	return a.c.Err()
}

// hintsOnce writes a hint that commands give for each project once.
type hintsOnce struct {
	io.Writer
	said map[string]bool
}

func (h *hintsOnce) Write(p []byte) (int, error) {
	if text := string(p); strings.HasPrefix(text, "hint: ") {
		if h.said[text] {
			return len(p), nil
		}
		h.said[text] = true
	}
	return h.Writer.Write(p)
}

// runIn runs a command in a project, and reports whether all went well. The path of a store that is
// made is not printed.
func (a *app) runIn(p foundProject, command ...string) bool {
	flags := []string{"-C", p.dir}
	for name, on := range map[string]bool{"--json": a.json, "-q": a.quiet} {
		if on {
			flags = append(flags, name)
		}
	}
	for _, one := range a.overrides {
		flags = append(flags, "-c", one)
	}
	w := a.world
	w.getenv = func(name string) string {
		if name == "CTX_DIR" {
			return ""
		}
		return a.getenv(name)
	}
	if command[0] == "init" {
		w.stdout = io.Discard
	}
	return run(a.c, w, append(flags, command...)) == exitDone
}

// foundProjects returns the projects of which agents have sessions on this machine, the one with
// the most sessions first, and the number of those sessions. It says what it leaves out: sessions
// that name no directory, or one that is gone, and those begun in the home directory or above it,
// since a store there would take in what is said anywhere below.
func (a *app) foundProjects(here *sessionsHere) (list []foundProject, sessions int) {
	by := map[string]*foundProject{}
	left := map[string]int{}
	for i, b := range here.all {
		if b.Parent != "" {
			continue
		}
		dir, has, why := a.projectOf(b.Dir)
		if why != "" {
			left[why]++
			continue
		}
		p := by[dir]
		if p == nil {
			p = &foundProject{dir: dir, has: has}
			by[dir] = p
		}
		p.sessions++
		sessions++
		if info, err := os.Stat(here.of[i].file); err == nil {
			p.bytes += info.Size()
		}
		if agent := here.of[i].agent; !slices.Contains(p.agents, agent) {
			p.agents = append(p.agents, agent)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		a.say("ctx: import: left out: %s %s", plural(left[why], "session", "sessions"), why)
	}
	for _, p := range by {
		slices.Sort(p.agents)
		list = append(list, *p)
	}
	slices.SortFunc(list, func(x, y foundProject) int {
		return cmp.Or(cmp.Compare(y.sessions, x.sessions), strings.Compare(x.dir, y.dir))
	})
	return list, sessions
}

// projectOf returns the project that a session begun in a directory is of, and whether it has a
// store; or why none can be made for it.
func (a *app) projectOf(dir string) (project string, has bool, why string) {
	if dir == "" {
		return "", false, "that name no directory: `ctx import --all` in their projects finds them"
	}
	root, _, ok := identity.Enclosing(dir)
	if main, linked := identity.MainWorkTree(root); ok && linked {
		root = main
	}
	home := cmp.Or(a.home, string(filepath.Separator))
	if !ok || identity.Below(home, root) {
		root = dir
	}
	at := dir
	if !identity.IsDir(dir) { // a work tree that was removed, for one
		at = root
	}
	if !identity.IsDir(at) {
		return "", false, "of directories that are gone"
	}
	if store := a.storeIn(at); store != "" {
		return store, true, ""
	}
	if identity.Below(home, root) {
		return "", false, "begun in the home directory or above it"
	}
	return root, false, ""
}

// errNotConfirmed is the error of a question that was not answered with yes.
var errNotConfirmed = errors.New("not confirmed: nothing was changed")

// confirm asks before a change that is hard to revert. Without a terminal it requires --force.
func (a *app) confirm(what string, args ...any) error {
	text := fmt.Sprintf(what, args...)
	if !asked(a.inTerm) {
		return withHint(usagef("refusing to %s without confirmation", text),
			"use --force to do it without asking")
	}
	fmt.Fprintf(a.stderr, "%s? [y/N] ", oneLine(text))
	answer, err := bufio.NewReader(a.stdin).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return nil
	}
	if err != nil && answer == "" {
		fmt.Fprintln(a.stderr)
	}
	return errNotConfirmed
}
