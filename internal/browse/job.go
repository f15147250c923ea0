package browse

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
)

// job is work that may take longer than a person waits for a key. It runs beside Update, which
// takes no key meanwhile but those that end it. What it may touch is the store and the reading of
// one page, and never what is drawn.
type job struct {
	what   string
	done   int // of a job in steps: what there is so far; 0 for none
	frame  int
	cancel context.CancelFunc
	// stepwise says that the job comes back often and keeps what it has. It is waited for when it is
	// cancelled; another job is forgotten, and its result dropped when it comes.
	stepwise bool
}

// doneMsg is the end of a job, or of a step of one. then changes the model; it may begin another
// step.
type doneMsg struct {
	job  *job
	then func() (tea.Cmd, error)
}

type tickMsg struct{}

// tick moves what shows that a job runs.
func tick() tea.Cmd {
	const beat = 120 * time.Millisecond
	return tea.Tick(beat, func(time.Time) tea.Msg { return tickMsg{} })
}

// start begins a job.
func (m *model) start(
	what string, stepwise bool, work func(context.Context) func() (tea.Cmd, error),
) tea.Cmd {
	c, cancel := context.WithCancel(m.context)
	m.job = &job{what: what, cancel: cancel, stepwise: stepwise}
	if m.tick == nil {
		return m.step(c, m.job, work)
	}
	return tea.Batch(m.step(c, m.job, work), m.tick())
}

// step runs a job, or its next step.
func (m *model) step(
	c context.Context, j *job, work func(context.Context) func() (tea.Cmd, error),
) tea.Cmd {
	return func() tea.Msg { return doneMsg{j, work(c)} }
}

// finish takes the result of a job or of a step.
func (m *model) finish(msg doneMsg) (tea.Cmd, error) {
	if msg.job != m.job {
		return nil, nil // it was cancelled
	}
	next, err := msg.then()
	if next == nil && m.job == msg.job {
		m.job.cancel()
		m.job = nil
	}
	return next, err
}

// stop cancels the job.
func (m *model) stop() {
	m.job.cancel()
	if !m.job.stepwise {
		m.job, m.status = nil, "stopped"
	}
}

// line says what a job does.
func (j *job) line() string {
	const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	mark := []rune(frames)[j.frame%len([]rune(frames))]
	text := fmt.Sprintf(" %c %s", mark, j.what)
	if j.done > 0 {
		text += fmt.Sprintf(": %d messages", j.done)
	}
	return text + "   esc stops"
}

// open makes a page in a job and opens it.
func (m *model) open(what string, work func(context.Context) (*page, error)) tea.Cmd {
	return m.start(what, false, func(c context.Context) func() (tea.Cmd, error) {
		p, err := work(c)
		return func() (tea.Cmd, error) {
			if err != nil {
				return nil, err
			}
			if len(p.items) == 0 {
				m.status = p.none
				return nil, nil
			}
			m.push(p)
			return nil, nil
		}
	})
}

// readUntil reads older messages of a conversation until enough says so or there are no more, and
// then calls end. Esc stops it between two steps; what was read stays.
func (m *model) readUntil(p *page, enough func(found []*item) bool, end func()) tea.Cmd {
	const most = 2000 // messages in a step: some 20 ms
	var work func(context.Context) func() (tea.Cmd, error)
	work = func(c context.Context) func() (tea.Cmd, error) {
		found, err := m.older(p, most)
		return func() (tea.Cmd, error) {
			hit := enough(found)
			p.prepend(found)
			m.job.done = len(p.items)
			switch {
			case err != nil:
				return nil, err
			case hit || p.older == nil:
				end()
				return nil, nil
			case c.Err() != nil:
				m.status = "stopped"
				return nil, nil
			}
			return m.step(c, m.job, work), nil
		}
	}
	return m.start("reading older messages", true, work)
}
