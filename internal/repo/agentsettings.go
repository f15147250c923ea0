package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/durable"
	agentjson "github.com/gemini-ctx/ctx/internal/hooks/settings"
)

// maxAgentSettings bounds an agent's file of settings, in bytes.
const maxAgentSettings = 1 << 20

// AgentStrategy returns coreTools.compression.strategy of the project's settings for Gemini CLI,
// and the path of these settings, .gemini/settings.json beside the store. The strategy is "" where
// the file does not name one. An error says why the settings are not used.
func (r *Repo) AgentStrategy() (strategy, path string, err error) {
	dir := filepath.Dir(r.Dir)
	if filepath.Base(dir) != ".gemini" {
		return "", "", nil
	}
	path = filepath.Join(dir, "settings.json")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", path, nil
	}
	var b []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%q is not a file", path)
	default:
		b, err = durable.ReadAtMost(path, maxAgentSettings)
	}
	if err != nil {
		return "", path, fmt.Errorf("settings of the agent are not used: %w", err)
	}
	if strategy, err = agentStrategy(b); err != nil {
		return "", path, fmt.Errorf("settings of the agent are not used: %q: %w", path, err)
	}
	return strategy, path, nil
}

func agentStrategy(b []byte) (string, error) {
	var shape struct {
		CoreTools struct {
			Compression struct {
				Strategy json.RawMessage `json:"strategy"`
			} `json:"compression"`
		} `json:"coreTools"`
	}
	plain, err := agentjson.Standard(b)
	if err == nil {
		err = json.Unmarshal(plain, &shape)
	}
	if err != nil {
		return "", fmt.Errorf("not the agent's JSON: %w", err)
	}
	given := shape.CoreTools.Compression.Strategy
	if given == nil {
		return "", nil
	}
	var strategy string
	if json.Unmarshal(given, &strategy) != nil || strategy != "union-find" && strategy != "flat" {
		return "",
			fmt.Errorf("coreTools.compression.strategy is %.40s, not \"union-find\" or \"flat\"",
				given)
	}
	return strategy, nil
}
