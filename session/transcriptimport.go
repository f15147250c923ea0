package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// ImportedTranscript is what ImportTranscript reports.
type ImportedTranscript struct {
	Session  string   // that of the main conversation
	Changed  []string // sessions with something new, the main one and those of subagents
	Children []Child  // of this transcript, in order
	Messages int      // new in this run, as notes, rewinds and returns are
	Notes    int
	Known    int
	Amended  int
	Rewinds  int
	Returned int // messages that are in the conversation again
	Redacted []sanitize.Finding
	Stats    transcript.Stats
}

// Child says which call of which session began a session, as far as a transcript tells. A session
// that does not exist may come with another transcript.
type Child struct {
	Session string
	Parent  Parent
	// Named says that the child's own transcript names its parent; Parent.Call is "" then. It counts more than what other transcripts tell.
	Named bool
}

// ImportTranscript brings a transcript into the session named as, or where as is "" the one it was exported from, or else the one of its own id; what
// subagents said goes into sessions of their own, named after it. It can be run again on the same transcript, or on one that has grown: what is known is
// not added again.
func (s *Store) ImportTranscript(ctx context.Context, read transcript.Read, as string) (ImportedTranscript, error) {
	im := &transcriptImporter{Store: s, ctx: ctx, as: as, lanes: map[string]*lane{}}
	stats, err := read(im.step)
	for _, lane := range im.order {
		if err == nil {
			err = lane.end()
		}
	}
	im.out.Stats = stats
	if im.out.Session == "" {
		im.out.Session = im.nameOf(stats.Session, stats.Home)
	}
	for _, lane := range im.order {
		o := lane.out
		if o.Messages+o.Notes+o.Amended+o.Rewinds > 0 {
			im.out.Changed = append(im.out.Changed, o.Session)
		}
		im.out.Messages += o.Messages
		im.out.Notes += o.Notes
		im.out.Known += o.Known
		im.out.Amended += o.Amended
		im.out.Rewinds += o.Rewinds
		im.out.Redacted = addFindings(im.out.Redacted, o.Redacted)
		if lane.tree != nil {
			im.out.Returned += lane.tree.returned
		}
	}
	for _, lane := range im.order {
		if lane.copy != nil && len(lane.copy.left) > 0 {
			im.out.Stats.Passed["copy of the session that began it"] += len(lane.copy.left)
		}
	}
	im.children(stats)
	return im.out, err
}

// transcriptImporter has an importer for each conversation of a transcript.
type transcriptImporter struct {
	*Store
	ctx   context.Context
	as    string
	out   ImportedTranscript
	lanes map[string]*lane
	order []*lane
}

// lane is a conversation of a transcript: the main one, or a subagent's.
type lane struct {
	*messageImporter
	tree *treeImporter // of a transcript that is a tree
}

func (l *lane) step(st transcript.Step) error {
	if st.Tree != nil && l.tree == nil {
		l.tree = newTreeImporter(l.messageImporter, st.Tree)
	}
	if l.tree != nil {
		return l.tree.step(st)
	}
	return l.messageImporter.step(st)
}

// end writes what waits.
func (l *lane) end() error {
	if l.tree != nil {
		return l.tree.finish()
	}
	return l.flush()
}

// nameOf is the session that a transcript belongs to.
func (im *transcriptImporter) nameOf(own string, home *transcript.Home) string {
	switch {
	case im.as != "":
		return im.as
	case home != nil && home.Store == im.ID && format.CheckName(home.Session) == nil:
		return home.Session
	}
	return fitSession(own)
}

// fitSession makes a session's name of whatever an agent calls one.
func fitSession(s string) string {
	if s == "" || format.CheckName(s) == nil {
		return s
	}
	sum := format.Sum([]byte(s))
	return "sha256:" + sum.Short(32)
}

// ThreadSession is the session of a subagent whose conversation is a thread of another one's transcript.
func ThreadSession(parent, thread string) string { return fitSession(parent + "." + thread) }

func (im *transcriptImporter) step(st transcript.Step) error {
	if im.out.Session == "" {
		im.out.Session = im.nameOf(st.Session, st.Home)
	}
	if im.out.Session == "" {
		return fmt.Errorf("%w: the transcript names no session: give one", ErrInput)
	}
	to := im.lanes[st.Thread]
	if to == nil {
		name := im.out.Session
		if st.Thread != "" {
			name = ThreadSession(name, st.Thread)
		}
		to = &lane{messageImporter: &messageImporter{Store: im.Store, ctx: im.ctx, as: name, ids: map[transcript.Origin]format.ID{}}}
		im.lanes[st.Thread] = to
		im.order = append(im.order, to)
	}
	return to.step(st)
}

