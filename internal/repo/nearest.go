package repo

import "strings"

// farthest is the largest edit distance between a key and the known key that is suggested for it. A
// short key has less of it, since any other short one is near.
const farthest = 3

// Nearest returns the known key that the user probably meant by key, or "". A key without its
// section counts as near to the full key.
func Nearest(key string, known []string) string {
	best, at := "", min(len(key)/3, farthest-1)+2
	if len(key) < 4 {
		at = 2
	}
	for _, k := range known {
		_, name, _ := strings.Cut(k, ".")
		if d := min(distance(key, k), distance(key, name)+1); d < at {
			best, at = k, d
		}
	}
	return best
}

// distance returns how many bytes to insert, delete or replace to turn a into b. For long strings
// it only compares the lengths.
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
