package importer

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// treeImporter imports one conversation of a transcript. Each message is stored once. The steps of
// a tree walk it line by line: a message comes after the entry of the message that it follows, and
// the branch ends on the last line. Any other message comes at the end of the branch.
type treeImporter struct {
	*importer
	as      string // the session; "" until a message has named it
	branch  string
	out     Tally
	ids     map[transcript.Origin]format.ID
	line    *history.Lineage // the session's history before the import, with rewound entries
	before  format.ID        // the tip of that history
	changes *edits.Edits     // the masks of that history; nil until needed
	view    *refs.View       // nil after a change
	past    *history.Lineage // the branch's history in view; nil until needed
	copy    *copied          // a session that this one may begin with a copy of
	begun   bool             // the first message has been processed
	parted  bool             // no message to come is a copy of what another session has

	begins *beginning // how it may begin with a copy of another session; nil if it does not
	// How the transcript goes on with a session of the store that has another name; nil if it does
	// not
	resumed *resumed

	tree   *transcript.Tree   // nil if the transcript is none
	agent  string             // that wrote the transcript
	base   format.ID          // the entry that the first message follows; zero for none
	path   []lineMessage      // the current line, oldest message first
	onPath map[format.ID]bool // the entries of path
	placed map[format.ID]bool // the entries of all messages so far
	// The rewind entry of each entry that was rewound in this store; nil until needed
	hand map[format.ID]format.ID
	// last is the newest message of the transcript that was in the branch when hand was computed,
	// and tail the tip of the branch at that time.
	last, tail format.ID
	queue      []treeStep
	// returned counts messages of abandoned lines that are in the conversation again.
	returned int
	tip      format.ID          // of the branch, as last read or written
	loose    bool               // the store keeps messages in another order than the transcript
	compared bool               // a message was compared with an entry of another content
	right    bool               // the branch ends on the last line
	wrote    bool               // a part of the conversation was written
	size     int                // of queue, in bytes
	found    []sanitize.Finding // in the queue that the group has
}

// lineMessage is a message of the transcript with its entry.
type lineMessage struct {
	origin transcript.Origin
	id     format.ID
}

// treeStep is a step that waits for the lock.
type treeStep struct {
	step  transcript.Step
	out   conversation.Message
	known []format.ID // entries of the message in the session, see lookUp
	// elsewhere are the entries that other sessions have of the message.
	elsewhere []format.ID
}

func (im *importer) newConversation(as, branch string) *treeImporter {
	return &treeImporter{importer: im, as: as, branch: branch,
		ids: map[transcript.Origin]format.ID{}, onPath: map[format.ID]bool{},
		placed: map[format.ID]bool{}}
}

// repeats returns what sanitizing finds in another import of the same messages. ok is false where
// only that import can tell what it counts. An import that has written nothing is the same again.
func (im *treeImporter) repeats() (redacted []sanitize.Finding, ok bool) {
	o := im.out
	switch {
	case im.returned+o.Amended > 0, im.tree == nil && o.Rewinds > 0:
		return nil, false
	case o.Messages+o.Notes+o.Rewinds == 0:
		return o.Redacted, true
	}
	return nil, !im.loose && !im.compared // known messages are not counted as cleaned
}

// step processes the next step. A message that the store already has in its place is not written
// and needs no lock.
func (im *treeImporter) step(st transcript.Step) error {
	if err := im.ctx.Err(); err != nil {
		return err
	}
	if err := im.name(&st.Message); err != nil {
		return err
	}
	im.agent = cmp.Or(im.agent, st.Message.Origin.Agent)
	if im.tree == nil && st.Tree != nil {
		im.tree, im.agent = st.Tree, st.Tree.Agent
	}
	next := treeStep{step: st}
	if st.Kind == transcript.KindMessage {
		if done, err := im.passOver(&next); err != nil || done {
			return err
		}
		if err := im.lookUp(&next); err != nil {
			return err
		}
	} else if im.tree == nil {
		return im.rewind(st)
	}
	if len(im.queue) == 0 {
		if st.Kind == transcript.KindRewind {
			im.abandon(st.RewindTo)
			return nil
		}
		id, err := im.stored(&next,
			branchState{tip: im.tip,
				onLine: func(id format.ID) (bool, error) { return im.history().Has(id) }})
		if err != nil || !id.IsZero() {
			im.takeKnown(st.Message.Origin, id)
			return err
		}
	}
	im.queue = append(im.queue, next)
	if im.size += len(next.out.Text) + len(next.out.Parts); im.size > importBytes ||
		len(im.queue) == importBatch {
		return im.flush()
	}
	return nil
}

