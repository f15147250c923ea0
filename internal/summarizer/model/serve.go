// Package model holds what the helpers that come with ctx share: the helper's side of the protocol
// of docs/summarizers.md, a client that asks a model over HTTP, and a Runner that asks an installed
// agent: once for each request in the agent's print mode, without tools and in an empty directory.
// The table in agents.go has the differences between agents. Begin with Program, Serve, Client and
// Runner.Ask.
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

	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// maxRequest is the largest number of bytes of a request line, far above any real request.
const maxRequest = 256 << 20

// Error is the reason why a model gave no summary, in the form that ctx is told.
type Error struct {
	Kind    summarizer.Kind // quota, capacity, transient, terminal or refused
	Message string

	retry bool          // asking again may help
	after time.Duration // the earliest time for that; 0 if unknown
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Kind, e.Message) }

// Reply is a summary and the model that wrote it.
type Reply struct {
	Text  string
	Model string // the provider's name of the model
	Cut   bool   // the text ends in the middle
}

// Ask asks a model to answer a request. Its error is an *Error; any other error counts as
// transient.
type AnswerFunc func(ctx context.Context, r summarizer.WireRequest) (Reply, error)

// reserve is the divisor of the time for an answer that is kept in reserve: a helper that reports
// an error is better than one that is killed.
const reserve = 10

// Serve runs a helper: it writes the capability and answers requests in order, until the input
// ends. It returns errors of in and out, and an error for a request that cannot be decoded.
func Serve(
	ctx context.Context, in io.Reader, out io.Writer, can summarizer.Capability, ask AnswerFunc,
) error {
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
		var r summarizer.WireRequest
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("cannot read a request: %w", err)
		}
		if r.V != summarizer.Version {
			return fmt.Errorf("cannot read a request: version %d of the protocol, not %d", r.V,
				summarizer.Version)
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

func answer(ctx context.Context, r summarizer.WireRequest, ask AnswerFunc) summarizer.WireAnswer {
	a := summarizer.WireAnswer{V: summarizer.Version, Claim: r.Claim}
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
