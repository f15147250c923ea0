package rot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
)

var entryLine = regexp.MustCompile(`(?m)^([0-9a-f]{64}) `)

// standing returns the entries that some branch contains.
func standing(answers Answers) map[string]bool {
	ids := map[string]bool{}
	for _, q := range answers.Questions() {
		if strings.HasPrefix(q, "log ") {
			for _, m := range entryLine.FindAllStringSubmatch(answers[q].Text, -1) {
				ids[m[1]] = true
			}
		}
	}
	return ids
}

// middleOf returns the middle of the operation in the record at byte at, without the objects that
// it carries.
func (f *file) middleOf(t *testing.T, at int) int {
	t.Helper()
	op, _, size, err := format.DecodeOperation(f.good[at:])
	if err != nil {
		t.Fatal(err)
	}
	if len(op.Objects) == 0 {
		return at + size/2
	}
	op.Objects = nil
	bare, _, err := op.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return at + len(bare)/2
}

// carriedBy returns the objects that the records of a log segment carry.
func carriedBy(t *testing.T, f *file) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	for _, at := range f.borders() {
		if at == len(f.good) {
			break
		}
		op, _, _, err := format.DecodeOperation(f.good[at:])
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range op.Objects {
			ids[raw.ID().String()] = true
		}
	}
	return ids
}

// TestRepairOfTheLog damages each record of the log. Every entry that a branch contained is in some
// branch again, and the store is sound, except for entries that only a removed segment carried. Up
// to the damage the log is unchanged.
func TestRepairOfTheLog(t *testing.T) {
	b, every := theSubject(t), 6
	if os.Getenv("CTX_FAULTS") != "" {
		every = 1
	}
	before := standing(b.answers[0])
	log := b.kinds["log"]
	newest := log[len(log)-1]
	carried := carriedBy(t, newest)
	if len(carried) == 0 {
		t.Error("the newest segment carries nothing")
	}
	tried := 0
	hurt := func(what string, how ...*damage) {
		t.Helper()
		if tried++; !mine(t, tried) {
			return
		}
		c := b.fork()
		defer os.RemoveAll(filepath.Dir(filepath.Dir(c.dir)))
		for _, d := range how {
			if err := d.at(b.dir, c.dir).do(); err != nil {
				t.Fatal(err)
			}
		}
		done, err := repaired(c.dir, repair.Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		if len(done.Left) > 0 {
			t.Errorf("%s: left: %v; lost %q, mended %q", what, done.Left[0], done.Lost, done.Mended)
		}
		answers, err := ReadObjects(c.dir, b.ids)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		after := standing(answers)
		missing := 0
		for id := range before {
			if !after[id] &&
				!(slices.ContainsFunc(how,
					func(d *damage) bool { return d.how == "deleted" && d.file == newest }) &&
					carried[id]) {
				missing++
			}
		}
		if missing > 0 {
			t.Errorf("%s: %d entries of %d are in no branch any more; lost %q, mended %q", what,
				missing, len(before), done.Lost, done.Mended)
		}
		s, err := Open(c.dir, nil, Later)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		view, err := s.Refs.Read()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range view.Names("sessions/") {
			session, branch, _ := strings.Cut(strings.TrimPrefix(name, "sessions/"), "/")
			if err := goOn(s, session, branch); err != nil {
				t.Errorf("%s: %s does not go on: %v", what, name, err)
			}
		}
		if left := faults(t, s); len(left) > 0 {
			t.Errorf("%s: after it has gone on: %v", what, left[0])
		}
	}
	n := 0
	for _, f := range log {
		borders := f.borders()
		for i, at := range borders[:len(borders)-1] {
			if n++; n%every != 0 {
				continue
			}
			hurt(fmt.Sprintf("%s, record %d", f.name, i), f.blot(f.middleOf(t, at)))
		}
	}
	gone := func(f *file) *damage { return &damage{file: f, how: "deleted"} }
	checkpoints := b.kinds["checkpoint"] // base, checkpoint
	hurt("no checkpoint", gone(checkpoints[1]))
	hurt("no base", gone(checkpoints[0]))
	hurt("no checkpoint, and a damaged record", gone(checkpoints[1]),
		newest.blot(newest.borders()[1]+40))
	hurt("no newest segment", gone(newest))
	hurt("no first segment", gone(log[0]))
	hurt("no log", gone(log[0]), gone(log[1]), gone(newest))
	hurt("no base, and the checkpoint's segment cut", gone(checkpoints[0]),
		log[1].becomes("cut", log[1].good[:log[1].borders()[2]]), gone(newest))
	t.Logf("%d damages of the log", tried)

	// Without a checkpoint, a base and the beginning of the log, a repair is impossible and changes
	// nothing.
	c := b.fork()
	for _, d := range []*damage{gone(checkpoints[0]), gone(checkpoints[1])} {
		if err := d.at(b.dir, c.dir).do(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := repaired(c.dir, repair.Options{}); err == nil ||
		!strings.Contains(err.Error(), "neither a checkpoint nor the beginning") {
		t.Errorf("got %v", err)
	}
}

// A repair that cannot store what a damaged record carries fails, and leaves the log as it is.
func TestRepairOfTheLogOnAFullDisk(t *testing.T) {
	b := theSubject(t)
	log := b.kinds["log"]
	newest := log[len(log)-1]
	borders := newest.borders()
	c := b.fork()
	defer os.RemoveAll(filepath.Dir(filepath.Dir(c.dir)))
	if err := newest.blot(newest.middleOf(t, borders[len(borders)-2])).at(b.dir,
		c.dir).do(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.dir, "refs", filepath.Base(newest.name))
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	full := &durable.FS{Hook: func(call durable.Call) error {
		if call.Op == durable.OpWrite &&
			strings.HasPrefix(call.Path, filepath.Join(c.dir, "objects")) {
			return &fs.PathError{Op: "write", Path: call.Path, Err: syscall.ENOSPC}
		}
		return nil
	}}
	if _, err := repairWith(c.dir, full); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want a full disk", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the log was changed, error %v", err)
	}
}