// passOver takes up a message, and reports whether that is all: it is a copy of what another
// session has, or was taken before.
func (im *treeImporter) passOver(next *treeStep) (done bool, err error) {
	m := &next.step.Message
	if !im.begun && next.step.Begins != "" {
		if err := im.group.flush(); err != nil {
			return false, err // it may hold the session, or another one that begins like it
		}
		if im.copy, err = im.copiedFrom(&next.step); err != nil {
			return false, err
		}
	}
	im.begun = true
	if copied, err := im.isCopy(m); err != nil || copied {
		return copied, err
	}
	next.out = im.message(m)
	if copied, err := im.copied(next); err != nil || copied {
		return copied, err
	}
	if err := im.group.settleMessage(&m.Origin); err != nil {
		return false, err
	}
	if err := im.refresh(); err != nil || im.tree != nil || !im.goesOn || !m.Note {
		return false, err
	}
	return im.tookNote(next.out.Source)
}

// refresh refreshes the view of the store. If somebody else has moved the branch, its history is
// read again.
func (im *treeImporter) refresh() error {
	if im.view != nil {
		return nil
	}
	if err := im.look(); err != nil {
		return err
	}
	im.movedTo(im.view.Get(history.RefName(im.as, im.branch)).ID)
	return nil
}

// movedTo takes over the tip of the branch, and reports whether it was another one before.
func (im *treeImporter) movedTo(tip format.ID) bool {
	if tip == im.tip {
		return false
	}
	// Messages of others and rewinds by hand may have changed.
	im.tip, im.line, im.hand = tip, im.Lineage(tip), nil
	return true
}

// history returns the history of the session's branch in the current view.
func (im *treeImporter) history() *history.Lineage {
	if im.past == nil {
		im.past = im.History(im.view.Get(history.RefName(im.as, im.branch)).ID)
	}
	return im.past
}

// abandon removes a message and every later one from the line.
func (im *treeImporter) abandon(first transcript.Origin) {
	at := len(im.path) - 1
	for at >= 0 && im.path[at].origin != first {
		at--
	}
	if first == (transcript.Origin{}) {
		at = 0 // all of them
	}
	if at < 0 {
		return
	}
	for _, s := range im.path[at:] {
		delete(im.onPath, s.id)
	}
	im.path = im.path[:at]
}

// takeKnown appends a known message to the line. It ignores the zero ID.
func (im *treeImporter) takeKnown(origin transcript.Origin, id format.ID) {
	if id.IsZero() {
		return
	}
	im.out.Known++
	im.put(origin, id)
}

func (im *treeImporter) put(origin transcript.Origin, id format.ID) {
	im.ids[origin] = id
	if im.onPath[id] {
		return // a newer version of it
	}
	im.path = append(im.path, lineMessage{origin, id})
	im.onPath[id], im.placed[id] = true, true
}

// flush writes the waiting steps in one operation.
func (im *treeImporter) flush() error {
	if len(im.queue) == 0 {
		return nil
	}
	if err := im.group.flush(); err != nil {
		return err
	}
	found, err := im.clean()
	if err != nil {
		return err
	}
	return im.write(found)
}

// clean sanitizes and checks the waiting steps.
func (im *treeImporter) clean() ([]sanitize.Finding, error) {
	batch := make([]conversation.Message, len(im.queue))
	for i := range im.queue {
		if im.queue[i].step.Kind == transcript.KindRewind {
			batch[i].Role = "user" // a rewind has no content; a valid role lets it pass the check
		} else {
			batch[i] = im.queue[i].out
		}
	}
	clean, found, err := conversation.CleanAll(batch)
	if err != nil {
		return nil, err
	}
	for i := range im.queue {
		im.queue[i].out = clean[i]
	}
	return found, nil
}

func (im *treeImporter) write(found []sanitize.Finding) error {
	im.found = found
	return im.record(func(w *groupWriter) error { return w.steps(im) })
}

// record records what do writes, in an operation of its own.
func (im *treeImporter) record(do func(*groupWriter) error) error {
	var w groupWriter
	err := im.Locked(im.ctx, func(t *Tx) error {
		w.Tx = t
		if err := do(&w); err != nil {
			return err
		}
		return w.commit()
	})
	if err == nil {
		im.follow(w.batches)
	}
	return err
}