// children names the sessions that calls of this one began.
func (im *transcriptImporter) children(stats transcript.Stats) {
	if stats.Parent != "" && im.out.Session != "" {
		im.out.Children = append(im.out.Children, Child{Session: im.out.Session, Parent: Parent{Session: fitSession(stats.Parent)}, Named: true})
	}
	for _, sp := range stats.Spawned {
		parent := Parent{Session: im.out.Session, Call: sp.Call}
		im.out.Children = append(im.out.Children,
			Child{Session: ThreadSession(im.out.Session, sp.Thread), Parent: parent}, Child{Session: fitSession(sp.Thread), Parent: parent})
	}
}

// LinkChildren links those of some sessions that exist to the calls that began them. A session that names its parent itself is linked to that one, with the call
// where the parent tells it, also where the parent is not there yet. It returns how many it linked.
func (s *Store) LinkChildren(ctx context.Context, list []Child) (linked int, err error) {
	view, err := s.Refs.Read()
	if err != nil {
		return 0, err
	}
	named := map[string]string{}
	for _, c := range list {
		if c.Named {
			named[c.Session] = c.Parent.Session
		}
	}
	for _, c := range list {
		parent, isNamed := named[c.Session]
		if c.Session == c.Parent.Session || !exists(view, c.Session) || isNamed && parent != c.Parent.Session || !c.Named && !exists(view, c.Parent.Session) {
			continue
		}
		if c.Named {
			if c.Parent.Call, err = s.callOf(c.Parent.Session, c.Session); err != nil {
				return linked, err
			}
		}
		was, has, err := s.ParentOf(view, c.Session)
		if err != nil {
			return linked, err
		}
		if has && (was.Call != "" || was.Session != c.Parent.Session || c.Parent.Call == "") {
			continue
		}
		known, err := s.linkImported(ctx, c)
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrRefused):
			continue // the call was rewound away, or a session would work for itself
		case err != nil:
			return linked, err
		case !known:
			linked++
			if view, err = s.Refs.Read(); err != nil {
				return linked, err
			}
		}
	}
	return linked, nil
}

// linkImported links a session to its parent. One that names its parent need not have the call, and the parent need not be there.
func (s *Store) linkImported(ctx context.Context, c Child) (known bool, err error) {
	err = s.locked(ctx, func(t *tx) error {
		u, err := t.linkTo(c.Session, c.Parent, c.Named, c.Named)
		if err != nil {
			return err
		}
		if known = u.New == u.Old; known {
			return nil
		}
		return t.commit(&format.Operation{Verb: refs.VerbSessionLink, Session: c.Session, Refs: []format.RefUpdate{u}})
	})
	return known, err
}

func exists(v *refs.View, session string) bool {
	return len(v.Names("sessions/"+session+"/")) > 0
}

// TranscriptWriter is a writer of one agent's transcripts.
type TranscriptWriter interface {
	Add(transcript.Item) error
	Close() (transcript.Written, error)
}

// ExportTranscript writes a branch with a writer: what was said after the message with the seq from, with masked as the branch's masks show it. each, where not nil,
// is called with every message.
func (s *Store) ExportTranscript(ctx context.Context, v *refs.View, session, branch string, from uint64, masked bool, w TranscriptWriter, each func(*transcript.Message)) (transcript.Written, error) {
	c, err := s.Conversation(v, session, branch, masked)
	if err != nil {
		return transcript.Written{}, err
	}
	err = c.Each(func(said Said) error {
		if said.Seq < from || said.Seq == from && from > 0 && said.Entry.Kind != format.KindNote {
			return nil
		}
		it := transcript.Item{Message: transcriptOf(said.Shown), Entry: said.ID.String(), Open: said.Open, Orphan: said.Caller == NoCaller}
		if each != nil {
			each(&it.Message)
		}
		return errors.Join(w.Add(it), ctx.Err())
	})
	if err != nil {
		return transcript.Written{}, err
	}
	return w.Close()
}

// transcriptOf is an entry as package transcript has it.
func transcriptOf(s *Shown) transcript.Message {
	m := messageOfADK(s)
	out := transcript.Message{
		Origin: transcript.Origin(m.Origin), Note: m.Note, Role: m.Role, Author: m.Author, Time: m.Time, Invocation: m.Invocation, Text: m.Text, Parts: m.Parts,
		Calls: m.Calls, Results: m.Results, Tokens: m.Tokens, Gone: m.Gone,
	}
	if out.Parts != nil && len(out.Calls) == 0 {
		out.Calls = nil
	}
	if len(out.Results) == 0 {
		out.Results = nil
	}
	return out
}

// TranscriptHome is what an export says of the session that it is of.
func (s *Store) TranscriptHome(session string) *transcript.Home {
	return &transcript.Home{Store: s.ID, Session: session}
}

// OriginOf returns the session under which an agent first said what is in a branch; "" where it said nothing of it.
func (s *Store) OriginOf(v *refs.View, session, branch, agent string) (string, error) {
	c, err := s.Conversation(v, session, branch, false)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(c.entries, func(p placed) bool { return p.source != nil && p.source.Agent == agent && p.source.Session != "" })
	if i < 0 {
		return "", nil
	}
	return c.entries[i].source.Session, nil
}
