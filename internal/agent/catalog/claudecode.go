package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
)

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
		for _, pattern := range []string{"*.jsonl", "*/subagents/*.jsonl",
			"*/subagents/workflows/*/agent-*.jsonl"} {
			files := glob(dir, pattern)
			slices.SortStableFunc(files,
				func(a, b string) int { return isSubagent(a) - isSubagent(b) })
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
		return "",
			fmt.Errorf(
				"cannot tell where claude-code keeps the sessions of %q: the path is too long", dir)
	}
	return filepath.Join(root, "projects", slug, id+".jsonl"), nil
}

// maxPlaceFiles is how many files of a directory are asked for its path, and maxPlaceHead how much
// of each is read.
const (
	maxPlaceFiles = 32
	maxPlaceHead  = 64 << 10
)

// placesOfClaude adds the directories that Claude Code has sessions of.
func placesOfClaude(root string, p *places) {
	for _, dir := range glob(root, "projects/*") {
		own := slices.ContainsFunc(p.except,
			func(project string) bool { return claudecode.Slug(project) == filepath.Base(dir) })
		if own {
			continue
		}
		for _, file := range someFiles(dir, maxPlaceFiles) {
			if !strings.HasSuffix(file, ".jsonl") {
				continue
			}
			cwd := member(headOf(file, maxPlaceHead), `"cwd"`)
			if cwd != "" &&
				strings.HasPrefix(filepath.Base(dir),
					clip(claudecode.Slug(cwd), claudecode.MaxSlug)) {
				p.add(cwd, noRemote)
				break
			}
		}
	}
}

// someFiles returns the paths of some of the files in a directory.
func someFiles(dir string, most int) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(most)
	slices.Sort(names)
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}

func clip(s string, n int) string { return s[:min(len(s), n)] }
