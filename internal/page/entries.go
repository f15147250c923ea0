package page

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// ErrForm is the error of a page whose entries are not as ctx writes them.
var ErrForm = errors.New("not the entries of a page")

func formError(why string) error { return fmt.Errorf("%w: %s", ErrForm, why) }

// EntriesOpen and EntriesClose stand around the entries of a page. No text of a page has these
// bytes: it would have &lt; in the place of <.
const (
	EntriesOpen  = `<script type="application/vnd.ctx.entries" id=entries>`
	EntriesClose = "</script>\n"
)

// entriesHead begins the entries: their version, the tip, the id of the pack, and the branch.
const entriesHead = "ctx-entries 1 %v %v %s\n"

// mostUnpacked is the most bytes of objects that a page may hold.
const mostUnpacked = 1 << 30

// entries are the objects of a branch, and where they belong. docs/format/page.md says how a page
// has them.
type entries struct {
	branch  string
	tip     format.ID
	objects []format.Raw
}

// entriesOf finds the entries in a page. Each object has the id and the digest that it is named by.
// Errors: ErrForm.
func entriesOf(o *objects.Store, page []byte) (*entries, error) {
	_, rest, found := bytes.Cut(page, []byte(EntriesOpen))
	text, _, closed := bytes.Cut(rest, []byte(EntriesClose))
	if !found || !closed {
		return nil, formError("the page has none")
	}
	b, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil {
		return nil, formError("not base64")
	}
	head, pack, _ := bytes.Cut(b, []byte("\n"))
	var tip, id, branch string
	if _, err := fmt.Sscanf(string(head)+"\n", entriesHead, &tip, &id, &branch); err != nil {
		return nil, formError("another version")
	}
	e := &entries{}
	var want format.ID
	if e.tip, err = format.ParseID(tip); err == nil {
		want, err = format.ParseID(id)
	}
	if err == nil {
		e.branch, err = format.DecodeName(branch)
	}
	if err != nil {
		return nil, formError("a bad head")
	}
	size := 0
	err = o.ReadPack(pack, want, func(raw format.Raw) error {
		if size += len(raw.Header) + len(raw.Body); size > mostUnpacked {
			return formError("too large")
		}
		e.objects = append(e.objects, format.Raw{Header: bytes.Clone(raw.Header),
			Body: bytes.Clone(raw.Body)})
		return nil
	})
	var corrupt *objects.CorruptError
	if errors.As(err, &corrupt) {
		err = formError(corrupt.Why)
	}
	return e, err
}

// embed puts the objects of the branch into the page, as a pack like those that stores share.
func (r *reader) embed() error {
	ids, err := r.objects()
	if err != nil {
		return err
	}
	pack, id, err := r.s.Objects.EncodePack(func(yield func(format.Raw, error) bool) {
		for _, id := range ids {
			if raw, err := r.object(id); !yield(raw, err) {
				return
			}
		}
	}, objects.Best)
	if err != nil {
		return err
	}
	branch, err := format.EncodeName(r.of.Branch)
	if err != nil {
		return err
	}
	r.out.Embedded = len(ids)
	r.out.Entries = base64.StdEncoding.EncodeToString(
		append(fmt.Appendf(nil, entriesHead, r.of.Tip.ID, id, branch), pack...))
	return nil
}

// object returns an object, without words that are gone or that the rules of this version refuse.
func (r *reader) object(id format.ID) (format.Raw, error) {
	raw, err := r.s.Objects.Get(id)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		raw.Body, err = nil, nil
	}
	if err != nil || raw.Body == nil {
		return raw, err
	}
	ok, err := r.clean.passes(id, raw)
	if err != nil {
		return raw, fmt.Errorf("object %v: %w", id, err)
	}
	if !ok {
		raw.Body = nil
	}
	return raw, r.c.Err()
}

// objects returns the objects that the tip leads to, older ones first.
func (r *reader) objects() (out []format.ID, err error) {
	seen := map[format.ID]bool{}
	todo := []format.ID{r.of.Tip.ID}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		header, err := r.s.Objects.Header(id)
		if err != nil {
			return nil, err
		}
		_, o, err := format.DecodeObject(header)
		if err != nil {
			return nil, fmt.Errorf("object %v: %w", id, err)
		}
		for _, l := range o.Links() {
			todo = append(todo, l.ID)
		}
		out = append(out, id)
	}
	slices.Reverse(out)
	return out, r.c.Err()
}
