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
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// initWait is how long Init waits for another Init of the same store: as long as the default of lock.timeout.
const initWait = 10 * time.Second

// idSize is the length of a store's id in bytes: enough that no two stores in the world have the same.
const idSize = 16

// Init makes the store of a project, at .gemini/context in it, and opens it. project is an absolute path to a directory, symbolic
// links in it are resolved; .gemini may be a symbolic link. created says whether this call finished the store; one that is there
// already is opened and stays as it is.
//
// The format file comes last. A crash, or an error, before it leaves half a store, which the next Init finishes with what is
// there: a key, a config.toml, refs. When Init returns without an error the store is there after a power cut. Two at once wait for
// each other.
//
// Errors: ErrHome; *OwnerError; *format.VersionError for a store of a newer build; *KeyError for half a store that has refs but
// no key; *ConfigError, and then nothing was made; *CorruptError; *lock.BusyError; what the file system says.
func Init(env Env, project string) (r *Repo, created bool, err error) {
	if !filepath.IsAbs(project) {
		return nil, false, fmt.Errorf("cannot make a store in %q: not an absolute path", project)
	}
	project = physical(project)
	if err := refuseHome(project, env.Home); err != nil {
		return nil, false, err
	}
	dir := storeIn(project)
	config, err := checkedConfig(env, dir)
	if err != nil {
		return nil, false, err
	}
	f, err := readFormat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		f, created, err = create(env, project)
	} else if err == nil {
		err = env.FS.SyncDir(dir) // a crash may have come between the format file and this
	}
	if err != nil {
		return nil, false, err
	}
	return assemble(env, dir, f, config), created, nil
}

// refuseHome tells the home directory, and a .gemini that leads to the one there, by what they are, not by what they are called.
func refuseHome(project, home string) error {
	info, err := os.Stat(project)
	if err != nil {
		return fmt.Errorf("cannot make a store: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("cannot make a store in %q: not a directory", project)
	}
	if home == "" {
		return nil
	}
	if same(info, statOrNil(home)) || same(statOrNil(filepath.Join(project, agentName)), statOrNil(filepath.Join(home, agentName))) {
		return fmt.Errorf("%w: %q", ErrHome, project)
	}
	return nil
}

func same(a, b fs.FileInfo) bool { return a != nil && b != nil && os.SameFile(a, b) }

// checkedConfig reads the settings before anything is made, and refuses to read those of a stranger.
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

// create makes or finishes a store, under its lock. created is false where another process was faster.
func create(env Env, project string) (f format.StoreFormat, created bool, err error) {
	dir := storeIn(project)
	for _, path := range []string{filepath.Dir(dir), dir} {
		if err := mkdir(env.FS, path); err != nil {
			return f, false, fmt.Errorf("cannot make a store: %w", err)
		}
	}
	held, err := lock.Acquire(context.Background(), env.FS, dir, initWait, since(env.Owner, env.Now))
	if err != nil {
		return f, false, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	f, err = readFormat(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, false, err
	}
	f, err = finish(env, project)
	return f, err == nil, err
}

// finish makes what is missing of a store, and last its format file. The caller holds the lock.
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
	for _, name := range folders() {
		if err := mkdir(env.FS, filepath.Join(dir, name)); err != nil {
			return none, fmt.Errorf("cannot make a store: %w", err)
		}
	}
	if err := objects.Init(dir, env.FS); err != nil {
		return none, err
	}
	if err := refs.Init(dir, id, env.FS); err != nil {
		return none, fmt.Errorf("cannot make a store's refs: %w", err)
	}
	// The names above the store were made by this call or by one that a crash cut short: either way they have to last now.
	if err := env.FS.SyncDirs([]string{project, filepath.Dir(dir), dir}); err != nil {
		return none, fmt.Errorf("cannot make a store: %w", err)
	}
	f := format.StoreFormat{Hash: "sha256", Store: id}
	if err := env.FS.WriteDurable(filepath.Join(dir, formatName), f.Encode(), 0o600); err != nil {
		return none, fmt.Errorf("cannot make a store: %w", err)
	}
	return f, nil
}

// storeID returns the id for the format file: the one that the refs of half a store carry, else a fresh one.
func storeID(env Env, dir string) (id string, fresh bool, err error) {
	path := filepath.Join(dir, "refs", "checkpoint")
	b, err := lock.ReadFile(path)
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

// hasLog reports whether there are operations on disk. A log segment without any is its first line: some 45 bytes.
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

// writeFiles writes those of a store's small files that are not there, together and for good. A key is drawn only where there are
// no refs yet: they come after it, so one that is missing beside them was lost.
func writeFiles(env Env, dir string, fresh bool) error {
	var files []lock.File
	add := func(name string, data []byte) {
		files = append(files, lock.File{Path: filepath.Join(dir, name), Data: data, Perm: 0o600})
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
		err = env.FS.SyncDir(dir) // the key's name may have been made just before a crash; it has to last before the refs do
	}
	if err != nil {
		return fmt.Errorf("cannot make a store: %w", err)
	}
	return nil
}

// absent is sure that there is nothing of that name: what cannot be looked at is not to be replaced.
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

// mkdir makes a directory that may be there.
func mkdir(fsys *lock.FS, path string) error {
	if err := fsys.Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
