package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/objects"
)

// NewKeyName is the file, under the store's directory, that says that a repair has put a new key in
// the place of a lost one.
const NewKeyName = "log/new-key"

// maxKeyMark bounds the file NewKeyName, in bytes.
const maxKeyMark = 1024

// NewKeyMark is the content of the file NewKeyName: bytes that only the present key gives. Errors
// are those of repo.Key.
func (s *Store) NewKeyMark() ([]byte, error) {
	sum, err := s.Nonce("new-key", nil)
	return fmt.Appendf(nil, "%x\n", sum), err
}

// KeyIsNew reports whether the file NewKeyName says that the present key took the place of a lost
// one: older objects were written with another. Errors are those of repo.Key.
func (s *Store) KeyIsNew() (bool, error) {
	mark, err := s.NewKeyMark()
	if err != nil {
		return false, err
	}
	b, err := durable.ReadAtMost(filepath.Join(s.Dir, filepath.FromSlash(NewKeyName)), maxKeyMark)
	return err == nil && bytes.Equal(b, mark), nil
}

// KeyMark is the content of the blob that history.KeyRef names. Errors are those of repo.Key.
func (s *Store) KeyMark() ([]byte, error) {
	sum, err := s.Nonce("key-mark", nil)
	return fmt.Appendf(nil, "%x\n", sum), err
}

// KeyMarked reports whether v, the value of history.KeyRef, exists, and the present key gives its
// blob. A blob that cannot be read tells nothing. Errors are those of repo.Key.
func (s *Store) KeyMarked(v format.Value) (fits, known bool, err error) {
	if !v.Exists() {
		return false, false, nil
	}
	raw, err := s.Objects.Get(v.ID)
	if err != nil {
		return false, false, nil // damage is told by who needs what is damaged
	}
	mark, err := s.KeyMark()
	return bytes.Equal(raw.Body, mark), true, err
}

// mostLabels is how many nonces are tried for an object that is made of words: sealNew takes
// another for each object of the same words that was forgotten.
const mostLabels = 16

// FitsKey reports whether the present key gives the nonce of an object's body. known is false for
// an object without a nonce. Errors are those of repo.Key.
func (s *Store) FitsKey(raw format.Raw) (fits, known bool, err error) {
	kind, _, err := format.HeaderKind(raw.Header)
	if err != nil || !format.HasNonce(kind) || len(raw.Body) < format.NonceLen {
		return false, false, nil
	}
	labels := 1
	if kind != "entry" {
		labels = mostLabels
	}
	for n := range labels {
		nonce, err := s.Nonce(history.LabelOf(n), history.CutLastLine(raw.Header))
		if err != nil {
			return false, true, err
		}
		if bytes.Equal(nonce, raw.Body[:format.NonceLen]) {
			return true, true, nil
		}
	}
	return false, true, nil
}

// mostTried is how many entries of one branch checkKey looks at for one with a body.
const mostTried = 16

// checkKey refuses to write with a key that the store was not written with: what was forgotten
// would not be known by its words, and what was imported not by its source. It looks at the mark of
// the key or at one object that is there, once for each process.
func (t *Tx) checkKey() error {
	t.mu.Lock()
	done := t.keyFits
	t.mu.Unlock()
	if done {
		return nil
	}
	fits, known, err := t.KeyMarked(t.View.Get(history.KeyRef))
	if err == nil && !known {
		var raw format.Raw
		if raw, err = t.someSealed(); err != nil {
			return err
		}
		fits, known, err = t.FitsKey(raw)
	}
	if errors.As(err, new(*repo.KeyError)) {
		return nil // who needs the key says so
	}
	if err == nil && known && !fits {
		fits, err = t.KeyIsNew()
	}
	switch {
	case err != nil:
		return err
	case known && !fits:
		return &repo.KeyError{
			Path: filepath.Join(t.Dir, "key"),
			Why:  "is not the key that the store was written with",
		}
	}
	t.mu.Lock()
	t.keyFits = known
	t.mu.Unlock()
	return nil
}

// someSealed returns the newest message of a branch: of the session that HEAD names, or else of the
// first one. It returns the zero Raw where there is none that can be read.
func (t *Tx) someSealed() (format.Raw, error) {
	names := t.View.Names("sessions/" + t.View.Get("HEAD").Name + "/")
	if len(names) == 0 {
		names = t.View.Names("sessions/")
	}
	if len(names) == 0 {
		return format.Raw{}, nil
	}
	id := t.View.Get(names[0]).ID
	for range mostTried {
		raw, err := t.Objects.Get(id)
		switch {
		case objects.IsGone(err):
			raw.Header, err = t.Objects.Header(id)
		case err == nil && len(raw.Body) >= format.NonceLen:
			return raw, nil
		}
		if errors.As(err, new(*objects.CorruptError)) || errors.Is(err, objects.ErrNotFound) {
			return format.Raw{}, nil // damage is told by who needs what is damaged
		}
		if err != nil {
			return format.Raw{}, err
		}
		e, err := format.DecodeEntry(raw.Header)
		if err != nil || len(e.Parents) == 0 {
			return format.Raw{}, nil
		}
		id = e.Parents[0]
	}
	return format.Raw{}, nil
}
