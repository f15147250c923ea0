package main

import (
	"cmp"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/when"
	"github.com/gemini-ctx/ctx/objects"
)

type readArgs struct {
	ID string `json:"id,omitempty"`
	ofBranch
	Since   string `json:"since,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	Reverse bool   `json:"reverse,omitempty"`
	paging
}

func (a readArgs) check() error {
	if a.ID != "" && (a.Since != "" || a.Limit != 0 || a.Reverse) {
		return command.Usagef("since, limit and reverse go without id")
	}
	const most = 1 << 30
	return cmp.Or(checkText("id", a.ID, maxRev), between("limit", a.Limit, 1, most),
		a.ofBranch.check(), a.paging.check())
}

func (a readArgs) binding() any {
	a.Branch, a.paging = a.branch(), paging{} // main is as good as nothing
	return a
}

func (cl *call) read(a readArgs) (*mcp.CallToolResult, error) {
	if a.ID != "" {
		return cl.expand(a)
	}
	return cl.log(a)
}

// expand continues at the id of an entry: what a branch has can change between two pages, but not
// what an object stands for.
func (cl *call) expand(a readArgs) (*mcp.CallToolResult, error) {
	// The object and the entry; the byte, and of which version
	at, more, err := cl.position(a.Cursor, 2, 2)
	if err != nil {
		return nil, err
	}
	o := recall.ExpandOptions{Session: a.Session, Branch: a.branch()}
	if o.Session != "" {
		if o.Session, err = cl.store.Recall.NamedOr(cl.view, o.Session); err != nil {
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
	add := func(shown *history.Shown) error {
		if shown.Gone != "" && shown.ID == id {
			return &objects.GoneError{ID: id, Reason: shown.Gone}
		}
		return w.add(shown)
	}
	err = cl.store.Recall.Expand(cl.view, id, o, add)
	if o.Session != "" && w.put == 0 && (err == nil || errors.Is(err, history.NoID)) {
		// It is of another session, which is told
		o.Session, o.Branch = "", ""
		err = cl.store.Recall.Expand(cl.view, id, o, add)
	}
	var f frame
	if errors.Is(err, errFull) {
		f.Next = cl.next(&position{ids: []format.ID{id, w.stopped},
			numbers: []uint64{w.byte, w.version}})
	} else if err != nil {
		return nil, err
	}
	return cl.page(w.page, "entries", f)
}

// log continues from the tip of the first page, even if the branch has moved since.
func (cl *call) log(a readArgs) (*mcp.CallToolResult, error) {
	// The tip; how many were given, the byte, and of which version
	at, more, err := cl.position(a.Cursor, 1, 3)
	if err != nil {
		return nil, err
	}
	since, err := span("since", a.Since, cl.now)
	if err != nil {
		return nil, err
	}
	w := &entryWalk{cl: cl, page: newPage(a.tokens())}
	var tip format.ID
	o := recall.LogOptions{Limit: a.Limit, Within: when.Span{Start: since.Start},
		NewestFirst: a.Reverse, Worded: true}
	if more {
		tip, o.Skip = at.ids[0], at.numbers[0]
		w.resume(at.numbers[1], at.numbers[2])
	} else {
		name, err := cl.sessionOf(a.ofBranch)
		if err != nil {
			return nil, err
		}
		v, err := cl.store.History.TipOrJoined(cl.view, name, a.branch())
		if err != nil {
			return nil, err
		}
		tip = v.ID
	}
	err = cl.store.Recall.LogEach(tip, o, w.add)
	var f frame
	if errors.Is(err, errFull) {
		f.Next = cl.next(&position{ids: []format.ID{tip},
			numbers: []uint64{o.Skip + w.put, w.byte, w.version}})
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
	said string // the session of the entry before

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
	session := ""
	if shown.Entry.Session != w.said {
		session = w.cl.short(shown.Entry.Session)
	}
	d := itemOf(shown, session)
	if w.resumed {
		if version == w.version && begins(d.Text, w.byte) {
			from = w.byte
		}
		w.resumed = false
	}
	next, all := w.page.addEntry(d, int(from))
	if !all {
		w.stopped, w.byte, w.version = shown.ID, uint64(next), version
		return errFull
	}
	w.said = shown.Entry.Session
	w.put++
	return nil
}

// versionOf returns a digest of the words of an entry.
func versionOf(shown *history.Shown) uint64 { return binary.BigEndian.Uint64(shown.Version[:8]) }

// cut says which bytes of a text are shown, if not all are.
type cut struct {
	From int `json:"from"`
	To   int `json:"to"`
	Of   int `json:"of"`
}

// leastPiece is the minimum size of a piece of a text, in quarters of a token, on a page that has
// other items. A smaller piece is not worth its heading.
const leastPiece = 400

// addEntry puts an entry on the page, from byte from of its text on. It returns where the rest of
// the text begins, and whether the page has all of it. An entry that does not fit is cut, or left
// for the next page.
func (p *page) addEntry(d item, from int) (next int, all bool) {
	if from == 0 && p.add(d) {
		return 0, true
	}
	text := d.Text
	d.Text, d.Cut = "", &cut{len(text), len(text), len(text)} // no cut takes more digits
	room := p.left - quarters(itemJSON(d)) - 1
	if room < leastPiece && !p.empty() {
		return from, false
	}
	d.Text = text[from:][:prefix(text[from:], room)]
	next = from + len(d.Text)
	d.Cut = &cut{from, next, len(text)}
	p.add(d)
	return next, next == len(text)
}

// begins reports whether a text can be cut at a byte.
func begins(text string, at uint64) bool {
	return at == 0 || at < uint64(len(text)) && utf8.RuneStart(text[at])
}
