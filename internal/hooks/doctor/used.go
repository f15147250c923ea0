package doctor

import (
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/hooks"
)

// maxLooked is how many of the newest entries of a branch are read to learn which agent wrote
// them.
const maxLooked = 256

// used reports whether Gemini CLI works in this project, as far as is known: it has transcripts of
// the project, a hook has run, or a session came from it. An empty store counts as used: somebody
// is setting it up.
func (d *Doctor) used() bool {
	if d.Store == nil || d.hasTranscripts() {
		return true
	}
	if _, ran := hooks.LastHook(d.Store, hooks.GeminiCLI); ran {
		return true
	}
	view, err := d.Store.Refs.Read()
	if err != nil {
		return true
	}
	names := view.Names("sessions/")
	for _, name := range names {
		looked := 0
		for e, err := range d.Store.History.Walk(view.Get(name).ID, history.WithJoined) {
			if err != nil || e.Source != nil && e.Source.Agent == geminicli.Agent {
				return true
			}
			if looked++; looked == maxLooked {
				break
			}
		}
	}
	return len(names) == 0
}

// hasTranscripts reports whether Gemini CLI keeps transcripts of the project, under either of its
// names for the project.
func (d *Doctor) hasTranscripts() bool {
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	readJSON(filepath.Join(d.Home, ".gemini", "projects.json"), &known)
	for _, slug := range []string{geminicli.ProjectHash(d.Project), known.Projects[d.Project]} {
		if slug == "" || !filepath.IsLocal(slug) {
			continue
		}
		if files, err := os.ReadDir(filepath.Join(d.Home, ".gemini", "tmp", slug, "chats")); err == nil &&
			len(files) > 0 {
			return true
		}
	}
	return false
}
