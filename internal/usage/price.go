package usage

import (
	_ "embed" // the prices
	"strings"

	"github.com/gemini-ctx/ctx/internal/repo"
)

// PricesOf says of when the prices are that come with ctx.
const PricesOf = "2026-11"

// shipped are the list prices of a million tokens in dollars, as the providers' pages have them: a
// model, input, output, read from a cache, written to it, and written for an hour. Where a price
// grows with the length of a prompt, the lowest stands here.
//
//go:embed prices.txt
var shipped string

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
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	if _, bedrock, ok := strings.Cut(name, "anthropic."); ok { // us.anthropic.NAME-v1:0
		name = bedrock
		at := strings.LastIndex(name, "-v")
		if at >= 0 && strings.Trim(name[at+2:], ":0123456789") == "" {
			name = name[:at]
		}
	}
	name = strings.ReplaceAll(name, ".", "-")
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
