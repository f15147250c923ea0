package pack

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"hash"

	"github.com/gemini-ctx/ctx/format"
)

// Key is the key of a store, from which the nonces of its bodies are derived. The zero value stands
// for none.
type Key [32]byte

// IsZero reports whether k stands for no key.
func (k Key) IsZero() bool { return k == Key{} }

// nonces derives nonces under one key. It is not for several goroutines.
type nonces struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

func newNonces(k Key) *nonces {
	if k.IsZero() {
		return nil
	}
	return &nonces{mac: hmac.New(sha256.New, k[:])}
}

// of returns the nonce of an object by its header up to the body line, which the store derives in
// the same way: the first bytes of the HMAC-SHA-256 of "nonce", a zero byte, and these lines. The
// result is good until the next call.
func (n *nonces) of(lines []byte) []byte {
	n.mac.Reset()
	n.mac.Write([]byte("nonce\x00"))
	n.mac.Write(lines)
	return n.mac.Sum(n.sum[:0])[:format.NonceLen]
}

// derives reports whether body begins with the nonce that follows from the lines.
func (n *nonces) derives(lines, body []byte) bool {
	return n != nil && len(body) >= format.NonceLen &&
		bytes.Equal(n.of(lines), body[:format.NonceLen])
}
