package format

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// Epoch is what the model was last told: the values that its initial block was made of, and those that hold now. Texts are kept as they
// were sent, or as they will be. docs/format/epoch.md is its page.
type Epoch struct {
	Step    string   // how it came about: EpochInitial, EpochUpdate, EpochFold or EpochFork
	Initial []Told   // in the order of the block
	Current []Belief // in the order of the sources
	Body    *Body    // of an update: the text as it was sent, unwrapped; else nil
}

// Told is a key's part of the initial block: the blob of its value, and that of the text.
type Told struct {
	Key         string
	Value, Text ID
}

// Belief is what the model believes of a key. First is the text that says the value to whom it is new, and Gone the one that says that there is
// none any more; Gone is zero where nobody gave one. A zero Value says that it was told that there is none, and has no texts.
type Belief struct {
	Key                string
	Value, First, Gone ID
}

// The steps of an epoch.
const (
	EpochInitial = "initial" // the first observation of a branch, or the first after its epoch was lost
	EpochUpdate  = "update"  // an observation that changed something
	EpochFold    = "fold"    // a leave: what was told since became a new initial block
	EpochFork    = "fork"    // a branch that starts in the past, with the newest values
)

const epochVersion = 1

// epochKey is a namespaced name such as core/date.
var epochKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._/-]*$`)
})

// IsEpochKey reports whether s can be a key of an epoch: a namespace, a slash and a name, in lower case, 200 bytes at most.
func IsEpochKey(s string) bool { return len(s) <= MaxName && epochKey().MatchString(s) }

// Encode returns the epoch's header.
func (e *Epoch) Encode() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	w := newHeader("epoch", epochVersion)
	w.line("step", e.Step)
	for _, t := range e.Initial {
		w.line("initial", t.Key, w.id(t.Value), w.id(t.Text))
	}
	for _, b := range e.Current {
		w.line("current", b.Key, idOr(b.Value, removed), idOr(b.First, noText), idOr(b.Gone, noText))
	}
	if e.Body != nil {
		w.body(*e.Body)
	}
	b, err := w.bytes()
	if err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	return b, nil
}

// removed stands for a source that was observed to be gone, and noText for a text that is not there. Neither is an id, so they cannot be
// taken for one.
const (
	removed = "removed"
	noText  = "-"
)

func idOr(id ID, none string) string {
	if id.IsZero() {
		return none
	}
	return id.String()
}

// DecodeEpoch reads an epoch's header.
func DecodeEpoch(b []byte) (*Epoch, error) {
	r, err := readHeader(b, "epoch", epochVersion)
	if err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	e := &Epoch{Step: r.must("step", 1)[0]}
	for {
		f, ok := r.take("initial", 3)
		if !ok {
			break
		}
		e.Initial = append(e.Initial, Told{Key: f[0], Value: r.id(f[1]), Text: r.id(f[2])})
	}
	for {
		f, ok := r.take("current", 4)
		if !ok {
			break
		}
		e.Current = append(e.Current, Belief{Key: f[0], Value: r.idOr(f[1], removed), First: r.idOr(f[2], noText), Gone: r.idOr(f[3], noText)})
	}
	if body, ok := r.optBody(); ok {
		e.Body = &body
	}
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	return e, nil
}

// idOr reads an id, or the zero one where none stands.
func (r *headerReader) idOr(s, none string) ID {
	if s == none {
		return ID{}
	}
	return r.id(s)
}

// check holds the rules that join the fields of an epoch; it runs on the way out and again on the way in.
func (e *Epoch) check() error {
	switch e.Step {
	case EpochInitial, EpochUpdate, EpochFold, EpochFork:
	default:
		return fmt.Errorf("unknown step: %.40q", e.Step)
	}
	if (e.Step == EpochUpdate) != (e.Body != nil) || e.Body != nil && e.Body.Size == 0 {
		return fmt.Errorf("%s: a text that was sent belongs to an update, and to it alone", e.Step)
	}
	keys := make(map[string]bool, len(e.Initial)+len(e.Current))
	for _, t := range e.Initial {
		if err := takeKey(keys, t.Key); err != nil {
			return err
		}
	}
	clear(keys)
	for _, b := range e.Current {
		if err := takeKey(keys, b.Key); err != nil {
			return err
		}
		if b.Value.IsZero() != b.First.IsZero() || b.Value.IsZero() && !b.Gone.IsZero() {
			return fmt.Errorf("current %s: a value has its text, and removed has none", b.Key)
		}
	}
	for _, t := range e.Initial {
		if !keys[t.Key] {
			return fmt.Errorf("initial %s: not among the current ones", t.Key)
		}
	}
	if e.Step != EpochUpdate && !e.fresh() {
		return fmt.Errorf("%s: the initial block is of other values than the current ones", e.Step)
	}
	return nil
}

func takeKey(keys map[string]bool, key string) error {
	if !IsEpochKey(key) {
		return fmt.Errorf("bad key: %.80q", key)
	}
	if keys[key] {
		return errors.New("key twice: " + key)
	}
	keys[key] = true
	return nil
}

// fresh reports whether the initial block says what is current, in its order.
func (e *Epoch) fresh() bool {
	if len(e.Initial) != len(e.Current) {
		return false
	}
	for i, t := range e.Initial {
		if b := e.Current[i]; t != (Told{Key: b.Key, Value: b.Value, Text: b.First}) {
			return false
		}
	}
	return true
}
