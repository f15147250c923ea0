package browse

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// indent is what stands before the lines of a text.
const indent = 2

// The widths from which on there is room for a preview beside the sessions, and for the sessions
// beside what is read.
const (
	roomForTwo  = 60
	roomForBoth = 120
)

// widths returns the columns of the two sides; 0 for a side that is not shown. What the keys go to
// has the room that it needs.
func (m *model) widths() (left, right int) {
	switch {
	case m.onLeft && m.width < roomForTwo:
		return m.width, 0
	case m.onLeft:
		left = min(m.width*45/100, 70)
	case m.width < roomForBoth:
		return 0, m.width
	default:
		left = min(m.width*30/100, 50)
	}
	return left, m.width - left - 1
}

func (m *model) bodyHeight() int { return m.height - 2 }

// sizeOf returns the columns of the texts of a page, and its lines.
func (m *model) sizeOf(p *page) (width, height int) {
	left, right := m.widths()
	if p == m.left {
		right = left
	}
	if right == 0 {
		right = m.width // it is not shown
	}
	return right - indent, m.bodyHeight()
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

// screen returns exactly height lines of width columns.
func (m *model) screen() string {
	leftWidth, rightWidth := m.widths()
	left, right := m.draw(m.left, leftWidth, m.onLeft), m.draw(m.rightPage(), rightWidth, !m.onLeft)
	lines := []string{m.titleLine()}
	for i := range m.bodyHeight() {
		switch {
		case left == nil:
			lines = append(lines, right[i])
		case right == nil:
			lines = append(lines, left[i])
		default:
			lines = append(lines, left[i]+m.paint(faint, "│")+right[i])
		}
	}
	return strings.Join(append(lines, m.paint(reverse, fit(m.statusLine(), m.width))), "\n")
}

func (m *model) rightPage() *page {
	if len(m.right) > 0 {
		return m.right[len(m.right)-1]
	}
	return &page{title: "no session"}
}

// titleLine says what is shown, and where in it the selected item is.
func (m *model) titleLine() string {
	p := m.page()
	where := ""
	if it := p.current(); it != nil && p.kind != helpsPage {
		where = fmt.Sprintf(" %d of %d ", p.cur+1, len(p.items))
		if p.kind == talkPage && p.total > 0 {
			where = fmt.Sprintf(" #%d of %d ", it.seq, p.total)
		}
	}
	title := p.title
	if p == m.left {
		title = plural(uint64(len(p.items)), "session")
		where = ""
	}
	title = cut(" ctx browse  "+title, m.width-columns(where))
	return m.paint(reverse, fit(fit(title, m.width-columns(where))+where, m.width))
}

func (m *model) statusLine() string {
	switch {
	case m.job != nil:
		return m.job.line()
	case m.typing:
		text := " search: " + clean(m.typed) + "▏"
		for columns(text) > m.width && m.width > 20 { // its end
			r := []rune(text)
			text = string(r[1:])
		}
		return text
	case m.status != "":
		return " " + m.status
	}
	p := m.page()
	return hints(p.kind, len(p.items) == 0, m.width)
}

// draw returns the lines of a page; nil if there is no room for it. It reads the items on the
// screen alone.
func (m *model) draw(p *page, width int, active bool) []string {
	if width == 0 {
		return nil
	}
	height := m.bodyHeight()
	lines := make([]string, 0, height)
	skip := p.off
	put := func(l line) {
		if skip > 0 {
			skip--
		} else if len(lines) < height {
			lines = append(lines, m.paintLine(l, width))
		}
	}
	for i := p.top; i < len(p.items) && len(lines) < height; i++ {
		it, head := p.items[i], line{{normal, "  "}}
		switch head = append(head, it.head...); {
		case i == p.cur && active:
			put(line{{reverse, "> " + it.head.String()}})
		case i == p.cur:
			head[0] = span{bold, "> "}
			put(head)
		default:
			put(head)
		}
		for _, l := range it.body(width - indent) {
			put(append(line{{normal, "  "}}, l...))
		}
		if it.more {
			put(line{{faint, "  … space shows the whole text"}})
		}
	}
	if len(p.items) == 0 {
		none := p.none
		if p == m.left {
			none =
				"No session is in this store yet: ctx import --all brings the ones of this project."
		}
		text, _ := wrap([]row{{text: none}}, width-indent, height)
		for _, l := range text {
			put(append(line{{normal, "  "}}, l...))
		}
	}
	for len(lines) < height {
		lines = append(lines, strings.Repeat(" ", width))
	}
	return lines
}
