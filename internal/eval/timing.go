package eval

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// Timing is how long the verbs took in this process, a message at a time. It is another one in
// every run, and so is never part of a report unless it is asked for.
type Timing struct {
	Verb string  `json:"verb"`
	N    int     `json:"n"`
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
}

// timedMessages is how many messages of a set are appended for it at most.
const timedMessages = 1000

// timing appends the first messages of a set one by one, graduates after each, and renders after
// each.
func (l *lab) timing(ctx context.Context, set Set, now func() time.Time) (list []Timing, err error) {
	s, err := l.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	var took [3][]time.Duration
	for _, m := range set.Messages[:min(len(set.Messages), timedMessages)] {
		m.RewindTo = nil
		steps := []func() error{
			func() error {
				return s.say(ctx, []corpus.Message{m}, conversation.AppendOptions{Orphan: true, NoGraduation: true})
			},
			func() error { _, err := s.Conversation.Graduate(ctx, talk, history.MainBranch); return err },
			func() error { _, err := s.render(view.Options{}); return err },
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
		list = append(list, Timing{verb, n, millis(took[i][n/2]), millis(took[i][min(n-1, n*95/100)])})
	}
	return list, nil
}

// millis is a duration in milliseconds, to the microsecond.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
