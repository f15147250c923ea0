package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/lock"
)

// maxAgentSettings bounds an agent's file of settings, in bytes.
const maxAgentSettings = 1 << 20

// AgentStrategy returns coreTools.compression.strategy of the settings that the project has for Gemini CLI, .gemini/settings.json beside the store: ""
// where there is none; path is that file. An error says why what is there is not used.
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
		b, err = lock.ReadAtMost(path, maxAgentSettings)
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
	var settings struct {
		CoreTools struct {
			Compression struct {
				Strategy json.RawMessage `json:"strategy"`
			} `json:"compression"`
		} `json:"coreTools"`
	}
	if err := json.Unmarshal(withoutComments(b), &settings); err != nil {
		return "", err
	}
	given := settings.CoreTools.Compression.Strategy
	if given == nil {
		return "", nil
	}
	var strategy string
	if json.Unmarshal(given, &strategy) != nil || strategy != "union-find" && strategy != "flat" {
		return "", fmt.Errorf("coreTools.compression.strategy is %.40s, not \"union-find\" or \"flat\"", given)
	}
	return strategy, nil
}

// withoutComments puts spaces in the place of // and /* */ comments, which the agent allows in its settings. Strings stay as they are.
func withoutComments(b []byte) []byte {
	out := append([]byte(nil), b...)
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '"':
			i = endOfString(out, i)
		case startsWith(out[i:], "//"):
			for ; i < len(out) && out[i] != '\n'; i++ {
				out[i] = ' '
			}
		case startsWith(out[i:], "/*"):
			for end := i + 2; i < len(out) && !(i >= end && startsWith(out[i:], "*/")); i++ {
				out[i] = ' '
			}
			if i < len(out) {
				out[i], out[i+1] = ' ', ' '
				i++
			}
		}
	}
	return out
}

// endOfString returns the index of the quote that ends the string at i, or the last index.
func endOfString(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i, len(b)-1)
}

func startsWith(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }
