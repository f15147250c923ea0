package hooks

import (
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/history"
)

// maxLooked is how many of the newest entries of a branch are read to learn which agent wrote
// them.
const maxLooked = 256

// used reports whether Gemini CLI works in this project, as far as is known: it has transcripts of
// the project, a hook has run, or a session came from it. An empty store counts as used: somebody
// is setting it up.
func (p *DoctorEnv) used() bool {
	if p.Store == nil || p.hasTranscripts() {
		return true
	}
	if _, ran := LastHook(p.Store, GeminiCLI); ran {
		return true
	}
	view, err := p.Store.Refs.Read()
	if err != nil {
		return true
	}
	names := view.Names("sessions/")
	for _, name := range names {
		looked := 0
		for e, err := range p.Store.History.Walk(view.Get(name).ID, history.WithJoined) {
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
func (p *DoctorEnv) hasTranscripts() bool {
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	readJSON(filepath.Join(p.Home, ".gemini", "projects.json"), &known)
	for _, slug := range []string{geminicli.ProjectHash(p.Project), known.Projects[p.Project]} {
		if slug == "" || !filepath.IsLocal(slug) {
			continue
		}
		if files, err := os.ReadDir(filepath.Join(p.Home, ".gemini", "tmp", slug, "chats")); err == nil && len(files) > 0 {
			return true
		}
	}
	return false
}
