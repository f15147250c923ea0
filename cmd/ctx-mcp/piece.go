package main

import "unicode/utf8"

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
	if from == 0 && p.put(itemJSON(d)) {
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
	p.put(itemJSON(d))
	return next, next == len(text)
}

// begins reports whether a text can be cut at a byte.
func begins(text string, at uint64) bool {
	return at == 0 || at < uint64(len(text)) && utf8.RuneStart(text[at])
}
