package browse

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
)

// model is what the terminal shows. Update reads what the screen needs and no more, so that what a
// key does depends on the store and the keys before it alone.
type model struct {
	source
	context context.Context
	left    *page   // the sessions
	right   []*page // the conversation of one, and what was opened over it
	onLeft  bool    // keys go to the list of sessions
	typing  bool    // the words of a search
	typed   string
	job     *job
	tick    func() tea.Cmd // nil for none
	status  string         // the answer to the last key; "" for the keys
	plain   bool           // no colours

	width, height int
}

// newModel opens the session of that name, or the newest one.
func newModel(
	c context.Context, s *session.Store, name string, zone *time.Location,
) (*model, error) {
	m := &model{source: source{store: s, zone: zone}, context: c, onLeft: name == "",
		width: 80, height: 24}
	if err := m.load(); err != nil {
		return nil, err
	}
	if name != "" {
		whole, err := history.Named(m.view, name)
		if err != nil {
			return nil, err
		}
		m.left.cur = max(m.sessionAt(whole), 0)
	}
	return m, m.choose()
}

// sessionAt returns where a session is in the list; -1 for nowhere.
func (m *model) sessionAt(name string) int {
	return slices.IndexFunc(m.left.items, func(it *item) bool { return it.session == name })
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
	p, err := m.talk(it.session, it.branch, it.title)
	if p != nil {
		m.right = []*page{p}
		p.reveal(m.sizeOf(p))
	}
	return err
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	var err error
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 20), max(msg.Height, 5)
		m.revealAll()
	case tickMsg:
		if m.job != nil {
			m.job.frame++
			cmd = m.tick()
		}
	case doneMsg:
		cmd, err = m.finish(msg)
	case tea.PasteMsg:
		if m.typing {
			m.typed += msg.Content
		}
	case tea.KeyPressMsg:
		m.status = ""
		onLeft := m.onLeft
		cmd, err = m.key(msg)
		if onLeft != m.onLeft {
			m.revealAll() // the widths have changed
		}
	}
	if err != nil {
		m.status = short(command.Explain(err).Message)
	}
	return m, cmd
}

// revealAll moves all pages so that what is selected is on the screen.
func (m *model) revealAll() {
	for _, p := range append([]*page{m.left}, m.right...) {
		p.reveal(m.sizeOf(p))
	}
}

// page returns the page that keys go to.
func (m *model) page() *page {
	if m.onLeft || len(m.right) == 0 {
		return m.left
	}
	return m.right[len(m.right)-1]
}

func (m *model) key(msg tea.KeyPressMsg) (tea.Cmd, error) {
	key := msg.String()
	switch {
	case m.job != nil:
		switch key {
		case "ctrl+c":
			return tea.Quit, nil
		case "esc", "q":
			m.stop()
		}
		return nil, nil
	case m.typing:
		return m.typeKey(msg), nil
	}
	switch key {
	case "ctrl+c":
		return tea.Quit, nil
	case "q", "esc":
		return m.back(key == "q"), nil
	case "tab", "h", "l", "left", "right":
		m.onLeft = !m.onLeft && key == "tab" || key == "h" || key == "left"
		if len(m.right) == 0 {
			m.onLeft = true
		}
	case "/":
		m.typing, m.typed = true, ""
	case "?":
		m.push(helpPage())
	case "f":
		return m.open("reading the forest",
			func(c context.Context) (*page, error) { return m.forest(c) }), nil
	case "b":
		return nil, m.branch()
	case "r":
		return nil, m.reload()
	case "p", "y", "Y", "enter", "space", "e":
		return m.act(key)
	default:
		return m.move(key)
	}
	return nil, nil
}

