package share

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Head says how far a store's log has come on a remote. It is the only file of the store there that
// is ever replaced. Its signature proves that the store wrote it.
type Head struct {
	Store  string    // the id of the store
	Label  string    // what people call the store
	Number uint64    // the newest push
	Digest format.ID // of the newest push
	Time   time.Time // of the newest push
	Trash  []Trash   // the oldest first

	Key       ed25519.PublicKey // of the store
	Signature []byte            // over all lines before its own
}

// Trash is a file of the store that nothing needs any more. It is removed from Time on: a day
// later, because readers with an older head may still ask for it, and at once where it holds words
// that were forgotten.
type Trash struct {
	Time time.Time
	Name string // under the store's folder: log/… or pack/…
}

// Encode returns the bytes of the head, signed with the private key of the store. It sets Key and
// Signature.
func (h *Head) Encode(key ed25519.PrivateKey) ([]byte, error) {
	h.Key = key.Public().(ed25519.PublicKey)
	b, err := h.text()
	if err != nil {
		return nil, err
	}
	h.Signature = ed25519.Sign(key, b)
	return fmt.Appendf(b, "signature %x\n", h.Signature), nil
}

// text returns the lines before the signature.
func (h *Head) text() ([]byte, error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	return format.EncodeLines("head", Version, h.lines)
}

func (h *Head) lines(c *format.Lines) {
	c.Must("store").Word(&h.Store)
	c.Must("label").Name(&h.Label)
	c.Must("push").Number(&h.Number).ID(&h.Digest)
	c.Must("time").Time(&h.Time)
	format.Each(c, "trash", &h.Trash, func(c *format.Lines, t *Trash) *format.Lines {
		return c.Time(&t.Time).Word(&t.Name)
	})
	c.Must("key").Hex(h.Key)
}

func (h *Head) check() error {
	switch {
	case !format.IsStoreID(h.Store):
		return errors.New("the id of the store is none")
	case h.Number == 0 || h.Digest.IsZero():
		return errors.New("there is no push")
	case len(h.Key) != ed25519.PublicKeySize:
		return errors.New("there is no key")
	}
	for _, t := range h.Trash {
		if _, _, err := ParseFileName(t.Name); err != nil {
			return err
		}
	}
	return nil
}

// DecodeHead reads what Encode returned, and checks the signature with the head's own key. Whether
// that is the key of the store is for a caller to say who has seen an earlier head.
func DecodeHead(b []byte) (*Head, error) {
	if len(b) > MaxHead {
		return nil, fmt.Errorf("head: %d bytes, at most %d", len(b), MaxHead)
	}
	h := &Head{Key: make([]byte, ed25519.PublicKeySize),
		Signature: make([]byte, ed25519.SignatureSize)}
	err := format.DecodeLines(b, "head", Version, func(c *format.Lines) {
		h.lines(c)
		c.Must("signature").Hex(h.Signature)
	})
	if err != nil {
		return nil, err
	}
	text, err := h.text()
	if err != nil {
		return nil, err
	}
	if !ed25519.Verify(h.Key, text, h.Signature) {
		return nil, errors.New("head: the signature is wrong")
	}
	return h, nil
}
