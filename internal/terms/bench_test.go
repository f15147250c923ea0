package terms

import (
	"strings"
	"testing"
)

func BenchmarkOf(b *testing.B) {
	text := strings.Repeat(
		"The migration of schema app_core failed on port 5433, see scripts/deploy.sh and "+
			"parseTokens() there. ", 10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Of(text)
	}
}
