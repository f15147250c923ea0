package exchange

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
)

// Ahead is a transcript that a goroutine reads, decodes and cleans while others are imported. What
// it does depends on the bytes and on the patterns of the store only, so that the import is the
// same as without it.
type Ahead struct {
	// Changed is when the file was changed last; zero if that is not known. Messages at the
	// beginning of a transcript that name no time are of then.
	Changed time.Time

	ctx context.Context

	mu      sync.Mutex
	changed *sync.Cond
	waiting []aheadStep
	size    int // of waiting, in bytes
	discard bool
	ended   bool
	stats   transcript.Stats
	err     error
}

// maxAhead is how many bytes of messages wait for their import until the reading pauses.
const maxAhead = 16 << 20

// aheadStep is a step with the parts of the import that need no store.
type aheadStep struct {
	step   transcript.Step
	normal []byte               // its record, if its words tell its versions apart
	clean  conversation.Message // its words only
}

// applyTo gives the message of the step what was done ahead.
func (s *aheadStep) applyTo(m *conversation.Message) {
	if s.normal != nil {
		m.Source.Record = s.normal
	}
	m.TakeAhead(&s.clean)
}

// ReadAhead begins to read a transcript. The caller imports it with Import, or ends it with
// Close.
func ReadAhead(ctx context.Context, read transcript.Read) *Ahead {
	a := &Ahead{ctx: ctx}
	a.changed = sync.NewCond(&a.mu)
	go func() {
		stats, err := read(a.add)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.stats, a.err, a.ended = stats, err, true
		a.changed.Broadcast()
	}()
	return a
}

// stepSize is about what a step takes besides its words, in bytes.
const stepSize = 512

// errClosed ends a reading that nobody waits for.
var errClosed = errors.New("closed")

func (a *Ahead) add(st transcript.Step) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	next := aheadStep{step: st}
	m := &st.Message
	size := stepSize + 2*(len(m.Text)+len(m.Parts)) // with the words as they were cleaned
	if st.Kind == transcript.KindMessage {
		if byWords(m) {
			next.normal = adk.Normal(m)
		}
		next.clean = conversation.Message{Text: m.Text, Parts: m.Parts}
		next.clean.CleanAhead()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.size > maxAhead && !a.discard {
		a.changed.Wait()
	}
	if a.discard {
		return errClosed
	}
	if a.waiting = append(a.waiting, next); len(a.waiting) == 1 {
		a.changed.Broadcast()
	}
	a.size += size
	return nil
}

// take returns the steps that wait, and waits for the first one. There are none at the end.
func (a *Ahead) take() []aheadStep {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.waiting) == 0 && !a.ended {
		a.changed.Wait()
	}
	list := a.waiting
	a.waiting, a.size = nil, 0
	a.changed.Broadcast()
	return list
}

// skipRest reads to the end.
func (a *Ahead) skipRest() {
	for rest := a.take(); len(rest) > 0; rest = a.take() {
		clear(rest)
	}
}

// Close ends the reading, and returns after its goroutine does not read any more.
func (a *Ahead) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.discard = true
	a.changed.Broadcast()
	for !a.ended {
		a.changed.Wait()
	}
	a.waiting = nil
}

// readAhead imports the steps. After an error of the transcript it reads on to the end, so that the
// report counts the same in every run.
func (im *transcriptImporter) readAhead(a *Ahead) (transcript.Stats, error) {
	defer a.Close()
	for {
		list := a.take()
		if len(list) == 0 {
			return a.stats, a.err
		}
		for i := range list {
			next := list[i]
			list[i] = aheadStep{} // its words go when they are written
			im.ahead = &next
			err := im.step(next.step)
			im.ahead = nil
			if err == nil {
				continue
			}
			if errors.Is(err, history.ErrInput) {
				a.skipRest()
			}
			a.Close()
			return a.stats, err
		}
	}
}
