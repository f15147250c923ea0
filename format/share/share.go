// Package share is what stores write to a remote: heads, and pushes in segments of a log.
// docs/format/remote.md describes the bytes. The functions are pure: values in, values out.
//
// Begin with Push, one step of what a store shares, and Head, the one file of a store that is ever
// replaced.
package share

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Version is that of heads, pushes and the file format.
const Version = 1

// The limits that a reader holds to before it trusts a file, in bytes: a head, a push, and a
// segment before compression.
const (
	MaxHead    = 4 << 20
	MaxPush    = 16 << 20
	MaxSegment = 64 << 20
)

// Format returns the content of the file format of a remote with these features, sorted.
func Format(features ...string) []byte {
	b := fmt.Appendf(nil, "remote %d\n", Version)
	for _, f := range features {
		b = fmt.Appendf(b, "feature %s\n", f)
	}
	return b
}

// CheckFormat returns an error unless b is the file format of a remote that this version knows,
// with no features but the known ones. The error is a *format.VersionError for a later version.
func CheckFormat(b []byte, known ...string) error {
	first, rest, _ := strings.Cut(string(b), "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(first, "remote "))
	switch {
	case strings.HasPrefix(first, "ctx-remote "): // before there was a release
		return &format.VersionError{What: "remote", Early: true}
	case err != nil || n < 1 || !strings.HasPrefix(first, "remote "):
		return errors.New("this is no remote of ctx: the file format is of another kind")
	case n != Version:
		return &format.VersionError{What: "remote", Got: n, Known: Version}
	}
	for line := range strings.Lines(rest) {
		feature, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "feature ")
		if !ok {
			return fmt.Errorf("the remote's file format has a line that is not known: %.80q", line)
		}
		if !slices.Contains(known, feature) {
			return fmt.Errorf("the remote has a feature that this version does not know: %.80q",
				feature)
		}
	}
	return nil
}

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

// The names of files on a remote.
const (
	FormatFile = "format"
	Heads      = "heads/"  // and the folder of a store: its head
	Stores     = "stores/" // and the folder of a store: its other files
	LogFolder  = "log/"    // in that folder: segments of the log
	PackFolder = "pack/"   // in that folder: packs of objects
)

// HeadName returns the name of the head of the store with the given folder.
func HeadName(folder string) string { return Heads + folder }

// File is a file of a store that never changes: a segment of the log, or a pack of the objects that
// some pushes brought.
type File struct {
	First, Last uint64    // the pushes
	Digest      format.ID // SHA-256 of a segment's bytes; the id of a pack
}

// Name returns the name of the file in its folder, LogFolder or PackFolder.
func (f File) Name() string { return fmt.Sprintf("%d-%d-%s", f.First, f.Last, f.Digest) }

// Covers reports whether f has all pushes of other.
func (f File) Covers(other File) bool { return f.First <= other.First && other.Last <= f.Last }

// ParseFileName reads the name of a file under the folder of its store: LogFolder or PackFolder,
// and what Name returned.
func ParseFileName(name string) (folder string, f File, err error) {
	bad := fmt.Errorf("not a file of a store: %.200q", name)
	kind, rest, ok := strings.Cut(name, "/")
	parts := strings.Split(rest, "-")
	if folder = kind + "/"; !ok || folder != LogFolder && folder != PackFolder || len(parts) != 3 {
		return "", f, bad
	}
	first, err1 := strconv.ParseUint(parts[0], 10, 64)
	last, err2 := strconv.ParseUint(parts[1], 10, 64)
	digest, err3 := format.ParseID(parts[2])
	f = File{First: first, Last: last, Digest: digest}
	if errors.Join(err1, err2, err3) != nil || f.First == 0 || f.Last < f.First ||
		f.Name() != rest {
		return "", File{}, bad
	}
	return folder, f, nil
}
