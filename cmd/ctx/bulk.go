package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gemini-ctx/ctx/session"
)

// A batch becomes durable, and its ids are printed, when it has this many lines or bytes, at the end of the input, or when nothing has come
// for the pause: a program that waits for the id of what it wrote gets it.
const (
	batchLines = 4096
	batchBytes = 1 << 20
	batchPause = 50 * time.Millisecond
)

// bulk is a bulk append in progress.
type bulk struct {
	store           *session.Store
	session, branch string
	options         session.AppendOptions
	a               *app
	report          bulkReport

	batch []jsonlLine
	size  int
}

// run reads messages until the input ends, and appends them. What was printed is on the disk to stay, whatever happens after it.
func (b *bulk) run(ctx context.Context, in io.Reader) error {
	reader := &jsonlReader{session: b.session, unknown: map[string]int{}}
	chunks, stop := make(chan lineChunk, 2), make(chan struct{})
	defer close(stop)
	go readChunks(in, reader, chunks, stop)
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
		b.report.unknown = reader.unknown
		if err := b.flush(ctx); err != nil || errors.Is(c.err, io.EOF) {
			return err
		}
		return fmt.Errorf("cannot read the messages: %w", c.err)
	}
}

// wait returns the next chunk; ok is false where a batch has waited for one long enough.
func (b *bulk) wait(ctx context.Context, chunks <-chan lineChunk) (c lineChunk, ok bool, err error) {
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

func (b *bulk) take(ctx context.Context, lines []jsonlLine) error {
	for _, line := range lines {
		b.report.lines++
		if line.skip != nil {
			b.report.skip(line.number, line.skip)
			continue
		}
		if line.partial {
			b.report.partial++
			continue
		}
		b.batch = append(b.batch, line)
		b.size += line.size
		if len(b.batch) >= batchLines || b.size >= batchBytes {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush appends the batch in one operation and prints its ids.
func (b *bulk) flush(ctx context.Context) error {
	lines := b.batch
	b.batch, b.size = b.batch[:0], 0
	if len(lines) == 0 {
		return nil
	}
	if err := b.append(ctx, lines); err != nil {
		return err
	}
	return b.a.out.Flush()
}

// append appends lines. Where the store refuses what one of them says, the others go in without it.
func (b *bulk) append(ctx context.Context, lines []jsonlLine) error {
	messages := make([]session.Message, len(lines))
	now := b.a.now()
	for i, line := range lines {
		messages[i] = line.message
		if line.message.Time.IsZero() && !line.badTime {
			messages[i].Time = now
		}
	}
	done, found, err := b.store.Append(ctx, b.session, b.branch, messages, b.options)
	refused := errors.Is(err, session.ErrInput) || errors.Is(err, session.ErrStale)
	switch {
	case refused && len(lines) == 1:
		b.report.skip(lines[0].number, err)
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
	b.report.redact(found)
	for i, a := range done {
		b.report.appended(lines[i], a)
		if err := b.print(a, lines[i].number); err != nil {
			return err
		}
	}
	return nil
}

func (b *bulk) print(done session.Appended, line int) error {
	if b.a.json {
		return b.a.printJSON(appendedDocOf(done, line))
	}
	b.a.line("%v", done.ID)
	return b.a.out.err
}
