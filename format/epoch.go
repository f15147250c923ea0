package format

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Epoch records what the model was last told. Initial holds the values of the initial block,
// Current the values that hold now. Texts are kept exactly as they were sent, or as they will be
// sent. docs/format/epoch.md describes its header.
type Epoch struct {
	Step    string   // how it came about: EpochInitial, EpochUpdate, EpochFold or EpochFork
	Initial []Told   // in the order of the block
	Current []Belief // in the order of the sources
	Body    *Body    // the text of an update as it was sent, unwrapped; nil for the other steps
}

// Told is the part of one key in the initial block. Value and Text are the blobs of the value and
// of the text that the model was sent.
type Told struct {
	Key         string
	Value, Text ID
}

// Belief is the value of a key that the model was last told. First is the text for a model that has
// not heard the value before. Gone is the text that announces the removal of the value; it is zero
// if the source gave none. A zero Value means that the model was told of the removal; such a key
// has no texts.
type Belief struct {
	Key                string
	Value, First, Gone ID
}

// The steps of an epoch.
const (
	// The first observation of a branch, or the first one after its epoch was lost
	EpochInitial = "initial"
	EpochUpdate  = "update" // an observation that changed something
	EpochFold    = "fold"   // a leave: all values told so far became a new initial block
	EpochFork    = "fork"   // a branch that starts in the past, with the newest values
)

const epochVersion = 1

// IsEpochKey reports whether s can be the key of an epoch: a namespace, a slash and a name, in
// lower case, at most 200 bytes. The name can hold slashes.
func IsEpochKey(s string) bool {
	namespace, name, ok := strings.Cut(s, "/")
	return ok && len(s) <= MaxName && isEpochName(namespace, "._-") && isEpochName(name, "._/-")
}

// isEpochName reports whether s begins with a lower-case letter or a digit, and goes on with these
// and the bytes of more.
func isEpochName(s, more string) bool {
	for i := range len(s) {
		c := s[i]
		plain := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !plain && (i == 0 || strings.IndexByte(more, c) < 0) {
			return false
		}
	}
	return s != ""
}

// Encode returns the epoch's header.
func (e *Epoch) Encode() ([]byte, error) {
	return encode("epoch", epochVersion, e)
}

// removed stands in place of a value that no longer exists, noText in place of a missing text.
// Neither has the form of an id.
const (
	removed = "removed"
	noText  = "-"
)

// DecodeEpoch reads an epoch's header.
func DecodeEpoch(b []byte) (*Epoch, error) { return decode(b, "epoch", epochVersion, &Epoch{}) }

func (e *Epoch) lines(c *Lines) {
	c.Must("step").Word(&e.Step)
	Each(c, "initial", &e.Initial, func(c *Lines, t *Told) *Lines {
		return c.Word(&t.Key).ID(&t.Value).ID(&t.Text)
	})
	Each(c, "current", &e.Current, func(c *Lines, b *Belief) *Lines {
		return c.Word(&b.Key).IDOr(&b.Value, removed).IDOr(&b.First, noText).IDOr(&b.Gone, noText)
	})
	c.optBody(&e.Body, false)
}

// check holds the rules that relate the fields of an epoch. Encode and DecodeEpoch both call it.
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

// fresh reports whether the initial block has exactly the current values, in the current order.
func (e *Epoch) fresh() bool {
	return slices.EqualFunc(e.Initial, e.Current, func(t Told, b Belief) bool {
		return t == Told{Key: b.Key, Value: b.Value, Text: b.First}
	})
}

// Links returns the blobs of values and texts.
func (e *Epoch) Links() []Link {
	var list []Link
	for _, t := range e.Initial {
		list = append(list, Link{t.Value, BlobKind}, Link{t.Text, BlobKind})
	}
	for _, b := range e.Current {
		list = append(list, Link{b.Value, BlobKind}, Link{b.First, BlobKind},
			Link{b.Gone, BlobKind})
	}
	return links(list...)
}
