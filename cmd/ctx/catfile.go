package main

import (
	"errors"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/objects"
)

// catOptions are the flags that choose what cat-file prints.
type catOptions struct {
	kind, size, exists, print bool
	batch, batchCheck         bool
}

func newCatFileCmd(a *app) *cobra.Command {
	var o catOptions
	cmd := a.newCmd("cat-file (-t | -s | -e | -p) REV | --batch | --batch-check",
		func(args []string) error {
			switch chosen := o.chosen(); {
			case chosen == 0:
				return usagef("cat-file needs one of -t, -s, -e, -p, --batch and --batch-check")
			case chosen > 1:
				return usagef(
					"cat-file takes only one of -t, -s, -e, -p, --batch and --batch-check")
			case o.batch || o.batchCheck:
				return catBatch(a, o.batch)
			}
			return catOne(a, args[0], o)
		})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if o.batch || o.batchCheck {
			return between(0, 0)(cmd, args)
		}
		return between(1, 1)(cmd, args)
	}
	cmd.ValidArgsFunction = a.completeRevs()
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVarP(&o.kind, "type", "t", false, "print the kind of the object")
	f.BoolVarP(&o.size, "size", "s", false, "print the size of its content in bytes")
	f.BoolVarP(&o.exists, "exists", "e", false, "say only with the exit code whether it is whole")
	f.BoolVarP(&o.print, "print", "p", false, "print its content")
	f.BoolVar(&o.batch, "batch", false, "print kind, size and content of each line's object")
	f.BoolVar(&o.batchCheck, "batch-check", false, "print kind and size of each line's object")
	return cmd
}

func (o *catOptions) chosen() (n int) {
	for _, on := range []bool{o.kind, o.size, o.exists, o.print, o.batch, o.batchCheck} {
		if on {
			n++
		}
	}
	return n
}

func catOne(a *app, rev string, o catOptions) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	id, err := resolve(s, view, rev)
	if err != nil {
		return o.answer(err)
	}
	c, err := readContent(s, id)
	var gone *objects.GoneError
	switch {
	case errors.As(err, &gone) && o.kind:
		err = nil // the header says it
	case errors.As(err, &gone) && o.print:
		return errors.Join(o.show(a, c), err)
	}
	if err != nil || o.exists {
		return o.answer(err)
	}
	return o.show(a, c)
}

func (o *catOptions) show(a *app, c content) error {
	switch {
	case a.json:
		return a.answer(c.doc())
	case o.kind:
		a.line("%s", c.kind)
	case o.size:
		a.line("%d", len(c.bytes))
	default:
		_, err := a.out.Write(c.bytes)
		return err
	}
	return nil
}

// answer makes a missing object a silent failure for -e.
func (o *catOptions) answer(err error) error {
	if o.exists && clusters.IsMissing(err) {
		return &exitError{exitFailed}
	}
	return err
}

// content is an object in the form that people and scripts read.
type content struct {
	id     format.ID
	kind   string
	header []byte
	body   []byte // without its nonce
	bytes  []byte // header, empty line, body
	gone   bool
}

// readContent reads and checks an object. With a *objects.GoneError the content has only the
// header.
func readContent(s *session.Store, id format.ID) (content, error) {
	raw, err := s.Objects.Get(id)
	var gone *objects.GoneError
	switch {
	case errors.Is(err, objects.ErrNotFound):
		// The caller named it by its id, which is only in the log.
		return content{},
			withHint(notFound("%v is not written yet", id),
				"the id names a node of a cluster: `ctx expand` prints it")
	case err != nil && !errors.As(err, &gone):
		return content{}, err
	}
	c := content{id: id, header: raw.Header, body: raw.Text(), bytes: raw.Header, gone: gone != nil}
	var kindErr error
	if c.kind, _, kindErr = format.HeaderKind(raw.Header); kindErr != nil {
		return c, kindErr
	}
	if raw.Body != nil {
		c.bytes = append(append(append([]byte(nil), raw.Header...), '\n'), c.body...)
	}
	return c, err
}

type contentDoc struct {
	ID     format.ID `json:"id"`
	Kind   string    `json:"kind"`
	Size   int       `json:"size"`
	Header string    `json:"header"`
	Body   *string   `json:"body"`             // null where there is none
	Bytes  []byte    `json:"base64,omitempty"` // instead of body, where that is not UTF-8
	Gone   bool      `json:"gone"`
}

func (c *content) doc() contentDoc {
	d := contentDoc{ID: c.id, Kind: c.kind, Size: len(c.bytes),
		Header: string(c.header), Gone: c.gone}
	switch {
	case len(c.bytes) == len(c.header):
	case !utf8.Valid(c.body):
		d.Bytes = c.body
	default:
		text := string(c.body)
		d.Body = &text
	}
	return d
}
