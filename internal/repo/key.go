package repo

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// KeySize is the length of a store's key in bytes: the width of SHA-256. HMAC gains nothing from a
// longer key.
const KeySize = 32

// Lengths in bytes of values derived from the key.
const (
	nonceSize  = 16 // too long to guess together with a short text
	digestSize = 8  // for the sources of one session: with 10 million of them, 3 in a million clash
)

// Key returns a copy of the store's key, KeySize bytes. It reads the key from disk on first use.
// *KeyError says that the key is missing or of another length. ctx never creates it anew: what was
// derived from the old key could not be derived again.
func (r *Repo) Key() ([]byte, error) {
	key, err := r.secret()
	return slices.Clone(key), err
}

// secret returns the key without a copy.
func (r *Repo) secret() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.key != nil {
		return r.key, nil
	}
	key, err := readKey(r.Dir)
	if err != nil {
		return nil, err
	}
	r.key = key
	return key, nil
}

func readKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyName)
	key, err := durable.ReadAtMost(path, KeySize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &KeyError{Path: path, Why: "file is missing"}
	case errors.Is(err, durable.ErrNotFile):
		return nil, &KeyError{Path: path, Why: "is not a regular file"}
	case errors.Is(err, durable.ErrTooLarge):
		return nil, &KeyError{Path: path, Why: fmt.Sprintf("file has more than %d bytes", KeySize)}
	case err != nil:
		return nil, fmt.Errorf("cannot read the store's key: %w", err)
	case len(key) != KeySize:
		return nil,
			&KeyError{Path: path,
				Why: fmt.Sprintf("file has %d bytes, a key has %d", len(key), KeySize)}
	}
	return key, nil
}

// Nonce returns 16 bytes derived from the key, a label that says what they are for, and a header:
// the first bytes of HMAC-SHA-256(key, label, a zero byte, header). The label has no zero byte.
// Errors: those of Key.
func (r *Repo) Nonce(label string, header []byte) ([]byte, error) {
	return r.keyed(label, header, nonceSize)
}

// Digest16 returns 16 lower-case hexadecimal digits that identify a source record without
// revealing its content: the first 8 bytes of HMAC-SHA-256(key, "source", a zero byte, record).
// Errors: those of Key.
func (r *Repo) Digest16(record []byte) (string, error) {
	sum, err := r.keyed("source", record, digestSize)
	return hex.EncodeToString(sum), err
}

// Keyed returns HMAC-SHA-256(key, label, a zero byte, data), which identifies data without
// revealing it. The label has no zero byte. Errors: those of Key.
func (r *Repo) Keyed(label string, data []byte) (format.ID, error) {
	sum, err := r.keyed(label, data, len(format.ID{}))
	if err != nil {
		return format.ID{}, err
	}
	return format.ID(sum), nil
}

func (r *Repo) keyed(label string, data []byte, size int) ([]byte, error) {
	key, err := r.secret()
	if err != nil {
		return nil, err
	}
	mac, _ := r.macs.Get().(*keyedHash)
	if mac == nil {
		mac = &keyedHash{Hash: hmac.New(sha256.New, key)}
	}
	mac.Reset()
	mac.label = append(append(mac.label[:0], label...), 0)
	mac.Write(mac.label)
	mac.Write(data)
	sum := mac.Sum(nil)[:size:size]
	r.macs.Put(mac)
	return sum, nil
}

// keyedHash is a hash under the key. To make one takes as long as a short hash.
type keyedHash struct {
	hash.Hash
	label []byte
}

// SigningSeed returns 32 bytes derived from the key, from which the store's signatures on remotes
// are made: HMAC-SHA-256(key, "signing", a zero byte). Errors: those of Key.
func (r *Repo) SigningSeed() ([]byte, error) { return r.keyed("signing", nil, sha256.Size) }
