package main

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/gemini-ctx/ctx/failure"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

// maxRev bounds a line of input: the longest ref name, and some steps behind it.
const maxRev = 4096

// catBatch answers revisions from standard input, one by one: a program at the other end may wait for each answer. The first thing
// that is corrupt does not end it, but shows in the exit code.
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

// readRev returns the next line without its end; io.EOF after the last.
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
	// The refs may have moved while the program at the other end was thinking.
	view, err := b.s.Refs.Read()
	if err != nil {
		return err
	}
	c, err := b.find(view, rev)
	var gone *objects.GoneError
	var ambiguous *session.AmbiguousError
	switch {
	case errors.As(err, &ambiguous):
		b.none(rev, "ambiguous")
	case session.IsMissing(err):
		b.none(rev, "missing")
	case errors.As(err, &gone):
		b.none(rev, "gone")
	case failure.IsCorrupt(err):
		b.none(rev, "corrupt")
		if b.fault == nil {
			b.fault = err
		}
	case err != nil:
		return err
	case b.json:
		return b.printJSON(c.doc())
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
		_ = b.printJSON(struct { // output keeps its error
			V      int    `json:"v"`
			Rev    string `json:"rev"`
			Answer string `json:"answer"`
		}{1, rev, why})
		return
	}
	b.printf("%s %s\n", rev, why)
}
