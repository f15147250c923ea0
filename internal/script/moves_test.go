package script_test

import (
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/internal/script"
)

func TestMoves(t *testing.T) {
	for _, c := range []struct {
		operands []string
		want     string
	}{
		{[]string{"a.go", "b.go"}, "[{a.go b.go}]"},
		{[]string{"x/a.go", "."}, "[{x/a.go a.go}]"},
		{[]string{"x/a.go", ".."}, "[{x/a.go ../a.go}]"},
		{[]string{"x/a.go", "y/"}, "[{x/a.go y/a.go}]"},
		{[]string{"x/", "./"}, "[{x/ x}]"},
		{[]string{"x/a.go", "b.go", "y"}, "[{x/a.go y/a.go} {b.go y/b.go}]"},
		{[]string{"x/a.go", "y"}, "[{x/a.go y}]"},
		{[]string{"a.go"}, "[]"}, {nil, "[]"},
	} {
		if got := fmt.Sprint(script.Moves(c.operands)); got != c.want {
			t.Errorf("%q: %s, want %s", c.operands, got, c.want)
		}
	}
}
