package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/environ"
)

// If NAME is no command of ctx, `ctx NAME` runs the program ctx-NAME from the directory of ctx or
// from PATH. It never runs a program from the working directory or from a store, since others may
// have written there. It skips directories of PATH that are relative, or that are one of these.

// external is a command line for a separate program.
type external struct {
	name string
	path string
	dirs []string // of -C, before the name
	args []string // what follows the name
}

// findExternal finds the program of a command line. It parses the line up to the name. There is no
// program if the line cannot be parsed or the name is a command of ctx; cobra then handles the
// line.
func (a *app) findExternal(args []string) (e external, found bool, err error) {
	line := withoutFlags(args)
	if e.dirs = line.dirs; len(line.args) == 0 || !isProgramName(line.args[0]) ||
		isCommand(line.args[0]) {
		return e, false, nil
	}
	e.name, e.args = line.args[0], line.args[1:]
	here := a.dir
	for _, dir := range e.dirs {
		here = environ.Under(here, dir)
	}
	if e.path = a.findProgram(here, e.name); e.path == "" {
		return e, false, nil
	}
	if line.other != "" {
		return e, false, usagef("cannot pass %.40q to ctx-%s: only -C may stand before the name",
			line.other, e.name)
	}
	return e, true, nil
}

// isProgramName rejects paths and characters that are special to a shell.
func isProgramName(name string) bool {
	for i, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && (r != '-' || i == 0) {
			return false
		}
	}
	return name != ""
}

// isCommand reports whether ctx has a command or a help topic of that name.
func isCommand(name string) bool {
	return name == "help" ||
		slices.ContainsFunc(commands(), func(e entry) bool { return e.name == name }) ||
		slices.ContainsFunc(helpTopics(), func(c *cobra.Command) bool { return c.Name() == name })
}

const programPrefix = "ctx-"

// ownProgram is a program that people run as a command.
type ownProgram struct{ name, does string }

// shipped lists those that come with ctx.
func shipped() []ownProgram {
	return []ownProgram{
		{"browse", "Show a store on a terminal"},
		{"eval", "Measure how well ctx keeps conversations"},
		{"mcp", "Serve a store to agents"},
	}
}

// isShipped reports whether ctx-NAME comes with ctx.
func isShipped(name string) bool {
	return slices.ContainsFunc(shipped(), func(p ownProgram) bool { return p.name == name }) ||
		slices.Contains([]string{"summarize-agent", "summarize-gemini", "summarize-openai",
			viewServer}, name)
}

func programSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe" // and no script: their arguments cannot be quoted safely
	}
	return ""
}

// findProgram returns the path of ctx-NAME, and "" if there is none. here is the working directory.
func (a *app) findProgram(here, name string) string {
	for _, dir := range a.programDirs(here) {
		path := filepath.Join(dir, programPrefix+name+programSuffix())
		if info, err := os.Stat(path); err == nil && isProgram(info) {
			return path
		}
	}
	return ""
}

func isProgram(info os.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// programDirs lists the directories that may have programs.
func (a *app) programDirs(here string) (dirs []string) {
	if a.beside != nil {
		if dir := a.beside(); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		if filepath.IsAbs(dir) && !a.filledByOthers(here, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// filledByOthers reports whether a directory is the working directory or is in a store.
func (a *app) filledByOthers(here, dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true // there is nothing in it
	}
	if here, err = filepath.EvalSymlinks(here); err == nil && here == real {
		return true
	}
	const slash = string(filepath.Separator)
	if strings.Contains(real+slash, slash+filepath.Join(".gemini", "context")+slash) {
		return true
	}
	named := a.getenv("CTX_DIR") // a store may have any name
	if named == "" {
		return false
	}
	named = environ.Under(here, named)
	if _, err := os.Stat(filepath.Join(named, "format")); err != nil {
		return false // the project, not the store
	}
	named, err = filepath.EvalSymlinks(named)
	return err == nil && strings.HasPrefix(real+slash, named+slash)
}

// runExternal replaces this process by a program, or runs it and returns its exit code.
func (a *app) runExternal(e external) (int, error) {
	if a.become == nil {
		return 0, fmt.Errorf("cannot run %s here", e.path)
	}
	code, err := a.become(a.dir, e.path, append([]string{programPrefix + e.name}, e.args...))
	if err != nil {
		err = fmt.Errorf("cannot run %s: %w", e.path, err)
	}
	return code, err
}

// exitWith ends a command with the exit code of a program.
func exitWith(code int) error {
	if code == exitDone {
		return nil
	}
	return &exitError{code}
}

// listExternal lists the names of available programs. It omits those that ctx runs for itself:
// summarizers, and the one that serves pages.
func (a *app) listExternal() (names []string) {
	for _, dir := range a.programDirs(a.dir) {
		files, err := os.ReadDir(dir)
		if err != nil {
			continue // a directory of PATH need not exist
		}
		for _, f := range files {
			name, ok := strings.CutPrefix(f.Name(), programPrefix)
			name, exe := strings.CutSuffix(name, programSuffix())
			if !ok || !exe || !isProgramName(name) || isCommand(name) ||
				strings.HasPrefix(name, "summarize-") || name == viewServer {
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, f.Name())); err == nil && isProgram(info) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
