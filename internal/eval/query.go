package eval

import (
	"context"
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
type asking struct{ sums waysKept }

func (a *asking) report(r *measured) { r.Asked = a.sums.rows() }

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
			only := *b
			only.questions = []question{q}
			if err := a.sums.add(i, ratio, ways, &only); err != nil {
				return err
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
