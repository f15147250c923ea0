package upkeep

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/session"
)

// checkFormat holds the store's id against those that the log and the checkpoints repeat: where all of them agree on another one, it is the format file that is
// damaged.
func (f *checker) checkFormat() {
	other := otherStore(f.s.Dir, f.s.ID)
	if other != "" {
		f.fault("format", "format", filepath.Join(f.s.Dir, "format"), fmt.Sprintf("says that this is store %s, and all that is in refs says that it is store %s", f.s.ID, other))
	}
}

// otherStore returns the id that every checkpoint and segment which can be read says that it belongs to, where that is not the given one.
func otherStore(dir, id string) string {
	files, err := os.ReadDir(filepath.Join(dir, "refs"))
	if err != nil {
		return ""
	}
	var said []string
	for _, file := range files {
		if b, err := lock.ReadAtMost(filepath.Join(dir, "refs", file.Name()), maxSegment); err == nil {
			if other, ok := storeOf(b); ok {
				said = append(said, other)
			}
		}
	}
	slices.Sort(said)
	if said = slices.Compact(said); len(said) == 1 && said[0] != id {
		return said[0]
	}
	return ""
}

// storeOf returns the store that a sound checkpoint, or the first line of a segment, names.
func storeOf(b []byte) (id string, ok bool) {
	if c, err := format.DecodeCheckpoint(b); err == nil {
		return c.Store, true
	}
	line, _, _ := bytes.Cut(b[:min(len(b), 200)], []byte{'\n'})
	var first uint64
	n, err := fmt.Sscanf(string(line), "ctx-log 1 %s %d", &id, &first)
	return id, err == nil && n == 2 && len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// checkKey holds the key against what was written with it: the nonces of bodies follow from it. One that fits is enough, since a key that was lost may have been
// replaced by another, and what others write into objects is their affair.
func (f *checker) checkKey() {
	if _, err := f.s.Key(); err != nil {
		f.fault("key", "key", filepath.Join(f.s.Dir, "key"), err.Error())
		return
	}
	if f.graph == nil {
		return
	}
	tried := 0
	for i, o := range f.graph.objects {
		if f.graph.marks[i]&reached == 0 || o.kind != entryKind && o.kind != summaryKind && o.kind != tombstoneKind {
			continue
		}
		raw, err := f.s.Objects.Get(o.id)
		if err != nil || len(raw.Body) < format.NonceLen {
			continue
		}
		nonce, err := f.s.NonceOf(raw.Header)
		if err != nil || f.ctx.Err() != nil {
			return
		}
		if bytes.Equal(nonce, raw.Body[:format.NonceLen]) {
			return
		}
		tried++
	}
	if mark, err := newKeyMark(f.s); err == nil {
		if b, err := lock.ReadAtMost(filepath.Join(f.s.Dir, "log", newKeyName), 1024); err == nil && bytes.Equal(b, mark) {
			f.note("the key is a new one, and nothing was written with it yet")
			return
		}
	}
	if tried > 0 {
		f.fault("key", "key", filepath.Join(f.s.Dir, "key"), "is not the one that anything in the store was written with")
	}
}

// newKeyName is the file in log/ that says that a repair has put a new key in the place of one that was lost.
const newKeyName = "new-key"

// newKeyMark is what is in it: what only the present key gives.
func newKeyMark(s *session.Store) ([]byte, error) {
	sum, err := s.Nonce("new-key", nil)
	return fmt.Appendf(nil, "%x\n", sum), err
}
