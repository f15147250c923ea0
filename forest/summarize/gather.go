package summarize

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// candidate is a sentence that may be chosen.
type candidate struct {
	piece
	src, pos int   // index of the source, and of the sentence in it
	at       int   // index in the list that it is from; only in a Pool
	weight   int64 // in that list
	entry    format.ID
	seq      uint64
	role     string
}

// gather returns the sentences of src in order. Of equal texts only the last one stays. Of more
// than maxSentences sentences, the first and the last half stay.
func gather(src []Source) []candidate {
	agent := withModel(src)
	var head, tail []candidate
	i, j := 0, len(src)
	for ; i < j && len(head) < maxSentences/2; i++ {
		head = appendSentences(head, src, i, agent)
	}
	for ; j > i && len(tail) < maxSentences/2; j-- {
		last := appendSentences(nil, src, j-1, agent)
		slices.Reverse(last)
		tail = append(tail, last...)
	}
	slices.Reverse(tail)
	if over := len(tail) - maxSentences/2; over > 0 {
		tail = tail[over:]
	}
	if over := len(head) - maxSentences/2; over > 0 && len(head)+len(tail) > maxSentences {
		head = slices.Delete(head, maxSentences/2, len(head))
	}
	return once(append(head, tail...))
}

// withModel reports whether a model takes part. If so, the user's words define the work, and none
// of them are removed.
func withModel(src []Source) bool {
	return slices.ContainsFunc(src,
		func(s Source) bool { return s.Role == "model" || s.Role == "tool" })
}

func appendSentences(list []candidate, src []Source, i int, agent bool) []candidate {
	s := &src[i]
	var pieces []piece
	if agent && s.Role == "user" {
		pieces = spoken(s.Text)
	} else {
		pieces = split(s.Text, s.Role == "tool")
	}
	for pos, p := range pieces {
		list = append(list,
			candidate{piece: p, src: i, pos: pos, entry: s.Entry, seq: s.Seq, role: s.Role})
	}
	return list
}

// once removes candidates whose text occurs again later.
func once(list []candidate) []candidate {
	last := make(map[string]int, len(list))
	for i := range list {
		last[list[i].text] = i
	}
	kept := list[:0]
	for i := range list {
		if last[list[i].text] == i {
			kept = append(kept, list[i])
		}
	}
	return kept
}
