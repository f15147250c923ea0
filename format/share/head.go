package share

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
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

// Trash is a file of the store that nothing needs any more. It is removed from Time on: a day later,
// because readers with an older head may still ask for it, and at once where it holds words that
// were forgotten.
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
		return nil, fmt.Errorf("head: %w", err)
	}
	h.Signature = ed25519.Sign(key, b)
	return fmt.Appendf(b, "signature %x\n", h.Signature), nil
}

// text returns the lines before the signature.
func (h *Head) text() ([]byte, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	w := &writer{}
	w.line("head", number(Version))
	w.line("store", h.Store)
	w.line("label", w.name(h.Label))
	w.line("push", number(h.Number), h.Digest.String())
	w.line("time", format.FormatTime(h.Time))
	for _, t := range h.Trash {
		w.line("trash", format.FormatTime(t.Time), t.Name)
	}
	w.line("key", hex.EncodeToString(h.Key))
	return w.buf.Bytes(), w.err
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
	h := &Head{}
	r := &reader{}
	first := true
	err := lines(b, func(key string, f []string) error {
		if first {
			first = false
			if key != "head" || len(f) != 1 {
				return errors.New("not a head")
			}
			if f[0] != number(Version) {
				return &format.VersionError{What: "head", Got: int(r.number(f[0])), Known: Version}
			}
			return nil
		}
		switch {
		case key == "store" && len(f) == 1:
			h.Store = f[0]
		case key == "label" && len(f) == 1:
			h.Label = r.name(f[0])
		case key == "push" && len(f) == 2:
			h.Number, h.Digest = r.number(f[0]), r.id(f[1])
		case key == "time" && len(f) == 1:
			h.Time = r.time(f[0])
		case key == "trash" && len(f) == 2:
			h.Trash = append(h.Trash, Trash{Time: r.time(f[0]), Name: f[1]})
		case key == "key" && len(f) == 1:
			h.Key = r.hex(f[0], ed25519.PublicKeySize)
		case key == "signature" && len(f) == 1:
			h.Signature = r.hex(f[0], ed25519.SignatureSize)
		default:
			return fmt.Errorf("a line that is not known: %.80q", key)
		}
		return r.err
	})
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	text, err := h.text()
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	if !bytes.Equal(b, fmt.Appendf(text, "signature %x\n", h.Signature)) {
		return nil, errors.New("head: lines are not in their form or order")
	}
	if !ed25519.Verify(h.Key, text, h.Signature) {
		return nil, errors.New("head: the signature is wrong")
	}
	return h, nil
}

func (r *reader) hex(s string, size int) []byte {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != size || strings.ToLower(s) != s {
		r.fail(fmt.Errorf("not %d bytes in hexadecimal: %.40q", size, s))
		return nil
	}
	return b
}
