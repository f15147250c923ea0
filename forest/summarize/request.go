package summarize

import (
	"context"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Ask is a claim in the form in which a summarizer receives it.
type Request struct {
	Claim  format.ID // the node over the members, which identifies the work
	Inputs []Input   // in order; the answer must include all of them
	Tokens int       // the most tokens of the answer, as counted by Tokens
	Focus  string    // what the answer must keep before all else; "" for nothing
}

// Piece is one input: an entry, or an earlier summary.
type Input struct {
	Summary bool
	ID      format.ID // of the entry or the summary
	Role    string    // of an entry: user, model, tool or system
	Author  string    // of an entry, if known
	Time    time.Time // of an entry, UTC; zero if unknown
	Text    string    // UTF-8
}

// Told is the answer to an Ask.
type Response struct {
	// Text is UTF-8 and not cleaned yet. It is accepted only if it is shorter than its inputs and
	// within Ask.Tokens.
	Text       string
	Summarizer string    // the name of the summarizer, as in the summary's header
	Version    string    // the summarizer's version, including those of its model and prompt
	Prompt     format.ID // SHA-256 of the prompt; zero if there was none
}

// Summarizer answers claims with a model or by rules. It may be slow and may fail; after an error
// the cluster stays as it is. It is called without any lock, from one goroutine at a time.
type Summarizer interface {
	Summarize(ctx context.Context, ask Request) (Response, error)
	// Limit returns the most tokens, as counted by Tokens, that the inputs of one Ask may have in
	// total. Longer clusters are summarized in pieces.
	Limit() int
}
