package epochs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// ObserveOptions are for Observe and Preview.
type ObserveOptions struct {
	// where not zero: the tip the branch must still have, but for masks, forks and updates, else
	// ErrStale
	Expect format.ID
}

// Observed is what an observation came to.
type Observed struct {
	Result string    // epoch.Initial, epoch.Unchanged or epoch.Updated
	Entry  format.ID // on the branch, new; zero where nothing was written
	Epoch  format.ID // in force then; zero where there is none
	Delta  []epoch.Change
	Text   string // what is to be told, unwrapped: the initial block, or the update
	// Forgotten are keys that were passed over: what was observed of them was forgotten.
	Forgotten []string
}

// Observe compares what was observed at one boundary with what the model of a branch was last told,
// and records what it has to be told now, in one operation: an epoch entry on the branch, and the
// branch's epoch. Where there is nothing to tell, nothing is written. A session that does not exist
// is created, with its first branch: what a model is told first comes before what the user says.
//
// ErrBlocked says that the first epoch of the branch needs sources that cannot be read, ErrRefused
// that a tool call is open, which an update would part from its result, epoch.ErrInput that a text
// is missing.
func (s *Writer) Observe(
	ctx context.Context, session, branch string, set *epoch.Set, o ObserveOptions,
) (Observed, error) {
	view, err := s.Refs.Read()
	if err != nil {
		return Observed{}, err
	}
	// Mostly nothing has changed, and then the lock is not needed.
	if done, err := s.Preview(view, session, branch, set, o); err != nil ||
		done.Result == epoch.Unchanged {
		return done, err
	}
	return store.Do(ctx, s.Room, func(t *Tx) (Observed, error) {
		return t.Observe(session, branch, set, o)
	})
}

// Preview is what Observe would come to, and writes nothing.
func (s *Reader) Preview(
	view *refs.View, session, branch string, set *epoch.Set, o ObserveOptions,
) (Observed, error) {
	done, _, err := s.observed(view, session, branch, set, o)
	return done, err
}

// observed decides what an observation comes to, of the refs of view.
func (s *Reader) observed(
	view *refs.View, session, branch string, set *epoch.Set, o ObserveOptions,
) (Observed, *epoch.Outcome, error) {
	tip := view.Get(history.RefName(session, branch))
	if err := s.checkBranch(session, branch, tip, o.Expect); err != nil {
		return Observed{}, nil, err
	}
	b, err := s.boundary(tip)
	if err != nil {
		return Observed{}, nil, err
	}
	if open, _ := epoch.Split(b.messages); len(open) > 0 {
		return Observed{}, nil, fmt.Errorf(
			"%w: %s/%s: a tool call waits for its result, and an update would come between: %s",
			history.ErrRefused, session, branch, epoch.Open(open))
	}
	inForce := view.Get(EpochRef(session, branch)).ID
	state, err := s.epochState(inForce, b.epochs)
	if err != nil {
		return Observed{}, nil, err
	}
	set, forgotten, err := s.withoutForgotten(set)
	if err != nil {
		return Observed{}, nil, err
	}
	out, err := epoch.Observe(state, set)
	switch {
	case errors.As(err, new(*epoch.BlockedError)):
		return Observed{}, nil,
			fmt.Errorf("%w: %s/%s: %w", history.ErrBlocked, session, branch, err)
	case err != nil:
		return Observed{}, nil, err
	}
	done := Observed{Result: out.Result, Epoch: inForce, Delta: out.Delta, Text: out.Text,
		Forgotten: forgotten}
	if out.Epoch != nil {
		done.Epoch = out.Objects[len(out.Objects)-1].ID()
	}
	return done, out, nil
}

// withoutForgotten leaves out of what was observed what must not come back: it is as if nobody had
// looked. It returns the keys.
func (s *Reader) withoutForgotten(set *epoch.Set) (*epoch.Set, []string, error) {
	w, err := s.ForgottenWords()
	if err != nil || w == nil {
		return set, nil, err
	}
	set, keys := set.Without(func(raw format.Raw) bool {
		gone := false
		if err == nil {
			gone, err = s.Objects.Forgotten(raw.ID())
		}
		return gone || w.InAny(w.Phrases, raw.Body)
	})
	return set, keys, err
}

// checkBranch says why a branch cannot be observed in: only the first branch of a session may be
// made by it.
func (s *Reader) checkBranch(session, branch string, tip format.Value, expect format.ID) error {
	for _, name := range []string{session, branch} {
		if err := format.CheckName(name); err != nil {
			return fmt.Errorf("%w: %q: %w", history.ErrInput, history.Clip(name), err)
		}
	}
	if !tip.Exists() && branch != history.MainBranch {
		return history.UnknownSession(session, branch)
	}
	if still, err := s.StillAt(tip.ID, expect); err != nil {
		return err
	} else if !still {
		return fmt.Errorf("%w: the tip of %s/%s is %s, not %v", history.ErrStale, session, branch,
			history.TipOf(tip), expect)
	}
	return nil
}

