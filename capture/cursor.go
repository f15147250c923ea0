package capture

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"hash"
	"io"
	"os"

	"github.com/gemini-ctx/ctx/agent/geminicli"
	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/session"
)

// cursor is how far a transcript has been read. It is kept in the cache: one that is lost costs a reading of the whole, which changes nothing, since import
// is idempotent.
type cursor struct {
	Path    string `json:"path"`
	File    string `json:"file"`   // which file had the name, as the system tells files apart; "" where it does not
	Offset  int64  `json:"offset"` // bytes read
	Ends    []byte `json:"ends"`   // digest of how they begin and end
	Sum     []byte `json:"sum"`    // state of the digest of all of them
	Session string `json:"session"`
	Whole   bool   `json:"whole,omitempty"`

	mark geminicli.Mark
}

// headBytes and tailBytes are looked at before each reading on: an agent that writes a file anew changes its last bytes with its length. The whole digest is
// compared at the end of a session.
const (
	headBytes = 4 << 10
	tailBytes = 16 << 10
)

// loadCursor returns how far the file of a name has been read, nil where that is not known.
func loadCursor(s *session.Store, path string) *cursor {
	payload, _, ok := s.Cache.Load(index.CursorName(path))
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

// save keeps the cursor at its mark.
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
	return s.Cache.Store(index.CursorName(c.Path), index.Stamp{Number: uint64(c.Offset)}, c.mark.AppendIDs(append(b, '\n')))
}

func resume(h hash.Hash, state []byte) bool {
	return len(state) > 0 && h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state) == nil
}

// fits reports whether the cursor is of the open file, and what was read is there as it was.
func (c *cursor) fits(f *os.File, info os.FileInfo) bool {
	if c.Whole || c.Offset > info.Size() || c.File != fileID(f, info) {
		return false
	}
	now, err := ends(f, c.Offset)
	return err == nil && bytes.Equal(now, c.Ends)
}

// same reports whether every byte that was read is as it was.
func (c *cursor) same(f *os.File) bool {
	now := sha256.New()
	if n, err := io.Copy(now, io.NewSectionReader(f, 0, c.Offset)); err != nil || n != c.Offset {
		return false
	}
	then := sha256.New()
	return resume(then, c.Sum) && bytes.Equal(then.Sum(nil), now.Sum(nil))
}

// ends digests how the first n bytes of a file begin and end.
func ends(f *os.File, n int64) ([]byte, error) {
	h := sha256.New()
	for _, r := range [][2]int64{{0, min(n, headBytes)}, {max(0, n-tailBytes), min(n, tailBytes)}} {
		if _, err := io.CopyN(h, io.NewSectionReader(f, r[0], r[1]), r[1]); err != nil {
			return nil, err
		}
	}
	return h.Sum(nil), nil
}
