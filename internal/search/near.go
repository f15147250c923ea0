package search

import "slices"

// Near replaces each word that no document of an index has by one that is a slip of a key away
// behind its first letter, in small letters of English, and that some have.
func Near(sources []Source, words []string) error {
	for n, word := range words {
		list := []string{word}
		for i := 1; i < len(word) && len(word) > 3; i++ { // most short words are near others
			head, tail := word[:i], word[i:]
			list = append(list, head+tail[1:], head[:i-1]+tail[:1]+head[i-1:]+tail[1:])
			for c := 'a'; c <= 'z'; c++ {
				list = append(list, head+string(c)+tail, head+string(c)+tail[1:])
			}
		}
		c := NamesOf(list...)
		if err := c.Weigh(sources); err != nil {
			return err
		}
		if i := slices.IndexFunc(c.list, func(o clue) bool { return o.weight > 0 }); i > 0 {
			words[n] = c.list[i].text
		}
	}
	return nil
}
