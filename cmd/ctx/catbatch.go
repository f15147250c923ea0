package main

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// maxRev is the maximum bytes of an input line: the longest ref name and some steps.
const maxRev = 4096

// catBatch answers the revisions on standard input one by one, since a program may wait for each
// answer. It continues after a corrupt object; the exit code reports the first one.
func catBatch(a *app, whole bool) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(a.stdin, maxRev)
	b := &batch{app: a, s: s, whole: whole}
	for {
		rev, err := readRev(in, a.nul)
		if errors.Is(err, io.EOF) {
			return b.fault
		}
		if err != nil {
			return err
		}
		if err := b.answer(rev); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := a.out.Flush(); err != nil {
				return err
			}
		}
	}
}

// readRev returns the next line without its end, and io.EOF after the last one.
func readRev(in *bufio.Reader, nul bool) (string, error) {
	end := byte('\n')
	if nul {
		end = 0
	}
	line, err := in.ReadSlice(end)
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", usagef("a line of the input has more than %d bytes", maxRev)
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	rev := strings.TrimSuffix(string(line), string(end))
	if !nul {
		rev = strings.TrimSuffix(rev, "\r")
	}
	return rev, err
}

type batch struct {
	*app
	s     *session.Store
	whole bool
	fault error
}

func (b *batch) answer(rev string) error {
	// The refs may have moved since the last answer.
	view, err := b.s.Refs.Read()
	if err != nil {
		return err
	}
	c, err := b.find(view, rev)
	var gone *objects.GoneError
	var ambiguous *clusters.AmbiguousError
	switch {
	case errors.As(err, &ambiguous):
		b.none(rev, "ambiguous")
	case clusters.IsMissing(err):
		b.none(rev, "missing")
	case errors.As(err, &gone):
		b.none(rev, "gone")
	case command.IsCorrupt(err):
		b.none(rev, "corrupt")
		if b.fault == nil {
			b.fault = err
		}
	case err != nil:
		return err
	case b.json:
		return b.app.answer(c.doc())
	default:
		b.printf("%v %s %d\n", c.id, c.kind, len(c.bytes))
		if b.whole {
			_, _ = b.out.Write(c.bytes) // output keeps its error
			b.printf("\n")
		}
	}
	return nil
}

func (b *batch) find(view *refs.View, rev string) (content, error) {
	id, err := resolve(b.s, view, rev)
	if err != nil {
		return content{}, err
	}
	return readContent(b.s, id)
}

func (b *batch) none(rev, why string) {
	if b.json {
		b.document("rev", rev, "answer", why)
		return
	}
	b.printf("%s %s\n", rev, why)
}
