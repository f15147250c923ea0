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
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// checkFormat holds the store's id against those that the log and the checkpoints repeat: where
// all of them agree on another one, it is the format file that is damaged.
func (f *checker) checkFormat() {
	other := OtherStore(f.s.Dir, f.s.ID)
	if other != "" {
		f.fault("format", "format", filepath.Join(f.s.Dir, "format"), fmt.Sprintf("says that this is store %s, and all that is in refs says that it is store %s", f.s.ID, other))
	}
}

// MaxSegment bounds a segment of the log: the last record of one may be as long as a record can be.
const MaxSegment = refs.SegmentSize + format.MaxPayload + 1<<20

// OtherStore returns the id that every checkpoint and segment which can be read says that it
// belongs to, where that is not the given one.
func OtherStore(dir, id string) string {
	files, err := os.ReadDir(filepath.Join(dir, "refs"))
	if err != nil {
		return ""
	}
	var said []string
	for _, file := range files {
		if b, err := durable.ReadAtMost(filepath.Join(dir, "refs", file.Name()), MaxSegment); err == nil {
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

// checkKey holds the key against every body that was written with a key: its nonce follows from
// it. What a repair says of a key that was lost is believed, if the present key wrote it.
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
		return // it is told where objects are read
	}
	isNew, err := f.s.Store.KeyIsNew()
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
		f.fault("key", "key", path, fmt.Sprintf("is not the one that %d objects were written with, %s among them, and %d objects were written with it", foreign, some, fitting))
	}
}

// tryKey counts the objects in use whose nonce the key gives, and those whose nonce it does not
// give. some names one of these.
func (f *checker) tryKey() (fitting, foreign int, some string, err error) {
	tried := make([]bool, len(f.graph.Objects))
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
