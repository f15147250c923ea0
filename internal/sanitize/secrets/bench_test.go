package secrets

import "testing"

// BenchmarkFirstUse makes everything that is needed before the first text can be cleaned.
func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		makeTable(nil)
	}
}
