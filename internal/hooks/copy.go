package hooks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// openTranscript opens the file that an agent names as its transcript. It refuses anything but a
// regular file: a pipe would make the hook wait.
func openTranscript(path string) (*os.File, os.FileInfo, error) {
	if !filepath.IsAbs(path) {
		return nil, nil, fmt.Errorf("the transcript's path is not absolute: %.200q", path)
	}
	f, info, err := durable.OpenAtMost(path, durable.MaxInput)
	if errors.Is(err, durable.ErrNotFile) {
		err = fmt.Errorf("the transcript is not a file: %q", path)
	}
	return f, info, err
}

// maxBeside is how many transcripts of a directory are read: the newest.
const maxBeside = 64

// subagents returns the transcripts that the agent wrote for the subagents of a session. They are
// in a directory beside the session's own transcript, named after the session, or the agent's hooks
// name them.
func (h *hook) subagents() []string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, h.event.Session)
	dir := filepath.Join(filepath.Dir(h.event.Transcript), name)
	switch {
	case name == "":
		return nil
	case h.event.Subagent != "":
		return []string{h.event.Subagent}
	case h.agent.Subagents == nil:
		return nil
	}
	return h.agent.Subagents(dir)
}

// besideIt returns the transcripts of subagents in the directory of a session of Claude Code.
func besideIt(dir string) []string {
	list := newestIn(filepath.Join(dir, "subagents"))
	flows, err := os.ReadDir(filepath.Join(dir, "subagents", "workflows"))
	if err != nil {
		return list // there are none
	}
	for _, flow := range flows {
		list = append(list, newestIn(filepath.Join(dir, "subagents", "workflows", flow.Name()))...)
	}
	return list
}

// besideConversation returns the transcripts of the conversations of Antigravity. Each is in a
// directory of its own: CONVERSATION/.system_generated/logs.
func besideConversation(own string) []string {
	logs, name := filepath.Split(own)
	below, err := filepath.Rel(filepath.Join(logs, "../../.."), logs)
	if err != nil {
		return nil
	}
	_, below, _ = strings.Cut(filepath.ToSlash(below), "/")
	return newestOf(filepath.Join(logs, "../../.."), filepath.Join(below, name))
}

// besideSession returns the transcripts of the sessions of Copilot CLI, each in a directory of its
// own.
func besideSession(own string) []string {
	return newestOf(filepath.Dir(filepath.Dir(own)), filepath.Base(own))
}

// newestOf returns the newest files of a name, each in a directory of dir.
func newestOf(dir, name string) []string {
	return newestFiles(dir, func(entry string) string { return filepath.Join(entry, name) })
}

// newestIn returns the newest transcripts in a directory.
func newestIn(dir string) []string {
	return newestFiles(dir, func(entry string) string {
		if !strings.HasSuffix(entry, ".jsonl") {
			return ""
		}
		return entry
	})
}

// newestFiles returns the newest of the files that at says for the entries of a directory; "" for
// none.
func newestFiles(dir string, at func(entry string) string) (paths []string) {
	list, _ := os.ReadDir(dir) // there may be none
	when := map[string]time.Time{}
	for _, entry := range list {
		path := filepath.Join(dir, at(entry.Name()))
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			paths, when[path] = append(paths, path), info.ModTime()
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return when[b].Compare(when[a]) })
	return paths[:min(len(paths), maxBeside)]
}
