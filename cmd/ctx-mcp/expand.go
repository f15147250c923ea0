package main

import (
	"encoding/binary"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/document"
	"github.com/gemini-ctx/ctx/failure"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/session"
)

type expandArgs struct {
	ID string `json:"id"`
	ofBranch
	Reader string `json:"reader,omitempty"`
	paging
}

func expandTool() tool {
	return tool{
		name: "expand", title: "Show the exact messages behind an id",
		text: `Shows the messages that an id stands for, in order and word for word: a cluster, a summary, a tombstone, or one message. Ids are those that search, forest, log and render
give, or the first digits of one. A text that is too long for a result is given in pieces, which "cut" counts in bytes; "next" leads on.` + isData,
		params: append([]param{
			{name: "id", kind: "string", text: "The id, or the beginning of one, 4 digits at least.", required: true},
			{name: "session", kind: "string", text: "Only what this session has."},
			branchParam(), readerParam(),
		}, pagingParams()...),
	}
}

func (a expandArgs) check() error {
	if a.ID == "" {
		return failure.Usagef("expand needs an id")
	}
	return firstOf(checkText("id", a.ID, maxRev), checkText("reader", a.Reader, maxRev), a.ofBranch.check(), a.paging.check())
}

func (a expandArgs) binding() any {
	a.Branch, a.paging = a.branch(), paging{} // main is as good as nothing
	return a
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// expand goes on at an entry, by its id: what a branch or a reader may see of an object can change between two pages, what it stands for cannot.
func (cl *call) expand(a expandArgs) (*mcp.CallToolResult, error) {
	at, more, err := cl.position(a.Cursor, 2, 2) // the object and the entry; the byte, and of which version
	if err != nil {
		return nil, err
	}
	o := session.ExpandOptions{Session: a.Session, Branch: a.branch()}
	if o.Session != "" {
		if o.Session, err = session.NamedOr(cl.view, o.Session); err != nil {
			return nil, err
		}
	}
	if a.Reader != "" { // as ctx has it: the session is the reader's
		o = session.ExpandOptions{}
		if o.Reader, err = cl.reader(a.ofBranch, a.Reader); err != nil {
			return nil, err
		}
	}
	w := &entryWalk{cl: cl, page: newPage(a.tokens())}
	var id format.ID
	if more {
		id, o.From = at.ids[0], at.ids[1]
		w.resume(at.numbers[0], at.numbers[1])
	} else if id, err = cl.store.Resolve(cl.view, a.ID); err != nil {
		return nil, err
	}
	err = cl.store.Expand(cl.view, id, o, func(shown *session.Shown) error {
		if shown.Gone != "" && shown.ID == id {
			return &objects.GoneError{ID: id, Reason: shown.Gone}
		}
		return w.add(shown)
	})
	var f frame
	if errors.Is(err, errFull) {
		f.Next = cl.next(&position{ids: []format.ID{id, w.stopped}, numbers: []uint64{w.byte, w.version}})
	} else if err != nil {
		return nil, err
	}
	return cl.page(w.page, "entries", f)
}

// entryWalk puts entries on a page until it is full.
type entryWalk struct {
	cl   *call
	page *page
	put  uint64 // entries that are on the page in full, or whose end is

	// Where the page before ended within a text, and afterwards where this one does.
	stopped format.ID
	byte    uint64
	version uint64
	resumed bool
}

// resume has the walk begin within the text of an entry, if that is the first one that comes and has the words that were cut.
func (w *entryWalk) resume(at, version uint64) { w.byte, w.version, w.resumed = at, version, true }

// add puts an entry on the page, or what fits of it; errFull where that is not all. An entry that has other words than when it was cut begins anew.
func (w *entryWalk) add(shown *session.Shown) error {
	if err := w.cl.c.Err(); err != nil {
		return err
	}
	version, from := versionOf(shown), uint64(0)
	d := document.EntryOf(shown)
	if w.resumed {
		if version == w.version && begins(d.Text, w.byte) {
			from = w.byte
		}
		w.resumed = false
	}
	next, all, err := w.page.addEntry(d, int(from))
	if err != nil {
		return err
	}
	if !all {
		w.stopped, w.byte, w.version = shown.ID, uint64(next), version
		return errFull
	}
	w.put++
	return nil
}

// versionOf tells the words of an entry from other words of it.
func versionOf(shown *session.Shown) uint64 { return binary.BigEndian.Uint64(shown.Version[:8]) }
