package sessions

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// learn takes over what an append tells of its session, so that the next overview need not read
// it. Afterwards the batch holds no parts of messages whose words are at hand.
func (s *Reader) Learn(b *history.Batch) {
	defer func() {
		for i := range b.Said {
			if d := &b.Said[i]; d.Kind == format.KindMessage && d.Text != "" {
				d.Parts = nil
			}
		}
	}()
	s.learning.Lock()
	defer s.learning.Unlock()
	row := s.learned[b.Session]
	if b.From.IsZero() {
		row = &overviewRow{session: b.Session, branch: b.Branch, learned: true}
	}
	delete(s.learned, b.Session)
	if row == nil || row.tip != b.From || b.Branch != history.MainBranch {
		return
	}
	line, ok := LineOf(b)
	if !ok {
		return
	}
	said := make(saidWords, len(b.Said))
	fresh := make([]history.Entry, 0, len(b.Said))
	for i := len(b.Said) - 1; i >= 0; i-- {
		if line[i] {
			said[b.Said[i].ID] = &b.Said[i]
			fresh = append(fresh, b.Said[i].Entry)
		}
	}
	if row.read(fresh, s.Now(), said) != nil {
		return
	}
	if row.tip, row.seq = b.To, fresh[0].Seq; s.learned == nil {
		s.learned = map[string]*overviewRow{}
	}
	s.learned[b.Session] = row
}

// addLearned adds the learned rows that are right in a view and not known yet.
func (s *Reader) addLearned(known *overviews, view *refs.View) {
	s.learning.Lock()
	defer s.learning.Unlock()
	for name, row := range s.learned {
		was := known.row(name)
		if view.Get(history.RefName(name, history.MainBranch)).ID == row.tip &&
			(was == nil || was.tip != row.tip) {
			known.rows[name] = row
		}
	}
}

// dropLearned forgets what was learned.
func (s *Reader) dropLearned() {
	s.learning.Lock()
	defer s.learning.Unlock()
	s.learned = nil
}

// saidWords are the words of a batch.
type saidWords map[format.ID]*history.Said

// Parts is that of wordsOf.
func (w saidWords) Parts(id format.ID) (*history.Shown, error) { return w.Version(id, id) }

// Version is that of wordsOf.
func (w saidWords) Version(id, _ format.ID) (*history.Shown, error) {
	d := w[id]
	return &history.Shown{ID: id, Version: id, Entry: d.Entry.Entry, Text: d.Words(),
		Parts: d.Parts}, nil
}

// lineOf marks the entries of a batch that lie on the line of its branch; the others were rewound.
// ok is false if the batch has more than messages, notes, and rewinds of what itself has added.
func LineOf(b *history.Batch) (line []bool, ok bool) {
	line = make([]bool, len(b.Said))
	id := b.To
	for i := len(b.Said) - 1; i >= 0; i-- {
		d := &b.Said[i]
		switch d.Kind {
		case format.KindMessage, format.KindNote, format.KindRewind:
		default:
			return nil, false
		}
		if len(d.Parents) > 1 {
			return nil, false
		}
		if line[i] = d.ID == id && id != b.From; line[i] {
			id = history.FirstParent(d.Entry.Entry)
		}
	}
	return line, id == b.From && len(line) > 0
}
