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
	"github.com/gemini-ctx/ctx/objects"
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

// checkKey checks the key against every body with a nonce, which follows from the key. It accepts
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
	fitting, foreign, some, err := f.tryKey()
	if err != nil || f.ctx.Err() != nil {
		return // checkPlaces reports it
	}
	isNew, err := f.s.Store.KeyIsNew()
	if marked, known, bad := f.s.Store.KeyMarked(f.refs[history.KeyRef]); known &&
		marked && bad == nil {
		return // the nonces of what was pulled follow from the keys of others
	}
	switch {
	case err != nil:
		f.fault("key", "key", path, err.Error())
	case isNew && fitting == 0:
		f.note("the key is a new one, and nothing was written with it yet")
	case isNew && foreign > 0:
		f.note("the key is a new one; %d objects were written with the one that was lost", foreign)
	case foreign == 0 || isNew:
	case fitting == 0:
		f.fault("key", "key", path, "is not the one that anything in the store was written with")
	default:
		f.fault("key", "key", path,
			fmt.Sprintf(
				"is not the one that %d objects were written with, %s among them, and %d objects "+
					"were written with it", foreign, some, fitting))
	}
}

// tryKey counts the objects in use whose nonce follows from the key, and those whose nonce does
// not. some is one of the latter.
func (f *checker) tryKey() (fitting, foreign int, some string, err error) {
	tried := make([]bool, f.graph.Len())
	err = f.s.Objects.Contents(func(at objects.Place, raw format.Raw) error {
		i, ok := f.graph.Find(at.ID)
		if !ok || tried[i] || f.graph.Marks[i]&graph.Reached == 0 {
			return f.ctx.Err()
		}
		fits, known, err := f.s.Store.FitsKey(raw)
		switch {
		case err != nil || !known:
			return err
		case fits:
			fitting++
		default:
			foreign, some = foreign+1, f.subject(i)
		}
		tried[i] = true
		return f.ctx.Err()
	}, func(string, error) error { return f.ctx.Err() })
	return fitting, foreign, some, err
}
