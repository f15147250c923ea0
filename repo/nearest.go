package repo

import "strings"

// farthest is how many letters a key may be off to be taken for a known one.
const farthest = 3

// nearest returns the known key that was probably meant by key, or "". A key given without its section counts as near to it.
func nearest(key string, known []string) string {
	best, at := "", farthest+1
	for _, k := range known {
		_, name, _ := strings.Cut(k, ".")
		if d := min(distance(key, k), distance(key, name)+1); d < at {
			best, at = k, d
		}
	}
	return best
}

// distance is how many bytes have to be put in, taken out or changed to make b of a. Long strings are told apart by their length.
func distance(a, b string) int {
	if d := len(a) - len(b); d > farthest || d < -farthest {
		return farthest + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
