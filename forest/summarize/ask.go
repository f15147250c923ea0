package summarize

import (
	"context"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Ask is one claim as a summariser is asked to answer it.
type Ask struct {
	Claim  format.ID // the node over the members: it proves what is asked about
	Inputs []Piece   // in order; all of them have to be in the answer
	Tokens int       // the most the answer may have, by Tokens
}

// Piece is one input: an entry as it was said, or an earlier summary.
type Piece struct {
	Summary bool
	ID      format.ID // of the entry or the summary
	Role    string    // of an entry: user, model, tool or system
	Author  string    // of an entry, where known
	Time    time.Time // of an entry, UTC; zero where unknown
	Text    string    // UTF-8
}

// Told is an answer.
type Told struct {
	Text       string    // UTF-8, not cleaned yet; it is taken only where it is shorter than its inputs and within Ask.Tokens
	Summarizer string    // who answered: a name as the summary's header has it
	Version    string    // of who answered, model and prompt version included
	Prompt     format.ID // SHA-256 of the prompt that was used; zero where there was none
}

// Summarizer answers claims, from a model or by rule. It may be slow and may fail; an error leaves the cluster as it is. It is
// called without any lock held, from one goroutine at a time.
type Summarizer interface {
	Summarize(ctx context.Context, ask Ask) (Told, error)
	// Limit is the most tokens, by Tokens, that the inputs of one Ask may have in all. What is longer is asked in pieces.
	Limit() int
}
