package eval

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/search"
)

// The usual constants of BM25.
const (
	bm25K = 1.2
	bm25B = 0.75
)

// bm25 ranks texts by a query, without stemming and without regard to names or the order of words.
type bm25 struct {
	postings map[string][]posting
	lengths  []int
	mean     float64
}

type posting struct{ text, n int }

func newBM25(texts []string) *bm25 {
	b := &bm25{postings: map[string][]posting{}, lengths: make([]int, len(texts))}
	total := 0
	for i, text := range texts {
		counts := map[string]int{}
		for _, w := range wordsOf(text) {
			counts[w]++
			b.lengths[i]++
		}
		for w, n := range counts {
			b.postings[w] = append(b.postings[w], posting{i, n})
		}
		total += b.lengths[i]
	}
	b.mean = float64(max(total, 1)) / float64(max(len(texts), 1))
	return b
}

// wordsOf returns the runs of letters and digits of a text, in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// rank returns the texts that have a word of the query, the best first, and of equal ones the
// earlier first.
func (b *bm25) rank(query string) []int {
	scores := make([]float64, len(b.lengths))
	asked := wordsOf(query)
	slices.Sort(asked)
	for _, w := range slices.Compact(asked) {
		list := b.postings[w]
		df := float64(len(list))
		idf := search.Ln(1 + (float64(len(b.lengths))-df+0.5)/(df+0.5))
		for _, p := range list {
			n := float64(p.n)
			norm := bm25K * float64(1-bm25B+float64(bm25B*float64(b.lengths[p.text])/b.mean))
			scores[p.text] += float64(idf * n * (bm25K + 1) / (n + float64(norm)))
		}
	}
	var out []int
	for i, s := range scores {
		if s > 0 {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	return out
}
