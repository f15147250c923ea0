package main

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/clierr"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
)

// model is what the terminal shows. Update reads what the screen needs and no more, so that what a
// key does depends on the store and the keys before it alone.
type model struct {
	source
	left   *page   // the sessions
	right  []*page // the conversation of one, and what was opened over it
	onLeft bool    // keys go to the list of sessions
	typing bool    // the words of a search
	typed  string
	status string // the answer to the last key; "" for the keys
	plain  bool   // no colours

	width, height int
}

// newModel opens the session of that name, or the newest one.
func newModel(s *session.Store, name string, zone *time.Location) (*model, error) {
	m := &model{source: source{store: s, zone: zone}, onLeft: name == "", width: 80, height: 24}
	if err := m.load(); err != nil {
		return nil, err
	}
	if name != "" {
		whole, err := history.Named(m.view, name)
		if err != nil {
			return nil, err
		}
		m.left.cur = max(slices.IndexFunc(m.left.items, func(it *item) bool { return it.session == whole }), 0)
	}
	return m, m.choose()
}

// load reads the refs and the sessions.
func (m *model) load() (err error) {
	if m.view, err = m.store.Refs.Read(); err == nil {
		m.left, err = m.sessions()
	}
	return err
}

// choose shows the selected session, at its end.
func (m *model) choose() error {
	for _, p := range m.right {
		p.close()
	}
	m.right = nil
	it := m.left.current()
	if it == nil {
		return nil
	}
	p, err := m.talk(it.session, it.branch)
	if p != nil {
		m.right = []*page{p}
		p.reveal(m.rightWidth()-indent, m.bodyHeight())
	}
	return err
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 20), max(msg.Height, 5)
		for _, p := range append([]*page{m.left}, m.right...) {
			w, h := m.sizeOf(p)
			p.reveal(w, h)
		}
	case tea.KeyPressMsg:
		m.status = ""
		cmd, err := m.key(msg)
		if err != nil {
			m.status = clean(clierr.Explain(err).Message)
		}
		return m, cmd
	}
	return m, nil
}

// page returns the page that keys go to; nil if there is none.
func (m *model) page() *page {
	switch {
	case m.onLeft:
		return m.left
	case len(m.right) > 0:
		return m.right[len(m.right)-1]
	}
	return nil
}

func (m *model) key(msg tea.KeyPressMsg) (tea.Cmd, error) {
	if m.typing {
		return nil, m.typeKey(msg)
	}
	switch key := msg.String(); key {
	case "ctrl+c":
		return tea.Quit, nil
	case "q", "esc":
		return m.back(key == "q"), nil
	case "tab", "h", "l", "left", "right":
		m.onLeft = !m.onLeft && key == "tab" || key == "h" || key == "left"
	case "/":
		m.typing, m.typed = true, ""
	case "?":
		return nil, m.push(helpPage(), nil)
	case "f":
		p, err := m.forest()
		return nil, m.push(p, err)
	case "r":
		return nil, m.reload()
	case "p", "y", "Y", "enter", "space", "e":
		return m.act(key)
	default:
		return nil, m.move(key)
	}
	return nil, nil
}

// typeKey is a key while words are typed.
func (m *model) typeKey(msg tea.KeyPressMsg) error {
	switch msg.String() {
	case "enter":
		m.typing = false
		if m.typed == "" {
			return nil
		}
		p, err := m.search(m.typed)
		if err == nil && len(p.items) == 0 {
			m.status = "nothing found: " + short(m.typed)
			return nil
		}
		return m.push(p, err)
	case "esc", "ctrl+c":
		m.typing = false
	case "backspace":
		if r := []rune(m.typed); len(r) > 0 {
			m.typed = string(r[:len(r)-1])
		}
	case "ctrl+u":
		m.typed = ""
	default:
		m.typed += msg.Key().Text
	}
	return nil
}

// push opens a page over the others.
func (m *model) push(p *page, err error) error {
	if err != nil {
		return err
	}
	m.right, m.onLeft = append(m.right, p), false
	return nil
}

// back closes a page, or leaves: from the conversation to the sessions, and from there the program.
func (m *model) back(quit bool) tea.Cmd {
	switch {
	case !m.onLeft && len(m.right) > 1:
		m.page().close()
		m.right = m.right[:len(m.right)-1]
	case !m.onLeft:
		m.onLeft = true
	case quit:
		return tea.Quit
	}
	return nil
}

