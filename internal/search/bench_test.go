package search

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// BenchmarkRank ranks a query for words of which every fifth message has one, and for a rare word,
// in one segment in memory.
func BenchmarkRank(b *testing.B) {
	topics := []string{
		"postgres migration schema port %d table index",
		"parser lexer token line %d nil pointer panic",
		"deploy rollback release server %d traffic canary",
		"rate limit header bucket %d requests minute", "flaky timeout retry runner %d shard",
	}
	for _, n := range []int{1000, 100000, 300000} {
		r := rand.New(rand.NewPCG(1, 1))
		builder := &Builder{}
		for i := range n {
			d := Doc{ID: format.Sum(fmt.Append(nil, i)), Session: "talk", Seq: uint64(i),
				Role: "user", Text: fmt.Sprintf(topics[r.IntN(len(topics))], r.IntN(10000))}
			d.Version = d.ID
			builder.Add(d)
		}
		seg, _, err := builder.Segment()
		if err != nil {
			b.Fatal(err)
		}
		for _, q := range []struct{ name, text string }{
			{"common", "which port has the postgres schema"}, {"rare", "4711"},
		} {
			parsed, err := Parse(q.text)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprint(q.name, "/", n), func(b *testing.B) {
				for b.Loop() {
					if _, err := Rank([]Source{{Segment: seg}}, parsed,
						Options{Limit: 10}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkBuild makes a segment of 100,000 messages of 24 words, of which half are common.
func BenchmarkBuild(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	docs := make([]Doc, 100000)
	for i := range docs {
		text := ""
		for range 12 {
			text += fmt.Sprintf("%s w%d ",
				[]string{"file", "error", "test", "builds", "server", "port"}[r.IntN(6)],
				r.IntN(20000))
		}
		id := format.Sum(fmt.Append(nil, i))
		docs[i] = Doc{ID: id, Version: id, Session: "talk", Seq: uint64(i),
			Role: "user", Text: text}
	}
	for b.Loop() {
		builder := &Builder{}
		for _, d := range docs {
			builder.Add(d)
		}
		if _, _, err := builder.Segment(); err != nil {
			b.Fatal(err)
		}
	}
}
