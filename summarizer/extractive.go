package summarizer

import (
	"context"
	"math"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
)

// Extractive is the name of the summariser that is always there: it picks sentences, in the process, without a model.
const Extractive = "extractive"

// extractiveVersion is that of summarize.Extract as a chain asks it: a text in the order of its sources, where the store's own is a ranked list.
const extractiveVersion = "1+text"

// extractive answers claims with sentences of their inputs. An earlier summary is an input like any other.
type extractive struct{}

func (extractive) Limit() int { return math.MaxInt32 }

func (extractive) Summarize(ctx context.Context, ask summarize.Ask) (summarize.Told, error) {
	if err := ctx.Err(); err != nil {
		return summarize.Told{}, err
	}
	src := make([]summarize.Source, len(ask.Inputs))
	for i, p := range ask.Inputs {
		src[i] = summarize.Source{Entry: p.ID, Seq: uint64(i), Role: p.Role, Author: p.Author, Text: p.Text}
	}
	// Less than the whole, so that it is shorter than its source.
	list := summarize.Extract(src, min(ask.Tokens, sourceTokens(ask)-1))
	var lines []string
	for _, s := range summarize.Order(list) {
		lines = append(lines, s.Text)
	}
	text, f := Clean(ask, strings.Join(lines, "\n"))
	if f != nil {
		f.Name = Extractive
		return summarize.Told{}, f
	}
	return summarize.Told{Text: text, Summarizer: Extractive, Version: extractiveVersion}, nil
}