// reload reads the store again and keeps what is selected, if it is still there.
func (m *model) reload() error {
	var name string
	if it := m.left.current(); it != nil {
		name = it.session
	}
	if err := m.load(); err != nil {
		return err
	}
	m.left.cur = max(slices.IndexFunc(m.left.items, func(it *item) bool { return it.session == name }), 0)
	w, h := m.sizeOf(m.left)
	m.left.reveal(w, h)
	m.status = "read again"
	return m.choose()
}

// act does something with the selected item.
func (m *model) act(key string) (tea.Cmd, error) {
	p := m.page()
	if p == nil || p.current() == nil {
		return nil, nil
	}
	it := p.current()
	switch key {
	case "p":
		if it.id.IsZero() {
			return nil, nil
		}
		next, err := m.provenance(it.id)
		return nil, m.push(next, err)
	case "y", "Y":
		return m.copy(it, key == "Y")
	}
	switch {
	case p.kind == sessionsPage:
		m.onLeft = false
	case p.kind == hitsPage:
		return nil, m.jump(it)
	case it.opens && key != "space":
		next, err := m.expand(it.id)
		return nil, m.push(next, err)
	default:
		it.open, it.width = !it.open, 0
		w, h := m.sizeOf(p)
		if p.cur == p.top {
			p.off = 0
		}
		p.reveal(w, h)
	}
	return nil, nil
}

// copy gives the id of an item, or its text, to the clipboard of the terminal.
func (m *model) copy(it *item, text bool) (tea.Cmd, error) {
	what := it.id.String()
	if it.id.IsZero() {
		what = it.session
	}
	if text && it.read != nil {
		var err error
		if what, err = it.read(); err != nil {
			return nil, err
		}
	}
	m.status = fmt.Sprintf("copied %d bytes: %s", len(what), short(what))
	return tea.SetClipboard(what), nil
}

// jump opens the session of a hit at the message.
func (m *model) jump(it *item) error {
	if it.branch == "" {
		p, err := m.expand(it.id) // rewound: no branch has it any more
		return m.push(p, err)
	}
	p, err := m.talk(it.session, it.branch)
	if err != nil {
		return err
	}
	at := find(p, it.id)
	for at < 0 && p.older != nil {
		if err := m.extend(p, atOnce); err != nil {
			return err
		}
		at = find(p, it.id)
	}
	p.cur = max(at, 0)
	p.top, p.off = p.cur, 0
	return m.push(p, nil)
}

func find(p *page, id format.ID) int {
	return slices.IndexFunc(p.items, func(it *item) bool { return it.id == id })
}

// move changes what is selected. It reads older messages when it comes near the first one.
func (m *model) move(key string) error {
	p := m.page()
	if p == nil {
		return nil
	}
	before := p.cur
	w, h := m.sizeOf(p)
	var err error
	near := 0
	switch key {
	case "k", "up":
		near = 1
	case "ctrl+u", "pgup", "b":
		near = h
	case "g", "home":
		near = 1 << 40
	}
	if near > 0 && p.older != nil && p.cur < near {
		most := atOnce
		if near > h {
			most = near
		}
		err = m.extend(p, most)
	}
	switch key {
	case "j", "down":
		p.down(w, h)
	case "k", "up":
		p.up(w, h)
	case "ctrl+d":
		p.leap(h/2, w, h)
	case "ctrl+u":
		p.leap(-h/2, w, h)
	case "pgdown":
		p.leap(h, w, h)
	case "pgup", "b":
		p.leap(-h, w, h)
	case "g", "home":
		p.cur, p.top, p.off = 0, 0, 0
	case "G", "end":
		p.cur = max(len(p.items)-1, 0)
		p.reveal(w, h)
	}
	if p.kind == sessionsPage && p.cur != before && err == nil {
		err = m.choose()
	}
	return err
}

func helpPage() *page {
	p := &page{kind: textPage, title: "keys"}
	for _, line := range []string{
		"j k, arrows      the next and the previous item",
		"g G              the first and the last one",
		"ctrl-d ctrl-u    half a screen down and up; page keys: a whole one",
		"tab, h l         between the sessions and what they hold",
		"enter            a session; the messages behind a cluster or a summary;",
		"                 the message of a hit; the whole of a folded text",
		"space            the whole of a folded text, and back",
		"f                the forest: clusters with their summaries",
		"p                where the selected item comes from",
		"/                search in all sessions",
		"y Y              copy the id, or the text, by the terminal (OSC 52)",
		"r                read the store again",
		"q, esc           back; q in the list of sessions ends the program",
	} {
		p.items = append(p.items, &item{head: line})
	}
	return p
}
