package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Add has objects written by the next commit, and returns the id of the last one.
func (t *Tx) Add(raws ...format.Raw) (id format.ID) {
	t.waiting = append(t.waiting, raws...)
	if len(raws) > 0 {
		id = raws[len(raws)-1].ID()
	}
	return id
}

// AddBlob is Add for a blob. It returns the value of a ref that names it.
func (t *Tx) AddBlob(b []byte, media string) (format.Value, error) {
	header, err := format.EncodeBlob(format.SumBody(b, media))
	if err != nil {
		return format.Value{}, err
	}
	return format.Value{Kind: format.ObjectValue,
		ID: t.Add(format.Raw{Header: header, Body: b})}, nil
}

// Waiting returns the objects that the next commit writes, in the order in which they were added.
func (t *Tx) Waiting() []format.Raw { return t.waiting }

// DropAfter takes back all but the first n objects that are waiting: a part of the operation has
// failed. Nobody may have asked for their ids since.
func (t *Tx) DropAfter(n int) { t.waiting = t.waiting[:min(n, len(t.waiting))] }

// EntryNow is Header for an entry that may be waiting.
func (t *Tx) EntryNow(id format.ID) (*format.Entry, error) {
	for _, raw := range t.waiting {
		if raw.ID() == id {
			return format.DecodeEntry(raw.Header)
		}
	}
	return t.Header(id)
}

// Flush makes the objects that are waiting readable before the commit. A few go into the record of
// the next commit; where there are more, they are written now.
func (t *Tx) Flush() error {
	if len(t.waiting) == 0 {
		return nil
	}
	var ids []format.ID
	t.waiting, ids = objects.Distinct(t.waiting)
	var carried bool
	var err error
	if t.holding {
		carried, err = t.repo.Objects.Hold(t.waiting...)
	} else if len(t.waiting) <=
		objects.MaxCarried { // to find out takes a check of each object, as Put makes
		carried, err = t.repo.Objects.Stage(t.waiting...)
	}
	if err == nil && !carried {
		err = t.repo.Objects.Put(t.waiting...)
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		t.present[id] = true
	}
	t.Wrote(t.waiting)
	t.waiting = nil
	return nil
}

// Hold says that the transaction makes long operations out of many parts, each of which reads what
// the parts before it have made: Flush writes nothing before the commit, which writes one pack.
func (t *Tx) Hold() { t.holding = true }

// Commit records the operation with everything decided and with the objects that are waiting. The
// sync of the record is the moment from which the operation has happened. Where there are too many
// objects for the record, they are written before it; after a power cut between the two nothing
// names them, and gc removes them after gc.grace. A checkpoint follows where the log has become
// long.
func (t *Tx) Commit(op *format.Operation) error {
	if err := cleanNames(op); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, name := range forestNames {
		f := t.draft(name)
		if len(f.decided) > 0 {
			op.Forests = append(op.Forests, format.ForestUpdate{Name: name, Decisions: f.decided})
		}
		if old := t.View.Get(history.ForestRefOf(name)); !f.written.IsZero() &&
			old.ID != f.written {
			op.Refs = append(op.Refs, format.RefUpdate{
				Name: history.ForestRefOf(name), Old: old,
				New: format.Value{Kind: format.ObjectValue, ID: f.written},
			})
		}
	}
	for _, p := range t.participants {
		if err := p.Prepare(op); err != nil {
			return err
		}
	}
	if _, known := refs.EffectsOfVerb(op.Verb); !known {
		return fmt.Errorf("no effect is known of a verb %q", op.Verb)
	}
	if err := t.ownOnly(op); err != nil {
		return err
	}
	op.Time = t.Now().UTC().Truncate(time.Millisecond)
	op.Objects = t.repo.Objects.Staged()
	if t.repo.Objects.TooMuch() {
		if err := t.repo.Objects.Put(op.Objects...); err != nil {
			return err
		}
		op.Objects = nil
		t.repo.Objects.EndStage(false)
	}
	for _, d := range op.Decisions() {
		t.present[d.ID] = t.present[d.ID] || t.KeepsWritten(d.ID)
	}
	view, err := t.repo.Refs.Commit(t.Held, t.View, op, t.present)
	if err != nil {
		return err
	}
	t.repo.Objects.EndStage(true)
	t.View, t.latest = view, nil
	for _, told := range t.onCommit {
		told(op)
	}
	decided := t.main.decided
	for _, name := range forestNames {
		f := t.draft(name)
		f.decided, f.written = nil, format.ID{}
	}
	for _, p := range t.participants {
		p.Committed(decided)
	}
	if view.Long() && op.Verb != refs.VerbCheckpoint && !t.canWait() {
		if err := t.checkpoint(); err != nil {
			t.main.state, t.flat.state = nil, nil // they may say of objects that they are stored
			t.Report(fmt.Errorf("no checkpoint yet: %w", err))
		}
	}
	return nil
}

// cleanNames refuses a new session or branch whose name holds a secret: names stand in the log, in
// every list, and in what others are sent. The error does not have the name.
func cleanNames(op *format.Operation) error {
	switch op.Verb {
	case refs.VerbAppend, refs.VerbFork, refs.VerbImport, refs.VerbUpdateRef:
	default:
		return nil // what was there before
	}
	for _, u := range op.Refs {
		session, branch, ok := history.BranchOfRef(u.Name)
		if !ok || u.Old.Exists() {
			continue
		}
		for _, name := range []string{session, branch} {
			_, found, err := sanitize.Text([]byte(name))
			if err != nil || len(found) > 0 {
				return fmt.Errorf("%w: the name of the session or branch holds a secret: "+
					"choose another one", history.ErrInput)
			}
		}
	}
	return nil
}

