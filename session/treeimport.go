package session

import (
	"slices"

	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/sanitize"
)

// treeImporter brings one conversation of a transcript that is a tree into a session. The steps tell the tree line after line, and each message is stored
// once, after the entry of the message that it follows. The branch ends on the line that comes last.
type treeImporter struct {
	*messageImporter
	tree   *transcript.Tree
	base   format.ID               // what the first message follows: the zero ID for nothing
	path   []toldAs                // the line that the steps have made, oldest first
	onPath map[format.ID]bool      // its entries
	placed map[format.ID]bool      // the entries of all messages so far
	hand   map[format.ID]format.ID // what was rewound in this store: the rewind; nil until asked for
	// last is the newest message of the transcript that the branch had when hand was made, and tail its tip then.
	last, tail format.ID
	queue      []treeStep
	// returned are messages of lines that the branch had left, which are in the conversation again.
	returned int
	tip      format.ID // of the branch, as far as the importer knows
	loose    bool      // the store has messages in another order than the transcript, and they stay there
}

// toldAs is a message of the transcript and its entry.
type toldAs struct {
	origin transcript.Origin
	id     format.ID
}

// treeStep is a step that waits for the lock.
type treeStep struct {
	step  transcript.Step
	out   Message
	known []format.ID // entries of the message's source
}

func newTreeImporter(im *messageImporter, tree *transcript.Tree) *treeImporter {
	return &treeImporter{messageImporter: im, tree: tree, onPath: map[format.ID]bool{}, placed: map[format.ID]bool{}}
}

// step takes the next step. What the store has already in its place is not written, and needs no lock.
func (im *treeImporter) step(st transcript.Step) error {
	if err := im.ctx.Err(); err != nil {
		return err
	}
	if err := im.name(&st.Message); err != nil {
		return err
	}
	next := treeStep{step: st}
	if st.Kind == transcript.KindMessage {
		next.out = im.message(&st.Message)
		if err := im.lookAgain(); err != nil {
			return err
		}
		var err error
		if next.known, err = im.entriesOf(next.out.Source, st.Message.Origin); err != nil {
			return err
		}
	}
	if len(im.queue) == 0 {
		if st.Kind == transcript.KindRewind {
			im.leave(st.RewindTo)
			return nil
		}
		id, err := im.there(&next, where{tip: im.tip, onLine: func(id format.ID) (bool, error) { return im.history().has(id) }})
		if err != nil || !id.IsZero() {
			im.take(st.Message.Origin, id)
			return err
		}
	}
	im.queue = append(im.queue, next)
	if im.size += len(next.out.Text) + len(next.out.Parts); im.size > importBytes || len(im.queue) == importBatch {
		return im.flush()
	}
	return nil
}

// lookAgain brings up to date what the importer knows of the store. Where somebody else has moved the branch, its lines are read anew.
func (im *treeImporter) lookAgain() error {
	if im.view != nil {
		return nil
	}
	if err := im.look(); err != nil {
		return err
	}
	im.movedTo(im.view.Get(RefName(im.out.Session, MainBranch)).ID)
	return nil
}

// movedTo reports whether the branch has another tip than the importer left it with.
func (im *treeImporter) movedTo(tip format.ID) bool {
	if tip == im.tip {
		return false
	}
	// What others said, and what was rewound by hand, is looked for anew.
	im.tip, im.line, im.hand = tip, im.lineage(tip), nil
	return true
}

// history is what the session's branch stands on, as of the view that was looked at.
func (im *treeImporter) history() *lineage {
	if im.past == nil {
		im.past = im.Store.history(im.view.Get(RefName(im.out.Session, MainBranch)).ID)
	}
	return im.past
}

// leave has a message and every one after it leave the line.
func (im *treeImporter) leave(first transcript.Origin) {
	at := len(im.path) - 1
	for at >= 0 && im.path[at].origin != first {
		at--
	}
	if at < 0 {
		return
	}
	for _, s := range im.path[at:] {
		delete(im.onPath, s.id)
	}
	im.path = im.path[:at]
}

// take puts a message that is known at the end of the line. The zero ID is none.
func (im *treeImporter) take(origin transcript.Origin, id format.ID) {
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
	im.path = append(im.path, toldAs{origin, id})
	im.onPath[id], im.placed[id] = true, true
}

// where is the branch at some moment.
type where struct {
	tip    format.ID
	fresh  map[format.ID]*format.Entry          // entries that are not put yet
	onLine func(format.ID) (in bool, err error) // whether an entry is in the branch's history
}

