package eval

import (
	"context"
	"regexp"
	"slices"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/eval/report"
)

// lastRequests is the number of the last requests of a conversation that a rendering should have in
// full.
const lastRequests = 3

// corrects matches the words of a correction, for conversations in which corrections are not
// marked.
var corrects = regexp.MustCompile(
	`(?i)^(no|nope|wrong|actually|wait|stop)\b|\b(i meant|instead of|not what i|don't|do not|never|always|must not)\b`)

// userWords adds up report.UserWords, over conversations with a model.
type userWords struct{ rows []report.UserWords }

func (u *userWords) report(s *report.Set) { s.UserWords = u.rows }

func (u *userWords) add(_ context.Context, b *evalCase) error {
	requests, corrections := b.userWords()
	if len(requests)+len(corrections) == 0 {
		return nil
	}
	for i, ratio := range []int{4, 10} {
		if i == len(u.rows) {
			u.rows = append(u.rows, report.UserWords{Ratio: ratio})
		}
		budget := b.Budget(ratio)
		printed, err := b.Text(budget)
		if err != nil {
			return err
		}
		text, left := squeeze(printed), budget
		row := &u.rows[i]
		count := func(list []string, all, fit, kept *int) {
			for _, said := range slices.Backward(list) {
				*all++
				if cost := summarize.Tokens(said) + wordsOverhead; cost > left {
					continue
				} else {
					left -= cost
				}
				*fit++
				if holds(text, said) {
					*kept++
				}
			}
		}
		count(requests, &row.Requests, &row.RequestsFit, &row.RequestsKept)
		count(corrections, &row.Corrections, &row.CorrectionsFit, &row.CorrectionsKept)
	}
	return nil
}

// wordsOverhead is the number of tokens that a rendering may spend on the heading of a message: its
// role, time and id.
const wordsOverhead = 20

// userWords returns the last requests and all corrections of a conversation with a model, oldest
// first.
func (b *evalCase) userWords() (requests, corrections []string) {
	model, marked := false, false
	for i := range b.live {
		model = model || b.live[i].Role == "model"
		marked = marked || b.live[i].Mark != ""
	}
	if !model {
		return nil, nil
	}
	for i, text := range b.Said() {
		m := b.live[i]
		correction := marked && m.Mark == "correction" || !marked && corrects.MatchString(text)
		switch {
		case m.Role != "user" || text == "":
		case correction:
			corrections = append(corrections, text)
		case m.Mark == "request" || !marked:
			requests = append(requests, text)
		}
	}
	return requests[max(0, len(requests)-lastRequests):], corrections
}
