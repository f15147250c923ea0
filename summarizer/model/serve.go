// Package model is what the helpers that come with ctx have in common: the helper's side of the protocol, and asking a model over HTTP.
package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gemini-ctx/ctx/summarizer"
)

// maxRequest bounds a line of ctx: no request comes near it.
const maxRequest = 256 << 20

// Error is why a model gave no summary, as ctx is told.
type Error struct {
	Kind    summarizer.Kind // quota, capacity, transient, terminal or refused
	Message string

	retry bool          // asking again may help
	after time.Duration // not before; 0 where nobody said
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Kind, e.Message) }

// Reply is a summary and who wrote it.
type Reply struct {
	Text  string
	Model string // as the provider names it
	Cut   bool   // the model stopped in the middle
}

// Ask asks a model to do what a request says. The error is an *Error; any other counts as transient.
type Ask func(ctx context.Context, r summarizer.Request) (Reply, error)

// reserve is the share of the time for an answer that is kept back, a tenth: a helper that says why it has none is better than one that is killed.
const reserve = 10

// Serve is a helper: it says what it is and answers requests, one after the other, until its input ends. Its errors are those of in and out, and a
// request that cannot be read.
func Serve(ctx context.Context, in io.Reader, out io.Writer, can summarizer.Capability, ask Ask) error {
	can.Ctx, can.V, can.PromptVersion = "summarizer", summarizer.Version, summarizer.PromptVersion
	if err := writeLine(out, can); err != nil {
		return err
	}
	lines := bufio.NewReader(in)
	for {
		line, err := readLine(lines)
		if len(bytes.TrimSpace(line)) == 0 && err == io.EOF {
			return nil
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("cannot read a request: %w", err)
		}
		var r summarizer.Request
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("cannot read a request: %w", err)
		}
		if r.V != summarizer.Version {
			return fmt.Errorf("cannot read a request: version %d of the protocol, not %d", r.V, summarizer.Version)
		}
		if err := writeLine(out, answer(ctx, r, ask)); err != nil {
			return err
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxRequest {
			return nil, fmt.Errorf("more than %d bytes", maxRequest)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func writeLine(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func answer(ctx context.Context, r summarizer.Request, ask Ask) summarizer.Answer {
	a := summarizer.Answer{V: summarizer.Version, Claim: r.Claim}
	wait := time.Duration(r.TimeoutMS) * time.Millisecond
	if wait <= 0 {
		wait = summarizer.AnswerTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, wait-wait/reserve)
	defer cancel()
	reply, err := ask(ctx, r)
	if err == nil {
		a.Text, a.Model = fit(withoutThoughts(reply.Text), r.Tokens, reply.Cut), reply.Model
		if a.Text != "" {
			return a
		}
		err = &Error{Kind: summarizer.Refused, Message: "the model wrote no text"}
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: summarizer.Transient, Message: err.Error()}
	}
	a.Error = &summarizer.AnswerError{Kind: e.Kind, Message: summarizer.Plain(e.Message)}
	return a
}
