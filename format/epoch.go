package format

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// Epoch is what the model was last told: per key the blob that held when the epoch began and the one that holds now. The texts as
// they were sent are the body. docs/format/epoch.md is its page.
type Epoch struct {
	Initial []KeyValue // by Key, ascending; never removed
	Current []KeyValue // by Key, ascending
	Body    Body
}

// KeyValue gives a key's blob; the zero ID says that the source was observed to be gone ("removed").
type KeyValue struct {
	Key  string
	Blob ID
}

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
	for _, kv := range e.Initial {
		w.line("initial", kv.Key, w.id(kv.Blob))
	}
	for _, kv := range e.Current {
		w.line("current", kv.Key, kv.value())
	}
	w.body(e.Body)
	b, err := w.bytes()
	if err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	return b, nil
}

// removed stands for a source that was observed to be gone. It is no id, so it cannot be taken for one.
const removed = "removed"

func (kv KeyValue) value() string {
	if kv.Blob.IsZero() {
		return removed
	}
	return kv.Blob.String()
}

// DecodeEpoch reads an epoch's header.
func DecodeEpoch(b []byte) (*Epoch, error) {
	r, err := readHeader(b, "epoch", epochVersion)
	if err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	e := &Epoch{}
	for {
		f, ok := r.take("initial", 2)
		if !ok {
			break
		}
		e.Initial = append(e.Initial, KeyValue{Key: f[0], Blob: r.id(f[1])})
	}
	for {
		f, ok := r.take("current", 2)
		if !ok {
			break
		}
		kv := KeyValue{Key: f[0]}
		if f[1] != removed {
			kv.Blob = r.id(f[1])
		}
		e.Current = append(e.Current, kv)
	}
	e.Body = r.mustBody()
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("epoch: %w", err)
	}
	return e, nil
}

func (e *Epoch) check() error {
	for _, list := range [][]KeyValue{e.Initial, e.Current} {
		for i, kv := range list {
			if !IsEpochKey(kv.Key) {
				return fmt.Errorf("bad key: %.80q", kv.Key)
			}
			if i > 0 && kv.Key <= list[i-1].Key {
				return errors.New("keys are not in ascending order")
			}
		}
	}
	for _, kv := range e.Initial {
		if kv.Blob.IsZero() {
			return fmt.Errorf("initial %s: removed", kv.Key)
		}
	}
	return nil
}
