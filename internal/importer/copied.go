package importer

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/exporter"
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
	said    map[string][]original // those that were not met yet, by wordsOf, oldest first
	prompts []uint64              // where prompts are on the session's line
	at      uint64                // where the newest message that was met is on the line
	gone    map[uint64]original   // messages whose words are gone, by their place
	traces  *history.Traces       // of what was forgotten here; nil if nothing was
	// of is the transcript, if it has a copy of a session that came home: what an export wrote is
	// known by its hints
	of    string
	left  map[transcript.Origin]bool // messages that were left out as copies
	first transcript.Origin          // the first message that is no copy
	over  bool                       // the copy has ended
	fork  bool                       // the copy is the history of a fork
	met   map[format.ID]bool         // the messages that were met
	last  original                   // the newest of them
	// Messages without words, as thoughts that an agent keeps to itself: nothing tells one from
	// another
	silent map[format.ID]bool
}

// original is a message that may be copied.
type original struct {
	seq    uint64
	onLine bool      // it was not rewound
	id     format.ID // the zero ID for a message of a document
	role   string
}

// copiedFrom reads the messages of a session, or of what stands in for it, rewound ones included;
// nil if there is neither. A session that was resumed has come home into another one: if that is
// the one which the copy comes into, the messages of it there are read.
func (im *treeImporter) copiedFrom(st *transcript.Step) (*copied, error) {
	session, own := history.FitSession(st.Begins), transcript.Fit(st.Session)
	view, err := im.Refs.Read()
	if err != nil {
		return nil, err
	}
	im.begins = &beginning{Session: im.as, Of: session, From: session}
	c := &copied{said: map[string][]original{}, left: map[transcript.Origin]bool{},
		gone: map[uint64]original{}, met: map[format.ID]bool{}, fork: !st.Given,
		silent: map[format.ID]bool{}}
	home := session == im.as // an earlier import has found what it shares
	if !exists(view, session) {
		if transcript.IsEntryUUID(session) {
			if handed, err := im.homeOf(view, "", session); err != nil || handed != "" {
				im.begins.Of, im.begins.From = handed, handed
				return c, errors.Join(err, im.asHanded(c, view, st, handed))
			}
		}
		forks, err := im.Forks(view)
		if err != nil {
			return nil, err
		}
		im.begins.From = im.standIn(view, forks, im.as, session)
		im.standsIn(im.as, session)
		home = im.begins.From == ""
	}
	from, came := im.begins.From, home && own != im.as // from one session; a fork shares any
	if home {
		from, c.of = im.as, own
	}
	tip := view.Get(history.RefName(from, history.MainBranch)).ID
	if tip.IsZero() || from == im.as && !home {
		return nil, nil
	}
	if err := im.copiedLine(c, tip, func(of *format.Source) bool {
		return !home || of != nil && (came && of.Session == session || !came && of.Session != own)
	}); err != nil {
		return nil, err
	}
	if came && len(c.said) > 0 {
		im.begins.From = im.as
	}
	for _, list := range c.said {
		slices.SortFunc(list, func(a, b original) int { return cmp.Compare(a.seq, b.seq) })
	}
	return c, nil
}

// copiedLine adds the messages of the session that ends in tip, if they may be copied.
func (im *treeImporter) copiedLine(
	c *copied, tip format.ID, may func(of *format.Source) bool,
) (err error) {
	line := map[format.ID]bool{}
	for e, err := range im.Walk(tip, history.OwnLine) {
		if err != nil {
			return err
		}
		line[e.ID] = true
		if e.Kind == format.KindMessage && e.Role == transcript.RoleUser {
			c.prompts = append(c.prompts, e.Seq)
		}
	}
	for e, err := range im.Walk(tip, history.WithRewound) {
		if err != nil {
			return err
		}
		switch e.Kind {
		case format.KindMessage, format.KindNote, format.KindAmend:
		default:
			continue
		}
		if !may(e.Source) {
			continue
		}
		shown, err := im.Entry(e.ID)
		if err != nil {
			return err
		}
		m := exporter.MessageOf(shown)
		was := original{e.Seq, line[e.ID], e.ID, e.Role}
		if m.Gone != "" && line[e.ID] && e.Kind == format.KindMessage {
			c.gone[e.Seq] = was
		}
		words := wordsOf(&m)
		c.said[words] = append(c.said[words], was)
		c.silent[e.ID] = m.Gone == "" && words == m.Role
	}
	if len(c.gone) > 0 {
		c.traces, err = im.ForgottenWords()
	}
	return err
}

// asHanded reads the messages of a session as an agent has them that was handed the session, once
// it has written them again: without the hints of an export.
func (im *treeImporter) asHanded(
	c *copied, view *refs.View, st *transcript.Step, session string,
) error {
	form, own := catalog.OfSource(st.Message.Origin.Agent), transcript.Origin{Session: st.Begins}
	if form == nil || form.Write == nil || session == "" {
		return nil
	}
	var file, bare bytes.Buffer
	_, err := im.exporter.Transcript(im.ctx, view, session, history.MainBranch, 0, false, own,
		form.Write(&file, transcript.WriteOptions{Session: own.Session}), nil)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(file.Bytes()) {
		record := jsonvalue.AsObject(line).Without(transcript.HintName)
		bare.Write(append(jsonvalue.Encode(record), '\n'))
	}
	seq := uint64(0)
	_, err = form.Read("", &bare, func(st transcript.Step) error {
		m := &st.Message
		out := conversation.Message{Role: m.Role, Text: m.Text, Parts: m.Parts, Calls: m.Calls,
			Results: m.Results}
		if _, err := out.Clean(); err != nil || st.Kind != transcript.KindMessage {
			return nil // what the store did not take as it is, no import takes
		}
		if seq++; m.Role == transcript.RoleUser && !m.Note {
			c.prompts = append(c.prompts, seq)
		}
		words := wordsOf(&transcript.Message{Role: m.Role, Text: out.Text, Parts: out.Parts})
		c.said[words] = append(c.said[words], original{seq: seq, onLine: true})
		return nil
	})
	return err
}

