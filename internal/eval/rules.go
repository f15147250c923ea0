package eval

import (
	"cmp"
	"time"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

// rule puts messages into clusters without regard to their topics.
type rule struct {
	name    string
	cluster func([]corpus.Message) []int
}

// rules returns the rules that ctx is compared with.
func rules() []rule {
	return []rule{
		{"all in one", func(m []corpus.Message) []int { return make([]int, len(m)) }},
		{"all alone", allAlone}, {"same author", sameAuthor}, {"new after an hour", afterSilence},
	}
}

func allAlone(m []corpus.Message) []int {
	out := make([]int, len(m))
	for i := range out {
		out[i] = i
	}
	return out
}

// speaker returns the author of a message, or its role if it has no author.
func speaker(m corpus.Message) string {
	return cmp.Or(m.Author, "role "+m.Role)
}

func sameAuthor(m []corpus.Message) []int {
	names := map[string]int{}
	out := make([]int, len(m))
	for i := range m {
		n, ok := names[speaker(m[i])]
		if !ok {
			n = len(names)
			names[speaker(m[i])] = n
		}
		out[i] = n
	}
	return out
}

// afterSilence opens a cluster when there was no message for an hour. A message without a time is
// taken to follow the one before it at once.
func afterSilence(m []corpus.Message) []int {
	out := make([]int, len(m))
	var before time.Time
	opened := 0
	for i := range m {
		if now, ok := m[i].When(); ok {
			if !before.IsZero() && now.Sub(before) >= time.Hour {
				opened++
			}
			before = now
		}
		out[i] = opened
	}
	return out
}
