package eval

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// The ways to shorten a conversation for one question, with the same budget. Only the answer to
// that question is looked for in the result.
const (
	wayAsked    = "union-find --query"
	wayBlind    = "union-find"
	wayMessages = "BM25 messages" // whole messages by their rank, as many as fit, without headings
)

// asking adds up Retention for these ways. The first way is the one that knows the question.
type asking struct {
	sums [][]*retained // by ratio, way
}

func (a *asking) report(r *measured) {
	for _, ways := range a.sums {
		for _, one := range ways {
			r.Asked = append(r.Asked, one.result(ways[0]))
		}
	}
}

func (a *asking) add(ctx context.Context, b *evalCase) error {
	if len(b.questions) == 0 {
		return nil
	}
	index := newBM25(b.Said())
	for i, ratio := range []int{4, 10} {
		blind, err := b.Text(b.Budget(ratio))
		if err != nil {
			return err
		}
		for _, q := range b.questions {
			if err := ctx.Err(); err != nil {
				return err
			}
			ways := []rendering{
				{wayAsked, func(budget int) (string, error) { return b.TextFor(q.Query, budget) }},
				{wayBlind, func(int) (string, error) { return blind, nil }},
				{wayMessages,
					func(budget int) (string, error) {
						return b.messagesBy(index, q.Query, budget), nil
					}},
			}
			if i == len(a.sums) {
				a.sums = append(a.sums, newRetained(ways, ratio))
			}
			only := *b
			only.questions = []question{q}
			for j, w := range ways {
				if err := a.sums[i][j].add(&only, w, b.Budget(ratio)); err != nil {
					return fmt.Errorf("%s at %dx: %w", w.name, ratio, err)
				}
			}
		}
	}
	return nil
}

// messagesBy returns the messages that an index ranks first, in the order of the conversation. It
// leaves out each message that no longer fits into the budget.
func (b *evalCase) messagesBy(index *bm25, query string, budget int) string {
	said := b.Said()
	room := 4 * budget
	var chosen []int
	for _, i := range index.rank(query) {
		if cost := quarters(said[i] + "\n"); cost <= room {
			room -= cost
			chosen = append(chosen, i)
		}
	}
	slices.Sort(chosen)
	var out strings.Builder
	for _, i := range chosen {
		out.WriteString(said[i] + "\n")
	}
	return out.String()
}
