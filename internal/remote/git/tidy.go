package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/lock"
)

// When the copy is packed, and for how long. A push makes about seven objects, each a file that
// takes a block of the disk, and git looks through all packs for each object.
const (
	manyLoose = 1024
	manyPacks = 50 // as git itself has it
	packTime  = 20 * time.Second
	// packAgain is when a packing that did not end is tried again, so that one that never ends in
	// time holds up a push a day, and not each.
	packAgain = 24 * time.Hour
	// pruneAge is how old an object is that no ref names before it is removed. A push may have made
	// it and not have sent it yet, and takes maxRun at most.
	pruneAge = "1.day.ago"
)

// packingName is the file in the copy that says when a packing began, until it ends well.
const packingName = "packing"

// fetchedName is the file in the copy that says that a fetch began, of which nobody has seen yet
// whether a history was replaced by it, or that what was replaced is still to be pruned.
const fetchedName = "fetched"

// mark writes the file before a fetch, and returns what removes it again. If it is there already,
// an earlier run was stopped after its fetch had moved the refs, or another one is at work: this
// run cannot see what they were, and prunes. The caller has the lock of the copy.
func (r *Remote) mark() (unmark func() error, err error) {
	path := filepath.Join(r.c.Bare, fetchedName)
	if _, err := os.Stat(path); err == nil {
		r.rewritten = true
	}
	mine := fmt.Appendf(nil, "%d %d\n", r.c.Owner.PID, r.c.Now().UnixNano())
	unmark = func() error {
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, mine) {
			return nil //nolint:nilerr // another run has removed it, or needs it still
		}
		return r.c.FS.RemoveNoSync(path)
	}
	return unmark, r.c.FS.WriteNoSync(path, mine)
}

// pack packs loose objects and small packs of the copy, if there are many. It keeps every object,
// so another process can push meanwhile. Where it fails, or another process works on the copy,
// nothing is lost but the space: the push that came before has succeeded.
func (r *Remote) pack(ctx context.Context) {
	if ctx.Err() != nil || !r.hasMany() || r.isPacking() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, packTime)
	defer cancel()
	_ = r.lockedFor(ctx, 0, func() error {
		path := filepath.Join(r.c.Bare, packingName)
		if err := r.c.FS.WriteNoSync(path,
			[]byte(r.c.Now().UTC().Format(time.RFC3339)+"\n")); err != nil {
			return err
		}
		// Each pack is then at least twice as large as the next one, so that an object is written
		// again a few times only, however many pushes follow.
		if _, err := r.git(ctx, nil, "repack", "--geometric=2", "-d", "-q",
			"--no-write-bitmap-index"); err != nil {
			return err
		}
		return r.c.FS.RemoveNoSync(path)
	})
}

// prune removes from the copy what the remote has no more, at once: it may be words that were
// forgotten. Another process that has made a commit and not sent it yet has to push again. Where it
// fails, Collect does it a day later.
func (r *Remote) prune(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, packTime)
	defer cancel()
	_ = r.lockedFor(ctx, 0, func() error {
		if _, err := r.git(ctx, nil, "gc", "--quiet", "--prune=now"); err != nil {
			return err
		}
		err := r.c.FS.RemoveNoSync(filepath.Join(r.c.Bare, fetchedName))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// hasMany reports whether the copy has many loose objects or packs. As the ids of objects are
// random, it looks into one of 256 folders, as git does.
func (r *Remote) hasMany() bool {
	objects := filepath.Join(r.c.Bare, "objects")
	loose, err := os.ReadDir(filepath.Join(objects, "17"))
	if err == nil && 256*len(loose) > manyLoose {
		return true
	}
	packs, err := os.ReadDir(filepath.Join(objects, "pack"))
	return err == nil && len(packs) > 2*manyPacks // each has an index beside it
}

// isPacking reports whether a packing has begun less than packAgain ago and did not end well.
func (r *Remote) isPacking() bool {
	b, err := os.ReadFile(filepath.Join(r.c.Bare, packingName))
	if err != nil {
		return false
	}
	began, err := time.Parse(time.RFC3339, strings.TrimSpace(string(b)))
	age := r.c.Now().Sub(began)
	return err == nil && age >= 0 && age < packAgain
}

// Collect packs all of the copy at c.Bare, and removes what the remote has no more. It does nothing
// where there is no copy, or while another process works on it. c.URL is not asked. Errors: those
// of git and of the file system.
func Collect(ctx context.Context, c Config) error {
	r := &Remote{c: c}
	if !r.isMade() {
		return nil
	}
	err := r.lockedFor(ctx, 0, func() error {
		_, err := r.git(ctx, nil, "gc", "--quiet", "--prune="+pruneAge)
		return err
	})
	var busy *lock.BusyError
	if errors.As(err, &busy) {
		return nil
	}
	return err
}
