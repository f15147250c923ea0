package repo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// initWait is how long Init waits for another Init of the same store: the default of lock.timeout.
const initWait = 10 * time.Second

// idSize is the length of a store's id in bytes: enough that no two stores ever have the same id.
const idSize = 16

// Init creates the store of a project, at .gemini/context in it, and opens it. project is an
// absolute path of a directory; Init resolves symbolic links in it. In a linked work tree of git
// that has no store of its own, the project is the same place in the main work tree, unless
// Env.StoreDir is set. .gemini may be a symbolic link. created is true if this call finished the
// store. An existing store is opened and stays as it is.
//
// A store of which nothing was there before goes on the user's list of allowed stores, if that can
// be written.
//
// Init writes the format file last. A crash or an error before that leaves half a store. The next
// Init finishes it and keeps what is there: a key, a config.toml, refs. When Init returns nil, the
// store survives a power cut. Two concurrent calls wait for each other.
//
// Errors: ErrHome; ErrInside; *OwnerError; *format.VersionError for a newer build; *KeyError for
// half a store that has refs but no key; *ConfigError, and then nothing is created; *CorruptError;
// *lock.BusyError; those of the file system.
func Init(env Env, project string) (r *Repo, created bool, err error) {
	if !filepath.IsAbs(project) {
		return nil, false, fmt.Errorf("cannot make a store in %q: not an absolute path", project)
	}
	project, err = projectFor(env, Physical(project))
	if err != nil {
		return nil, false, err
	}
	if err := refuseHome(project, env.Home); err != nil {
		return nil, false, err
	}
	dir := storeIn(project)
	config, err := checkedConfig(env, dir)
	if err != nil {
		return nil, false, err
	}
	pristine := false
	f, err := readFormat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		f, created, pristine, err = create(env, project)
	} else if err == nil {
		err = env.FS.SyncDir(dir) // an earlier Init may have crashed before this sync
	}
	if err != nil {
		return nil, false, err
	}
	r = assemble(env, dir, f, config)
	if pristine && env.UserData != "" {
		_ = r.Allow(MadeHere) // the caller may ask Allowed, and Allow again
	}
	r.shieldOnce()
	return r, created, nil
}

// projectFor returns the directory whose store is that of a directory.
func projectFor(env Env, dir string) (string, error) {
	if env.StoreDir != "" {
		return dir, nil
	}
	if own, err := stateOf(storeIn(dir)); own != nothing || err != nil {
		return dir, err
	}
	if place, linked := linkedPlace(dir); linked {
		return place, nil
	}
	return dir, nil
}

