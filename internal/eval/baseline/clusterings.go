// Package baseline has the simpler rules that ctx is compared with: clusterings that need no
// labels, the compaction that came before ctx, and BM25.
package baseline

import (
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

// Clustering is a rule that puts messages into clusters without regard to their topics.
type Clustering struct {
	Name    string
	Cluster func([]corpus.Message) []int
}

func Clusterings() []Clustering {
	return []Clustering{
		{"all in one", func(m []corpus.Message) []int { return make([]int, len(m)) }},
		{"all alone", func(m []corpus.Message) []int { return blocks(m, 1) }},
		{"same author", sameAuthor},
		{"same author or addressee", authorOrAddressee},
		{"new after an hour", afterSilence},
		{"blocks of 250", func(m []corpus.Message) []int { return blocks(m, 250) }},
		{"seed", seedClusters},
	}
}

// blocks puts each size messages in a row into a cluster.
func blocks(m []corpus.Message, size int) []int {
	out := make([]int, len(m))
	for i := range out {
		out[i] = i / size
	}
	return out
}

// speaker returns the author of a message, or its role if it has no author.
func speaker(m corpus.Message) string {
	if m.Author != "" {
		return m.Author
	}
	return "role " + m.Role
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

// authorOrAddressee puts a message into the cluster of the addressee's newest message. If there is
// none, it takes that of the author's newest message, and otherwise opens a cluster.
func authorOrAddressee(m []corpus.Message) []int {
	last := map[string]int{} // by lower-case author: the cluster of the newest message
	out := make([]int, len(m))
	opened := 0
	for i := range m {
		self := strings.ToLower(speaker(m[i]))
		at, ok := last[addressee(m[i].Text)]
		if !ok {
			at, ok = last[self]
		}
		if !ok {
			at = opened
			opened++
		}
		out[i], last[self] = at, at
	}
	return out
}

// addressee returns the name, in lower case, at the start of a text that begins with "name:",
// "name," or "@name". It returns "" if there is none.
func addressee(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, at := strings.CutPrefix(word, "@")
	trimmed := strings.TrimRight(name, ":,")
	if !at && trimmed == name {
		return ""
	}
	return strings.ToLower(trimmed)
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
