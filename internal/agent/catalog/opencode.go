package catalog

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/opencode"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/hooks/settings"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func sessionsOfOpencode(root string, only func(file string) bool) (list []Begun) {
	for _, file := range glob(root, "storage/session/*/*.json") {
		if _, err := os.Stat(file); err == nil && wanted(only, file) {
			list = append(list, Begun{File: file, Session: begunInOpencode(file)})
		}
	}
	return list
}

func begunInOpencode(file string) identity.Session {
	return identity.Session{Dir: document(file).Text("directory")}
}

// readOpencodeStorage reads a session from opencode's storage directory, which has its messages in
// files beside that of the session.
func readOpencodeStorage(path string) transcript.Read {
	project := filepath.Dir(path)
	root := filepath.Dir(filepath.Dir(project))
	name := filepath.ToSlash(filepath.Join("session", filepath.Base(project), filepath.Base(path)))
	info, err := os.Stat(filepath.Join(root, "message"))
	if filepath.Base(filepath.Dir(project)) != "session" || err != nil || !info.IsDir() ||
		!fs.ValidPath(name) {
		return nil
	}
	storage := durable.InputFS(root, durable.MaxInput)
	return func(emit func(transcript.Step) error) (transcript.Stats, error) {
		return opencode.ReadStorage(storage, name, emit)
	}
}

// modelOfOpencode returns the model that opencode uses in a directory, as provider/model; "" if its
// settings name none. Settings of the project come before those of the user.
func modelOfOpencode(e Env, dir string) string {
	for _, in := range []string{dir, e.under("XDG_CONFIG_HOME", ".config", "opencode")} {
		if in == "" {
			continue
		}
		for _, name := range []string{"opencode.jsonc", "opencode.json"} {
			b, err := durable.ReadAtMost(filepath.Join(in, name), maxSettings)
			if err != nil {
				continue
			}
			if b, err = settings.Standard(b); err != nil {
				continue // the agent reports its own settings
			}
			o, _ := jsonvalue.ParseObject(b)
			if model := o.Text("model"); model != "" {
				return model
			}
		}
	}
	state := e.under("XDG_STATE_HOME", ".local/state", "opencode")
	recent, _ := document(filepath.Join(state, "model.json")).Array("recent")
	for _, raw := range recent {
		used := jsonvalue.AsObject(raw)
		if provider, model := used.Text("providerID"),
			used.Text("modelID"); provider != "" && model != "" {
			return provider + "/" + model
		}
	}
	return ""
}
