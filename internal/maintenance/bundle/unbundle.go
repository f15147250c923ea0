package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

// DamagedError says that what a bundle holds is not a sound store.
type DamagedError struct{ Faults []fsck.Fault }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("bundle holds a damaged store: %d faults, the first: %v",
		len(e.Faults), e.Faults[0])
}

// Unpack makes the store of a project, at .gemini/context in it, out of a file that Write wrote.
// The file is not trusted: only names that a store has get in, sizes are bounded, and the store is
// checked as by fsck.Run before it takes its place. It is the same store, with the same id and
// key. env is as for repo.Open; what it says of where a store is plays no part.
//
// Errors: fs.ErrExist where there is a store, or anything in its place; repo.ErrHome for the home
// directory; *DamagedError; *format.VersionError. After an error there is no store, after a crash
// at most a directory beside its place, which gc clears away once there is one.
func Unpack(ctx context.Context, env repo.Env, file, project string) (Report, error) {
	report, err := unbundle(ctx, env, file, project)
	if err != nil {
		return Report{}, fmt.Errorf("cannot unbundle %q: %w", file, err)
	}
	return report, nil
}

func unbundle(ctx context.Context, env repo.Env, file, project string) (report Report, err error) {
	if err := placeForStore(env, project); err != nil {
		return report, err
	}
	agent := filepath.Join(project, ".gemini")
	if err := env.FS.MkdirAll(agent); err != nil {
		return report, err
	}
	aside := filepath.Join(agent, fmt.Sprintf("%sunbundle-%d", store.AsidePrefix, env.Owner.PID))
	if err := store.RemoveTree(env.FS, aside); err != nil {
		return report, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.RemoveTree(env.FS, aside))
		}
	}()
	if err := store.MakeFolders(env.FS, aside); err != nil {
		return report, err
	}
	x := store.NewExtractor(ctx, env.FS, aside)
	if report, err = readBundle(file, x.File); err != nil {
		return report, err
	}
	if err = x.Flush(); err != nil {
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
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is made
	}
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

// checkUnbundled holds a new store to all that a store must be.
func checkUnbundled(ctx context.Context, env repo.Env, dir string, head Report) error {
	env.StoreDir = dir
	r, err := repo.Open(env)
	if err != nil {
		return err
	}
	s := store.Open(r)
	report, err := fsck.Run(ctx, s, fsck.Options{})
	err = errors.Join(err, s.Close())
	switch {
	case err != nil:
		return err
	case len(report.Faults) > 0:
		return &DamagedError{Faults: report.Faults}
	case s.ID != head.Store:
		return fmt.Errorf("bundle says that it is of store %s, and holds store %s",
			head.Store, s.ID)
	}
	view, err := s.Refs.Read()
	if err == nil && view.Number < head.Operation {
		err = fmt.Errorf("bundle says that it goes to operation %d, and ends with operation %d",
			head.Operation, view.Number)
	}
	return err
}

// The files of a bundle that are not files of a store: what it is, first, and the digest of all
// before it, last.
const (
	bundleHead = "ctx-bundle"
	bundleSum  = "ctx-bundle.sum"
)

// bundleVersion is the version of the form that Bundle writes and Unbundle reads.
const bundleVersion = 1

// The largest files of each sort that a bundle may hold beside objects.
const (
	maxSmall = 1 << 20   // format, config.toml, .gitignore, key, the head and the sum
	maxRefs  = 512 << 20 // a checkpoint: a million refs
)

// bundleLimit says how large a file of a name may be; ok is false for a name that has no place in
// a store. It is the one check of names: nothing of another form, and so no path that leads
// elsewhere, gets in.
func bundleLimit(name string) (limit int64, ok bool) {
	switch name {
	case "format", "config.toml", ".gitignore", "key", store.NewKeyName:
		return maxSmall, true
	case "refs/checkpoint", "refs/base":
		return maxRefs, true
	}
	if n, found := strings.CutPrefix(name, "refs/log-"); found {
		return fsck.MaxSegment, isPlainNumber(n)
	}
	if n, found := strings.CutPrefix(name, "log/torn-"); found {
		return fsck.MaxSegment, isPlainNumber(n)
	}
	return objects.FileLimit(name)
}

func isPlainNumber(s string) bool {
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// head is the text of the first file: which store it is, and how far its log goes at least.
func bundleHeadText(store string, number uint64) []byte {
	return fmt.Appendf(nil, "ctx-bundle %d\nstore %s\noperation %d\n", bundleVersion, store, number)
}

// parseBundleHead reads what bundleHeadText wrote. *format.VersionError for a bundle of another
// version.
func parseBundleHead(b []byte) (store string, number uint64, err error) {
	bad := fmt.Errorf("not a bundle: %.40q", b)
	lines := strings.Split(string(b), "\n")
	v, ok := strings.CutPrefix(lines[0], "ctx-bundle ")
	if !ok || len(v) > 3 || !isPlainNumber(v) {
		return "", 0, bad
	}
	if version, _ := strconv.Atoi(v); version != bundleVersion {
		return "", 0, &format.VersionError{What: "bundle", Got: version, Known: bundleVersion}
	}
	if len(lines) != 4 {
		return "", 0, bad
	}
	store, okStore := strings.CutPrefix(lines[1], "store ")
	n, okNumber := strings.CutPrefix(lines[2], "operation ")
	if !okStore || !okNumber || !format.IsStoreID(store) || !isPlainNumber(n) {
		return "", 0, bad
	}
	number, err = strconv.ParseUint(n, 10, 64)
	if err != nil || string(bundleHeadText(store, number)) != string(b) {
		return "", 0, bad
	}
	return store, number, nil
}