// refuseHome refuses the inside of git and of a store, by name, and the home directory and a
// .gemini that leads to the one in it, whatever their names.
func refuseHome(project, home string) error {
	info, err := os.Stat(project)
	if err != nil {
		return fmt.Errorf("cannot make a store: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("cannot make a store in %q: not a directory", project)
	}
	for _, own := range []string{"/.git/", "/" + agentName + "/" + storeName + "/"} {
		if strings.Contains(filepath.ToSlash(project)+"/", own) {
			return fmt.Errorf("%w: %q", ErrInside, project)
		}
	}
	if home == "" {
		return nil
	}
	if same(info, statOrNil(home)) ||
		same(statOrNil(filepath.Join(project, agentName)),
			statOrNil(filepath.Join(home, agentName))) {
		return fmt.Errorf("%w: %q", ErrHome, project)
	}
	return nil
}

func same(a, b fs.FileInfo) bool { return a != nil && b != nil && os.SameFile(a, b) }

// checkedConfig reads the settings before anything is created. It refuses to read those of another
// user.
func checkedConfig(env Env, dir string) (*Config, error) {
	info, err := statThere(dir)
	if info != nil {
		err = refuseForeign(dir, info)
	}
	if info != nil && err == nil && info.IsDir() {
		err = refuseLinks(dir)
	}
	if err != nil {
		return nil, err
	}
	return loadConfig(env, filepath.Join(dir, configName))
}

// create makes or finishes a store, under its lock. created is false if another process was
// faster. pristine says that nothing of the store was there before.
func create(env Env, project string) (f format.StoreFormat, created, pristine bool, err error) {
	dir := storeIn(project)
	for _, path := range []string{filepath.Dir(dir), dir} {
		if err := mkdir(env.FS, path); err != nil {
			return f, false, false, fmt.Errorf("cannot make a store: %w", err)
		}
	}
	held, err := lock.Acquire(context.Background(), env.FS, dir, initWait,
		since(env.Owner, env.Now))
	if err != nil {
		return f, false, false, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	f, err = readFormat(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, false, false, err
	}
	pristine = isPristine(dir)
	f, err = finish(env, project)
	return f, err == nil, pristine, err
}

// isPristine reports whether a directory has nothing but what a lock leaves. Half a store may come
// with somebody's project: to finish it makes nobody its maker.
func isPristine(dir string) bool {
	files, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(files, func(f fs.DirEntry) bool {
		return f.Name() != "lock" && f.Name() != "lock.owner"
	})
}

// finish creates the missing parts of a store, the format file last. The caller holds the lock. The
// directories for forgotten bodies, caches and logs are made when something is written there.
func finish(env Env, project string) (format.StoreFormat, error) {
	dir := storeIn(project)
	none := format.StoreFormat{}
	id, fresh, err := storeID(env, dir)
	if err != nil {
		return none, err
	}
	if err := writeFiles(env, dir, fresh); err != nil {
		return none, err
	}
	if err := objects.Init(dir, env.FS); err != nil {
		return none, err
	}
	if err := refs.Init(dir, id, env.FS); err != nil {
		return none, fmt.Errorf("cannot make a store's refs: %w", err)
	}
	// This call, or one that a crash cut short, created the directories above the store: sync them.
	if err := env.FS.SyncDirs([]string{project, filepath.Dir(dir), dir}); err != nil {
		return none, fmt.Errorf("cannot make a store: %w", err)
	}
	f := format.StoreFormat{Hash: "sha256", Store: id}
	if err := env.FS.WriteDurable(filepath.Join(dir, formatName), f.Encode(), 0o600); err != nil {
		return none, fmt.Errorf("cannot make a store: %w", err)
	}
	return f, nil
}

// storeID returns the id for the format file: the id in the refs of half a store, or a new one.
func storeID(env Env, dir string) (id string, fresh bool, err error) {
	path := filepath.Join(dir, "refs", "checkpoint")
	b, err := durable.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if hasLog(dir) {
			return "", false, &CorruptError{Path: path, Why: "file is missing, but there is a log"}
		}
		random, err := draw(env, idSize)
		return hex.EncodeToString(random), true, err
	}
	if err != nil {
		return "", false, fmt.Errorf("cannot finish store %q: %w", dir, err)
	}
	c, err := format.DecodeCheckpoint(b)
	if err != nil {
		return "", false, fmt.Errorf("cannot finish store %q: %q: %w", dir, path, err)
	}
	return c.Store, false, nil
}

// hasLog reports whether there are operations on disk. A log segment without operations has only
// its first line of about 45 bytes.
func hasLog(dir string) bool {
	files, err := os.ReadDir(filepath.Join(dir, "refs"))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(files, func(f fs.DirEntry) bool {
		info, err := f.Info()
		return err == nil && strings.HasPrefix(f.Name(), "log-") && info.Size() > 64
	})
}

// writeFiles writes the missing small files of a store together and durably. It creates a key only
// if there are no refs yet: the key comes before the refs, so a missing key beside refs is a lost
// key.
func writeFiles(env Env, dir string, fresh bool) error {
	var files []durable.File
	add := func(name string, data []byte) {
		files = append(files, durable.File{Path: filepath.Join(dir, name), Data: data, Perm: 0o600})
	}
	if absent(filepath.Join(dir, ignoreName)) {
		add(ignoreName, []byte(ignoreAll))
	}
	if absent(filepath.Join(dir, configName)) {
		add(configName, []byte(template()))
	}
	if fresh && absent(filepath.Join(dir, keyName)) {
		key, err := draw(env, KeySize)
		if err != nil {
			return err
		}
		add(keyName, key)
	} else if _, err := readKey(dir); err != nil {
		return err
	}
	err := env.FS.WriteFiles(files, true)
	if err == nil && len(files) == 0 {
		// A crash may have cut off this sync: the key must be durable before the refs
		err = env.FS.SyncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("cannot make a store: %w", err)
	}
	return nil
}

// absent reports whether path certainly does not exist. A file that cannot be read must not be
// replaced.
func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// draw returns n random bytes.
func draw(env Env, n int) ([]byte, error) {
	if env.Random == nil {
		return nil, errors.New("cannot make a store: no source of random bytes")
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(env.Random, b); err != nil {
		return nil, fmt.Errorf("cannot make a store: random bytes: %w", err)
	}
	return b, nil
}

// mkdir creates a directory if it does not exist.
func mkdir(fsys *durable.FS, path string) error {
	if err := fsys.Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// refuseLinks returns a *CorruptError if a part of a store that is written or swept is a link: it
// may lead to a file of the user's, or into another store. ctx creates no links; a link came with
// the project. What is only read may be a link.
func refuseLinks(dir string) error {
	for _, folder := range [...]string{"", objects.Dir, objects.AbsentDir} {
		path := filepath.Join(dir, folder)
		d, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // fsck reports it, and a writer that needs it creates it again
		}
		if err != nil {
			return err
		}
		entries, err := d.ReadDir(-1)
		if err := errors.Join(err, d.Close()); err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0 &&
				(folder != "" || isWritten(e.Name())) {
				return &CorruptError{Path: filepath.Join(path, e.Name()),
					Why: "a link, which could lead out of the store"}
			}
		}
	}
	return nil
}

// isWritten reports whether writers write to a name in a store's directory in place, rather than
// replace it by a rename.
func isWritten(name string) bool {
	switch name {
	case objects.Dir, "refs", objects.AbsentDir, "cache", "log", "tmp", "lock", "lock.owner":
		return true
	}
	return false
}

// NewID gives an existing store an id of its own on remotes, durably, and opens it. A copy of a
// store's directory, and a store that was restored from a backup, shares as the store that it came
// from until then. What other stores took in of that one stays that one's.
//
// The files of the store name the id that they have always had: no file but the format file
// changes. Errors: those of Open; *lock.BusyError; those of the file system.
func NewID(env Env) (r *Repo, err error) {
	dir, err := Find(env)
	if err != nil {
		return nil, err
	}
	held, err := lock.Acquire(context.Background(), env.FS, dir, initWait,
		since(env.Owner, env.Now))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	if _, err := Open(env); err != nil { // which refuses what may not be written
		return nil, err
	}
	f, err := readFormat(dir)
	if err != nil {
		return nil, err
	}
	random, err := draw(env, idSize)
	if err != nil {
		return nil, err
	}
	f.SharedAs = hex.EncodeToString(random)
	if err := env.FS.WriteDurable(filepath.Join(dir, formatName), f.Encode(), 0o600); err != nil {
		return nil, err
	}
	return Open(env)
}
