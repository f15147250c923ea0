package replay

import (
	"slices"
	"strings"
)

// maxAligned is the largest product of lengths that align takes.
const maxAligned = 20_000

// align returns the same as Pairs, for short lists. It also looks at lines that are similar: where
// a line was changed, its neighbours are those of the changed line, and not those of an equal line
// elsewhere. Among equally good partners it takes the first: what is added comes after what it is
// like.
func align(a, b []string) []int {
	partner := slices.Repeat([]int{-1}, len(b))
	n, k := len(a), len(b)
	wordsA, wordsB := wordsOfAll(a), wordsOfAll(b)
	gain := make([]float32, n*k)
	best := make([]float32, (n+1)*(k+1))
	for i := n - 1; i >= 0; i-- {
		for j := k - 1; j >= 0; j-- {
			g := gainOf(a[i], b[j], wordsA[i], wordsB[j])
			gain[i*k+j] = g
			best[i*(k+1)+j] = max(best[(i+1)*(k+1)+j], best[i*(k+1)+j+1], best[(i+1)*(k+1)+j+1]+g)
		}
	}
	for i, j := 0, 0; i < n && j < k; {
		at := best[i*(k+1)+j]
		switch g := gain[i*k+j]; {
		case g > 0 && at == best[(i+1)*(k+1)+j+1]+g:
			if a[i] == b[j] {
				partner[j] = i
			}
			i, j = i+1, j+1
		case at == best[i*(k+1)+j+1]:
			j++
		default:
			i++
		}
	}
	return partner
}

// gainOf says how much speaks for two lines being the same line: all of its letters if they are
// equal, a part of them if they have words in common. An equal line without letters speaks a
// little.
func gainOf(a, b string, wordsA, wordsB []string) float32 {
	if a == b {
		return 0.5 + float32(Letters(a))
	}
	if len(wordsA) == 0 || len(wordsB) == 0 {
		return 0
	}
	common := 0
	for i, j := 0, 0; i < len(wordsA) && j < len(wordsB); {
		switch c := strings.Compare(wordsA[i], wordsB[j]); {
		case c == 0:
			common, i, j = common+1, i+1, j+1
		case c < 0:
			i++
		default:
			j++
		}
	}
	like := 2 * float32(common) / float32(len(wordsA)+len(wordsB))
	if like < 0.5 {
		return 0
	}
	return like * 0.9 * float32(min(Letters(a), Letters(b)))
}

// wordsOfAll returns the words of lines, each list sorted.
func wordsOfAll(list []string) [][]string {
	out := make([][]string, len(list))
	for i, s := range list {
		out[i] = strings.FieldsFunc(s, func(r rune) bool {
			return r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') &&
				(r < 'A' || r > 'Z') && r != '_'
		})
		slices.Sort(out[i])
	}
	return out
}
