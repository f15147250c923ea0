package eval

import (
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// rendering is one way to shorten a conversation. All that it prints is within a budget of tokens.
type rendering struct {
	name   string
	render func(budget int) (string, error)
}

// The ways to shorten a conversation. All choose from the same messages and print in the same form,
// and those with extracts use the same summarizer.
const (
	wayUnionFind = "union-find"
	wayFlat      = "flat"         // the strategy
	wayHeadTail  = "head+tail"    // the beginning and the end of everything in full, half each
	wayRecent    = "recency only" // the end of everything in full
)

// ways returns all of them, first that of ctx.
func (b *evalCase) ways() ([]rendering, error) {
	all, err := b.Shown()
	if err != nil {
		return nil, err
	}
	whole, err := renderText(view.Input{Session: Talk,
		Branch: history.MainBranch, Tail: all},
		0)
	if err != nil {
		return nil, err
	}
	return []rendering{
		{wayUnionFind, b.Text},
		{wayFlat, b.flat.Text},
		{wayHeadTail, func(budget int) (string, error) { return headTail(whole, budget), nil }},
		{wayRecent, func(budget int) (string, error) { return ending(whole, budget), nil }},
	}, nil
}

func renderText(in view.Input, budget int) (string, error) {
	out, err := view.Render(in, view.Options{Budget: budget})
	return string(out.Bytes), err
}

// gap stands for what headTail leaves out.
const gap = "\n[…]\n"

// ending returns as much of the end of a text as a budget holds.
func ending(text string, budget int) string {
	if summarize.Tokens(text) <= budget {
		return text
	}
	runes := []rune(text)
	at, room := len(runes), 4*budget
	for at > 0 && quarters(string(runes[at-1])) <= room {
		at--
		room -= quarters(string(runes[at]))
	}
	return string(runes[at:])
}

// headTail returns the beginning and the end of a text, half of the budget each.
func headTail(text string, budget int) string {
	if summarize.Tokens(text) <= budget {
		return text
	}
	room := 4*budget - quarters(gap) // a quarter of a token is the least that anything costs
	if room <= 0 {
		return ""
	}
	runes := []rune(text)
	head, spent := 0, 0
	for head < len(runes) && spent+quarters(string(runes[head])) <= room/2 {
		spent += quarters(string(runes[head]))
		head++
	}
	tail := len(runes)
	for tail > head && spent+quarters(string(runes[tail-1])) <= room {
		tail--
		spent += quarters(string(runes[tail]))
	}
	return string(runes[:head]) + gap + string(runes[tail:])
}

// quarters returns the cost of a short text in quarters of a token: the tokens of four copies.
func quarters(s string) int { return summarize.Tokens(strings.Repeat(s, 4)) }
