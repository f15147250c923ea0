package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// extractive is the name of the built-in summarizer. It always answers, so it ends a chain.
const extractive = "extractive"

// Bounds that catch slips.
const (
	maxNames     = 16   // in a chain
	maxWords     = 100  // in a command
	longestName  = 40   // bytes; it is in the header of every summary
	longestWord  = 4096 // bytes
	longestReply = 24 * 60 * time.Minute
)

// Summarizer holds the settings of one summarizer.
type Summarizer struct {
	Command []string      // the program and its arguments; empty if only a timeout is set
	Timeout time.Duration // for an answer; 0 for the default
}

// shipped returns the helpers that come with ctx. To use one, the chain only has to name it.
// `gemini` asks over HTTP if there is a key, and the installed Gemini CLI otherwise.
func shipped() map[string]Summarizer {
	return map[string]Summarizer{
		"claude":     {Command: []string{"ctx-summarize-agent", "claude"}},
		"codex":      {Command: []string{"ctx-summarize-agent", "codex"}},
		"gemini":     {Command: []string{"ctx-summarize-gemini"}},
		"gemini-cli": {Command: []string{"ctx-summarize-agent", "gemini"}},
		"openai":     {Command: []string{"ctx-summarize-openai"}},
		"opencode":   {Command: []string{"ctx-summarize-agent", "opencode"}},
	}
}

// isSummarizerName reports whether a name needs no quotes in TOML and no escapes in a header.
func isSummarizerName(name string) bool {
	return name != "" && len(name) <= longestName && name != extractive &&
		strings.IndexFunc(name, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
		}) < 0
}

// putChain reads the names of a chain. It refuses a name after the extractive one, which always
// answers, and a name that appears twice.
func (c *Config) putChain(text string) (string, error) {
	list := strings.Split(text, ",")
	if len(list) > maxNames {
		return "", fmt.Errorf("more than %d names", maxNames)
	}
	for i, name := range list {
		name = strings.TrimSpace(name)
		switch {
		case name == extractive && i < len(list)-1:
			return "",
				fmt.Errorf("%s is not the last one: nobody would be asked after it", extractive)
		case name != extractive && !isSummarizerName(name):
			return "", fmt.Errorf("not the name of a summarizer (a-z, 0-9, - and _): %.40q", name)
		case slices.Contains(list[:i], name):
			return "", fmt.Errorf("named twice: %q", name)
		}
		list[i] = name
	}
	c.Summarize.Chain = list
	return strings.Join(list, ","), nil
}

// commandOf reads the command of a summarizer. It does not check that the program exists.
func (c *Config) commandOf(name string) func(string) (string, error) {
	return func(text string) (string, error) {
		list, err := commandLine(text, "not an array of a program and its arguments")
		if err != nil {
			return "", err
		}
		s := c.Summarizers[name]
		s.Command = list
		c.Summarizers[name] = s
		return jsonList(list), nil
	}
}

// commandLine reads a command and its arguments, and says what else it is.
func commandLine(text, other string) (list []string, _ error) {
	if json.Unmarshal([]byte(text), &list) != nil || len(list) == 0 || list[0] == "" {
		return nil, errors.New(other)
	}
	if len(list) > maxWords || slices.ContainsFunc(list, isBadWord) {
		return nil, fmt.Errorf("more than %d words, a word of more than %d bytes, or a zero byte",
			maxWords, longestWord)
	}
	return list, nil
}

func isBadWord(word string) bool { return len(word) > longestWord || strings.ContainsRune(word, 0) }

func (c *Config) timeoutOf(name string) func(string) (string, error) {
	return func(text string) (string, error) {
		d, err := parseDuration(text)
		if err != nil {
			return "", err
		}
		if d <= 0 || d > longestReply {
			return "", fmt.Errorf("not above 0s and up to %v: %s", longestReply, text)
		}
		s := c.Summarizers[name]
		s.Timeout = d
		c.Summarizers[name] = s
		return text, nil
	}
}

// jsonList writes a list of strings as JSON, which is TOML as well, but for characters that no
// command has.
func jsonList(list []string) string {
	return string(jsonvalue.Encode(list))
}
