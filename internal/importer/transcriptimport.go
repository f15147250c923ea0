package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// ImportedTranscript reports an ImportTranscript.
type ImportedTranscript struct {
	Tally
	Session  string   // that of the main conversation
	Changed  []string // sessions with something new, the main one and those of subagents
	Children []Child  // of this transcript, in order
	Returned int      // messages that a rewind had removed and that are in the conversation again
	Stats    transcript.Stats

	// Back are the sessions that were removed before, and are there again.
	Back []string

	again repeated
}

// Child links a session to the call that began it. A session that does not exist yet may come with
// another transcript.
type Child struct {
	Session string
	Parent  history.Parent
	// Named says that the child's own transcript names its parent, which overrides other
	// transcripts. Parent.Call is "" then.
	Named bool
}

// ImportTranscript imports a transcript into the session as. If as is "", that is the session which
// the transcript was exported from, or else the one of its own id. Conversations of subagents
// become sessions of their own, named after it. The same transcript, or a longer one, can be
// imported again: known messages are not added twice. It returns a *RemovedError for a session that
// was removed, if as is "".
func (s *Writer) ImportTranscript(
	ctx context.Context, read transcript.Read, as string,
) (ImportedTranscript, error) {
	im := s.newTranscript(ctx, as)
	step := im.stepWith(&conversation.Printed{})
	return im.read(func() (transcript.Stats, error) { return read(step) })
}

// stepWith returns a step that knows what calls have printed.
func (im *transcriptImporter) stepWith(secrets *conversation.Printed) func(transcript.Step) error {
	return func(st transcript.Step) error {
		see(secrets, &st.Message)
		return im.step(st)
	}
}

// see has a message say which values in its words are secrets that a call has printed.
func see(secrets *conversation.Printed, m *transcript.Message) {
	m.Secrets = secrets.In(&conversation.Message{Text: m.Text, Parts: m.Parts, Calls: m.Calls,
		Results: m.Results})
}

func (s *Writer) newTranscript(ctx context.Context, as string) *transcriptImporter {
	return &transcriptImporter{importer: &importer{Writer: s, ctx: ctx}, as: as, named: as != "",
		lanes: map[string]*treeImporter{}}
}

// ImportLive is ImportTranscript for what follows in a transcript that an agent is still writing:
// the session has all that the agent wrote before what read gives. Few messages come, and those
// that are due graduate in the same operation. It does not look for a session that the transcript
// resumes.
func (s *Writer) ImportLive(
	ctx context.Context, as string, read transcript.Read,
) (ImportedTranscript, error) {
	im := s.newTranscript(ctx, as)
	im.goesOn, im.named = true, false
	secrets := s.conversation.PrintedIn(as, history.MainBranch)
	return im.read(func() (transcript.Stats, error) { return read(im.stepWith(secrets)) })
}

// read imports the steps that read gives to im.step.
func (im *transcriptImporter) read(
	read func() (transcript.Stats, error),
) (ImportedTranscript, error) {
	stats, err := read()
	if err == nil {
		err = im.afterLast(&stats)
	}
	return im.end(stats, err)
}

// end writes what waits.
func (im *transcriptImporter) end(stats transcript.Stats, err error) (ImportedTranscript, error) {
	for _, lane := range im.order {
		if err == nil {
			err = lane.finish()
		}
	}
	return im.report(stats), err
}

// untimed is how the report names messages that have the time of the message before them, or that
// of the file, because their records name none that can be read.
const untimed = "time of the message before, or of the file"

// report says what was imported.
func (im *transcriptImporter) report(stats transcript.Stats) ImportedTranscript {
	im.out.Stats = stats
	if im.out.Session == "" {
		im.out.Session = im.nameOf(stats.Session, stats.Home, transcript.Origin{})
	}
	for _, lane := range im.order {
		if o := lane.out; o.Messages+o.Notes+o.Amended+o.Rewinds > 0 {
			im.out.Changed = append(im.out.Changed, lane.as)
		}
		im.out.sum(lane.out)
		im.out.Returned += lane.returned
		if lane.copy != nil && len(lane.copy.left) > 0 {
			im.out.Stats.Passed["copy of the session that began it"] += len(lane.copy.left)
		}
	}
	if im.gone > 0 {
		im.out.Stats.Passed["message of a subagent whose session was removed"] += im.gone
	}
	if im.untimed > 0 {
		im.out.Stats.Passed[untimed] += im.untimed
	}
	im.children(stats)
	im.repeats()
	return im.out
}

// repeats determines what another import of the transcript does.
func (im *transcriptImporter) repeats() {
	again := &im.out.again
	again.once = im.resumed
	if im.out.Session != "" {
		again.sessions = append(again.sessions, im.out.Session)
	}
	for _, lane := range im.order {
		again.sessions = append(again.sessions, lane.as)
		if lane.begins != nil {
			again.begins = append(again.begins, *lane.begins)
		}
		redacted, known := lane.repeats()
		again.once = again.once || !known
		again.redacted = sanitize.AddFindings(again.redacted, redacted)
	}
}

