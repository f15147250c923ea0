package main

import (
	"errors"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/cli/document"
)

// cut says which bytes of a text are shown, if not all are.
type cut struct {
	From int `json:"from"`
	To   int `json:"to"`
	Of   int `json:"of"`
}

// entryItem is an entry in the form of `ctx log --json`, with the part that is shown.
type entryItem struct {
	document.Entry
	Cut     *cut     `json:"cut,omitempty"`
	LeftOut []string `json:"left_out,omitempty"` // keys with lists that are too long for a result
}

// leastPiece is the minimum size of a piece of a text, in quarters of a token, on a page that has
// other items. A smaller piece is not worth its heading.
const leastPiece = 400

// addEntry puts an entry on the page, from byte from of its text on. It returns where the rest of
// the text begins, and whether the page has all of it. An entry that does not fit is cut, or left
// for the next page. Parts are left out, since the text says the same.
func (p *page) addEntry(d document.Entry, from int) (next int, all bool, err error) {
	d.Parts = nil
	if from == 0 {
		if all, err = p.add(entryItem{Entry: d}); all || err != nil {
			return 0, all, err
		}
	}
	item := entryItem{Entry: d}
	room, err := p.roomFor(&item)
	if err == nil && p.empty() && room < leastPiece { // lists of thousands of calls
		item.LeftOut = []string{"calls", "results", "children", "masked"}
		item.Calls, item.Results, item.Children, item.Masked = nil, nil, nil, nil
		room, err = p.roomFor(&item)
	}
	if err != nil {
		return from, false, err
	}
	if room < leastPiece {
		if p.empty() {
			return from, false, errors.New("an entry has a heading that is longer than a result")
		}
		return from, false, nil
	}
	if d.Text == nil {
		item.Cut = nil
		all, err = p.add(item)
		return 0, all, err
	}
	text := (*d.Text)[from:]
	shown := text[:prefix(text, room)]
	next = from + len(shown)
	item.Text, item.Cut = &shown, &cut{from, next, len(*d.Text)}
	if _, err := p.add(item); err != nil {
		return from, false, err
	}
	return next, next == len(*d.Text), nil
}

// roomFor returns how much of the text of an item would fit.
func (p *page) roomFor(item *entryItem) (int, error) {
	text := item.Text
	if text != nil {
		none := ""
		item.Text = &none
		item.Cut = &cut{len(*text), len(*text), len(*text)} // no cut takes more digits
	}
	b, err := encode(item)
	item.Text = text
	return p.left - quarters(b) - 1, err
}

// begins reports whether a text can be cut at a byte.
func begins(text *string, at uint64) bool {
	return at == 0 || text != nil && at < uint64(len(*text)) && utf8.RuneStart((*text)[at])
}