func (t *Tx) Observe(session, branch string, set *epoch.Set, o ObserveOptions) (Observed, error) {
	done, out, err := t.observed(t.store.View, session, branch, set, o)
	if err != nil || done.Result == epoch.Unchanged {
		return done, err
	}
	for _, raw := range out.Objects {
		t.store.Add(raw)
	}
	c, err := t.controlNew(session, branch,
		&format.Entry{Kind: format.KindEpoch, Epoch: done.Epoch})
	if err != nil {
		return Observed{}, err
	}
	done.Entry = c.ID
	more := append(t.EpochTo(session, branch, done.Epoch), t.store.HeadTo(session)...)
	return done, t.store.CommitControl(refs.VerbObserve, c, more...)
}

// controlNew is control, and begins the session where there is none.
func (t *Tx) controlNew(session, branch string, e *format.Entry) (*store.Controlled, error) {
	old := t.store.View.Get(history.RefName(session, branch))
	if old.Exists() {
		return t.store.Control(session, branch, e, nil, "")
	}
	c := &store.Controlled{Head: &history.Head{Session: session, Branch: branch}}
	return c, t.store.OnTop(c, e, nil, "")
}

// epochState reads an epoch and its blobs; recent are epoch entries of the branch's tail. What
// cannot be read is not there, and the observation heals it: an epoch of which an update cannot be
// shown any more counts as lost. Only a failing disk, or an epoch of a newer format, is an error.
func (s *Reader) epochState(id format.ID, recent []history.Entry) (*epoch.State, error) {
	if id.IsZero() {
		return nil, nil
	}
	e, _, err := s.EpochObject(id)
	if err == nil {
		_, err = (&ToldLine{S: s, strict: true}).updatesIn(nil, recent)
	}
	if history.IsLost(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	state := &epoch.State{Epoch: e, Blobs: map[format.ID][]byte{}}
	want := lists.Map(e.Initial, func(t format.Told) format.ID { return t.Text })
	for _, b := range e.Current {
		want = append(want, b.Value, b.First, b.Gone)
	}
	for _, id := range want {
		if _, ok := state.Blobs[id]; ok || id.IsZero() {
			continue
		}
		b, err := s.Blob(id)
		if history.IsLost(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		state.Blobs[id] = b
	}
	return state, nil
}

// Blob reads a blob's bytes.
func (s *Reader) Blob(id format.ID) ([]byte, error) {
	raw, err := s.Objects.Get(id)
	if err != nil {
		return nil, err
	}
	if _, err := format.DecodeBlob(raw.Header); err != nil {
		return nil, fmt.Errorf("%w: object %v: %w", history.ErrNotEpoch, id, err)
	}
	return raw.Body, nil
}

// boundary is what an observation has to know of a branch's tail.
type boundary struct {
	messages []epoch.Message // oldest first
	epochs   []history.Entry // on the branch's own line, oldest first
}

// boundary reads the tail of a branch. What is before it is in no request any more.
func (s *Reader) boundary(v format.Value) (b boundary, err error) {
	if !v.Exists() {
		return b, nil
	}
	var list []format.ID
	newest := map[format.ID]format.ID{}
	for e, err := range s.Walk(v.ID, history.WithJoined) {
		if err != nil {
			return b, err
		}
		if e.Kind == format.KindMessage && e.Seq <= v.Through {
			break
		}
		switch e.Kind {
		case format.KindMessage:
			id := e.ID
			if version, ok := newest[id]; ok {
				id = version
			}
			list = append(list, id)
		case format.KindAmend:
			if _, newer := newest[e.Amends]; !newer {
				newest[e.Amends] = e.ID
			}
		case format.KindEpoch:
			if !e.Joined {
				b.epochs = append(b.epochs, e)
			}
		}
	}
	slices.Reverse(b.epochs)
	for _, id := range slices.Backward(list) {
		m, err := s.callsOf(id)
		if err != nil {
			return b, err
		}
		b.messages = append(b.messages, m)
	}
	return b, nil
}

// callsOf reads what an entry calls and answers. A plain text says it in its header.
func (s *Reader) callsOf(id format.ID) (epoch.Message, error) {
	e, err := s.Header(id)
	if err != nil {
		return epoch.Message{}, err
	}
	var parts []byte
	if e.Body != nil && e.Body.Media == format.MediaParts {
		shown, err := s.Entry(id)
		if err != nil {
			return epoch.Message{}, err
		}
		parts = shown.Parts
	}
	return epoch.Said(parts, e.Calls, e.Results), nil
}
