package importer

import (
	"context"
	"errors"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// group collects transcripts that begin sessions, so that one operation records many of them: it
// takes one sync of the log and one pack. A transcript that goes on with a session of the store has
// an operation of its own, because a rewind in it may move the forest. All is recorded in the order
// of the transcripts. A nil group collects nothing.
type group struct {
	*Writer
	ctx  context.Context
	list []*waitingTranscript
	// sessions are those that begin in the list.
	sessions map[string]bool
	// messages in the list that another session may have a copy of, by agent and id: those of trees,
	// and those with a UUID
	said           map[[2]string]bool
	size, messages int
	taken          int // counts the transcripts that waited

	view  *refs.View // as last read; nil after a change
	asked int        // how often view was asked for
	// failed is the error of a then. It ends the run.
	failed error
}

// waitingTranscript is a transcript that was read and waits to be recorded.
type waitingTranscript struct {
	im    *transcriptImporter
	stats transcript.Stats
	then  func(ImportedTranscript, error) error
}

// groupBytes is about how many bytes of messages wait until they are recorded.
const groupBytes = 4 << 20

// mostAsked is how many transcripts look at the same refs, if this process changes nothing: what
// others change shows soon. What is written is compared with the newest refs, under the lock.
const mostAsked = 64

// refs returns the refs of the store.
func (g *group) refs() (*refs.View, error) {
	if g.asked++; g.view != nil && g.asked <= mostAsked {
		return g.view, nil
	}
	view, err := g.Refs.Read()
	if err != nil {
		return nil, err
	}
	g.view, g.asked = view, 1
	return view, nil
}

// Import imports a transcript as ImportTranscript does. then is told what came of it, after it was
// recorded: at once, or in a later Import or Flush. It is called in the order of the transcripts.
// An error that it returns ends the run: Import returns it, now and from then on.
func (r *Imports) Import(
	ctx context.Context, a *Ahead, as string, then func(ImportedTranscript, error) error,
) error {
	g := &r.group
	g.ctx = ctx
	if g.failed != nil {
		a.Close()
		return g.failed
	}
	im := r.newTranscript(ctx, as)
	im.group, im.now, im.named = g, a.Changed, r.Named
	stats, err := im.readAhead(a)
	if err == nil {
		err = im.afterLast(&stats)
	}
	if err == nil && g.take(im, stats, then) {
		if g.size > groupBytes || g.messages >= importBatch {
			return g.flush()
		}
		return nil
	}
	if failed := g.flush(); failed != nil {
		return failed
	}
	done, err := im.end(stats, err)
	if g.failed == nil {
		g.failed = then(done, err)
	}
	return g.failed
}

// After calls do in its turn: after what was recorded of the transcripts so far. Its error ends the
// run as that of a then does.
func (r *Imports) After(do func() error) error {
	g := &r.group
	if g.failed == nil && len(g.list) > 0 {
		g.list = append(g.list,
			&waitingTranscript{then: func(ImportedTranscript, error) error { return do() }})
		if len(g.list) < importBatch {
			return nil
		}
		return g.flush()
	}
	if g.failed == nil {
		g.failed = do()
	}
	return g.failed
}

// Flush records what waits.
func (r *Imports) Flush() error { return r.group.flush() }

// take has a transcript wait if it does nothing but begin sessions.
func (g *group) take(
	im *transcriptImporter, stats transcript.Stats, then func(ImportedTranscript, error) error,
) bool {
	size, messages := 0, 0
	for _, l := range im.order {
		if fresh, err := l.fresh(); err != nil || !fresh {
			return false
		}
		size, messages = size+l.size, messages+len(l.queue)
	}
	if messages == 0 {
		return false
	}
	for _, l := range im.order {
		found, err := l.clean()
		if err != nil {
			return false // the import itself says why
		}
		l.found = found
	}
	if g.sessions == nil {
		g.sessions, g.said = map[string]bool{}, map[[2]string]bool{}
	}
	for _, l := range im.order {
		g.sessions[l.as] = true
		for i := range l.queue {
			o := &l.queue[i].step.Message.Origin
			if l.tree != nil || format.IsUUID(recordID(*o)) {
				g.said[[2]string{o.Agent, o.Message}] = true
			}
		}
	}
	g.list = append(g.list, &waitingTranscript{im, stats, then})
	g.taken++
	g.size, g.messages = g.size+size, g.messages+messages
	return true
}

// fresh reports whether a conversation begins a session, and nothing of it was written yet.
func (im *treeImporter) fresh() (bool, error) {
	if wait, err := im.onlyCopies(); err != nil || wait || im.wrote || im.goesOn ||
		im.resumed != nil {
		return false, err
	}
	view, err := im.refs()
	if err != nil || exists(view, im.as) {
		return false, err
	}
	return true, format.CheckName(im.as)
}

// settle records what waits if it begins a session.
func (g *group) settle(session string) error {
	if g == nil || !g.sessions[session] {
		return nil
	}
	return g.flush()
}

// settleMessage records what waits if it has a message that may be copied, of whatever session.
func (g *group) settleMessage(o *transcript.Origin) error {
	if g == nil || !g.said[[2]string{o.Agent, o.Message}] {
		return nil
	}
	return g.flush()
}

// flush records what waits in one operation, and tells of each transcript.
func (g *group) flush() error {
	if g == nil || len(g.list) == 0 || g.failed != nil {
		return g.abort()
	}
	list := g.list
	g.list, g.sessions, g.said, g.size, g.messages, g.view = nil, nil, nil, 0, 0, nil
	w := groupWriter{errs: make([]error, len(list))}
	err := g.Locked(g.ctx, func(t *Tx) error {
		w.Tx = t
		return w.write(list)
	})
	if err == nil {
		g.follow(w.batches)
	}
	for i, x := range list {
		if x.im == nil {
			if g.failed == nil {
				g.failed = x.then(ImportedTranscript{}, nil)
			}
			continue
		}
		failed := err
		if failed == nil {
			failed = w.errs[i]
		}
		for _, l := range x.im.order {
			if failed == nil && !l.right {
				failed = l.finish()
			}
		}
		if g.failed == nil {
			g.failed = x.then(x.im.report(x.stats), failed)
		}
	}
	return g.failed
}

func (g *group) abort() error {
	if g == nil {
		return nil
	}
	return g.failed
}

// follow tells the follower of appends what was appended.
func (s *Writer) follow(batches []*history.Batch) {
	for _, b := range batches {
		if s.conversation.Follow != nil {
			s.conversation.Follow(b)
		}
	}
}

// groupWriter writes conversations under the lock, in one operation.
type groupWriter struct {
	*Tx
	errs    []error // by transcript
	op      *format.Operation
	parts   []*treeWriter // what op adds to a session each
	batches []*history.Batch
}

func (w *groupWriter) write(list []*waitingTranscript) error {
	for i, x := range list {
		if x.im == nil {
			continue
		}
		for _, l := range x.im.order {
			before := len(w.store.Waiting())
			err := w.lane(l)
			if err == nil {
				continue
			}
			if !errors.Is(err, history.ErrInput) {
				return err
			}
			w.store.DropAfter(before)
			w.errs[i] = err
			break // as where each conversation is recorded by itself
		}
	}
	return w.commit()
}

// lane writes a conversation. One that somebody else has begun meanwhile goes on waiting.
func (w *groupWriter) lane(im *treeImporter) error {
	if exists(w.store.View, im.as) {
		return nil
	}
	return w.steps(im)
}

// steps writes what waits of a conversation.
func (w *groupWriter) steps(im *treeImporter) error {
	t, err := im.open(w.Tx)
	if err != nil {
		return err
	}
	for i := range im.queue {
		if err := t.step(&im.queue[i]); err != nil {
			return err
		}
	}
	return w.add(t)
}

// add adds what was written of a conversation to the operation.
func (w *groupWriter) add(t *treeWriter) error {
	if err := t.settleLeft(); err != nil {
		return err
	}
	h := t.Tip
	if h.Value.ID == t.old.ID {
		t.wrote() // nothing was new
		return nil
	}
	h.Value.Kind = format.SessionValue
	if w.op == nil {
		w.op = &format.Operation{Verb: refs.VerbImport, Session: h.Session}
	} else {
		w.op.Session = "" // it is about several
	}
	if err := t.settleBranch(w.op); err != nil {
		return err
	}
	if len(w.parts) == 0 {
		w.op.Refs = append(w.op.Refs, w.store.HeadTo(h.Session)...)
	}
	w.parts = append(w.parts, t)
	return t.noteShared(w.op)
}

// commit records what was added.
func (w *groupWriter) commit() error {
	if w.op == nil {
		return nil
	}
	var written []history.Entry
	for _, p := range w.parts {
		written = append(written, p.Written()...)
	}
	before := w.store.View
	if len(written) > objects.MaxCarried { // see conversation.Appender.ReadLinks
		if err := w.WithLinks(before, func(*history.Links) error { return nil }); err != nil {
			return err
		}
	}
	for _, p := range w.parts {
		if h := p.Tip; !p.moved && len(h.Items) <= history.MaxBacklog {
			// What the choice of a cluster looks at. Whoever needs what cannot be made says why.
			lists.OnAll(len(h.Items), func(i int) { _, _ = w.Features(h, &h.Items[i]) })
		}
	}
	if err := w.store.Commit(w.op); err != nil {
		return err
	}
	learns := true // the entries are all that the links of the store have to learn
	for _, p := range w.parts {
		p.tellWithheld()
		p.im.tip = p.Tip.Value.ID
		p.wrote()
		p.im.right = p.im.tip == p.im.end()
		if !p.moved {
			w.SaveHead(p.Tip)
		}
		learns = learns && !(p.moved && p.amended)
		if b := p.Appended(p.old.ID); b != nil {
			w.batches = append(w.batches, b)
		}
	}
	if learns {
		w.Learn(before, w.store.View, written)
	}
	w.op, w.parts = nil, nil
	return nil
}
