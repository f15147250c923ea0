package summarizer

import (
	"context"
	"math"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
)

// Extractive is the name of the built-in summarizer, which picks sentences without a model or a
// program.
const Extractive = "extractive"

// extractiveVersion is the version of summarize.Extract in a chain, which returns a text in reading
// order; outside of a chain it returns a ranked list.
const extractiveVersion = "1+text"

// extractive answers claims with sentences of their inputs. It treats an earlier summary like any
// other input.
type extractive struct{}

func (extractive) Limit() int { return math.MaxInt32 }

func (extractive) Summarize(
	ctx context.Context, ask summarize.Request,
) (summarize.Response, error) {
	if err := ctx.Err(); err != nil {
		return summarize.Response{}, err
	}
	src := make([]summarize.Source, len(ask.Inputs))
	for i, p := range ask.Inputs {
		src[i] = summarize.Source{Entry: p.ID, Seq: uint64(i), Role: p.Role,
			Author: p.Author, Text: p.Text}
	}
	// The answer must be shorter than its source.
	list := summarize.ExtractOn(src, min(ask.Tokens, sourceTokens(ask)-1), ask.Focus)
	var lines []string
	for _, s := range summarize.Order(list) {
		lines = append(lines, s.Text)
	}
	text, f := Clean(ask, strings.Join(lines, "\n"))
	if f != nil {
		f.Name = Extractive
		return summarize.Response{}, f
	}
	return summarize.Response{Text: text, Summarizer: Extractive, Version: extractiveVersion}, nil
}
