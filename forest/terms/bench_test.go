package terms

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func BenchmarkOf(b *testing.B) {
	text := strings.Repeat("The migration of schema app_core failed on port 5433, see scripts/deploy.sh and parseTokens() there. ", 10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Of(text)
	}
}

// BenchmarkGraduate compares a message of 30 terms with 64 clusters of 256 terms.
func BenchmarkGraduate(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	docs := make([]Bag, 64)
	for i := range docs {
		docs[i] = randomBag(r, 256, 4000)
	}
	msg := randomBag(r, 30, 4000)
	b.ReportAllocs()
	for b.Loop() {
		Weigh(docs).Scores(msg)
	}
}

func randomBag(r *rand.Rand, n, vocabulary int) Bag {
	found := make([]uint64, 0, 2*n)
	for len(found) < 2*n {
		// The product of two uniform numbers makes some terms common and most of them rare, as in text.
		k := int(r.Float64() * r.Float64() * float64(vocabulary))
		found = append(found, hash(strings.Repeat("x", k%7)+string(rune('a'+k%26))+string(rune(0x4E00+k))))
	}
	return trim(tally(found), n)
}
