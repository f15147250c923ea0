package catalog

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Place is a directory that an agent has sessions of.
type Place struct {
	Dir string
	// Remote returns the address of the repository that a session says the directory had; "" if none
	// says it.
	Remote func() string
}

// Places lists the directories that an agent has sessions of under root, each once. It leaves out
// those of a project.
func (a *Agent) Places(root string, except Project) []Place {
	p := &places{except: except, seen: map[string]bool{}}
	switch a.Name {
	case "gemini-cli":
		p.gemini(root)
	case "claude-code":
		p.claude(root)
	case "codex":
		p.codex(root)
	case "opencode":
		p.opencode(root)
	}
	return p.list
}

type places struct {
	except Project
	list   []Place
	seen   map[string]bool
}

func (p *places) add(dir string, remote func() string) {
	if dir == "" || p.seen[dir] || p.except.has(dir) || !filepath.IsAbs(filepath.FromSlash(dir)) {
		return
	}
	p.seen[dir] = true
	p.list = append(p.list, Place{Dir: filepath.Clean(filepath.FromSlash(dir)), Remote: remote})
}

func noRemote() string { return "" }

func (p *places) gemini(root string) {
	b, err := durable.ReadAtMost(filepath.Join(root, "projects.json"), maxHead)
	var doc struct {
		Projects map[string]string `json:"projects"`
	}
	if err != nil || json.Unmarshal(b, &doc) != nil {
		return
	}
	for dir := range doc.Projects {
		p.add(dir, noRemote)
	}
}

// maxPlaceFiles is how many files of a directory are asked for its path, and maxPlaceHead how much
// of each is read.
const (
	maxPlaceFiles = 32
	maxPlaceHead  = 64 << 10
)

func (p *places) claude(root string) {
	for _, dir := range glob(root, "projects/*") {
		own := slices.ContainsFunc(p.except, func(project string) bool { return claudecode.Slug(project) == filepath.Base(dir) })
		if own {
			continue
		}
		for _, file := range someFiles(dir, maxPlaceFiles) {
			if !strings.HasSuffix(file, ".jsonl") {
				continue
			}
			cwd := member(headOf(file, maxPlaceHead), `"cwd"`)
			if cwd != "" && strings.HasPrefix(filepath.Base(dir), clip(claudecode.Slug(cwd), claudecode.MaxSlug)) {
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

func (p *places) codex(root string) {
	for _, pattern := range []string{"sessions/*/*/*/", "sessions/", "archived_sessions/"} {
		for _, file := range append(glob(root, pattern+"rollout-*.jsonl"), glob(root, pattern+"rollout-*"+compressed)...) {
			cwd := ""
			if strings.HasSuffix(file, compressed) {
				cwd = codexMeta(file).Text("cwd")
			} else if cwd = member(headOf(file, 4<<10), `"cwd"`); cwd == "" {
				cwd = codexMeta(file).Text("cwd")
			}
			p.add(cwd, func() string { return codexMeta(file).Object("git").Text("repository_url") })
		}
	}
}

func (p *places) opencode(root string) {
	for _, file := range glob(root, "storage/session/*/*.json") {
		b, err := durable.ReadAtMost(file, maxHead)
		if err != nil {
			continue
		}
		o, _ := jsonvalue.ParseObject(b)
		p.add(o.Text("directory"), noRemote)
	}
}

// headOf returns the first bytes of a file; nil if it cannot be read.
func headOf(file string, most int64) []byte {
	f, err := durable.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	return b
}

// member returns the text of the first member with a quoted name; "" if there is none.
func member(b []byte, name string) string {
	_, rest, ok := bytes.Cut(b, []byte(name))
	if !ok {
		return ""
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(":"))
	if !ok {
		return ""
	}
	rest = bytes.TrimLeft(rest, " \t")
	if len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	for end := 1; end < len(rest); end++ {
		switch rest[end] {
		case '\\':
			end++
		case '"':
			s, _ := jsonvalue.Text(rest[:end+1])
			return s
		}
	}
	return ""
}
