package sanitize

import (
	"github.com/gemini-ctx/ctx/internal/sanitize/secrets"
	"github.com/gemini-ctx/ctx/internal/sanitize/tokens"
)

// CheckPattern returns the error in a pattern of the user, or nil. docs/secrets.md explains the
// notation.
func CheckPattern(pattern string) error { return tokens.Check(pattern) }

// UsePatterns makes the whole program also search for these patterns from now on. Their findings
// have the class "extra". The patterns replace those of the last call; nil removes them. If a
// pattern is bad, UsePatterns returns the error of CheckPattern for the first bad one and changes
// nothing. It may be called while other goroutines clean texts.
func UsePatterns(patterns []string) error { return secrets.UsePatterns(patterns) }
