package search

import "testing"

// printSlowly is printOf by the words of phrases.
func printSlowly(text string) uint64 {
	h := uint64(14695981039346656037)
	words := wordsOf(text)
	for _, word := range words {
		for i := 0; i < len(word); i++ {
			h = (h ^ uint64(word[i])) * 1099511628211
		}
		h = (h ^ ' ') * 1099511628211
	}
	if len(words) == 0 {
		return 0
	}
	return max(h, 1)
}

func FuzzPrint(f *testing.F) {
	for _, seed := range []string{
		"", " ", "?!", "One two", "one, TWO.", "a", "café au lait", "CAFÉ", "naïve\u0301", "日本 語",
		"x\xffy", "Ünï \xc3", "K K", "İstanbul", "e\u0301te\u0301",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := printOf(text), printSlowly(text); got != want {
			t.Errorf("%q has %x, want %x", text, got, want)
		}
	})
}

// A builder finds in a text what a simple scan of it finds.
func FuzzAnalyse(f *testing.F) {
	for _, seed := range []string{
		"", "Which port? 5433, not 5432", "internal/search/build.go parseURL",
		"went going gone feet", "café 日本語 x", "a:b:c 12:30:00 https://x.y/z",
		"\xff\xfe a", "it isn’t", "전체 검색이 값을", "データベースとサーバー",
	} {
		f.Add(seed, seed+" again")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		b := &Builder{}
		for _, text := range []string{one, two, one} {
			want := simplyAnalysed(text)
			first := len(b.numbers)
			b.starts = append(b.starts, uint32(first))
			got := b.analyse(text)
			b.docs = append(b.docs, row{})
			counts := map[uint64]uint8{}
			for i, number := range b.numbers[first:] {
				counts[b.words.terms[number]] = b.counts[first+i]
			}
			if len(counts) != len(want.counts) || len(b.numbers)-first != len(counts) {
				t.Fatalf("%q has %d terms, want %d", text, len(b.numbers)-first, len(want.counts))
			}
			for _, c := range want.counts {
				if counts[storedTerm(c.term)] != c.count {
					t.Errorf("%q has term %x %d times, want %d", text, c.term,
						counts[storedTerm(c.term)], c.count)
				}
			}
			want.counts = nil
			if got.length != want.length || got.question != want.question ||
				got.number != want.number || got.when != want.when {
				t.Errorf("%q is %+v, want %+v", text, got, want)
			}
		}
	})
}
