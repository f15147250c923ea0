package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/durable"
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
	files, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern))) // the pattern is good
	return files
}

// maxHead is how much of a file is read to find out which project it belongs to: a rollout begins
// with the agent's instructions.
const maxHead = 4 << 20

func discoverGemini(root string, p Project) (list, _ []string) {
	b, err := durable.ReadAtMost(filepath.Join(root, "projects.json"), maxHead)
	var doc struct {
		Projects map[string]string `json:"projects"`
	}
	if err == nil {
		_ = json.Unmarshal(b, &doc) // a file that is damaged names nothing
	}
	var slugs []string // the names that the agent has, or had, for the project
	for _, project := range p {
		if slug := doc.Projects[project]; slug != "" && filepath.IsLocal(slug) {
			slugs = append(slugs, slug)
		}
		slugs = append(slugs, geminicli.ProjectHash(project))
	}
	for _, slug := range slugs {
		for _, pattern := range []string{"chats/session-*.jsonl", "chats/session-*.json", "chats/*/*.jsonl", "checkpoint-*.json"} {
			files := glob(filepath.Join(root, "tmp", slug), pattern)
			for _, file := range files {
				if strings.HasSuffix(file, ".json") && slices.Contains(files, file+"l") {
					continue // it went on in another form
				}
				list = append(list, file)
			}
		}
	}
	return list, nil
}

func discoverClaude(root string, p Project) (list, _ []string) {
	projects := filepath.Join(root, "projects")
	var dirs []string
	for _, project := range p {
		slug := claudecode.Slug(project)
		if len(slug) > claudecode.MaxSlug {
			dirs = append(dirs, glob(projects, slug[:claudecode.MaxSlug]+"-*")...)
			continue
		}
		dirs = append(dirs, filepath.Join(projects, slug))
	}
	for _, dir := range dirs {
		for _, pattern := range []string{"*.jsonl", "*/subagents/*.jsonl", "*/subagents/workflows/*/agent-*.jsonl"} {
			files := glob(dir, pattern)
			slices.SortStableFunc(files, func(a, b string) int { return isSubagent(a) - isSubagent(b) })
			list = append(list, files...)
		}
	}
	return list, nil
}

func isSubagent(file string) int {
	if strings.HasPrefix(filepath.Base(file), "agent-") {
		return 1
	}
	return 0
}

func placeClaude(root, id, dir, _ string) (string, error) {
	slug := claudecode.Slug(dir)
	if len(slug) > claudecode.MaxSlug {
		return "", fmt.Errorf("cannot tell where claude-code keeps the sessions of %q: the path is too long", dir)
	}
	return filepath.Join(root, "projects", slug, id+".jsonl"), nil
}
