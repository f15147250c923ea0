package repo

import "strings"

// farthest is the largest edit distance between a key and the known key that is suggested for it. A
// short key has less of it, since any other short one is near.
const farthest = 3

// Nearest returns the known key that the user probably meant by key, or "". A key without its
// section counts as near to the full key.
func Nearest(key string, known []string) string {
	best, at := "", min(max((len(key)+1)/3, 1), farthest-1)+1
	for _, k := range known {
		_, name, _ := strings.Cut(k, ".")
		d := min(distance(key, k), distance(key, name)+1)
		if len(key) > 3 && strings.HasPrefix(k, key) {
			d = 1
		}
		swapped := len(k) == len(key) && len(best) != len(key) // rather than left out
		if d < at || d == at && best != "" && swapped {
			best, at = k, d
		}
	}
	return best
}

// distance returns how many bytes to insert, delete, replace or swap to turn a into b. For strings
// of very different lengths it only compares these.
func distance(a, b string) int {
	if d := len(a) - len(b); d > farthest || d < -farthest {
		return farthest + 1
	}
	rows := [3][]int{}
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := range len(a) {
		older, old, row := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		row[0] = i + 1
		for j := range len(b) {
			change := old[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, row[j]+1, old[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}
