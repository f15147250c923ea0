package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"hash"
	"io"
	"os"

	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/session"
)

// cursor says how far a transcript has been read. It is kept in the cache. If it is lost, the next
// copy reads the whole transcript, which changes nothing, since import is idempotent.
type cursor struct {
	Path    string `json:"path"`
	File    string `json:"file"`   // fileID of the transcript; "" if the system has none
	Offset  int64  `json:"offset"` // number of bytes read
	Ends    []byte `json:"ends"`   // digest of their first and last bytes
	Sum     []byte `json:"sum"`    // state of the SHA-256 of all of them
	Session string `json:"session"`
	Whole   bool   `json:"whole,omitempty"`

	mark geminicli.Mark
}

// headBytes and tailBytes are how many bytes each copy compares before it reads on: an agent that
// rewrites a file changes its last bytes or its length. The digest of all bytes is compared at the
// end of a session.
const (
	headBytes = 4 << 10
	tailBytes = 16 << 10
)

// loadCursor returns the cursor of the transcript at path, or nil if there is none.
func loadCursor(s *session.Store, path string) *cursor {
	payload, _, ok := s.History.Cache.Load(cache.CursorName(path))
	if !ok {
		return nil
	}
	front, ids, ok := bytes.Cut(payload, []byte("\n"))
	c := &cursor{}
	if !ok || json.Unmarshal(front, c) != nil || c.Path != path {
		return nil
	}
	c.mark = geminicli.Mark{Offset: c.Offset, Session: c.Session, Whole: c.Whole}
	c.mark.SetIDs(ids)
	return c
}

// save stores the cursor at its mark.
func (c *cursor) save(s *session.Store, f *os.File) error {
	sum := sha256.New()
	from := c.Offset
	if from > c.mark.Offset || !resume(sum, c.Sum) {
		sum, from = sha256.New(), 0
	}
	c.Offset, c.Session, c.Whole = c.mark.Offset, c.mark.Session, c.mark.Whole
	if _, err := io.Copy(sum, io.NewSectionReader(f, from, c.Offset-from)); err != nil {
		return err
	}
	var err error
	if c.Sum, err = sum.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
		return err
	}
	if c.Ends, err = ends(f, c.Offset); err != nil {
		return err
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.History.Cache.Store(cache.CursorName(c.Path), cache.Stamp{Number: uint64(c.Offset)}, c.mark.AppendIDs(append(b, '\n')))
}

// resume sets a hash to a saved state.
func resume(h hash.Hash, state []byte) bool {
	return len(state) > 0 && h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state) == nil
}

// fits reports whether the cursor belongs to the open file, and the file still begins and ends as
// when it was read.
func (c *cursor) fits(f *os.File, info os.FileInfo) bool {
	if c.Whole || c.Offset > info.Size() || c.File != fileID(f, info) {
		return false
	}
	now, err := ends(f, c.Offset)
	return err == nil && bytes.Equal(now, c.Ends)
}

// same reports whether every byte that was read is unchanged.
func (c *cursor) same(f *os.File) bool {
	now := sha256.New()
	if n, err := io.Copy(now, io.NewSectionReader(f, 0, c.Offset)); err != nil || n != c.Offset {
		return false
	}
	then := sha256.New()
	return resume(then, c.Sum) && bytes.Equal(then.Sum(nil), now.Sum(nil))
}

// ends returns a digest of the first and last bytes among the first n bytes of a file.
func ends(f *os.File, n int64) ([]byte, error) {
	h := sha256.New()
	for _, r := range [][2]int64{{0, min(n, headBytes)}, {max(0, n-tailBytes), min(n, tailBytes)}} {
		if _, err := io.CopyN(h, io.NewSectionReader(f, r[0], r[1]), r[1]); err != nil {
			return nil, err
		}
	}
	return h.Sum(nil), nil
}