// copied reports whether a message is a copy of what another session has. Where one copy ends, that
// of a fork of the same origin may go on.
func (im *treeImporter) copied(next *treeStep) (bool, error) {
	m := &next.step.Message
	if im.copy.has(m, next.out) {
		return true, nil
	}
	if im.parted || m.Note {
		return false, nil
	}
	c, err := im.copyUnnamed(next)
	if im.parted = c == nil; err != nil || im.parted {
		return false, err
	}
	if im.copy != nil {
		c.left, c.met = im.copy.left, im.copy.met
	}
	im.copy = c
	return c.has(m, next.out), nil
}

// copyUnnamed finds the session of which a part of a session is a copy where the agent names none:
// one whose first message has the words and the time of the first message of that part; nil for
// none. The time is that of a record, in milliseconds.
func (im *treeImporter) copyUnnamed(next *treeStep) (*copied, error) {
	m, clean := &next.step.Message, next.out
	if _, err := clean.Clean(); err != nil || im.goesOn || m.Time.IsZero() ||
		!catalog.TraitsOf(m.Origin.Agent).Renames ||
		m.Origin.Session != transcript.Fit(next.step.Session) {
		return nil, nil // Append returns the error
	}
	if err := im.group.flush(); err != nil {
		return nil, err
	}
	view, err := im.Refs.Read()
	if err != nil {
		return nil, err
	}
	words := wordsOf(&transcript.Message{Role: m.Role, Text: clean.Text, Parts: clean.Parts})
	for _, name := range sessionNames(view) {
		if _, others := history.Owner(view, name); others {
			continue
		}
		first, err := im.firstOf(name, view.Get(history.RefName(name, history.MainBranch)).ID)
		if err != nil {
			return nil, err
		}
		of := first.Source
		if first.Kind != format.KindMessage || of == nil || of.Agent != m.Origin.Agent ||
			of.Session == m.Origin.Session || !first.Time.Equal(m.Time) {
			continue
		}
		shown, err := im.Entry(first.ID)
		if err != nil {
			return nil, err
		}
		if was := exporter.MessageOf(shown); wordsOf(&was) == words {
			st := next.step
			st.Begins = name
			return im.copiedFrom(&st)
		}
	}
	return nil, nil
}

// firstOf returns the first message of a session, which is read once in a run.
func (s *Writer) firstOf(session string, tip format.ID) (first history.Entry, err error) {
	s.copying.Lock()
	first, known := s.firsts[session]
	s.copying.Unlock()
	if known {
		return first, nil
	}
	first.Entry = &format.Entry{}
	for e, err := range s.Walk(tip, history.OwnLine) {
		if err != nil {
			return e, err
		}
		if e.Kind == format.KindMessage {
			first = e
		}
	}
	s.copying.Lock()
	defer s.copying.Unlock()
	if s.firsts == nil {
		s.firsts = map[string]history.Entry{}
	}
	s.firsts[session] = first
	return first, nil
}

// meets reports whether the session has a message with these words which comes next, and takes it
// from those to come. A prompt may say again what an older one said, as `continue` does: it is a
// copy only once, and only if no other prompt was said before it that was not copied.
func (c *copied) meets(words string) bool {
	i := slices.IndexFunc(c.said[words], func(o original) bool {
		return !o.onLine || o.seq >= c.at && (c.of != "" || c.at == 0 ||
			!slices.ContainsFunc(c.prompts,
				func(seq uint64) bool { return c.at < seq && seq < o.seq }))
	})
	if i < 0 {
		return false
	}
	met := c.said[words][i]
	if met.onLine {
		c.at = met.seq
	}
	c.meet(met)
	c.said[words] = slices.Delete(c.said[words], i, i+1)
	return true
}

// meetsForgotten reports whether the words of the message that comes next were forgotten, and were
// these.
func (c *copied) meetsForgotten(m *conversation.Message, role string) bool {
	gone := c.gone[c.at+1]
	if gone.role != role || c.traces == nil {
		return false
	}
	text, media := m.Body()
	was, err := c.traces.InMessage(text, media, [16]byte{}, false)
	if was = was && err == nil; was {
		c.at++
		c.meet(gone)
	}
	return was
}

// meet notes a message that was met.
func (c *copied) meet(o original) {
	c.met[o.id], c.last = true, o
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

// has reports whether a message belongs to the copies that a session begins with. The first message
// that the other session does not have ends them.
func (c *copied) has(m *transcript.Message, out conversation.Message) bool {
	if c == nil || c.over || c.of != "" && m.Origin.Session != c.of {
		return false
	}
	if _, err := out.Clean(); err != nil {
		return false // Append returns the error
	}
	clean := transcript.Message{Role: m.Role, Note: m.Note, Text: out.Text, Parts: out.Parts}
	words := wordsOf(&clean)
	silent := words == m.Role
	met := !silent && (c.meets(words) || c.meetsForgotten(&out, m.Role))
	switch {
	case m.Note && !met:
		return false // a note of the agent about this session
	case !silent && !met:
		c.over, c.first = true, m.Origin
		return false
	}
	c.left[m.Origin] = true
	return true
}

// wordsOf encodes the content of a message behind its role, without the other fields of its record.
// Of a message that says nothing it is the role.
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
