package eval

import (
	"context"
	"slices"

	"github.com/gemini-ctx/ctx/forest/summarize"
)

// UserWords says which of the user's own words stand in a rendering, word for word.
type UserWords struct {
	Ratio int `json:"ratio"`
	// The last requests of every conversation.
	Requests     int `json:"requests"`
	RequestsFit  int `json:"requests_fit"`  // those that the budget holds, the newest first
	RequestsKept int `json:"requests_kept"` // of those that fit
	// Every correction.
	Corrections     int `json:"corrections"`
	CorrectionsFit  int `json:"corrections_fit"`
	CorrectionsKept int `json:"corrections_kept"`
}

// lastRequests is how many of the user's last requests have to stay as they were said.
const lastRequests = 3

// corrects finds the words with which people put something right, for conversations in which nobody
// has marked them.
var corrects = lazily(`(?i)^(no|nope|wrong|actually|wait|stop)\b|\b(i meant|instead of|not what i|don't|do not|never|always|must not)\b`)

// userWords is the gauge of them, in conversations with a model.
type userWords struct{ rows []UserWords }

func (u *userWords) report(s *SetReport) { s.UserWords = u.rows }

func (u *userWords) add(_ context.Context, b *bench) error {
	requests, corrections := b.userWords()
	if len(requests)+len(corrections) == 0 {
		return nil
	}
	for i, ratio := range []int{4, 10} {
		if i == len(u.rows) {
			u.rows = append(u.rows, UserWords{Ratio: ratio})
		}
		budget := b.budget(ratio)
		printed, err := b.text(budget)
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

// wordsOverhead is what a rendering may spend on a message besides its words: a heading with role,
// time and id.
const wordsOverhead = 20

// userWords returns the last requests of a conversation with a model, and all corrections, oldest
// first.
func (b *bench) userWords() (requests, corrections []string) {
	model, marked := false, false
	for i := range b.live {
		model = model || b.live[i].Role == "model"
		marked = marked || b.live[i].Mark != ""
	}
	if !model {
		return nil, nil
	}
	for i, text := range b.said() {
		m := b.live[i]
		correction := marked && m.Mark == "correction" || !marked && corrects().MatchString(text)
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