// ownOnly refuses an operation that changes a session of another store. What others share comes
// with a pull, and goes with it or with the removal of the session.
func (t *Tx) ownOnly(op *format.Operation) error {
	switch op.Verb {
	case refs.VerbPull, refs.VerbSessionRm, refs.VerbRepair:
		return nil
	}
	for _, u := range op.Refs {
		session, _, ok := history.BranchOfRef(u.Name)
		if !ok {
			continue
		}
		if err := history.CheckOwn(t.View, session); err != nil {
			return err
		}
	}
	return nil
}

// A transaction of many in a row lets the log grow up to a part of the forest: to write a forest of
// many live clusters costs much more than to read the decisions since. forestShare is which part,
// and clusterBytes about what a live cluster takes in the object of the forest. A log of waitAnyway
// bytes may always wait: each checkpoint makes packs, and a reader takes some 10 ms for so much.
const (
	forestShare  = 4
	clusterBytes = 128
	waitAnyway   = 2 << 20
)

// mostCarried is how many bytes of objects the log carries at most while a checkpoint waits: every
// reader reads them.
const mostCarried = 4 << 20

// canWait reports whether a checkpoint that is due costs more than it saves.
func (t *Tx) canWait() bool {
	st := t.main.state
	carried := 0
	for _, r := range t.View.Since {
		carried += r.Size - r.OperationSize()
	}
	return t.patient && st != nil && carried < mostCarried &&
		t.View.Overlay() < max(waitAnyway, st.LiveCount()*clusterBytes/forestShare)
}

// BeforeOthers says that more transactions follow at once, and that the last of them calls
// ShortenLog.
func (t *Tx) BeforeOthers() { t.patient = true }

// ShortenLog writes a checkpoint if the operations since the last one would slow readers down.
func (t *Tx) ShortenLog() error {
	if t.View.Overlay() < history.LongOverlay {
		return nil
	}
	return t.checkpoint()
}

// checkpoint writes the forests and then every ref, so that readers overlay fewer records.
func (t *Tx) checkpoint() error { return t.checkpointAt(func() error { return nil }) }

// CloseLog writes a checkpoint at the start of a new segment of the log. Readers of the refs need
// the segments before it no more.
func (t *Tx) CloseLog() error {
	return t.checkpointAt(func() error {
		view, err := t.repo.Refs.Next(t.Held, t.View)
		if err == nil {
			t.View = view
		}
		return err
	})
}

// checkpointAt writes a checkpoint, and calls place before it writes where the log goes on.
func (t *Tx) checkpointAt(place func() error) error {
	pending := false
	var same []string
	for _, name := range forestNames {
		if t.View.PendingCount(name) == 0 {
			continue
		}
		id, err := t.WriteForestOf(name)
		if err != nil {
			return err
		}
		if id == t.View.Get(history.ForestRefOf(name)).ID {
			same = append(same, name)
		} else {
			pending = true
		}
	}
	if pending {
		if err := t.Commit(&format.Operation{Verb: refs.VerbCheckpoint}); err != nil {
			return err
		}
	}
	if err := t.UnloadLog(); err != nil {
		return err
	}
	if err := place(); err != nil {
		return err
	}
	if err := t.repo.Refs.Checkpoint(t.Held, t.View, same...); err != nil {
		return err
	}
	view, err := t.repo.Refs.Begin(t.Held) // the operations up to here are no overlay any more
	if err == nil {
		t.View = view
	}
	return err
}

// UnloadLog moves the objects that the log carries into a pack. A crash on the way leaves them in
// both places.
func (t *Tx) UnloadLog() error {
	if len(t.View.Carried()) == 0 {
		return nil
	}
	if err := t.repo.Refs.CheckCarried(t.View); err != nil { // what can be mended is packed, too
		return err
	}
	if err := t.repo.Objects.PackLogged(t.Held); err != nil {
		return err
	}
	view, err := t.repo.Refs.Unload(t.Held, t.View, false)
	if err == nil {
		t.View = view
	}
	return err
}

// LockedWith is Locked for an operation that names many objects: they are written before the lock
// is taken, and do decides under it whether they are to be. put gives them to the store; do must
// call it before it commits what names them. If do does not, or fails before, none is kept.
func (s *Store) LockedWith(
	ctx context.Context, raws []format.Raw, do func(t *Tx, put func() error) error,
) error {
	raws, ids := objects.Distinct(raws)
	gone, err := s.repo.Objects.Gone(ids)
	if err != nil {
		return err
	}
	if len(raws) <= objects.MaxCarried || len(gone) > 0 { // Put sees to records of lost bodies
		return s.Locked(ctx, func(t *Tx) error {
			return do(t, func() error {
				t.Add(raws...)
				return t.Flush()
			})
		})
	}
	var done bool    // do has put them
	var failed error // what do or the lock says
	each := objects.Each(raws)
	_, err = s.repo.Objects.WritePackWhen(each, objects.Fast, func(publish func() error) error {
		failed = s.Locked(ctx, func(t *Tx) error {
			return do(t, func() error {
				if gone, err := s.repo.Objects.Gone(ids); err != nil {
					return err
				} else if len(gone) > 0 { // a forget came in between
					t.Add(raws...)
					return t.Flush()
				}
				if err := publish(); err != nil {
					return err
				}
				for _, id := range ids {
					t.present[id] = true
				}
				done = true
				return nil
			})
		})
		if failed == nil && !done {
			return errNotPut
		}
		return failed
	})
	switch {
	case failed != nil:
		return failed
	case errors.Is(err, errNotPut):
		return nil
	}
	return err
}

// errNotPut has WritePackWhen drop a pack that is not wanted.
var errNotPut = errors.New("the objects are not wanted")
