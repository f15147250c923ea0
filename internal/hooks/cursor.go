package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/session"
)

// copiedFile is the cursor of a transcript: what the cache knows of it since it was copied. If it
// is lost, the next copy reads the transcript again, which changes nothing.
type copiedFile struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"` // negative while the first copy has not come to its end
	Time    int64  `json:"time"` // of the last change, in nanoseconds since 1970
	Session string `json:"session"`
	Skipped string `json:"skipped"` // what the last reading of the whole could not use

	File string          `json:"file"` // fileID of the transcript; "" if the system has none
	Ends []byte          `json:"ends"` // digest of its first and last bytes
	Sum  []byte          `json:"sum"`  // state of the SHA-256 of all of them
	Mark transcript.Mark `json:"mark"` // where the last copy ended
}

func loadCopied(s *session.Store, path string) (c copiedFile, ok bool) {
	payload, _, ok := s.History.Cache.Load(cache.CursorName(path))
	if !ok || c.decode(payload) != nil || c.Path != path {
		return copiedFile{}, false
	}
	return c, true
}

func (c copiedFile) save(s *session.Store) error {
	b, err := c.encode()
	if err != nil {
		return err
	}
	return s.History.Cache.Store(cache.CursorName(c.Path),
		cache.Stamp{Number: uint64(max(0, c.Size))}, b)
}

// encode returns a line of JSON without Mark.State, and then Mark.State as it is. The state has
// eight bytes for each message of a long session; JSON makes them a third longer and copies them
// several times.
func (c copiedFile) encode() ([]byte, error) {
	state := c.Mark.State
	c.Mark.State = nil
	line, err := json.Marshal(c)
	if err != nil || state == nil {
		return line, err
	}
	b := make([]byte, 0, len(line)+1+len(state))
	return append(append(append(b, line...), '\n'), state...), nil
}

// decode undoes encode. Mark.State shares the memory of b.
func (c *copiedFile) decode(b []byte) error {
	line, state, parted := bytes.Cut(b, []byte("\n"))
	err := json.Unmarshal(line, c)
	if parted {
		c.Mark.State = state
	}
	return err
}

// leftOver returns those of some transcripts that a hook has copied, and those of their subagents,
// that have changed since, because a later hook was missed. It leaves out own, and transcripts that
// no hook has ever copied: nobody asked ctx to record them.
func leftOver(s *session.Store, own string, others []string) (paths []string) {
	for _, path := range others {
		c, ok := loadCopied(s, path)
		if path == own || !ok {
			continue
		}
		if changed(c, path) {
			paths = append(paths, path)
		}
		for _, sub := range besideIt(strings.TrimSuffix(path, filepath.Ext(path))) {
			if c, _ := loadCopied(s, sub); changed(c, sub) {
				paths = append(paths, sub)
			}
		}
	}
	return paths
}

// headBytes and tailBytes are how many bytes each copy compares before it reads on: an agent that
// rewrites a file changes its last bytes or its length. The digest of all bytes is compared at the
// end of a session.
const (
	headBytes = 4 << 10
	tailBytes = 16 << 10
)

// sum sets the digests of a file up to Size. was is what was known of it, if its bytes are still
// the same.
func (c *copiedFile) sum(f *os.File, was *copiedFile) (err error) {
	sum, from := sha256.New(), was.Size
	if from < 0 || from > c.Size || !resume(sum, was.Sum) {
		sum, from = sha256.New(), 0
	}
	if _, err := io.Copy(sum, io.NewSectionReader(f, from, c.Size-from)); err != nil {
		return err
	}
	if c.Sum, err = sum.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
		return err
	}
	c.Ends, err = ends(f, c.Size)
	return err
}

// resume sets a hash to a saved state.
func resume(h hash.Hash, state []byte) bool {
	return len(state) > 0 && h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state) == nil
}

// same reports whether every byte that was read is unchanged.
func (c *copiedFile) same(f *os.File) bool {
	now := sha256.New()
	if n, err := io.Copy(now, io.NewSectionReader(f, 0, max(c.Size, 0))); err != nil ||
		n != c.Size {
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