// transcriptImporter has an importer for each conversation of a transcript.
type transcriptImporter struct {
	*importer
	as    string
	out   ImportedTranscript
	lanes map[string]*treeImporter
	order []*treeImporter

	// now is the time of the message before, or of the file: that of a message whose record names
	// none that can be read. untimed counts these.
	now     time.Time
	untimed int

	said transcript.SessionSaid // by the messages of the main conversation
	last transcript.Step        // the newest of these

	resumed bool

	named bool // somebody has asked for this transcript, or for its session
	gone  int  // messages of subagents whose sessions were removed
}

// nameOf returns the session that a transcript belongs to. first is the origin of its first
// message.
func (im *transcriptImporter) nameOf(
	own string, home *transcript.Home, first transcript.Origin,
) string {
	switch {
	case im.as != "":
		return im.as
	case home != nil && format.CheckName(home.Session) == nil:
		return im.exportedAs(home, first)
	case catalog.TraitsOf(first.Agent).NamesOnly:
		return own
	}
	return history.FitSession(own)
}

// isForkOf reports whether a transcript is a fork of the session of a store, which its agent was
// handed. The fork keeps the records with their hints, and has an id that the agent gave it.
func isForkOf(home *transcript.Home, st *transcript.Step) bool {
	return home != nil && st.Tree != nil && !transcript.IsEntryUUID(st.Session) &&
		st.Message.Origin.Session != transcript.Fit(st.Session) &&
		history.FitSession(st.Session) != home.Session
}

// exportedAs returns the session of a transcript that a store exported: the one of the same name,
// whatever the format and whichever store exported it, so that no two formats make two sessions. If
// that one has another conversation than the session of another store, a name of both.
func (im *transcriptImporter) exportedAs(h *transcript.Home, first transcript.Origin) string {
	if h.Store == im.ID ||
		first.Agent != transcript.Own && history.FitSession(first.Session) == h.Session {
		return h.Session
	}
	apart := history.FitSession(h.Session + "." + transcript.Derive(8, h.Store))
	if im.group.settle(h.Session) != nil || im.group.settle(apart) != nil {
		return h.Session // Import returns the error
	}
	view, err := im.refs()
	switch {
	case err != nil || im.goesOn && !exists(view, apart):
		return h.Session // the import itself says what is wrong
	case exists(view, apart):
		return apart
	case !exists(view, h.Session):
		return h.Session
	}
	if in, err := im.holder(view, h.Session, first); err != nil || in != "" {
		return cmp.Or(in, h.Session)
	}
	return apart
}

// ThreadSession returns the session of a subagent whose conversation is a thread of another
// session's transcript. An export of that session is its transcript.
func ThreadSession(parent, thread string) string {
	if strings.HasSuffix(parent, "."+thread) {
		return parent
	}
	return history.FitSession(parent + "." + thread)
}

func (im *transcriptImporter) step(st transcript.Step) error {
	if im.out.Session == "" {
		if err := im.begin(&st); err != nil {
			return err
		}
	}
	to := im.lanes[st.Thread]
	if to == nil {
		name := im.out.Session
		if st.Thread != "" {
			name = ThreadSession(name, st.Thread)
			if was, err := im.wasRemoved(name); err != nil {
				return err
			} else if was {
				im.gone++
				return nil
			}
		}
		if err := im.group.settle(name); err != nil {
			return err
		}
		to = im.newConversation(name, history.MainBranch)
		if im.resumed {
			to.resumed = &resumed{own: true, calls: map[string]bool{}}
		}
		im.lanes[st.Thread] = to
		im.order = append(im.order, to)
	}
	if st.Thread == "" && st.Kind == transcript.KindMessage {
		newer := transcript.SessionSaidOf(st.Message.Origin.Agent, st.Message.Parts, false)
		newer.Older(im.said)
		im.said, im.last = newer, st
	}
	if st.Message.Time.IsZero() && !im.now.IsZero() {
		st.Message.Time = im.now
		im.untimed++
	} else if !st.Message.Time.IsZero() {
		im.now = st.Message.Time
	}
	return to.step(st)
}

// begin finds the session of a transcript, with its first step.
func (im *transcriptImporter) begin(st *transcript.Step) error {
	im.out.Session = im.nameOf(st.Session, st.Home, st.Message.Origin)
	if im.out.Session == "" {
		return fmt.Errorf("%w: the transcript names no session: give one", history.ErrInput)
	}
	if im.as == "" && isForkOf(st.Home, st) {
		im.out.Session = history.FitSession(st.Session)
	}
	if im.as == "" && !im.goesOn {
		if err := errors.Join(im.storedAs(st), im.resume(st)); err != nil {
			return err
		}
	}
	was, err := im.wasRemoved(im.out.Session)
	if err == nil && was {
		err = &RemovedError{im.out.Session}
	}
	return err
}

