package summarize

import (
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"abc", 0},
		{"abcd", 1},
		{"abcdefg", 1},
		{"é", 1},
		{"éé", 3},
		{"é\u007fa", 2},
		{"漢字", 3},
		{"😀", 3}, // two units
		{"😀ab", 3},
		{"\xff", 1},
		{strings.Repeat("a", 100_000), 25_000},
		{strings.Repeat("é", 100_000), 150_000},
		{strings.Repeat("é", 100_001), 25_000},
		{strings.Repeat("😀", 50_001), 25_000},
		{strings.Repeat("a", 100_003), 25_000},
	} {
		if got := Tokens(tt.text); got != tt.want {
			t.Errorf("%.20q, %d bytes: %d, want %d", tt.text, len(tt.text), got, tt.want)
		}
	}
}

func TestRarity(t *testing.T) {
	for _, tt := range []struct{ n, df, want int64 }{{1, 1, 1000}, {3, 1, 2000}, {2, 1, 1500},
		{7, 7, 1000}, {1023, 1, 10000}} {
		if got := rarity(tt.n, tt.df); got != tt.want {
			t.Errorf("%d of %d: %d, want %d", tt.df, tt.n, got, tt.want)
		}
	}
}
