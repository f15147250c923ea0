package geminicli

import "github.com/gemini-ctx/ctx/agent/transcript"

// MaxLine is the longest line that is read, in bytes without NULs: the same as for ctx's own JSON lines. A longer one is counted and skipped without being
// kept in memory.
const MaxLine = transcript.MaxLine
