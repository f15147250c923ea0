package fsck

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/refs"
)

// checkFormat compares the store's id with the ids in the log and the checkpoints. If all of these
// agree on another id, the format file is damaged.
func (f *checker) checkFormat() {
	other := OtherStore(f.s.Dir, f.s.ID)
	if other != "" {
		f.fault("format", "format", filepath.Join(f.s.Dir, "format"),
			fmt.Sprintf(
				"says that this is store %s, and all that is in refs says that it is store %s",
				f.s.ID, other))
	}
}

// MaxSegment bounds a segment of the log: the last record of one may be as long as a record can be.
const MaxSegment = refs.SegmentSize + format.MaxPayload + 1<<20

// OtherStore returns the store id that all readable checkpoints and segments have in common, if it
// differs from the given one.
func OtherStore(dir, id string) string {
	files, err := os.ReadDir(filepath.Join(dir, "refs"))
	if err != nil {
		return ""
	}
	var said []string
	for _, file := range files {
		if b, err := durable.ReadAtMost(filepath.Join(dir, "refs", file.Name()),
			MaxSegment); err == nil {
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

// checkKey checks the key against every body in use with a nonce, as judge saw it. It accepts
// the note of a repair that replaced a lost key, if the present key signed that note.
func (f *checker) checkKey() {
	path := filepath.Join(f.s.Dir, "key")
	if _, err := f.s.Key(); err != nil {
		f.fault("key", "key", path, err.Error())
		return
	}
	if f.graph == nil {
		return
	}
	fit, others, some := 0, 0, ""
	for i, marks := range f.graph.Marks {
		switch {
		case marks&graph.Reached == 0:
		case marks&fitting != 0:
			fit++
		case marks&foreign != 0:
			others, some = others+1, f.subject(uint32(i))
		}
	}
	isNew, err := f.s.Store.KeyIsNew()
	if marked, known, bad := f.s.Store.KeyMarked(f.refs[history.KeyRef]); known &&
		marked && bad == nil {
		return // the nonces of what was pulled follow from the keys of others
	}
	switch {
	case err != nil:
		f.fault("key", "key", path, err.Error())
	case isNew && fit == 0:
		f.note("the key is a new one, and nothing was written with it yet")
	case isNew && others > 0:
		f.note("the key is a new one; %d objects were written with the one that was lost", others)
	case others == 0 || isNew:
	case fit == 0:
		f.fault("key", "key", path, "is not the one that anything in the store was written with")
	default:
		f.fault("key", "key", path,
			fmt.Sprintf(
				"is not the one that %d objects were written with, %s among them, and %d objects "+
					"were written with it", others, some, fit))
	}
}
