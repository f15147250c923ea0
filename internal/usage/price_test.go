package usage

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/repo"
)

// A price is that of one model: a newer model, or another size, has none of an older one's.
func TestPriceOf(t *testing.T) {
	tests := []struct {
		model string
		input float64 // -1 for none
	}{
		{"claude-opus-4-5", 5}, {"claude-opus-4-5-20251101", 5}, {"claude-opus-4-20250514", 15},
		{"claude-opus-4.6", 5}, {"anthropic/claude-sonnet-4.5", 3}, {"claude-opus-4-6[1m]", 5},
		{"claude-haiku-4-5@20251001", 1}, {"claude-opus-4-9", -1}, {"claude-opus-6", -1},
		{"claude-opus-5-5", 4}, {"claude-opus-5", 5}, {"gpt-5", 1.25}, {"gpt-5-2025-08-07", 1.25},
		{"gpt-5.4", 2.5}, {"gpt-5.4-mini", 0.75}, {"gpt-5.6-sol", -1}, {"gpt-5-pro", -1},
		{"GPT-5.2-Codex", 1.75}, {"gpt-5.4-2026-03-05", 2.5}, {"gemini-3-pro-preview", 2},
		{"gemini-2.5-flash-lite", 0.1}, {"gemini-2.5-flash", 0.3}, {"harbour-1", -1}, {"", -1},
		{"<synthetic>", -1}, {"us.anthropic.claude-opus-4-5-20251101-v1:0", 5},
		{"amazon-bedrock/anthropic.claude-haiku-4-5-v1:0", 1},
		{"global.anthropic.claude-opus-4-6-v1", 5},
		{"anthropic.claude-opus-6-v1:0", -1},
	}
	for _, tt := range tests {
		p, ok := priceOf(prices(nil), tt.model)
		if !ok {
			p.Input = -1
		}
		if p.Input != tt.input {
			t.Errorf("%s: %v dollars, want %v", tt.model, p.Input, tt.input)
		}
	}
	own := repo.Price{Model: "gpt-5", Input: 9}
	if p, _ := priceOf(prices([]repo.Price{own}), "gpt-5"); p != own {
		t.Errorf("gpt-5: %v, want the user's %v", p, own)
	}
}

// Each line that comes with ctx is a price.
func TestShippedPrices(t *testing.T) {
	if n := strings.Count(strings.TrimSpace(shipped), "\n") + 1; len(prices(nil)) != n {
		t.Errorf("%d prices in %d lines", len(prices(nil)), n)
	}
}
