package summarizer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// Member is one summarizer of a chain.
type Member struct {
	Name    string
	Command []string      // ignored for Extractive
	Timeout time.Duration // for an answer; 0 means AnswerTimeout
}

// Config is the configuration of a chain.
type Config struct {
	Context context.Context // ends the waiting in Limit, which has no context of its own
	Members []Member        // asked in this order
	Health  *HealthFile
	Now     func() time.Time
	Beside  string // the directory of ctx, where its own helpers are searched first; "" for none
	// Warn is called for failures that no error reports, once for each kind of each member. It may
	// be nil.
	Warn func(text string)
}

// Chain asks its members in order and takes the first answer. It implements summarize.Summarizer. A
// failure marks the member in Health, for this process and the next. A run of ctx is a turn: a
// member that may be asked once a turn may be asked at its beginning.
type Chain struct {
	Config
	asked  []summarize.Summarizer // one for each of Members
	begun  bool
	last   map[string]*Failure // of this run, by member
	warned map[string]bool
}

// New returns the chain of a configuration. It returns nil if the only member is the extractive
// summarizer, which callers use directly because that gives them a ranked list instead of a text.
// New starts no program.
func New(c Config) (*Chain, error) {
	if len(c.Members) == 0 {
		return nil, errors.New("the chain has no summarizer")
	}
	if len(c.Members) == 1 && c.Members[0].Name == Extractive {
		return nil, nil
	}
	chain := &Chain{Config: c, last: map[string]*Failure{}, warned: map[string]bool{}}
	for _, m := range c.Members {
		if m.Name == Extractive {
			chain.asked = append(chain.asked, extractive{})
			continue
		}
		if len(m.Command) == 0 {
			return nil, fmt.Errorf("summarizer %q has no command", m.Name)
		}
		chain.asked = append(chain.asked, c.helper(m))
	}
	return chain, nil
}

func (c *Config) helper(m Member) *Helper {
	return &Helper{Name: m.Name, Command: m.Command, Beside: c.Beside, Answer: m.Timeout,
		Context: c.Context}
}

// names returns the members that have a health. The extractive summarizer has none, because it is
// always available.
func (c *Chain) names() []string {
	var out []string
	for _, m := range c.Members {
		if m.Name != Extractive {
			out = append(out, m.Name)
		}
	}
	return out
}

// begin begins a turn at the first use of the chain.
func (c *Chain) begin() {
	if !c.begun {
		c.begun = true
		c.note(func(h *Health) { h.ResetTurn(c.names()...) })
	}
}

// note changes the health file. If that fails, it warns and goes on: the worst effect is that a
// member is asked once too often.
func (c *Chain) note(change func(*Health)) {
	if err := c.Health.Update(change); err != nil {
		c.warnOnce("health", err.Error())
	}
}

func (c *Chain) warnOnce(key, text string) {
	if c.Warn != nil && !c.warned[key] {
		c.warned[key] = true
		c.Warn(text)
	}
}

// snapshot says whether a member can be asked now.
func (c *Chain) snapshot(i int) Snapshot {
	if c.Members[i].Name == Extractive {
		return Snapshot{Name: Extractive, Mark: Mark{State: StateHealthy}, Available: true}
	}
	return c.Health.Load().Snapshot(c.Members[i].Name, c.Now())
}

// Limit returns the limit of the first member that can be asked, and starts that member to learn
// it. A later member with a smaller limit is skipped for claims that are too long for it.
func (c *Chain) Limit() int {
	c.begin()
	for i, s := range c.asked {
		if !c.snapshot(i).Available {
			continue
		}
		h, ok := s.(*Helper)
		if !ok {
			return s.Limit()
		}
		err := h.ready(c.Context)
		if err == nil {
			return h.can.MaxInputTokens
		}
		if c.Context.Err() != nil {
			break
		}
		c.failed(failureOf(c.Members[i], err))
	}
	return math.MaxInt32
}

// Summarize asks the available members in order, until one gives a summary. Errors: *Unanswered,
// and the error of ctx.
func (c *Chain) Summarize(ctx context.Context, ask summarize.Request) (summarize.Response, error) {
	c.begin()
	var no Unanswered
	for i, s := range c.asked {
		if snap := c.snapshot(i); !snap.Available {
			no.Skipped = append(no.Skipped,
				Passed{Skip{snap.Name, snap.Why()}, c.last[c.Members[i].Name]})
			continue
		}
		told, err := s.Summarize(ctx, ask)
		if err == nil {
			c.note(func(h *Health) { h.MarkHealthy(c.Members[i].Name) })
			delete(c.last, c.Members[i].Name)
			c.tell()
			return told, nil
		}
		if ctx.Err() != nil {
			return summarize.Response{}, ctx.Err()
		}
		f := failureOf(c.Members[i], err)
		c.failed(f)
		no.Failures = append(no.Failures, f)
	}
	return summarize.Response{}, &no
}

