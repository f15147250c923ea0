package eval

import (
	"context"
	"errors"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/fixture"
	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// grow returns the tokens of all messages so far, printed in full, after a turn. whole is the
// number before the turn. After a rewind it is counted anew.
func grow(s *fixture.Store, turn [][]corpus.Message, whole int) (int, error) {
	if turn[0][0].RewindTo != nil {
		whole = 0
	}
	n := 0
	for _, m := range turn {
		n += len(m)
	}
	for i, id := range s.IDs {
		if id.IsZero() || whole > 0 && i < len(s.IDs)-n {
			continue
		}
		shown, err := s.History.Entry(id)
		if err != nil {
			return 0, err
		}
		text, err := renderText(view.Input{Tail: []view.Message{history.MessageOf(shown)}}, 0)
		if err != nil {
			return 0, err
		}
		whole += summarize.Tokens(text)
	}
	return whole, nil
}

// mostReplayed limits the messages of a conversation that are replayed by turns. Each turn renders
// twice and reads more than the one before.
const mostReplayed = 400

// turnMessages is the number of messages in a turn of a conversation without a model.
const turnMessages = 8

// mostSteps limits the messages of a conversation that are replayed one by one.
const mostSteps = 200

// stability adds up report.Stability and report.Steadiness.
type stability struct {
	runner *runner

	rows  [2]report.Stability
	count [2]alike
	steps [2]alike
}

// alike adds up how many bytes of each rendering are the beginning of the next one.
type alike struct {
	before          string
	turns           int
	kept, same, all int
}

// next adds the next rendering.
func (a *alike) next(now string) {
	if a.before != "" {
		n := common(a.before, now)
		a.turns++
		a.same += n
		a.all += len(a.before)
		a.kept += stats.One(n == len(a.before))
	}
	a.before = now
}

// shares returns the share of kept bytes, and that of renderings that were kept whole.
func (a *alike) shares() (bytes, kept stats.Milli) {
	return stats.MilliShare(a.same, a.all), stats.MilliShare(a.kept, a.turns)
}

func (p *stability) report(s *report.Set) {
	for i, c := range p.count {
		if row := p.rows[i]; c.turns > 0 {
			row.Turns = c.turns
			row.Share, row.Kept = c.shares()
			s.Stability = append(s.Stability, row)
		}
	}
	for i, c := range p.steps {
		if c.turns > 0 {
			row := report.Steadiness{Rule: stepRules[i], Messages: c.turns}
			row.Share, row.Kept = c.shares()
			s.Steadiness = append(s.Steadiness, row)
		}
	}
}

// stepRules are the names of stability.steps.
var stepRules = [2]string{"leaves", "one a message"}

// step replays a conversation message by message, once for each rule.
func (p *stability) step(ctx context.Context, b *evalCase) error {
	for i := range p.steps {
		p.steps[i].before = ""
		if err := p.stepBy(ctx, b, &p.steps[i], i == 1); err != nil {
			return err
		}
	}
	return nil
}

func (p *stability) stepBy(ctx context.Context, b *evalCase, count *alike, each bool) (err error) {
	s, err := p.runner.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if each {
		s.Config.Window.EvictAt = s.Config.Window.GraduateAt
	}
	for i := range min(len(b.Messages), mostSteps) {
		if err := s.Say(ctx, b.Messages[i:i+1],
			conversation.AppendOptions{Orphan: true}); err != nil {
			return err
		}
		now, err := s.Text(0)
		if err != nil {
			return err
		}
		count.next(now)
	}
	return nil
}

func (p *stability) add(ctx context.Context, b *evalCase) (err error) {
	if err := p.step(ctx, b); err != nil {
		return err
	}
	s, err := p.runner.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	replayed := b.Messages[:min(len(b.Messages), mostReplayed)]
	tokens := 0
	for _, m := range replayed {
		tokens += summarize.Tokens(m.Text)
	}
	budgets := [2]int{0, max(tokens/4, 1)}
	p.rows[0].Budget, p.rows[1].Budget = "none", "4x"
	for i := range p.count {
		p.count[i].before = ""
	}
	whole := 0
	for _, turn := range turns(replayed) {
		for _, m := range turn {
			if err := s.Say(ctx, m, conversation.AppendOptions{Orphan: true}); err != nil {
				return err
			}
		}
		if whole, err = grow(s, turn, whole); err != nil {
			return err
		}
		for i, budget := range budgets {
			now, err := s.Text(budget)
			if err != nil {
				return err
			}
			p.rows[i].Tokens += summarize.Tokens(now)
			p.rows[i].Whole += whole
			p.count[i].next(now)
		}
	}
	return nil
}

// turns splits a conversation into turns, and each turn into batches that are appended together. In
// a conversation with a model, a turn ends before the next prompt, and each message is a batch.
func turns(m []corpus.Message) [][][]corpus.Message {
	model := false
	for i := range m {
		model = model || m[i].Role == "model"
	}
	var out [][][]corpus.Message
	for start := 0; start < len(m); {
		end := start + 1
		for end < len(m) && m[end].RewindTo == nil &&
			(model && m[end].Role != "user" || !model && end-start < turnMessages) {
			end++
		}
		var turn [][]corpus.Message
		if model {
			for i := start; i < end; i++ {
				turn = append(turn, m[i:i+1])
			}
		} else {
			turn = append(turn, m[start:end])
		}
		out = append(out, turn)
		start = end
	}
	return out
}

// common returns the length of the common prefix of two texts.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
