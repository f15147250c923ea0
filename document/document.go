// Package document holds the JSON documents in which entries, clusters, hits, sessions and the state of a store are given to programs: by the commands
// of ctx with --json, and by ctx-mcp. Keys stay what they are; each document says its version.
package document

import (
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// OrNull is a text in JSON: nil for an empty one.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// IDText is an id in JSON: nil for the zero one.
func IDText(id format.ID) *string {
	if id.IsZero() {
		return nil
	}
	text := id.String()
	return &text
}

// TimeText is a time in all output: RFC 3339, UTC, milliseconds.
func TimeText(t time.Time) string { return format.FormatTime(t) }
