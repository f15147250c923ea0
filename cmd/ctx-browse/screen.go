package main

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// indent is what stands before the lines of a text.
const indent = 2

// leftWidth returns the columns of the list of sessions; all of them on a narrow terminal.
func (m *model) leftWidth() int {
	switch {
	case m.width >= 60:
		return min(max(m.width*35/100, 24), 40)
	case m.onLeft:
		return m.width
	}
	return 0
}

func (m *model) rightWidth() int {
	if m.width < 60 {
		return m.width
	}
	return m.width - m.leftWidth() - 1
}

func (m *model) bodyHeight() int { return m.height - 2 }

// sizeOf returns the columns of the texts of a page, and its lines.
func (m *model) sizeOf(p *page) (width, height int) {
	if p == m.left {
		w := m.leftWidth()
		if w == 0 {
			w = m.width
		}
		return w - indent, m.bodyHeight()
	}
	return m.rightWidth() - indent, m.bodyHeight()
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

// screen returns exactly height lines of width columns.
func (m *model) screen() string {
	var left, right []string
	height := m.bodyHeight()
	wide := m.width >= 60
	if wide || m.onLeft {
		left = m.draw(m.left, m.leftWidth(), m.onLeft)
	}
	if wide || !m.onLeft {
		right = m.draw(m.rightPage(), m.rightWidth(), !m.onLeft)
	}
	lines := []string{m.bar(m.titleLine())}
	for i := range height {
		switch {
		case left == nil:
			lines = append(lines, right[i])
		case right == nil:
			lines = append(lines, left[i])
		default:
			lines = append(lines, left[i]+m.paint(faint, "│")+right[i])
		}
	}
	return strings.Join(append(lines, m.bar(m.statusLine())), "\n")
}

func (m *model) rightPage() *page {
	if len(m.right) > 0 {
		return m.right[len(m.right)-1]
	}
	return &page{title: "no session"}
}

func (m *model) titleLine() string { return " ctx browse  " + m.rightPage().title }

func (m *model) statusLine() string {
	switch {
	case m.typing:
		return " /" + clean(m.typed) + "▏"
	case m.status != "":
		return " " + m.status
	case len(m.left.items) == 0:
		return " no session is in this store yet   ? keys   q quit"
	}
	return " enter open   / search   f forest   p provenance   y copy   ? keys   q back"
}

// draw returns the lines of a page. It reads the items on the screen alone.
func (m *model) draw(p *page, width int, active bool) []string {
	height := m.bodyHeight()
	lines := make([]string, 0, height)
	skip := p.off
	put := func(s style, text string) {
		if skip > 0 {
			skip--
		} else if len(lines) < height {
			lines = append(lines, m.paint(s, fit(text, width)))
		}
	}
	for i := p.top; i < len(p.items) && len(lines) < height; i++ {
		it, mark, s := p.items[i], "  ", bold
		if i == p.cur {
			mark = "> "
			if active {
				s = reverse
			}
		}
		if p.kind == textPage && s == bold && it.read == nil {
			s = normal
		}
		put(s, mark+it.head)
		below := normal
		if p.kind == sessionsPage {
			below = faint
		}
		for _, line := range it.body(width - indent) {
			put(below, "  "+line)
		}
		if it.more {
			put(faint, "  … space shows the whole text")
		}
	}
	for len(lines) < height {
		lines = append(lines, strings.Repeat(" ", width))
	}
	return lines
}

// style is an attribute of the terminal. None is a colour, so that both a dark and a light terminal
// show all of them, and NO_COLOR leaves what the selection is known by.
type style string

const (
	normal  style = ""
	bold    style = "1"
	faint   style = "2"
	reverse style = "7"
)

func (m *model) paint(s style, text string) string {
	if s == normal || m.plain {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

func (m *model) bar(text string) string { return m.paint(reverse, fit(text, m.width)) }
