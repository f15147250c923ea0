package homes

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Home is a home directory with projects, and the truth about both.
type Home struct {
	Dir      string     // the value of HOME
	Projects []*Project // each has a store of its own once the caller has made it
	Strays   []*Session // belong to no project with a store

	r      *rand.Rand
	gemini map[string]string // the folder that Gemini CLI has for a directory
	work   string            // the directory above all projects
	trees  []string          // work trees of the project quay
	now    time.Time
	n      int // sessions so far
}

// Project is a directory for which the caller makes a store.
type Project struct {
	Dir      string
	Sessions []*Session // what belongs to the store, subagents included
	Git      bool       // a repository of git
}

// Session is one conversation as an agent recorded it.
type Session struct {
	Agent  string
	ID     string
	Cwd    string // as its records name it
	File   string
	Shape  Shape
	Said   []Said
	Parent *Session // of a subagent: the session that began it; of a fork: its origin

	start time.Time
	n     int          // ids so far
	write func() error // writes the transcript again
}

// Said is one text, which no other message has.
type Said struct {
	Who  Who
	Text string
	Left bool // rewound: it is in the store, and no longer in the conversation
	Gone bool // torn: the transcript does not have all of it

	id string // of its record, for agents whose records have one
}

// Who says a text.
type Who string

// The speakers, as `ctx log --json` names their roles.
const (
	Person Who = "user"
	Model  Who = "model"
	Tool   Who = "tool"
)

// Shape is what happened to a transcript.
type Shape string

// The shapes. Plain can be of any agent; Torn of those that write JSON lines; Packed and HalfPacked
// of Codex CLI; all others of Claude Code.
const (
	Plain       Shape = "plain"
	Torn        Shape = "torn"        // the last record is not whole
	Packed      Shape = "packed"      // compressed
	HalfPacked  Shape = "half packed" // compressed, and cut off
	Compacted   Shape = "compacted"
	Twice       Shape = "compacted twice" // in one process: both boundaries name one parent
	Rewritten   Shape = "rewritten"       // records come again with a field more
	Rewound     Shape = "rewound"
	Forked      Shape = "forked" // begins with the records of its parent
	WithAgent   Shape = "with a subagent"
	Running     Shape = "with a subagent that runs"
	Interrupted Shape = "with a subagent that was interrupted"
	Beside      Shape = "typed beside a result"
	OldClock    Shape = "of a clock that was years back"
)

