package exchange

import (
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/refs"
)

// beginning says that a session may begin with a copy of another one.
type beginning struct {
	Session string
	Of      string // the other one
	From    string // the session in the store that was compared with it; "" for none
}

// copied holds the messages of a session of which another one may begin with a copy.
type copied struct {
	said  map[string]bool            // by wordsOf
	left  map[transcript.Origin]bool // messages that were left out as copies
	first transcript.Origin          // the first message that is no copy
	over  bool                       // the copy has ended
}

// copiedFrom reads the messages of a session, or of what stands in for it, rewound ones included;
// nil if there is neither.
func (im *treeImporter) copiedFrom(session string) (*copied, error) {
	view, err := im.Refs.Read()
	if err != nil {
		return nil, err
	}
	im.begins = &beginning{Session: im.as, Of: session, From: session}
	if !exists(view, session) {
		forks, err := im.forks(view)
		if err != nil {
			return nil, err
		}
		im.begins.From = im.standIn(view, forks, im.as, session)
		im.standsIn(im.as, session)
	}
	tip := view.Get(history.RefName(im.begins.From, history.MainBranch)).ID
	if tip.IsZero() || im.begins.From == im.as {
		return nil, nil
	}
	c := &copied{said: map[string]bool{}, left: map[transcript.Origin]bool{}}
	seen := map[format.ID]bool{}
	for todo := []format.ID{tip}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id.IsZero() || seen[id] {
			continue
		}
		seen[id] = true
		e, err := im.Header(id)
		if err != nil {
			return nil, err
		}
		todo = append(append(todo, e.Left), e.Parents...)
		if e.Kind != format.KindMessage && e.Kind != format.KindNote && e.Kind != format.KindAmend {
			continue
		}
		shown, err := im.Entry(id)
		if err != nil {
			return nil, err
		}
		m := messageOf(shown)
		c.said[wordsOf(&m)] = true
	}
	return c, nil
}

// standIn returns the session to compare with where the copied one is not in the store: the first
// one in this run that began with a copy of it, or else one of the store that did; "" if there is
// none but the session itself.
func (s *Writer) standIn(view *refs.View, forks map[string][]string, session, of string) string {
	s.copying.Lock()
	from := s.copies[of]
	s.copying.Unlock()
	if list := forks[of]; from == "" && len(list) > 0 && list[0] < session {
		from = list[0]
	}
	if from == session || from != "" && !exists(view, from) {
		return ""
	}
	return from
}

// standsIn notes that a session may begin with a copy of one that is not in the store. The first of
// a run stands in for it.
func (s *Writer) standsIn(session, of string) {
	s.copying.Lock()
	defer s.copying.Unlock()
	if s.copies == nil {
		s.copies = map[string]string{}
	}
	if s.copies[of] == "" {
		s.copies[of] = session
	}
}

// forks lists the sessions that name the session which they follow, but no call of it, by that
// session and in the order of their names.
func (s *Reader) forks(view *refs.View) (map[string][]string, error) {
	of := map[string][]string{}
	for _, name := range view.Names(history.StateRefs + "parent/") {
		child := strings.TrimPrefix(name, history.StateRefs+"parent/")
		p, ok, err := s.ParentOf(view, child)
		if err != nil {
			return nil, err
		}
		if ok && p.Call == "" {
			of[p.Session] = append(of[p.Session], child)
		}
	}
	return of, nil
}

// has reports whether a message belongs to the copies that a session begins with. The first message
// that the other session does not have ends them.
func (c *copied) has(m *transcript.Message, out conversation.Message) bool {
	if c == nil || c.over {
		return false
	}
	if _, err := out.Clean(); err != nil {
		return false // Append returns the error
	}
	clean := transcript.Message{Role: m.Role, Note: m.Note, Text: out.Text, Parts: out.Parts}
	words := wordsOf(&clean)
	silent := words == wordsOf(&transcript.Message{Role: m.Role})
	switch {
	case m.Note && (silent || !c.said[words]):
		return false // a note of the agent about this session
	case !silent && !c.said[words]:
		c.over, c.first = true, m.Origin
		return false
	}
	c.left[m.Origin] = true
	return true
}

// wordsOf encodes the content of a message, without the other fields of its record.
func wordsOf(m *transcript.Message) string {
	var b strings.Builder
	b.WriteString(m.Role)
	piece := func(kind string, list ...string) {
		for _, s := range append([]string{kind}, list...) {
			b.WriteByte(0)
			b.WriteString(s)
		}
	}
	if m.Text != "" {
		piece("text", m.Text)
	}
	for _, p := range transcript.PartsOf(m) {
		switch p.Kind {
		case transcript.PartText:
			if m.Parts != nil {
				piece("text", p.Text)
			}
		case transcript.PartHidden:
			if p.Text != "" {
				piece("thought", p.Text)
			}
		case transcript.PartCall:
			piece("call", p.ID, p.Tool, string(jsonvalue.Canonical(p.Args)))
		case transcript.PartResult:
			said, _ := p.Said()
			piece("result", p.ID, said)
		default:
			piece("part", string(p.Raw))
		}
	}
	return b.String()
}

// callOf returns the call of a session whose result names another session; "" if there is none.
func (s *Reader) callOf(session, named string) (call string, err error) {
	view, err := s.Refs.Read()
	if err != nil {
		return "", err
	}
	tip := view.Get(history.RefName(session, history.MainBranch)).ID
	if tip.IsZero() || named == "" {
		return "", nil
	}
	for e, err := range s.Walk(tip, history.WithJoined) {
		if err != nil {
			return "", err
		}
		if len(e.Results) == 0 {
			continue
		}
		shown, err := s.Entry(e.ID)
		if err != nil {
			return "", err
		}
		if strings.Contains(shown.Text, named) || strings.Contains(string(shown.Parts), named) {
			call = e.Results[0] // the oldest call that names it
		}
	}
	return call, nil
}
