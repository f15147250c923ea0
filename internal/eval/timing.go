package eval

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/fixture"
	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// timedMessages limits the messages of a set that are appended.
const timedMessages = 1000

// timing measures an append, a graduation and a rendering for each of the first messages of a set.
func (u *runner) timing(
	ctx context.Context, set sets.Set, now func() time.Time,
) (list []report.Timing, err error) {
	s, err := u.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var took [3][]time.Duration
	for _, m := range set.Messages[:min(len(set.Messages), timedMessages)] {
		m.RewindTo = nil
		steps := []func() error{
			func() error {
				return s.Say(ctx, []corpus.Message{m},
					conversation.AppendOptions{Orphan: true, NoGraduation: true})
			},
			func() error {
				_, err := s.Conversation.Graduate(ctx, fixture.Talk, history.MainBranch)
				return err
			},
			func() error { _, err := s.Render(fixture.Talk, "", view.Options{}); return err },
		}
		for i, step := range steps {
			start := now()
			if err := step(); err != nil {
				return nil, err
			}
			took[i] = append(took[i], now().Sub(start))
		}
	}
	for i, verb := range []string{"append", "graduate", "render"} {
		slices.Sort(took[i])
		n := len(took[i])
		if n == 0 {
			continue
		}
		list = append(list, report.Timing{
			Verb: verb, N: n, P50: millis(took[i][n/2]), P95: millis(took[i][min(n-1, n*95/100)]),
		})
	}
	return list, nil
}

// millis returns a duration in milliseconds, to the microsecond.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
