package upkeep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/repo"
	"github.com/gemini-ctx/ctx/session"
)

// DamagedError says that what a bundle holds is not a sound store.
type DamagedError struct{ Faults []Fault }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("bundle holds a damaged store: %d faults, the first: %v", len(e.Faults), e.Faults[0])
}

// Unbundle makes the store of a project, at .gemini/context in it, out of a file that Bundle wrote. The file is not trusted: only names that
// a store has get in, sizes are bounded, and the store is checked as by Fsck before it takes its place. It is the same store,
// with the same id and key. env is as for repo.Open; what it says of where a store is plays no part.
//
// Errors: fs.ErrExist where there is a store, or anything in its place; repo.ErrHome for the home directory; *DamagedError;
// *format.VersionError. After an error there is no store, after a crash at most a directory beside its place, which
// gc clears away once there is one.
func Unbundle(ctx context.Context, env repo.Env, file, project string) (BundleReport, error) {
	report, err := unbundle(ctx, env, file, project)
	if err != nil {
		return BundleReport{}, fmt.Errorf("cannot unbundle %q: %w", file, err)
	}
	return report, nil
}

func unbundle(ctx context.Context, env repo.Env, file, project string) (report BundleReport, err error) {
	if err := placeForStore(env, project); err != nil {
		return report, err
	}
	agent := filepath.Join(project, ".gemini")
	if err := env.FS.MkdirAll(agent); err != nil {
		return report, err
	}
	aside := filepath.Join(agent, fmt.Sprintf("%sunbundle-%d", asidePrefix, env.Owner.PID))
	if err := removeTree(env.FS, aside); err != nil {
		return report, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeTree(env.FS, aside))
		}
	}()
	if err := makeFolders(env.FS, aside); err != nil {
		return report, err
	}
	x := &extractor{ctx: ctx, fs: env.FS, dir: aside}
	if report, err = readBundle(file, x.file); err != nil {
		return report, err
	}
	if err = x.flush(); err != nil {
		return report, err
	}
	if err = checkUnbundled(ctx, env, aside, report); err != nil {
		return report, err
	}
	if err := placeForStore(env, project); err != nil {
		return report, err
	}
	if err := env.FS.Rename(aside, filepath.Join(agent, "context")); err != nil {
		return report, err
	}
	return report, env.FS.SyncDirs([]string{agent, project})
}

// placeForStore refuses a place that is taken.
func placeForStore(env repo.Env, project string) error {
	if !filepath.IsAbs(project) {
		return fmt.Errorf("not an absolute path: %q", project)
	}
	here, err := os.Stat(project)
	if err != nil {
		return err
	}
	if home, err := os.Stat(env.Home); env.Home != "" && err == nil && os.SameFile(here, home) {
		return fmt.Errorf("%w: %q", repo.ErrHome, project)
	}
	dir := filepath.Join(project, ".gemini", "context")
	_, err = os.Lstat(dir)
	if err == nil {
		return fmt.Errorf("%q: %w", dir, fs.ErrExist)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// makeFolders makes the folders of a store.
func makeFolders(fsys *lock.FS, dir string) error {
	for _, name := range []string{"", "absent", "cache", "log", "refs", "tmp"} {
		if err := fsys.Mkdir(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return objects.Init(dir, fsys)
}

// checkUnbundled holds a new store to all that a store must be.
func checkUnbundled(ctx context.Context, env repo.Env, dir string, head BundleReport) error {
	env.StoreDir = dir
	r, err := repo.Open(env)
	if err != nil {
		return err
	}
	s := session.New(r)
	report, err := Fsck(ctx, s, FsckOptions{})
	err = errors.Join(err, s.Close())
	switch {
	case err != nil:
		return err
	case len(report.Faults) > 0:
		return &DamagedError{Faults: report.Faults}
	case s.ID != head.Store:
		return fmt.Errorf("bundle says that it is of store %s, and holds store %s", head.Store, s.ID)
	}
	view, err := s.Refs.Read()
	if err == nil && view.Number < head.Operation {
		err = fmt.Errorf("bundle says that it goes to operation %d, and ends with operation %d", head.Operation, view.Number)
	}
	return err
}

// extractor writes the files of a bundle, small ones many at a time.
type extractor struct {
	ctx   context.Context
	fs    *lock.FS
	dir   string
	files []lock.File
	bytes int64
}

// The most that is kept in memory before it is written.
const (
	extractFiles = 256
	extractBytes = 32 << 20
)

func (x *extractor) file(name string, size int64, from io.Reader) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	path := filepath.Join(x.dir, filepath.FromSlash(name))
	if err := x.fs.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	if size > extractBytes {
		return x.large(path, from)
	}
	data, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	x.files = append(x.files, lock.File{Path: path, Data: data, Perm: 0o600})
	if x.bytes += size; len(x.files) >= extractFiles || x.bytes >= extractBytes {
		return x.flush()
	}
	return nil
}

func (x *extractor) flush() error {
	files := x.files
	x.files, x.bytes = nil, 0
	if len(files) == 0 {
		return nil
	}
	return x.fs.WriteFiles(files, true)
}

func (x *extractor) large(path string, from io.Reader) error {
	temp := x.fs.NewTemp(filepath.Dir(path))
	defer temp.Discard()
	out := bufio.NewWriterSize(temp, 1<<20)
	if _, err := io.Copy(out, from); err != nil {
		return err
	}
	for _, step := range []func() error{out.Flush, temp.Sync} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := temp.Rename(path); err != nil {
		return err
	}
	return x.fs.SyncDir(filepath.Dir(path))
}
