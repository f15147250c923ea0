package summarizer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
)

// How long a helper is waited for, where nothing else is set.
const (
	StartTimeout  = 10 * time.Second  // to its first line
	AnswerTimeout = 120 * time.Second // to an answer, from when it was asked
)

// Helper is a program that answers claims. It is started when it is first needed and then asked again and again; Close ends it. It is used from
// one goroutine at a time, and implements summarize.Summarizer.
type Helper struct {
	Name    string        // as the user calls it
	Command []string      // the program and its arguments
	Beside  string        // the directory of ctx, where programs of its own are looked for first; "" for none
	Start   time.Duration // StartTimeout where it is 0
	Answer  time.Duration // AnswerTimeout where it is 0

	// Context kills the helper when it is done, whatever the helper is asked at that time; nil for never.
	Context context.Context

	running  *process // nil where none is
	can      Capability
	answered map[string]bool // by what is running
}

// Limit returns the most tokens that the inputs of one Ask may have. The helper is started for it; where that fails, any Ask will tell why.
func (h *Helper) Limit() int {
	if h.ready(context.Background()) != nil {
		return mostInput
	}
	return h.can.MaxInputTokens
}

// Summarize asks the helper. The text of what it returns is clean, within ask.Tokens and shorter than the inputs. Errors: *Failure, and that of
// ctx. After a failure that is not about this answer alone, and when ctx is done, the helper and its children have been killed; the next call
// starts it anew.
func (h *Helper) Summarize(ctx context.Context, ask summarize.Ask) (summarize.Told, error) {
	if err := h.ready(ctx); err != nil {
		return summarize.Told{}, err
	}
	if n := sourceTokens(ask); n > h.can.MaxInputTokens {
		return summarize.Told{}, h.fail(&Failure{Kind: TooLong, Why: fmt.Sprintf("inputs have %d tokens, it takes %d", n, h.can.MaxInputTokens)})
	}
	if h.answered[ask.Claim.String()] {
		// Asked once more: a late second answer to the first time could not be told from the answer to this one.
		h.kill()
		if err := h.ready(ctx); err != nil {
			return summarize.Told{}, err
		}
	}
	answer, err := h.ask(ctx, ask)
	if err != nil {
		return summarize.Told{}, err
	}
	text, f := Clean(ask, answer.Text)
	if f != nil {
		return summarize.Told{}, h.fail(f)
	}
	told := summarize.Told{Text: text, Summarizer: h.Name, Version: versionOf(h.can, answer.Model)}
	if h.can.PromptVersion == "" || h.can.PromptVersion == PromptVersion {
		told.Prompt = PromptID()
	}
	return told, nil
}

// ready has the helper running, with its first line read.
func (h *Helper) ready(ctx context.Context) error {
	if h.running != nil {
		return nil
	}
	if len(h.Command) == 0 {
		return h.fail(&Failure{Kind: Missing, Why: "no program is set for it"})
	}
	path, err := find(h.Command[0], h.Beside)
	if err == nil {
		h.running, err = launch(h.Context, path, h.Command[1:])
	}
	if err != nil {
		return h.fail(&Failure{Kind: Missing, Why: oneLine(err.Error(), maxWhy)})
	}
	h.answered = map[string]bool{}
	first, err := h.next(ctx, orDefault(h.Start, StartTimeout), Silent)
	if err != nil {
		return err
	}
	can, f := decodeCapability(first.text)
	if f != nil {
		return h.fail(f)
	}
	if len(first.waiting) > 0 {
		return h.fail(&Failure{Kind: Garbage, Why: "wrote more than its first line before it was asked: " + quoted(first.waiting)})
	}
	h.can = can
	return nil
}

// ask sends one request and reads the answer to it. An error that the helper tells of is a *Failure.
func (h *Helper) ask(ctx context.Context, ask summarize.Ask) (Answer, error) {
	timeout := orDefault(h.Answer, AnswerTimeout)
	b, err := encodeLine(requestOf(ask, timeout))
	if err != nil {
		return Answer{}, fmt.Errorf("cannot write the request: %w", err)
	}
	h.running.send(b)
	l, err := h.next(ctx, timeout, Slow)
	if err != nil {
		return Answer{}, err
	}
	claim := ask.Claim.String()
	answer, f := decodeAnswer(l.text, claim, h.answered)
	if f == nil || f.Kind.ofAnswer() {
		h.answered[claim] = true
		if more := h.unasked(l.waiting); more != nil {
			f = more
		}
	}
	if f != nil {
		return Answer{}, h.fail(f)
	}
	return answer, nil
}

// unasked says what is wrong with lines that came right behind an answer.
func (h *Helper) unasked(waiting []byte) *Failure {
	if len(waiting) == 0 {
		return nil
	}
	first, _, _ := strings.Cut(string(waiting), "\n")
	_, f := decodeAnswer([]byte(first), "", h.answered)
	return f
}

// next returns the helper's next line. late is the kind of the failure where none comes in time.
func (h *Helper) next(ctx context.Context, timeout time.Duration, late Kind) (line, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case l, ok := <-h.running.lines:
		switch {
		case !ok:
			return line{}, h.gone(late)
		case errors.Is(l.err, errOversized):
			return line{}, h.fail(&Failure{Kind: Oversized, Why: fmt.Sprintf("wrote a line of more than %d bytes", MaxLine)})
		case l.err != nil:
			return line{}, h.fail(&Failure{Kind: Crashed, Why: oneLine(l.err.Error(), maxWhy)})
		}
		return l, nil
	case <-timer.C:
		said := h.running.stderr.told()
		return line{}, h.fail(&Failure{Kind: late, Why: fmt.Sprintf("said nothing for %v%s", timeout, said)})
	case <-ctx.Done():
		h.kill()
		return line{}, ctx.Err()
	}
}

// gone is the failure of a helper whose output ended. One that said nothing at all and ended well is silent, not crashed.
func (h *Helper) gone(late Kind) error {
	p := h.running
	h.running = nil
	err := p.stop(grace)
	kind := Crashed
	if late == Silent && err == nil {
		kind = Silent
	}
	return h.fail(&Failure{Kind: kind, Why: p.ending(err)})
}

// fail puts the name to a failure, and kills the helper unless it can be asked again.
func (h *Helper) fail(f *Failure) error {
	f.Name = h.Name
	if !f.Kind.ofAnswer() {
		h.kill()
	}
	return f
}

func (h *Helper) kill() {
	if h.running != nil {
		_ = h.running.stop(0)
		h.running = nil
	}
}

// Close ends the helper: its input ends, and what runs after a short while is killed. Lines that it writes now were not asked for; the first one
// is returned as a *Failure.
func (h *Helper) Close() error {
	p := h.running
	if p == nil {
		return nil
	}
	h.running = nil
	_ = p.stdin.Close()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	var f *Failure
	select {
	case l, ok := <-p.lines:
		if ok && l.err == nil {
			_, f = decodeAnswer(l.text, "", h.answered)
		}
	case <-timer.C:
	}
	_ = p.stop(grace)
	if f != nil {
		f.Name = h.Name
		return f
	}
	return nil
}

func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}