// wrote counts what was written, and lets go of it.
func (w *treeWriter) wrote() {
	im := w.im
	im.returned += w.returned
	w.count.Redacted, im.found = im.found, nil
	im.out.sum(w.count)
	clear(im.queue)
	im.queue, im.size, im.view, im.past, im.wrote = im.queue[:0], 0, nil, nil, true
}

// finish writes the waiting steps and moves the end of the branch to the last line. A fork that has
// said nothing yet has no session: that begins with what it says.
func (im *treeImporter) finish() error {
	if wait, err := im.onlyCopies(); err != nil || wait {
		return err
	}
	if err := im.flush(); err != nil {
		return err
	}
	return im.finishPlace()
}

// finishPlace moves the end of the branch to the last line.
func (im *treeImporter) finishPlace() error {
	if im.tree == nil || len(im.placed) == 0 {
		return nil
	}
	if err := im.refresh(); err != nil {
		return err
	}
	tip := im.view.Get(history.RefName(im.as, im.branch)).ID
	if there, err := im.endsRight(tip); err != nil || there {
		return err
	}
	if err := im.group.flush(); err != nil {
		return err
	}
	return im.record(func(g *groupWriter) error {
		w, err := im.open(g.Tx)
		if err == nil {
			err = w.moveToPlace(nil)
		}
		if err != nil {
			return err
		}
		return g.add(w)
	})
}

// endsRight reports whether a tip follows the end of the line and no message of the transcript that
// left it.
func (im *treeImporter) endsRight(tip format.ID) (bool, error) {
	target, err := im.target()
	if err != nil {
		return false, err
	}
	near, _, err := im.nearest(tip, target, nil)
	if err != nil {
		return false, err
	}
	return near == target || near.IsZero() || im.loose && im.onPath[near], nil
}

// rewindSource names a rewind of the transcript after the message that follows it.
func (im *treeImporter) rewindSource(t *Tx, next *treeStep) (*format.Source, error) {
	name := "rewind:end"
	o := transcript.Origin{Agent: im.agent, Session: transcript.Fit(im.as)}
	if next != nil {
		o = next.step.Message.Origin
		name = transcript.Fit("rewind:" + o.Message)
	} else if n := len(im.path); n > 0 {
		o, name = im.path[n-1].origin, transcript.Fit("rewind:"+im.path[n-1].origin.Message)
	}
	digest, err := t.Digest16([]byte(name))
	if o.Agent != im.agent {
		o.Agent, o.Session = im.agent, transcript.Fit(im.as)
	}
	src := im.source(
		&transcript.Message{Origin: transcript.Origin{Agent: o.Agent, Session: o.Session,
			Message: name}})
	return &format.Source{Agent: src.Agent, Session: src.Session, Message: src.Message,
		Digest: digest}, err
}

// rewind records a rewind of a transcript that is no tree.
func (im *treeImporter) rewind(st transcript.Step) error {
	to := st.RewindTo
	if err := im.flush(); err != nil {
		return err
	}
	im.abandon(to)
	if im.copy != nil && im.copy.left[to] {
		if to = im.copy.first; to == (transcript.Origin{}) {
			return nil // only copies leave
		}
	}
	target, ok := im.ids[to]
	switch {
	case to == (transcript.Origin{}):
		if view, err := im.Refs.Read(); err != nil ||
			!view.Get(history.RefName(im.as, im.branch)).Exists() {
			return err
		}
	case ok:
	case im.resumed != nil:
		im.out.Known++ // the session does not have the message
		return nil
	default:
		return fmt.Errorf("no entry for %q", to.Message)
	}
	src := im.source(&transcript.Message{Origin: st.Message.Origin})
	if src.Record = st.Message.Record; src.Record == nil {
		src.Record = []byte(src.Message)
	}
	if err := im.group.flush(); err != nil {
		return err
	}
	im.view, im.past, im.wrote = nil, nil, true
	done, err := im.conversation.Rewind(im.ctx, im.as, im.branch, target,
		conversation.RewindOptions{Source: src})
	switch {
	case errors.Is(err, history.ErrNotFound):
		im.out.Known++ // it was rewound before
		return nil
	case err != nil:
		return err
	case done.Known:
		im.out.Known++
	default:
		im.out.Rewinds++
	}
	return nil
}
