package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/agent/claudecode"
	"github.com/gemini-ctx/ctx/agent/geminicli"
	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/lock"
)

// places are the directories under which agents keep what was said.
type places struct {
	project []string // the project's directory, in each spelling that an agent may know it by
	claude  string
	codex   string
	open    string
	gemini  string
}

// places looks up where agents keep their files for a project: by their own variables, else under the home directory.
func (a *app) places(project string) places {
	under := func(name, standard string) string {
		if dir := a.getenv(name); dir != "" {
			return dir
		}
		if a.home == "" {
			return ""
		}
		return filepath.Join(a.home, filepath.FromSlash(standard))
	}
	p := places{project: []string{filepath.Clean(project)}}
	if real, err := filepath.EvalSymlinks(project); err == nil && real != p.project[0] {
		p.project = append(p.project, real)
	}
	p.claude = under("CLAUDE_CONFIG_DIR", ".claude")
	p.codex = under("CODEX_HOME", ".codex")
	p.open = under("XDG_DATA_HOME", ".local/share")
	if p.open != "" {
		p.open = filepath.Join(p.open, "opencode")
	}
	p.gemini = under("GEMINI_CLI_HOME", "")
	if p.gemini != "" {
		p.gemini = filepath.Join(p.gemini, ".gemini")
	}
	return p
}

// has reports whether a directory is the project's, or in it.
func (p *places) has(dir string) bool {
	return dir != "" && slices.ContainsFunc(p.project, func(own string) bool {
		dir := filepath.Clean(filepath.FromSlash(dir))
		return dir == own || strings.HasPrefix(dir, own+string(filepath.Separator))
	})
}

// found is a transcript of the project.
type found struct{ agent, file string }

// looked names the directories that find looks in.
func (p *places) looked() string {
	var list []string
	for _, dir := range []string{p.gemini, p.claude, p.codex, p.open} {
		if dir != "" {
			list = append(list, fmt.Sprintf("%q", dir))
		}
	}
	if len(list) == 0 {
		return "no directory: there is no home directory"
	}
	return strings.Join(list, ", ")
}

// find lists the transcripts of the project, those of subagents after the ones that they work for. notes are what a person should know of.
func (p *places) find() (list []found, notes []string) {
	list = append(list, p.findGemini()...)
	list = append(list, p.findClaude()...)
	list = append(list, p.findCodex()...)
	more, notes := p.findOpencode()
	return append(list, more...), notes
}

func (p *places) findClaude() (list []found) {
	for _, dir := range p.claudeDirs() {
		for _, pattern := range []string{"*.jsonl", "*/subagents/*.jsonl"} {
			files, _ := filepath.Glob(filepath.Join(quoteGlob(dir), pattern)) // the pattern is good
			slices.SortStableFunc(files, func(a, b string) int { return isSubagent(a) - isSubagent(b) })
			for _, file := range files {
				list = append(list, found{"claude-code", file})
			}
		}
	}
	return list
}

func isSubagent(file string) int {
	if strings.HasPrefix(filepath.Base(file), "agent-") {
		return 1
	}
	return 0
}

// claudeDirs are the directories that Claude Code has for the project.
func (p *places) claudeDirs() (dirs []string) {
	if p.claude == "" {
		return nil
	}
	for _, project := range p.project {
		slug := claudecode.Slug(project)
		if len(slug) > claudecode.MaxSlug {
			long, _ := filepath.Glob(filepath.Join(quoteGlob(filepath.Join(p.claude, "projects")), slug[:claudecode.MaxSlug]+"-*"))
			dirs = append(dirs, long...)
			continue
		}
		dirs = append(dirs, filepath.Join(p.claude, "projects", slug))
	}
	return dirs
}

// quoteGlob has a path stand for itself in a pattern.
func quoteGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path // there it cannot be quoted
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// maxHead is how much of a rollout is read to find out which project it is of: its first line has the agent's instructions.
const maxHead = 4 << 20

func (p *places) findCodex() (list []found) {
	if p.codex == "" {
		return nil
	}
	for _, pattern := range []string{"sessions/*/*/*/rollout-*.jsonl", "sessions/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"} {
		files, _ := filepath.Glob(filepath.Join(quoteGlob(p.codex), filepath.FromSlash(pattern)))
		for _, file := range files {
			if p.has(codexMeta(file).Text("cwd")) {
				list = append(list, found{"codex", file})
			}
		}
	}
	return list
}

// codexMeta is what a rollout says of itself in its first record; nil where it says nothing.
func codexMeta(file string) transcript.Object {
	f, err := lock.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, err := bufio.NewReaderSize(io.LimitReader(f, maxHead), 64<<10).ReadBytes('\n')
	if err != nil && len(head) == 0 {
		return nil
	}
	o, _ := transcript.ParseObject(bytes.TrimSpace(head))
	return o.Object("payload")
}

func (p *places) findOpencode() (list []found, notes []string) {
	if p.open == "" {
		return nil, nil
	}
	if _, err := os.Stat(filepath.Join(p.open, "opencode.db")); err == nil {
		notes = append(notes, "opencode keeps its sessions in a database: `opencode export ID >FILE` and `ctx import opencode FILE` bring one here")
	}
	files, _ := filepath.Glob(filepath.Join(quoteGlob(p.open), "storage", "session", "*", "*.json"))
	for _, file := range files {
		b, err := lock.ReadAtMost(file, maxHead)
		if err != nil {
			continue
		}
		o, _ := transcript.ParseObject(b)
		if p.has(o.Text("directory")) {
			list = append(list, found{"opencode", file})
		}
	}
	return list, notes
}

func (p *places) findGemini() (list []found) {
	if p.gemini == "" {
		return nil
	}
	for _, slug := range p.geminiSlugs() {
		dir := quoteGlob(filepath.Join(p.gemini, "tmp", slug))
		for _, pattern := range []string{"chats/session-*.jsonl", "chats/session-*.json", "chats/*/*.jsonl", "checkpoint-*.json"} {
			files, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
			for _, file := range files {
				if strings.HasSuffix(file, ".json") && slices.Contains(files, file+"l") {
					continue // it went on in another form
				}
				list = append(list, found{"gemini-cli", file})
			}
		}
	}
	return list
}

// geminiSlugs are the names that Gemini CLI has, or had, for the project.
func (p *places) geminiSlugs() (slugs []string) {
	b, err := lock.ReadAtMost(filepath.Join(p.gemini, "projects.json"), maxHead)
	var doc struct {
		Projects map[string]string `json:"projects"`
	}
	if err == nil {
		_ = json.Unmarshal(b, &doc) // a file that is damaged names nothing
	}
	for _, project := range p.project {
		if slug := doc.Projects[project]; slug != "" && filepath.IsLocal(slug) {
			slugs = append(slugs, slug)
		}
		slugs = append(slugs, geminicli.ProjectHash(project))
	}
	return slugs
}