// Make makes a home with about n sessions below dir. The same seed makes the same home, but for the
// name of dir. Make needs the program git.
func Make(dir string, seed uint64, n int) (*Home, error) {
	h := &Home{
		Dir: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"),
		r:   rand.New(rand.NewPCG(seed, 1)),
		now: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
	}
	places, err := h.layOut()
	if err != nil {
		return nil, err
	}
	for range n {
		p := places[h.r.IntN(len(places))]
		if err := h.converse(p); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// converse adds a session that was begun in a place.
func (h *Home) converse(p place) error {
	agent := agents[h.r.IntN(len(agents))]
	shape := agent.shapes[h.r.IntN(len(agent.shapes))]
	if h.r.IntN(3) == 0 {
		shape = Plain
	}
	s := h.session(agent.name, p.cwd, shape)
	var more []*Session
	switch shape {
	case WithAgent, Running, Interrupted:
		more = append(more, h.subagent(s))
	case Forked:
		more = append(more, h.fork(s))
	}
	for _, of := range append([]*Session{s}, more...) {
		if p.project != nil {
			p.project.Sessions = append(p.project.Sessions, of)
		} else {
			h.Strays = append(h.Strays, of)
		}
	}
	s.write = func() error { return agent.write(h, s, more) }
	return s.write()
}

// Grow lets some sessions of a project go on by a turn, as their agents record it. It removes the
// work trees of the project quay, as people do when their branch is merged.
func (h *Home) Grow(p *Project) error {
	for _, s := range p.Sessions {
		if s.write == nil || s.Parent != nil || s.Shape != Plain || h.r.IntN(2) == 0 {
			continue
		}
		h.turn(s)
		if err := s.write(); err != nil {
			return err
		}
	}
	if p.Dir != filepath.Join(h.work, "quay") {
		return nil
	}
	for _, dir := range h.trees {
		if err := git(p.Dir, "worktree", "remove", "--force", dir); err != nil {
			return err
		}
	}
	return nil
}

// session invents a conversation.
func (h *Home) session(agent, cwd string, shape Shape) *Session {
	h.n++
	h.now = h.now.Add(time.Duration(1+h.r.IntN(300)) * time.Minute)
	s := &Session{Agent: agent, Cwd: cwd, Shape: shape, start: h.now,
		ID: fmt.Sprintf("%08x-0000-4000-8000-%012x", h.r.Uint32(), h.n)}
	if shape == OldClock {
		s.start = s.start.AddDate(-20, 0, 0)
	}
	for range 1 + h.r.IntN(3) {
		h.turn(s)
	}
	switch shape {
	case Compacted, Twice, Rewound, Forked, Rewritten:
		for len(s.Said) < 6 {
			h.turn(s)
		}
	}
	return s
}

// turn adds a prompt, perhaps a call with its output, and an answer.
func (h *Home) turn(s *Session) {
	h.say(s, Person)
	if h.r.IntN(2) == 0 || s.Shape == Beside {
		h.say(s, Tool)
		if s.Shape == Beside {
			h.say(s, Person)
		}
	}
	h.say(s, Model)
}

// say adds a text that is nowhere else: its first word is a name of its own.
func (h *Home) say(s *Session, who Who) {
	phrases := map[Who][]string{
		Person: {"how deep is the harbour at low tide?", "どの灯台が古いですか", "刷新码头的油漆",
			"please count the lamps <b>again</b>", "등대를 찾아라", "yes", "why is \"quay.go\" red?"},
		Model: {"I counted them.", "灯塔共有四座。", "The north one is the oldest.", "Done: quay.go is green.",
			"- one\n- two", "`git status` is clean"},
		Tool: {"north: on\nsouth: off", "4 lamps", "ok  quay 0.1s"},
	}[who]
	text := fmt.Sprintf("%s %s", Token(s, len(s.Said)), phrases[h.r.IntN(len(phrases))])
	s.Said = append(s.Said, Said{Who: who, Text: text, id: h.uuid(s)})
}

// Token returns the first word of a text in a session, which no other text in the home has.
func Token(s *Session, i int) string {
	return fmt.Sprintf("lamp%s%03d", s.ID[len(s.ID)-4:], i)
}

func (h *Home) uuid(s *Session) string {
	s.n++
	return fmt.Sprintf("%s-%04x-4000-9000-%s", s.ID[:8], s.n, s.ID[24:])
}

// subagent invents what a subagent of a session says: its task, then an answer.
func (h *Home) subagent(of *Session) *Session {
	h.n++
	sub := &Session{Agent: of.Agent, Cwd: of.Cwd, Parent: of, start: of.start.Add(time.Minute),
		ID: fmt.Sprintf("%08x-0000-4000-8000-%012x", h.r.Uint32(), h.n)}
	h.say(sub, Person)
	h.say(sub, Model)
	return sub
}

// fork invents a session that begins with what another one said.
func (h *Home) fork(of *Session) *Session {
	h.n++
	f := &Session{Agent: of.Agent, Cwd: of.Cwd, Parent: of, Shape: Forked,
		start: of.start.Add(time.Hour),
		ID:    fmt.Sprintf("%08x-0000-4000-8000-%012x", h.r.Uint32(), h.n)}
	f.Said = append(f.Said, of.Said...)
	h.turn(f)
	return f
}

// at is the time of a session's i-th record, as JavaScript prints it.
func (s *Session) at(i int) string {
	return s.start.Add(time.Duration(i*7) * time.Second).Format("2006-01-02T15:04:05.000Z")
}

// store writes a transcript.
func (s *Session) store(file string, b []byte) error {
	s.File = file
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o600)
}
