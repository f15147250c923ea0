package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
)

// A batch ends after this many lines or bytes, at the end of the input, or after a pause without
// input. Then it is made durable and its ids are printed, so that a program may wait for the id of
// each message.
const (
	BatchLines = 4096
	batchBytes = 1 << 20
	batchPause = 50 * time.Millisecond
)

// Append is a bulk append in progress.
type Append struct {
	Store           *session.Store
	Session, Branch string
	Options         conversation.AppendOptions
	Now             func() time.Time
	Print           func(done conversation.Appended, line int) error // after each message
	// After each batch, once it is durable
	Flush   func() error
	Report  Report
	Batches int // how many Run has appended

	batch []Line
	size  int
}

// Run reads messages until the input ends, and appends them. All messages whose ids were printed
// are durable.
func (b *Append) Run(ctx context.Context, in io.Reader) error {
	reader := &MessageReader{Session: b.Session, Unknown: map[string]int{}}
	chunks, stop := make(chan Chunk, 2), make(chan struct{})
	defer close(stop)
	go ReadChunks(in, reader, chunks, stop)
	for {
		c, ok, err := b.wait(ctx, chunks)
		if err != nil {
			return err
		}
		if !ok {
			if err := b.flush(ctx); err != nil {
				return err
			}
			continue
		}
		if err := b.take(ctx, c.lines); err != nil {
			return err
		}
		if c.err == nil {
			continue
		}
		b.Report.unknown = reader.Unknown
		if err := b.flush(ctx); err != nil || errors.Is(c.err, io.EOF) {
			return err
		}
		return fmt.Errorf("cannot read the messages: %w", c.err)
	}
}

// wait returns the next chunk. ok is false if a started batch has waited long enough.
func (b *Append) wait(ctx context.Context, chunks <-chan Chunk) (c Chunk, ok bool, err error) {
	select {
	case c = <-chunks:
		return c, true, nil
	default:
	}
	var pause <-chan time.Time
	if len(b.batch) > 0 {
		t := time.NewTimer(batchPause)
		defer t.Stop()
		pause = t.C
	}
	select {
	case c = <-chunks:
		return c, true, nil
	case <-pause:
		return c, false, nil
	case <-ctx.Done():
		return c, false, ctx.Err()
	}
}

func (b *Append) take(ctx context.Context, lines []Line) error {
	for _, line := range lines {
		b.Report.Lines++
		if line.Skip != nil {
			b.Report.skip(line.Number, line.Skip)
			continue
		}
		if line.Partial {
			b.Report.partial++
			continue
		}
		b.batch = append(b.batch, line)
		b.size += line.Size
		if len(b.batch) >= BatchLines || b.size >= batchBytes {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush appends the batch in one operation and prints its ids.
func (b *Append) flush(ctx context.Context) error {
	lines := b.batch
	b.batch, b.size = b.batch[:0], 0
	if len(lines) == 0 {
		return nil
	}
	if err := b.append(ctx, lines); err != nil {
		return err
	}
	b.Batches++
	return b.Flush()
}

// append appends lines. If the store refuses a line, the others are appended without it.
func (b *Append) append(ctx context.Context, lines []Line) error {
	messages := make([]conversation.Message, len(lines))
	now := b.Now()
	for i, line := range lines {
		messages[i] = line.Message
		if line.Message.Time.IsZero() && !line.BadTime {
			messages[i].Time = now
		}
	}
	done, found, err := b.Store.Conversation.Append(ctx, b.Session, b.Branch, messages, b.Options)
	refused := errors.Is(err, history.ErrInput) || errors.Is(err, history.ErrStale)
	switch {
	case refused && len(lines) == 1:
		b.Report.skip(lines[0].Number, err)
		return nil
	case refused:
		half := len(lines) / 2
		if err := b.append(ctx, lines[:half]); err != nil {
			return err
		}
		return b.append(ctx, lines[half:])
	case err != nil:
		return err
	}
	b.Report.redact(found)
	for i, a := range done {
		b.Report.appended(lines[i], a)
		if err := b.Print(a, lines[i].Number); err != nil {
			return err
		}
	}
	return nil
}
