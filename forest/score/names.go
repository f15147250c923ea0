package score

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// key returns 32 bits of FNV-1a over a name or word in lower case. 0 stands for nobody and is never
// the key of a word.
func key(s string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return max(h, 1)
}

// person returns the key of an author. Suffixes that chat clients add to a name are ignored: bob_,
// bob|away.
func person(name string) uint32 {
	name = strings.ToLower(strings.TrimSpace(name))
	if front, _, _ := strings.Cut(name, "|"); front != "" {
		name = front
	}
	if short := strings.TrimRight(name, "_`^-"); len(short) > 1 {
		name = short
	}
	if name == "" {
		return 0
	}
	return key(name)
}

const (
	maxTo    = 24 // keys of possible addressees
	maxNames = 24 // other words that may be names
	minName  = 3  // bytes of the shortest name that is recognized without a mark of address
)

// address returns the keys of possible addressees of a text, the likeliest first, and the keys of
// other words that may be names. Only the authors of a conversation show which words are names, so
// addressee compares the keys with them later.
func address(text string) (to, names []uint32) {
	add := func(list []uint32, k uint32, limit int) []uint32 {
		if k == 0 || len(list) == limit || slices.Contains(list, k) {
			return list
		}
		return append(list, k)
	}
	words := strings.Fields(text[:min(len(text), 1<<10)])
	head := true
	for i, w := range words {
		if i == 40 {
			break
		}
		if strings.HasPrefix(w, "@") {
			// Text may follow a name without a space, as in languages without spaces, so every
			// prefix may be the name.
			for _, k := range beginnings(strings.ToLower(w[1:])) {
				to = add(to, k, maxTo)
			}
			continue
		}
		bare := strings.TrimRight(w, ":,;>.!?)~")
		colon := len(bare) < len(w) && strings.ContainsAny(w[len(bare):], ":,;>") ||
			i+1 < len(words) && len(words[i+1]) == 1 && strings.Contains(":,>", words[i+1])
		bare = strings.TrimLeft(bare, "(<\"'")
		switch {
		case head && colon:
			to = add(to, person(bare), maxTo)
		case len(bare) >= minName:
			names = add(names, person(bare), maxNames)
		}
		head = head && colon
	}
	return to, names
}

// beginnings returns the keys of the prefixes of s that consist of letters, digits and marks of
// names, the longest first.
func beginnings(s string) []uint32 {
	const least, most = 3, 20
	var ends []int
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.[]", r) ||
			len(ends) == most {
			break
		}
		ends = append(ends, i+utf8.RuneLen(r))
	}
	var keys []uint32
	for n := len(ends); n >= least; n-- {
		keys = append(keys, person(s[:ends[n-1]]))
	}
	return slices.Compact(keys)
}
