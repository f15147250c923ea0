package live

import (
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/page"
)

// The window has a point for each message, and two where it was cut: before and after.
func TestWindow(t *testing.T) {
	s := &page.Session{Seen: []page.Seen{{Tip: 3, Through: 2}, {Tip: 9, Through: 8}}}
	var seqs, tokens []int
	for _, p := range (&sheet{Session: s}).window([]int{10, 20, 30, 40}) {
		seqs = append(seqs, p.seq)
		tokens = append(tokens, int((lineHeight-p.y)/(lineHeight-4)*70+0.5))
	}
	if want := []int{0, 1, 2, 3, 3, 4}; !slices.Equal(seqs, want) {
		t.Errorf("points at %v, want %v", seqs, want)
	}
	if want := []int{0, 10, 30, 60, 30, 70}; !slices.Equal(tokens, want) {
		t.Errorf("they have %v tokens, want %v", tokens, want)
	}
}
