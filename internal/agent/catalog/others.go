package catalog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// NameOf returns the session that the file of a transcript is named for.
func (a *Agent) NameOf(path string) string {
	if a.Named != nil {
		if name := a.Named(path); name != "" {
			return name
		}
	}
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// heads calls see for the records at the beginning of a file of JSON lines, until it returns false.
func heads(file string, see func(jsonvalue.Object) bool) {
	f, _, err := durable.OpenAtMost(file, durable.MaxInput)
	if err != nil {
		return
	}
	defer f.Close()
	lines := transcript.NewLineReader(bufio.NewReaderSize(io.LimitReader(f, maxHead), 64<<10), maxHead, 0)
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

// Antigravity keeps a directory for each conversation; that of the editor is beside that of the
// command line.
const (
	antigravityLogs = "/.system_generated/logs/"
	antigravityFull = "transcript_full.jsonl"
)

func discoverAntigravity(root string, p Project) (list, _ []string) {
	ours := map[string]bool{} // conversations of the project, as far as the history of prompts says
	told := map[string]bool{} // those that the history names
	for _, file := range glob(root, "antigravity*/history.jsonl") {
		heads(file, func(o jsonvalue.Object) bool {
			if id := o.Text("conversationId"); id != "" && o.Text("workspace") != "" {
				told[id] = true
				ours[id] = ours[id] || p.has(o.Text("workspace"))
			}
			return true
		})
	}
	for _, name := range []string{antigravityFull, "transcript.jsonl"} {
		for _, file := range glob(root, "antigravity*/brain/*"+antigravityLogs+name) {
			if name != antigravityFull && slices.Contains(list, filepath.Join(filepath.Dir(file), antigravityFull)) {
				continue // the same with its long texts cut
			}
			id := nameOfAntigravity(file)
			if ours[id] || !told[id] && p.has(workedIn(file)) {
				list = append(list, file)
			}
		}
	}
	return list, nil
}

// workedIn returns the directory in which the first command of a conversation ran; "" for none.
func workedIn(file string) (dir string) {
	heads(file, func(o jsonvalue.Object) bool {
		calls, _ := o.Array("tool_calls")
		for _, raw := range calls {
			args := jsonvalue.AsObject(raw).Object("args")
			if plain, _, ok := transcript.Decoded(args); ok {
				args = plain
			}
			if dir == "" {
				dir = args.Text("Cwd")
			}
		}
		return dir == ""
	})
	return dir
}

// nameOfAntigravity returns the conversation that a file belongs to, by its directory.
func nameOfAntigravity(path string) string {
	before, _, ok := strings.Cut(filepath.ToSlash(path), antigravityLogs)
	if !ok {
		return ""
	}
	return before[strings.LastIndexByte(before, '/')+1:]
}

// slugsOfCursor returns the names that Cursor may have for the directory of a project: without the
// slash at the beginning, with - for every other character, or for each run of them.
func slugsOfCursor(dir string) []string {
	slug := strings.TrimLeft(claudecode.Slug(dir), "-")
	short := slug
	for strings.Contains(short, "--") {
		short = strings.ReplaceAll(short, "--", "-")
	}
	return slices.Compact([]string{slug, short})
}

func discoverCursor(root string, p Project) (list, _ []string) {
	for _, project := range p {
		for _, slug := range slugsOfCursor(project) {
			dir := filepath.Join(root, "projects", slug, "agent-transcripts")
			for _, pattern := range []string{"*.jsonl", "*/*.jsonl", "*/subagents/*.jsonl"} {
				for _, file := range glob(dir, pattern) {
					if !slices.Contains(list, file) {
						list = append(list, file)
					}
				}
			}
		}
	}
	return list, nil
}

// fileOfCursor returns the file of a session: that of the CLI, or that of the editor if it is
// there.
func fileOfCursor(root, dir, id string) (file string) {
	for _, project := range NewProject(dir) {
		for _, slug := range slugsOfCursor(project) {
			logs := filepath.Join(root, "projects", slug, "agent-transcripts")
			for _, path := range []string{filepath.Join(logs, id+".jsonl"), filepath.Join(logs, id, id+".jsonl")} {
				if _, err := os.Stat(path); err == nil || file == "" {
					file = path
				}
			}
		}
	}
	return file
}

func discoverCopilot(root string, p Project) ([]string, []string) {
	files := append(glob(root, "session-state/*/events.jsonl"), glob(root, "session-state/*.jsonl")...)
	return p.inProject(files, func(o jsonvalue.Object) string {
		return o.Object("data").Object("context").Text("cwd")
	}), nil
}

// nameOfCopilot returns the session that a file belongs to: its directory is named for it.
func nameOfCopilot(path string) string {
	if filepath.Base(path) != "events.jsonl" {
		return ""
	}
	return filepath.Base(filepath.Dir(path))
}

func rootOfQwen(e Env) string {
	if dir := e.Get("QWEN_RUNTIME_DIR"); dir != "" {
		return dir
	}
	return e.under("QWEN_HOME", ".qwen", "")
}

func discoverQwen(root string, p Project) (list, _ []string) {
	for _, project := range p {
		list = append(list, glob(filepath.Join(root, "projects", slugOfQwen(project)), "chats/*.jsonl")...)
	}
	return list, nil
}

// slugOfQwen returns the name of the directory of a project. On Windows it has no capitals.
func slugOfQwen(dir string) string {
	if os.PathSeparator == '\\' {
		dir = strings.ToLower(dir)
	}
	return claudecode.Slug(dir)
}

func placeQwen(root, id, dir, _ string) (string, error) {
	slug := slugOfQwen(dir)
	if len(slug) > 255 {
		return "", fmt.Errorf("cannot tell where qwen keeps the sessions of %q: the path is too long", dir)
	}
	return filepath.Join(root, "projects", slug, "chats", id+".jsonl"), nil
}

func discoverDroid(root string, p Project) ([]string, []string) {
	var files []string
	for _, pattern := range []string{"sessions/*/*.jsonl", "sessions/*.jsonl", "projects/*/*.jsonl"} {
		files = append(files, glob(root, pattern)...)
	}
	return p.inProject(files, func(o jsonvalue.Object) string {
		if o.Text("type") != "session_start" {
			return ""
		}
		return o.Text("cwd")
	}), nil
}