// there returns the entry of a message that needs not be written; the zero ID where it has to be.
func (im *treeImporter) there(next *treeStep, at where) (format.ID, error) {
	id, err := im.entryFor(next, at)
	if err != nil || id.IsZero() {
		return format.ID{}, err
	}
	shown, err := im.latest(im.view, id)
	if err != nil {
		return format.ID{}, err
	}
	clean := next.out
	if _, err := clean.clean(); err != nil {
		return format.ID{}, nil // flush says why
	}
	fresh := transcript.Message{Text: clean.Text, Parts: clean.Parts}
	if shown.Gone != "" || shown.Entry.Role == next.out.Role && im.says(shown, id, &fresh) {
		return id, nil
	}
	return format.ID{}, nil
}

// entryFor returns the entry that a message has, or is to be a newer version of; the zero ID for none. Of several it is the one that follows the end of the line.
// One that follows something else stands for the message as long as the branch has it, unless a few messages have to be said again in their order.
func (im *treeImporter) entryFor(next *treeStep, at where) (format.ID, error) {
	if id, ok := im.ids[next.step.Message.Origin]; ok && im.onPath[id] {
		return id, nil
	}
	known := slices.DeleteFunc(slices.Clone(next.known), func(id format.ID) bool { return im.placed[id] }) // what has left the line is said anew
	for _, id := range known {
		in, err := im.inPlace(next, id)
		if err != nil {
			return format.ID{}, err
		}
		if in {
			return id, im.begin(id)
		}
	}
	for _, id := range known {
		in, err := at.onLine(id)
		if err != nil {
			return format.ID{}, err
		}
		if !in {
			continue
		}
		if again, err := im.reorders(next, at); err != nil || again {
			return format.ID{}, err
		}
		im.loose = true
		return id, im.begin(id)
	}
	return format.ID{}, nil
}

// maxReorder is how many entries of a branch may be said again after a message that was written later than they were, and belongs before them. An agent that
// writes records out of order is a few records behind; more would be another transcript.
const maxReorder = 256

// reorders reports whether all that the branch has after the end of the line is, in the transcript, a message or what follows it, and little: it is said again in
// its order then.
func (im *treeImporter) reorders(next *treeStep, at where) (bool, error) {
	target, err := im.target()
	if err != nil || next.step.Loose || len(im.placed) == 0 {
		return false, err
	}
	near, after, err := im.nearest(at.tip, target, at.fresh)
	if err != nil || near != target {
		return false, err
	}
	return im.sayAgain(next, after), nil
}

func (im *treeImporter) sayAgain(next *treeStep, after []entryAt) bool {
	origin := next.step.Message.Origin
	for _, at := range after {
		of, own := im.originOf(at.e)
		if !own || of.Message != origin.Message && !im.tree.Follows(of, origin) {
			return false
		}
	}
	return len(after) > 0 && len(after) <= maxReorder
}

// anyComes reports whether one of some entries is a message of the transcript that comes later than a step.
func (im *treeImporter) anyComes(next *treeStep, after []entryAt) bool {
	return slices.ContainsFunc(after, func(at entryAt) bool { return im.comes(&next.step, at.e) })
}

// originOf is what the transcript's agent calls an entry; own is false for what others said.
func (im *treeImporter) originOf(e *format.Entry) (of transcript.Origin, own bool) {
	s := e.Source
	if s == nil || s.Agent != im.tree.Agent {
		return of, false
	}
	return transcript.Origin{Agent: s.Agent, Session: s.Session, Message: s.Message}, true
}

// comes reports whether an entry is a message of the transcript, of a step or after it.
func (im *treeImporter) comes(st *transcript.Step, e *format.Entry) bool {
	of, own := im.originOf(e)
	if !own {
		return false
	}
	number, ok := im.tree.Place(of)
	return ok && number >= st.Number
}

// begin notes what the first message of the transcript follows.
func (im *treeImporter) begin(id format.ID) error {
	if len(im.placed) > 0 {
		return nil
	}
	e, err := im.entry(id)
	if err == nil {
		im.base = firstParent(e)
	}
	return err
}

// end is the entry of the message that was said last; what came before the first one where none is left.
func (im *treeImporter) end() format.ID {
	if n := len(im.path); n > 0 {
		return im.path[n-1].id
	}
	return im.base
}

