package prose

import "testing"

func TestWithHeads(t *testing.T) {
	const lead = "Times:\n\n"
	const table = lead + "| Case | Before | What it says |\n|---|---:|---|\n"
	for _, c := range []struct{ text, want string }{
		{table + "| small | 85 % | it holds in each of them |\n",
			lead + "| small | Before 85 % | it holds in each of them |\n"},
		{table + "| **small** | ✓ |\n\nThen | this |\n",
			lead + "| small | Before ✓ |\n\nThen | this |\n"},
		{"| a | b |\n| 1 | 2 |\n", "| a | b |\n| 1 | 2 |\n"}, // nothing says that it is a table
		{table + "| `a.go` | `parseAll` |\n", lead + "| `a.go` | `parseAll` |\n"},
		{"a | b\n", "a | b\n"},
	} {
		if got := WithHeads(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}