// typeKey is a key while words are typed.
func (m *model) typeKey(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		m.typing = false
		if text := m.typed; text != "" {
			return m.open("searching",
				func(context.Context) (*page, error) { return m.search(text) })
		}
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
func (m *model) push(p *page) {
	m.right, m.onLeft = append(m.right, p), false
	p.reveal(m.sizeOf(p))
}

// back closes a page, or leaves: from the conversation to the sessions, and from there the program.
func (m *model) back(quit bool) tea.Cmd {
	switch {
	case !m.onLeft && len(m.right) > 1:
		m.page().close()
		m.right = m.right[:len(m.right)-1]
		m.revealAll()
	case !m.onLeft && len(m.left.items) > 0:
		m.onLeft = true
	case !m.onLeft && len(m.right) > 0: // help, in a store without sessions
		m.right, m.onLeft = nil, true
	case quit:
		return tea.Quit
	}
	return nil
}

// branch shows the next branch of the selected session.
func (m *model) branch() error {
	it := m.left.current()
	if it == nil || len(it.branches) < 2 {
		m.status = "the session has one branch"
		return nil
	}
	at := slices.Index(it.branches, it.branch) + 1
	it.branch = it.branches[at%len(it.branches)]
	m.status = "branch " + short(it.branch)
	return m.choose()
}

// reload reads the store again and keeps what is selected, if it is still there.
func (m *model) reload() error {
	var name, branch string
	if it := m.left.current(); it != nil {
		name, branch = it.session, it.branch
	}
	if err := m.load(); err != nil {
		return err
	}
	m.left.cur = max(m.sessionAt(name), 0)
	if it := m.left.current(); it != nil && slices.Contains(it.branches, branch) &&
		it.session == name {
		it.branch = branch
	}
	m.left.reveal(m.sizeOf(m.left))
	m.status = "read again"
	if len(m.left.items) == 0 {
		m.onLeft = true
	}
	return m.choose()
}

// act does something with the selected item.
func (m *model) act(key string) (tea.Cmd, error) {
	p := m.page()
	it := p.current()
	if it == nil {
		return nil, nil
	}
	switch key {
	case "p":
		if it.id.IsZero() {
			m.status = "only messages, clusters and summaries come from something"
			return nil, nil
		}
		return m.open("reading the provenance",
			func(context.Context) (*page, error) { return m.provenance(it.id) }), nil
	case "y", "Y":
		return m.copy(it, key == "Y")
	}
	switch {
	case p.kind == sessionsPage:
		m.onLeft = len(m.right) == 0
	case p.kind == hitsPage && key != "space":
		return m.jump(it)
	case it.opens && key != "space":
		return m.expandItem(it), nil
	default:
		it.open, it.width = !it.open, 0
		if p.cur == p.top {
			p.off = 0
		}
		p.reveal(m.sizeOf(p))
	}
	return nil, nil
}

func (m *model) expandItem(it *item) tea.Cmd {
	return m.open("reading the messages",
		func(c context.Context) (*page, error) { return m.expand(c, it.id) })
}

// copy gives the id of an item, or its text, to the clipboard of the terminal. A terminal may paste
// into a shell, so the text has no controls.
func (m *model) copy(it *item, text bool) (tea.Cmd, error) {
	what := it.id.String()
	if it.id.IsZero() {
		what = it.session
	}
	if text && it.copy != nil {
		var err error
		if what, err = it.copy(); err != nil {
			return nil, err
		}
	}
	if what = cleanText(what); what == "" {
		m.status = "nothing to copy"
		return nil, nil
	}
	m.status = fmt.Sprintf("copied %d bytes: %s", len(what), short(what))
	return tea.SetClipboard(what), nil
}

// jump opens the session of a hit at the message.
func (m *model) jump(it *item) (tea.Cmd, error) {
	if it.branch == "" {
		return m.expandItem(it), nil // rewound: no branch has it any more
	}
	title := ""
	if i := m.sessionAt(it.session); i >= 0 {
		title = m.left.items[i].title
	}
	p, err := m.talk(it.session, it.branch, title)
	if err != nil {
		return nil, err
	}
	show := func() {
		p.cur = max(placeOf(p.items, it.id), 0)
		p.top, p.off = p.cur, 0
		m.push(p)
	}
	if p.older == nil || placeOf(p.items, it.id) >= 0 {
		show()
		return nil, nil
	}
	has := func(list []*item) bool { return placeOf(list, it.id) >= 0 }
	return m.readUntil(p, has, show), nil
}

func placeOf(items []*item, id format.ID) int {
	return slices.IndexFunc(items, func(it *item) bool { return it.id == id })
}

// move changes what is selected. It reads older messages when it comes near the first one.
func (m *model) move(key string) (tea.Cmd, error) {
	p := m.page()
	before := p.cur
	w, h := m.sizeOf(p)
	near := 0
	switch key {
	case "k", "up":
		near = 1
	case "ctrl+u", "pgup":
		near = h
	}
	var err error
	if p.older != nil && p.cur < near {
		var found []*item
		found, err = m.older(p, atOnce)
		p.prepend(found)
		before = p.cur
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
	case "pgup":
		p.leap(-h, w, h)
	case "g", "home":
		first := func() { p.cur, p.top, p.off = 0, 0, 0 }
		if p.older != nil {
			return m.readUntil(p, func([]*item) bool { return false }, first), nil
		}
		first()
	case "G", "end":
		p.cur = max(len(p.items)-1, 0)
		p.reveal(w, h)
	}
	if p.kind == sessionsPage && p.cur != before && err == nil {
		err = m.choose()
	}
	return nil, err
}
