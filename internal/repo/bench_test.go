package repo_test

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/repo"
)

// BenchmarkOpen is what every command pays for: the search, the gate and a config.toml that is
// still the template.
func BenchmarkOpen(b *testing.B) {
	w := newWorld(b)
	w.init()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := repo.Open(w.env); err != nil {
			b.Fatal(err)
		}
	}
}
