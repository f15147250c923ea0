package catalog

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Env is the part of the environment that decides where agents keep their files.
type Env struct {
	Get  func(name string) string // an environment variable
	Home string                   // the home directory; "" if there is none
}

// under returns the directory that a variable names, or else standard under the home directory, and
// then below in it.
func (e Env) under(variable, standard, below string) string {
	dir := e.Get(variable)
	if dir == "" && e.Home != "" {
		dir = filepath.Join(e.Home, filepath.FromSlash(standard))
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, below)
}

// IsHere reports whether the agent is on this machine: look finds its program, as exec.LookPath
// does, or it has left files.
func (a *Agent) IsHere(e Env, look func(program string) (string, error)) bool {
	if a.Program == "" {
		return false
	}
	if _, err := look(a.Program); err == nil {
		return true
	}
	root := a.Root(e)
	if root == "" {
		return false
	}
	signs := a.Signs
	if signs == nil {
		signs = []string{"."}
	}
	return slices.ContainsFunc(signs, func(sign string) bool {
		_, err := os.Stat(filepath.Join(root, sign))
		return err == nil
	})
}

// Project is a project's directory, in each spelling that an agent may know it by.
type Project []string

// NewProject returns the project in dir.
func NewProject(dir string) Project {
	p := Project{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != p[0] {
		p = append(p, real)
	}
	return p
}

// Has reports whether dir is the project's directory, or in it.
func (p Project) Has(dir string) bool { return p.has(dir) }

// has reports whether dir is the project's directory, or in it.
func (p Project) has(dir string) bool {
	return dir != "" && slices.ContainsFunc(p, func(own string) bool {
		dir := filepath.Clean(filepath.FromSlash(dir))
		return dir == own || strings.HasPrefix(dir, own+string(filepath.Separator))
	})
}

// glob lists the files that match a pattern with slashes, under dir.
func glob(dir, pattern string) []string {
	if os.PathSeparator != '\\' { // a backslash cannot be quoted
		dir = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
	}
	// The pattern is good
	files, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	return files
}

// maxHead is how much of a file is read to find out which project it belongs to: a rollout begins
// with the agent's instructions.
const maxHead = 4 << 20

// heads calls see for the records at the beginning of a file of JSON lines, until it returns false.
func heads(file string, see func(jsonvalue.Object) bool) {
	f, _, err := durable.OpenAtMost(file, durable.MaxInput)
	if err != nil {
		return
	}
	defer f.Close()
	lines := transcript.NewLineReader(bufio.NewReaderSize(io.LimitReader(f, maxHead), 64<<10),
		maxHead, 0)
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		if o, ok := jsonvalue.ParseObject(bytes.TrimSpace(line.Text)); ok && !see(o) {
			return
		}
	}
}

// inProject returns the files whose first record with a directory, which dir reads, names one of
// the project.
func (p Project) inProject(files []string, dir func(jsonvalue.Object) string) (list []string) {
	for _, file := range files {
		own := ""
		heads(file, func(o jsonvalue.Object) bool {
			own = dir(o)
			return own == ""
		})
		if p.has(own) {
			list = append(list, file)
		}
	}
	return list
}
