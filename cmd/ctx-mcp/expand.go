package main

import (
	"encoding/binary"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/clierr"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/objects"
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
		text: `Shows the messages behind a cluster, a summary or a tombstone, or one message, in order and word for word.
The id, or its first digits, comes from search, forest, log or render. A text that is too long for a result
comes in pieces: "cut" gives the bytes of the piece, and "next" is the cursor of the next one.` +
			isData,
		params: append([]param{
			{name: "id", kind: "string", text: "The id, or its first digits, at least 4.",
				required: true},
			{name: "session", kind: "string", text: "Show only messages of this session."},
			branchParam(), readerParam(),
		}, pagingParams()...),
	}
}

func (a expandArgs) check() error {
	if a.ID == "" {
		return clierr.Usagef("expand needs an id")
	}
	return firstOf(checkText("id", a.ID, maxRev), checkText("reader", a.Reader, maxRev),
		a.ofBranch.check(), a.paging.check())
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

// expand continues at the id of an entry: what a branch or a reader may see can change between two
// pages, but not what an object stands for.
func (cl *call) expand(a expandArgs) (*mcp.CallToolResult, error) {
	// The object and the entry; the byte, and of which version
	at, more, err := cl.position(a.Cursor, 2, 2)
	if err != nil {
		return nil, err
	}
	o := recall.ExpandOptions{Session: a.Session, Branch: a.branch()}
	if o.Session != "" {
		if o.Session, err = history.NamedOr(cl.view, o.Session); err != nil {
			return nil, err
		}
	}
	if a.Reader != "" { // as ctx has it: the session is the reader's
		o = recall.ExpandOptions{}
		if o.Reader, err = cl.reader(a.ofBranch, a.Reader); err != nil {
			return nil, err
		}
	}
	w := &entryWalk{cl: cl, page: newPage(a.tokens())}
	var id format.ID
	if more {
		id, o.From = at.ids[0], at.ids[1]
		w.resume(at.numbers[0], at.numbers[1])
	} else if id, err = cl.store.Clusters.Resolve(cl.view, a.ID); err != nil {
		return nil, err
	}
	err = cl.store.Recall.Expand(cl.view, id, o, func(shown *history.Shown) error {
		if shown.Gone != "" && shown.ID == id {
			return &objects.GoneError{ID: id, Reason: shown.Gone}
		}
		return w.add(shown)
	})
	var f frame
	if errors.Is(err, errFull) {
		f.Next = cl.next(&position{ids: []format.ID{id, w.stopped},
			numbers: []uint64{w.byte, w.version}})
	} else if err != nil {
		return nil, err
	}
	return cl.page(w.page, "entries", f)
}

// entryWalk puts entries on a page until the page is full.
type entryWalk struct {
	cl   *call
	page *page
	put  uint64 // entries that are on the page in full, or whose end is

	// The position within a text at the end of the page before, and then of this page.
	stopped format.ID
	byte    uint64
	version uint64
	resumed bool
}

// resume makes the walk begin within the text of an entry, if that is the first entry and its words
// are the same.
func (w *entryWalk) resume(at, version uint64) { w.byte, w.version, w.resumed = at, version, true }

// add puts an entry, or the part of it that fits, on the page. The error is errFull if the page has
// not all of it. If the words have changed since the last page, the entry begins again.
func (w *entryWalk) add(shown *history.Shown) error {
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

// versionOf returns a digest of the words of an entry.
func versionOf(shown *history.Shown) uint64 { return binary.BigEndian.Uint64(shown.Version[:8]) }
