package repair

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/storedir"
)

// beforeRepair begins the name of the copy that a repair makes beside the store.
const beforeRepair = "context.before-repair-"

// touch makes sure that there is a copy before something is changed.
func (r *repairer) touch() error {
	if r.report.Copy != "" {
		return nil
	}
	return r.copyStore()
}

// write puts a file into the store, in the place of whatever is there.
func (r *repairer) write(path string, b []byte) error {
	if err := errors.Join(r.touch(), r.env.FS.MkdirAll(filepath.Dir(path)),
		r.clear(path)); err != nil {
		return err
	}
	return r.env.FS.WriteDurable(path, b, 0o600)
}

// copyStore copies the store as it is, damage and all, before anything is changed. It takes its
// name when all of it is there: a repair without room for it changes nothing.
func (r *repairer) copyStore() error {
	to := r.o.Copy
	if to == "" {
		to = filepath.Join(filepath.Dir(r.dir),
			beforeRepair+r.env.Now().UTC().Format("20060102T150405Z"))
		for name, n := to, 2; graph.Exists(to); n++ {
			to = fmt.Sprintf("%s-%d", name, n)
		}
	}
	if graph.Exists(to) {
		return fmt.Errorf("%w: %q", ErrCopyThere, to)
	}
	aside := filepath.Join(filepath.Dir(to),
		fmt.Sprintf("%srepair-%d", storedir.AsidePrefix, r.env.Owner.PID))
	err := storedir.RemoveTree(r.env.FS, aside)
	if err == nil {
		err = storedir.CopyTree(r.ctx, r.env.FS, r.dir, aside)
	}
	if err == nil {
		err = r.env.FS.Rename(aside, to)
	}
	if err == nil {
		err = r.env.FS.SyncDir(filepath.Dir(to))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("no copy of the store: %w", err),
			storedir.RemoveTree(r.env.FS, aside))
	}
	r.report.Copy = to
	return nil
}
