package usage

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/repo"
)

// PricesOf says of when the prices are that come with ctx.
const PricesOf = "2026-11"

// shipped are the list prices of a million tokens in dollars, as the providers' pages have them: a
// model, input, output, read from a cache, written to it, and written for an hour. Where a price
// grows with the length of a prompt, the lowest stands here.
const shipped = `
claude-fable-5-1 10 50 0.25 12.5 20
claude-fable-5 10 50 1 12.5 20
claude-opus-5-5 4 20 0.2 5 8
claude-opus-5 5 25 0.5 6.25 10
claude-opus-4-8 5 25 0.5 6.25 10
claude-opus-4-7 5 25 0.5 6.25 10
claude-opus-4-6 5 25 0.5 6.25 10
claude-opus-4-5 5 25 0.5 6.25 10
claude-opus-4-1 15 75 1.5 18.75 30
claude-opus-4 15 75 1.5 18.75 30
claude-sonnet-5-5 2 10 0.1 2.5 4
claude-sonnet-5 2 10 0.2 2.5 4
claude-sonnet-4-6 3 15 0.3 3.75 6
claude-sonnet-4-5 3 15 0.3 3.75 6
claude-sonnet-4 3 15 0.3 3.75 6
claude-3-7-sonnet 3 15 0.3 3.75 6
claude-haiku-5-5 0.1 0.5 0.01 0.125 0.2
claude-haiku-4-5 1 5 0.1 1.25 2
claude-3-5-haiku 0.8 4 0.08 1 1.6
gpt-5.5 5 30 0.5
gpt-5.4 2.5 15 0.25
gpt-5.4-mini 0.75 4.5 0.075
gpt-5.4-nano 0.2 1.25 0.02
gpt-5.3-codex 1.75 14 0.175
gpt-5.2 1.75 14 0.175
gpt-5.2-codex 1.75 14 0.175
gpt-5.1 1.25 10 0.125
gpt-5.1-codex 1.25 10 0.125
gpt-5.1-codex-max 1.25 10 0.125
gpt-5.1-codex-mini 0.25 2 0.025
gpt-5 1.25 10 0.125
gpt-5-codex 1.25 10 0.125
gpt-5-mini 0.25 2 0.025
gpt-5-nano 0.05 0.4 0.005
gemini-3-pro 2 12 0.2
gemini-3-flash 0.5 3 0.05
gemini-2.5-pro 1.25 10 0.125
gemini-2.5-flash 0.3 2.5 0.03
gemini-2.5-flash-lite 0.1 0.4 0.01
`

// prices returns the user's prices, and those that come with ctx behind them.
func prices(users []repo.Price) []repo.Price {
	list := users
	for line := range strings.Lines(strings.TrimSpace(shipped)) {
		if p, err := repo.ParsePrice(line); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// priceOf returns the price of a model, the first that has its name.
func priceOf(list []repo.Price, model string) (repo.Price, bool) {
	for _, p := range list {
		if isModel(model, p.Model) {
			return p, true
		}
	}
	return repo.Price{}, false
}

// isModel reports whether a name is that of a model, with or without its provider in front, and the
// date or the kind of a version behind it. A newer model, such as gpt-5.6 of gpt-5, is another one.
func isModel(name, model string) bool {
	name = strings.ReplaceAll(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]), ".", "-")
	rest, ok := strings.CutPrefix(name, strings.ReplaceAll(strings.ToLower(model), ".", "-"))
	if !ok {
		return false
	}
	version := strings.TrimLeft(rest, "-0123456789")
	switch {
	case rest == "" || rest[0] == '@' || rest[0] == '[':
		return true
	case rest[0] != '-':
		return false
	}
	const shortestDate = len("-20260101")
	return len(rest)-len(version) >= shortestDate && (version == "" || version[0] == '[') ||
		rest == "-latest" || strings.HasPrefix(rest, "-preview")
}