// inPlace reports whether the entry of a message follows the end of the line, whatever was said in between by others.
func (im *treeImporter) inPlace(next *treeStep, id format.ID) (bool, error) {
	e, err := im.entry(id)
	if err != nil {
		return false, err
	}
	if s := e.Source; s == nil || s.Agent != im.tree.Agent || len(im.placed) == 0 {
		return true, nil // it was said elsewhere first: the order of the branch holds
	}
	for at := firstParent(e); !at.IsZero(); at = firstParent(e) {
		if im.placed[at] {
			return at == im.end(), nil
		}
		if e, err = im.entry(at); err != nil {
			return false, err
		}
		if im.comes(&next.step, e) {
			return false, nil
		}
		if e.Kind == format.KindRewind && e.Source == nil {
			// It follows the end of the line where this rewind took that end away.
			if after, err := im.handFrom(im.end(), at); err != nil || after {
				return after, err
			}
		}
	}
	return len(im.path) == 0, nil
}

// entriesOf are the entries of a source in the session, rewound ones included, first versions alone.
func (im *messageImporter) entriesOf(src *Source, o transcript.Origin) ([]format.ID, error) {
	if o.Agent == transcript.Own {
		id, err := im.find(src, o)
		if err != nil || id.IsZero() {
			return nil, err
		}
		return []format.ID{id}, nil
	}
	return im.sourced(src)
}

// flush writes what waits, in one operation.
func (im *treeImporter) flush() error {
	if len(im.queue) == 0 {
		return nil
	}
	batch := make([]Message, len(im.queue))
	for i := range im.queue {
		if im.queue[i].step.Kind == transcript.KindRewind {
			batch[i].Role = "user" // it says nothing
		} else {
			batch[i] = im.queue[i].out
		}
	}
	clean, found, err := cleanAll(batch)
	if err != nil {
		return err
	}
	for i := range im.queue {
		im.queue[i].out = clean[i]
	}
	if err := im.write(found); err != nil {
		return err
	}
	im.queue, im.size, im.view, im.past = im.queue[:0], 0, nil, nil
	return nil
}

func (im *treeImporter) write(found []sanitize.Finding) error {
	var count Tally
	returned := 0
	err := im.locked(im.ctx, func(t *tx) error {
		w, err := im.open(t)
		if err != nil {
			return err
		}
		for i := range im.queue {
			if err := w.step(&im.queue[i]); err != nil {
				return err
			}
		}
		err = w.close()
		count, returned = w.count, w.returned
		return err
	})
	if err != nil {
		return err
	}
	im.returned += returned
	im.out.Messages += count.Messages
	im.out.Notes += count.Notes
	im.out.Known += count.Known
	im.out.Amended += count.Amended
	im.out.Rewinds += count.Rewinds
	im.out.Redacted = addFindings(im.out.Redacted, found)
	return nil
}

// close writes what waits, and has the branch end on the line that came last.
func (im *treeImporter) finish() error {
	if err := im.flush(); err != nil || len(im.placed) == 0 {
		return err
	}
	if err := im.lookAgain(); err != nil {
		return err
	}
	tip := im.view.Get(RefName(im.out.Session, MainBranch)).ID
	if there, err := im.endsRight(tip, nil); err != nil || there {
		return err
	}
	return im.locked(im.ctx, func(t *tx) error {
		w, err := im.open(t)
		if err != nil {
			return err
		}
		if err := w.seat(nil); err != nil {
			return err
		}
		err = w.close()
		im.out.Rewinds += w.count.Rewinds
		im.returned += w.returned
		im.view, im.past = nil, nil
		return err
	})
}

// endsRight reports whether a tip stands on the end of the line and on no message of the transcript that left it. fresh are entries that are not put yet.
func (im *treeImporter) endsRight(tip format.ID, fresh map[format.ID]*format.Entry) (bool, error) {
	target, err := im.target()
	if err != nil {
		return false, err
	}
	near, _, err := im.nearest(tip, target, fresh)
	if err != nil {
		return false, err
	}
	return near == target || near.IsZero() || im.loose && im.onPath[near], nil
}

// rewindSource names a rewind of the transcript, by the message that is said after it.
func (im *treeImporter) rewindSource(t *tx, next *treeStep) (*format.Source, error) {
	name := "rewind:end"
	o := transcript.Origin{Agent: im.tree.Agent, Session: transcript.Fit(im.out.Session)}
	if next != nil {
		o = next.step.Message.Origin
		name = transcript.Fit("rewind:" + o.Message)
	} else if n := len(im.path); n > 0 {
		o, name = im.path[n-1].origin, transcript.Fit("rewind:"+im.path[n-1].origin.Message)
	}
	digest, err := t.Digest16([]byte(name))
	if o.Agent != im.tree.Agent {
		o.Agent, o.Session = im.tree.Agent, transcript.Fit(im.out.Session)
	}
	src := im.source(transcript.Origin{Agent: o.Agent, Session: o.Session, Message: name})
	return &format.Source{Agent: src.Agent, Session: src.Session, Message: src.Message, Digest: digest}, err
}
