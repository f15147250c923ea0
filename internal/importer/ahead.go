package importer

import (
	"context"
	"errors"
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

	ctx   context.Context // ends with Close
	close context.CancelFunc
	steps chan []aheadStep // closed when stats and err are set
	batch []aheadStep
	size  int // of batch, in bytes
	stats transcript.Stats
	err   error
}

// A batch of steps has about aheadBatch bytes, and aheadBatches of them wait for their import until
// the reading pauses.
const (
	aheadBatch   = 1 << 20
	aheadBatches = 16
)

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
	a := &Ahead{steps: make(chan []aheadStep, aheadBatches)}
	a.ctx, a.close = context.WithCancel(ctx)
	go func() {
		defer close(a.steps)
		var secrets conversation.Printed
		a.stats, a.err = read(func(st transcript.Step) error {
			see(&secrets, &st.Message)
			return a.add(st)
		})
		if err := a.send(); a.err == nil {
			a.err = err
		}
	}()
	return a
}

// stepSize is about what a step takes besides its words, in bytes.
const stepSize = 512

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
		next.clean = conversation.Message{Text: m.Text, Parts: m.Parts, Secrets: m.Secrets}
		next.clean.CleanAhead()
	}
	a.batch = append(a.batch, next)
	if a.size += size; a.size < aheadBatch {
		return nil
	}
	return a.send()
}

// send hands the steps of the batch over.
func (a *Ahead) send() error {
	if len(a.batch) == 0 {
		return nil
	}
	select {
	case a.steps <- a.batch:
		a.batch, a.size = nil, 0
		return nil
	case <-a.ctx.Done():
		return a.ctx.Err()
	}
}

// skipRest reads to the end.
func (a *Ahead) skipRest() {
	for range a.steps {
	}
}

// Close ends the reading, and returns after its goroutine does not read any more.
func (a *Ahead) Close() {
	a.close()
	a.skipRest()
}

// readAhead imports the steps. After an error of the transcript it reads on to the end, so that the
// report counts the same in every run.
func (im *transcriptImporter) readAhead(a *Ahead) (transcript.Stats, error) {
	defer a.Close()
	for list := range a.steps {
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
	return a.stats, a.err
}
