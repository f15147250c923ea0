package repo

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/sanitize"
)

// mostPatterns bounds the user's patterns, and longestPattern each of them, in bytes.
const (
	maxPatterns    = 256
	longestPattern = 200
)

// putPatterns reads the patterns of sanitize.extra, a JSON array of strings. sanitize.CheckPattern
// says what a pattern is.
func (c *Config) putPatterns(text string) (string, error) {
	list := []string{}
	if text == "[]" { // the default needs no decoder
		c.Sanitize.Extra = list
		return text, nil
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return "", errors.New("not an array of strings")
	}
	if len(list) > maxPatterns {
		return "", fmt.Errorf("more than %d patterns", maxPatterns)
	}
	for _, p := range list {
		if len(p) > longestPattern {
			return "", fmt.Errorf("a pattern of more than %d bytes", longestPattern)
		}
		if err := sanitize.CheckPattern(p); err != nil {
			return "", fmt.Errorf("pattern %q: %w", p, err)
		}
	}
	c.Sanitize.Extra = list
	if len(list) == 0 {
		return "[]", nil
	}
	return jsonList(list), nil
}
