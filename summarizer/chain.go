package summarizer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
)

// Member is one summariser of a chain.
type Member struct {
	Name    string
	Command []string      // not looked at for Extractive
	Timeout time.Duration // for an answer; AnswerTimeout where it is 0
}

// Config is what a chain is made of.
type Config struct {
	Context context.Context // ends the waiting in Limit, which is handed none
	Members []Member        // asked in this order
	Health  *HealthFile
	Now     func() time.Time
	Beside  string            // the directory of ctx, where programs of its own are looked for first; "" for none
	Warn    func(text string) // told of failures that no error tells of, once of each kind of each member; nil for nobody
}

// Chain asks its members in order and takes the first answer. It implements summarize.Summarizer; a failure moves the one who failed into the
// state that fits, for this process and the next. A run is a turn: who may be asked once a turn may be asked at its beginning.
type Chain struct {
	Config
	asked  []summarize.Summarizer // beside Members
	begun  bool
	last   map[string]*Failure // of this run, by member
	warned map[string]bool
}

// New returns the chain of a configuration, or nil where that is the extractive summariser alone: whoever asks has that one at hand, and with it
// more than a text. Nothing is started yet.
func New(c Config) (*Chain, error) {
	if len(c.Members) == 0 {
		return nil, errors.New("a chain of no summarisers")
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
			return nil, fmt.Errorf("summariser %q has no command", m.Name)
		}
		chain.asked = append(chain.asked, &Helper{Name: m.Name, Command: m.Command, Beside: c.Beside, Answer: m.Timeout, Context: c.Context})
	}
	return chain, nil
}

// names are the members that have a state. The extractive one has none: it is always there.
func (c *Chain) names() []string {
	var out []string
	for _, m := range c.Members {
		if m.Name != Extractive {
			out = append(out, m.Name)
		}
	}
	return out
}

// begin makes the run a turn of its own.
func (c *Chain) begin() {
	if !c.begun {
		c.begun = true
		c.note(func(h *Health) { h.ResetTurn(c.names()...) })
	}
}

// note changes what is known. That it cannot be kept is no reason not to go on: it is asked for again then.
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

// Limit is the limit of the first member that can be asked, which is started for it. One further back with less is passed over for claims that
// are too long for it.
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

// Summarize asks the members that can be asked, one after the other, until one gives a summary. Errors: *Unanswered, and that of ctx.
func (c *Chain) Summarize(ctx context.Context, ask summarize.Ask) (summarize.Told, error) {
	c.begin()
	var no Unanswered
	for i, s := range c.asked {
		if snap := c.snapshot(i); !snap.Available {
			no.Skipped = append(no.Skipped, Passed{Skip{snap.Name, snap.Why()}, c.last[c.Members[i].Name]})
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
			return summarize.Told{}, ctx.Err()
		}
		f := failureOf(c.Members[i], err)
		c.failed(f)
		no.Failures = append(no.Failures, f)
	}
	return summarize.Told{}, &no
}

// failureOf returns what a member said as a failure.
func failureOf(m Member, err error) *Failure {
	var f *Failure
	if !errors.As(err, &f) {
		f = &Failure{Name: m.Name, Kind: Garbage, Why: oneLine(err.Error(), maxWhy)}
	}
	return f
}

// failed notes the failure of a member.
func (c *Chain) failed(f *Failure) {
	c.last[f.Name] = f
	if f.Name != Extractive {
		c.note(func(h *Health) { transition(h, f.Name, f.Kind, c.Now()) })
	}
}

// tell warns of what failed where no error will: somebody else answered, or the run is over.
func (c *Chain) tell() {
	for _, m := range c.Members {
		if f := c.last[m.Name]; f != nil {
			c.warnOnce(f.Name+" "+string(f.Kind), f.Error())
		}
	}
}

// transition is the policy: what a kind of failure says about who failed. What is about one answer says nothing; what is used up or too busy is
// what a state was made for; whatever else went wrong may have been put right by the next turn, so it is asked then, and not before.
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

// Close ends the helpers. A second answer that comes to light only now is a warning: the first one was taken.
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

// Check asks one member about a claim, whatever its state, and notes how that went as a chain does. Errors: *Failure, and that of ctx.
func Check(ctx context.Context, c Config, m Member, ask summarize.Ask) (summarize.Told, error) {
	chain := &Chain{Config: c, begun: true, last: map[string]*Failure{}, warned: map[string]bool{}}
	if m.Name == Extractive {
		return extractive{}.Summarize(ctx, ask)
	}
	h := &Helper{Name: m.Name, Command: m.Command, Beside: c.Beside, Answer: m.Timeout, Context: c.Context}
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