// storedAs finds the session that somebody has imported the transcript into under a name of their
// own.
func (im *transcriptImporter) storedAs(st *transcript.Step) error {
	view, err := im.refs()
	from, own := st.Message.Origin, im.out.Session
	if err != nil || exists(view, own) || history.WasRemoved(view, own) ||
		from.Session != transcript.Fit(st.Session) {
		return err
	}
	list, err := im.Imported(view, from.Agent, from.Session, from.Message)
	for _, e := range list {
		if _, others := history.Owner(view, e.Session); others || !exists(view, e.Session) {
			continue
		}
		im.out.Session = e.Session
		break
	}
	return err
}

// children adds the sessions that calls of this one began, and those of subagents whose calls are
// not known: one that runs, or was interrupted, has no result that names it.
func (im *transcriptImporter) children(stats transcript.Stats) {
	for _, thread := range slices.Sorted(maps.Keys(im.lanes)) {
		if thread != "" && !slices.ContainsFunc(stats.Spawned,
			func(sp transcript.Spawn) bool { return sp.Thread == thread }) {
			im.out.Children = append(im.out.Children,
				Child{Session: ThreadSession(im.out.Session, thread),
					Parent: history.Parent{Session: im.out.Session}, Named: true})
		}
	}
	if stats.Parent != "" && im.out.Session != "" {
		im.out.Children = append(im.out.Children,
			Child{Session: im.out.Session,
				Parent: history.Parent{Session: history.FitSession(stats.Parent)}, Named: true})
	}
	for _, sp := range stats.Spawned {
		parent := history.Parent{Session: im.out.Session, Call: sp.Call}
		names := []string{ThreadSession(im.out.Session, sp.Thread), history.FitSession(sp.Thread)}
		if own := history.FitSession(stats.Session); own != im.out.Session && own != "" {
			names = append(names, ThreadSession(own, sp.Thread)) // its transcript lies apart
		}
		for _, name := range names {
			im.out.Children = append(im.out.Children, Child{Session: name, Parent: parent})
		}
	}
}

// LinkChildren links existing sessions to the calls that began them, and returns the number of new
// links. A session that names its parent itself is linked to that parent even if the parent does
// not exist yet, and to the call if the parent has it.
func (s *Writer) LinkChildren(ctx context.Context, list []Child) (linked int, err error) {
	view, err := s.Refs.Read()
	if err != nil {
		return 0, err
	}
	named := map[string]string{}
	for i := range list {
		c := &list[i]
		if !c.Named || c.Session == c.Parent.Session {
			continue
		}
		if !exists(view, c.Parent.Session) && exists(view, c.Session) {
			if c.Parent.Session, err = s.underName(view, c.Parent.Session); err != nil {
				return 0, err
			}
		}
		named[c.Session] = c.Parent.Session
	}
	for _, c := range list {
		parent, isNamed := named[c.Session]
		if c.Session == c.Parent.Session || !exists(view, c.Session) ||
			isNamed && parent != c.Parent.Session || !c.Named && !exists(view, c.Parent.Session) {
			continue
		}
		was, has, err := s.ParentOf(view, c.Session)
		if err != nil {
			return linked, err
		}
		if c.Named && (!has || was.Call == "") {
			if c.Parent.Call, err = s.callOf(c.Parent.Session, c.Session); err != nil {
				return linked, err
			}
		}
		if has && (was.Call != "" || was.Session != c.Parent.Session || c.Parent.Call == "") {
			continue
		}
		known, err := s.linkImported(ctx, c)
		switch {
		case errors.Is(err, history.ErrNotFound), errors.Is(err, history.ErrRefused):
			continue // the call was rewound, or the link would be a cycle
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

// underName returns the session into which somebody has imported the transcript of an agent's
// session under a name of their own; the agent's session if there is none.
func (s *Writer) underName(view *refs.View, own string) (string, error) {
	for _, name := range sessionNames(view) {
		if _, others := history.Owner(view, name); others || strings.HasPrefix(name, own+".") {
			continue // the name of a subagent's session begins so
		}
		first, err := s.firstOf(name, view.Get(history.RefName(name, history.MainBranch)).ID)
		if err != nil {
			return "", err
		}
		if from := first.Source; from != nil && history.FitSession(from.Session) == own {
			return name, nil
		}
	}
	return own, nil
}

// linkImported links a session to its parent. A session that names its parent needs neither the
// call nor the parent to exist.
func (s *Writer) linkImported(ctx context.Context, c Child) (known bool, err error) {
	err = s.Locked(ctx, func(t *Tx) error {
		u, err := t.conversation.LinkTo(c.Session, c.Parent, c.Named, c.Named)
		if err != nil {
			return err
		}
		if known = u.New == u.Old; known {
			return nil
		}
		return t.store.Commit(&format.Operation{Verb: refs.VerbSessionLink, Session: c.Session,
			Refs: []format.RefUpdate{u}})
	})
	return known, err
}

func exists(v *refs.View, session string) bool {
	return len(v.Names("sessions/"+session+"/")) > 0
}