// failureOf returns the error of a member as a *Failure.
func failureOf(m Member, err error) *Failure {
	var f *Failure
	if !errors.As(err, &f) {
		f = &Failure{Name: m.Name, Kind: Garbage, Why: Plain(err.Error())}
	}
	return f
}

// failed records the failure of a member.
func (c *Chain) failed(f *Failure) {
	c.last[f.Name] = f
	if f.Name != Extractive {
		c.note(func(h *Health) { transition(h, f.Name, f.Kind, c.Now()) })
	}
}

// tell warns of the failures of this run that no error reports, because another member answered or
// the run is over.
func (c *Chain) tell() {
	for _, m := range c.Members {
		if f := c.last[m.Name]; f != nil {
			c.warnOnce(f.Name+" "+string(f.Kind), f.Error())
		}
	}
}

// transition is the policy for failures. A failure of one answer does not change the health. A lack
// of quota or capacity has its own state. After any other failure the member may work again in the
// next turn, so it is asked then, and not before.
func transition(h *Health, name string, kind Kind, now time.Time) {
	switch {
	case kind == Quota:
		h.MarkTerminal(name, ReasonQuota, now)
	case kind == Capacity:
		h.MarkTerminal(name, ReasonCapacity, now)
	case !kind.ofAnswer():
		h.MarkRetryOncePerTurn(name, 1, now)
		h.Consume(name)
	}
}

// Close ends the helpers. A second answer to a claim that only shows up now is a warning, because
// the first one was accepted.
func (c *Chain) Close() error {
	for _, s := range slices.Backward(c.asked) {
		h, ok := s.(*Helper)
		if !ok {
			continue
		}
		if err := h.Close(); err != nil {
			f := failureOf(Member{Name: h.Name}, err)
			c.failed(f)
			c.warnOnce(f.Name+" "+string(f.Kind), f.Error())
		}
	}
	return nil
}

// Check asks one member about a claim, whatever its health, and records the result as a chain does.
// Errors: *Failure, and the error of ctx.
func Check(
	ctx context.Context, c Config, m Member, ask summarize.Request,
) (summarize.Response, error) {
	chain := &Chain{Config: c, begun: true, last: map[string]*Failure{}, warned: map[string]bool{}}
	if m.Name == Extractive {
		return extractive{}.Summarize(ctx, ask)
	}
	h := c.helper(m)
	told, err := h.Summarize(ctx, ask)
	if after := h.Close(); err == nil {
		err = after
	}
	switch {
	case err == nil:
		chain.note(func(h *Health) { h.MarkHealthy(m.Name) })
	case ctx.Err() == nil:
		chain.failed(failureOf(m, err))
	}
	return told, err
}

// Extractive is the name of the built-in summarizer, which picks sentences without a model or a
// program.
const Extractive = "extractive"

// extractiveVersion is the version of summarize.Extract in a chain, which returns a text in reading
// order; outside of a chain it returns a ranked list.
const extractiveVersion = "1+text"

// extractive answers claims with sentences of their inputs. It treats an earlier summary like any
// other input.
type extractive struct{}

func (extractive) Limit() int { return math.MaxInt32 }

func (extractive) Summarize(
	ctx context.Context, ask summarize.Request,
) (summarize.Response, error) {
	if err := ctx.Err(); err != nil {
		return summarize.Response{}, err
	}
	src := make([]summarize.Source, len(ask.Inputs))
	for i, p := range ask.Inputs {
		src[i] = summarize.Source{Entry: p.ID, Seq: uint64(i), Role: p.Role,
			Author: p.Author, Text: p.Text}
	}
	// The answer must be shorter than its source.
	list := summarize.ExtractOn(src, min(ask.Tokens, sourceTokens(ask)-1), ask.Focus)
	lines := lists.Map(summarize.Order(list), func(s summarize.Sentence) string { return s.Text })
	text, f := Clean(ask, strings.Join(lines, "\n"))
	if f != nil {
		f.Name = Extractive
		return summarize.Response{}, f
	}
	return summarize.Response{Text: text, Summarizer: Extractive, Version: extractiveVersion}, nil
}
