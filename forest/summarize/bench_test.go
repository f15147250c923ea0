package summarize

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// benchSources returns messages of 8 to 40 words, from the user and the model in turn.
func benchSources(n int) []Source {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]Source, n)
	for i := range list {
		var b strings.Builder
		for range 8 + r.IntN(33) {
			if r.IntN(2) == 0 {
				fmt.Fprintf(&b, "%s ",
					[]string{"the", "file", "error", "Test", "build", "server", "value",
						"port"}[r.IntN(8)])
			} else {
				fmt.Fprintf(&b, "w%d ", r.IntN(20000))
			}
		}
		list[i] = Source{Entry: format.ID{byte(i), byte(i >> 8)}, Seq: uint64(i),
			Role: []string{"user", "model"}[i%2], Text: b.String() + "end."}
	}
	return list
}

// A cluster of two messages, as most of a long talk are.
func BenchmarkExtractPair(b *testing.B) {
	list := benchSources(256)
	b.ReportAllocs()
	for i := range b.N {
		Extract(list[2*i%256:2*i%256+2], 400)
	}
}

// The line of the tombstone of such a cluster.
func BenchmarkLinePair(b *testing.B) {
	list := benchSources(256)
	others := &Others{}
	for i := 0; i < 128; i += 2 {
		others.Add(list[i : i+2])
	}
	b.ReportAllocs()
	for i := range b.N {
		others.Label(Topic{Said: list[2*i%256 : 2*i%256+2]})
	}
}
