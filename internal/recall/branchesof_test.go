package recall_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/recall"
)

// The branches of a session come in order, and those of no other session with them: two lists of
// the same branches are equal.
func TestBranchesOf(t *testing.T) {
	tips := map[string]format.ID{}
	var want []string
	for n := range 30 {
		name := fmt.Sprintf("talk/branch-%02d", n)
		want = append(want, name)
		tips[name] = format.ID{}
		tips[fmt.Sprintf("talks/branch-%02d", n)] = format.ID{}
	}
	if got := recall.BranchesOf("talk", tips); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
