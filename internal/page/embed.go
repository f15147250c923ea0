package page

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/page/embedded"
	"github.com/gemini-ctx/ctx/objects"
)

// embed puts the objects of the branch into the page.
func (r *reader) embed() error {
	ids, err := r.objects()
	if err != nil {
		return err
	}
	e := &embedded.Entries{Store: r.s.ID, Session: r.of.Session, Branch: r.of.Branch,
		Tip: r.of.Tip.ID}
	for _, id := range ids {
		raw, err := r.s.Objects.Get(id)
		var gone *objects.GoneError
		if err != nil && !errors.As(err, &gone) {
			return err
		}
		if gone != nil {
			raw.Body = nil
		}
		if raw.Body != nil {
			ok, err := r.clean.passes(id, raw)
			if err != nil {
				return fmt.Errorf("object %v: %w", id, err)
			}
			if !ok {
				raw.Body = nil
			}
		}
		e.Objects = append(e.Objects, raw)
	}
	r.out.Embedded = len(e.Objects)
	r.out.Entries, err = embedded.Encode(e)
	return err
}

// objects returns the objects that the tip leads to, each behind those that it names.
func (r *reader) objects() (out []format.ID, err error) {
	type step struct {
		id    format.ID
		links []format.Link
	}
	seen := map[format.ID]bool{}
	var stack []step
	open := func(id format.ID) error {
		if seen[id] {
			return nil
		}
		seen[id] = true
		header, err := r.s.Objects.Header(id)
		if err != nil {
			return err
		}
		_, o, err := format.DecodeObject(header)
		if err != nil {
			return fmt.Errorf("object %v: %w", id, err)
		}
		stack = append(stack, step{id, o.Links()})
		return nil
	}
	if err := open(r.of.Tip.ID); err != nil {
		return nil, err
	}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.links) == 0 {
			out = append(out, top.id)
			stack = stack[:len(stack)-1]
			continue
		}
		next := top.links[0].ID
		top.links = top.links[1:]
		if err := open(next); err != nil {
			return nil, err
		}
	}
	return out, r.c.Err()
}
