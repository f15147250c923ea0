package browse

import (
	"iter"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/history"
)

// item is one thing in a page: a session, a message, a cluster, a hit, or a text.
type item struct {
	id       format.ID // zero for a text of this program
	seq      uint64    // of a message
	head     line
	session  string   // of a session and of a hit
	title    string   // of a session
	branch   string   // of a session and of a hit
	branches []string // of a session
	count    uint64   // messages of a session

	read func() ([]row, error)  // the text below the head; nil for none
	copy func() (string, error) // what Y copies; nil for the id
	tool bool                   // the output of a tool
	// named says that the head has the name of that tool.
	named bool
	// opens says that Enter opens what the item stands for.
	opens bool
	open  bool // unfolded

	lines []line // the text at the width below, once it is drawn
	width int
	more  bool // folded lines are left out
}

// The lines of a text that is folded.
const (
	foldedTool = 3
	foldedText = 12
)

// body returns the lines of an item below its head. The text is read when it is first drawn.
func (it *item) body(width int) []line {
	if it.read == nil {
		return nil
	}
	if it.width == width {
		return it.lines
	}
	rows, err := it.read()
	if err != nil {
		rows = []row{{style: ofGone, text: "[" + command.Explain(err).Message + "]"}}
	}
	most := foldedText
	switch {
	case it.open:
		most = mostLines
	case it.tool:
		most = foldedTool
	}
	it.width = width
	if it.lines, it.more = wrap(rows, width, most); it.more && !it.open && most < mostLines {
		// One line is not left out for a line that says so.
		if whole, more := wrap(rows, width, most+1); !more {
			it.lines, it.more = whole, false
		}
	}
	return it.lines
}

// height returns the lines of an item with its head, and one for what is left out.
func (it *item) height(width int) int {
	n := 1 + len(it.body(width))
	if it.more {
		n++
	}
	return n
}

// kind says what a page shows.
type kind int

const (
	sessionsPage kind = iota
	talkPage
	forestPage
	expandPage
	hitsPage
	textPage
	helpsPage
)

// page is a list of items with a selected one. Its lines are those of all items, and the first one
// on the screen is the line off of the item top.
type page struct {
	kind     kind
	title    string
	none     string // what to say if there are no items
	session  string
	branch   string
	total    uint64 // messages of a conversation; 0 where that is not known
	items    []*item
	cur      int
	top, off int

	// A conversation is read from its end: older is what comes before the first item.
	older func() (history.Entry, error, bool)
	stop  func()
	newer map[format.ID]format.ID // the newest versions of entries
}

func (p *page) current() *item {
	if p.cur < len(p.items) {
		return p.items[p.cur]
	}
	return nil
}

// close ends the reading of a conversation.
func (p *page) close() {
	if p.stop != nil {
		p.stop()
		p.stop, p.older = nil, nil
	}
}

// walkFrom sets what a conversation is read from.
func (p *page) walkFrom(seq iter.Seq2[history.Entry, error]) {
	next, stop := iter.Pull2(seq)
	p.stop, p.older = stop, func() (history.Entry, error, bool) { return next() }
	p.newer = map[format.ID]format.ID{}
}

// down moves the selection, or the lines of a selected item that goes on below the screen.
func (p *page) down(width, height int) {
	switch {
	case p.place(p.cur, width)+p.itemHeight(p.cur, width) > height:
		p.scroll(1, width)
	case p.cur < len(p.items)-1:
		p.cur++
		p.reveal(width, height)
	}
}

// up is down the other way.
func (p *page) up(width, height int) {
	switch {
	case p.top == p.cur && p.off > 0:
		p.scroll(-1, width)
	case p.cur > 0:
		p.cur--
		if p.cur < p.top { // show its end
			p.top, p.off = p.cur, max(p.itemHeight(p.cur, width)-height, 0)
		}
	}
}

func (p *page) itemHeight(i, width int) int {
	if i >= len(p.items) {
		return 0
	}
	return p.items[i].height(width)
}

// place returns the line of the screen on which an item begins, where it is at or after top.
func (p *page) place(i, width int) int {
	line := -p.off
	for k := p.top; k < i; k++ {
		line += p.itemHeight(k, width)
	}
	return line
}

// scroll moves the screen by lines.
func (p *page) scroll(lines, width int) {
	p.off += lines
	for p.off < 0 && p.top > 0 {
		p.top--
		p.off += p.itemHeight(p.top, width)
	}
	for p.top < len(p.items)-1 && p.off >= p.itemHeight(p.top, width) {
		p.off -= p.itemHeight(p.top, width)
		p.top++
	}
	p.off = max(p.off, 0)
}

// reveal moves the screen so that the selected item is on it, with its head first.
func (p *page) reveal(width, height int) {
	if p.cur <= p.top {
		if p.cur < p.top || p.off > 0 {
			p.top, p.off = p.cur, 0
		}
		return
	}
	// Going back from the item finds the screen that ends with it, however far away it is.
	first, room := p.cur, height-min(p.itemHeight(p.cur, width), height)
	for first > p.top && room >= p.itemHeight(first-1, width) {
		first--
		room -= p.itemHeight(first, width)
	}
	if first > p.top {
		p.top, p.off = first, 0
		if room > 0 { // the end of the item before
			p.top, p.off = first-1, p.itemHeight(first-1, width)-room
		}
	} else if over := p.place(p.cur, width) +
		min(p.itemHeight(p.cur, width), height) - height; over > 0 {
		p.scroll(over, width)
	}
}

// leap moves by half a screen of lines and selects the first item that begins on it.
func (p *page) leap(lines, width, height int) {
	p.scroll(lines, width)
	if p.top == len(p.items)-1 {
		p.off = min(p.off, max(p.itemHeight(p.top, width)-height, 0))
	}
	p.cur = p.top
	if p.off > 0 && p.place(p.top+1, width) < height && p.top+1 < len(p.items) {
		p.cur++
	}
}
