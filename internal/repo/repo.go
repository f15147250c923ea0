// Package repo finds, creates and opens a store on disk. It checks the version of the store, and
// reads its settings and its key. It reads neither the environment nor the clock: the caller
// passes both in an Env.
package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Env is the environment of a command.
type Env struct {
	WorkDir    string // absolute; where the search for a store begins
	Home       string // the user's home directory, where the search ends; "" for none
	StoreDir   string // CTX_DIR: the store, or the project it is in; "" to search
	UserConfig string // the path of the user's config.toml; "" for none
	UserData   string // the directory of what ctx keeps for the user; "" for none
	// The settings in the environment are read through it; nil for none
	Getenv func(string) string
	// "key=value" from the command line, the last one of a key counts
	Overrides []string
	Now       func() time.Time // the clock
	Random    io.Reader        // where keys and ids come from; read by Init and NewID only
	// Who takes the lock; Since is filled in from Now where it is zero
	Owner lock.Owner
	FS    *durable.FS // makes the durable calls; nil for the real thing
}

// Repo is an open store. Its methods may be called from several goroutines.
type Repo struct {
	Dir     string           // the absolute path of .gemini/context
	ID      string           // the store's random id, 32 lower-case hexadecimal digits
	Shared  string           // its id on remotes: ID, but for a copy that NewID made another store
	Config  *Config          // the settings, checked; not to be changed
	FS      *durable.FS      // as in Env
	Objects *objects.Store   // its clock is Now
	Refs    *refs.DB         // asks Objects whether what is named exists
	Now     func() time.Time // as in Env

	owner      lock.Owner
	userConfig string // as in Env
	userData   string // as in Env
	mu         sync.Mutex
	key        []byte    // nil until it was read
	macs       sync.Pool // of *keyedHash under key
	shield     sync.Once
}

// maxFormat limits the format file, in bytes: it has up to four lines of about 70 bytes.
const maxFormat = 4096

// Open finds the store that env names, checks that this build may use it, and reads the settings.
// It writes nothing. It reads the format file, the config files, and the names in a few
// directories, which must hold no links. Errors: ErrNoStore, ErrHalf, *OwnerError,
// *format.VersionError, *CorruptError, *ConfigError, and those of the file system.
func Open(env Env) (*Repo, error) {
	dir, err := Find(env)
	if err != nil {
		return nil, err
	}
	f, err := readFormat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, halfError(dir)
	}
	if err != nil {
		return nil, err
	}
	if err := refuseLinks(dir); err != nil {
		return nil, fmt.Errorf("cannot use store: %w", err)
	}
	config, err := loadConfig(env, filepath.Join(dir, configName))
	if err != nil {
		return nil, err
	}
	return assemble(env, dir, f, config), nil
}

// readFormat reads a store's format file, which every use of a store begins with. fs.ErrNotExist
// says that there is none, and so no store yet.
func readFormat(dir string) (format.StoreFormat, error) {
	path := filepath.Join(dir, formatName)
	b, err := durable.ReadAtMost(path, maxFormat)
	if errors.Is(err, durable.ErrTooLarge) {
		return format.StoreFormat{}, &CorruptError{Path: path, Why: "too large for a format file"}
	}
	if errors.Is(err, durable.ErrNotFile) {
		return format.StoreFormat{}, &CorruptError{Path: path, Why: "is not a regular file"}
	}
	if err != nil {
		return format.StoreFormat{}, fmt.Errorf("cannot read the store's format: %w", err)
	}
	f, err := format.DecodeStoreFormat(b)
	if errors.As(err, new(*format.VersionError)) {
		return format.StoreFormat{}, fmt.Errorf("cannot use store %q: %w", dir, err)
	}
	if err != nil {
		return format.StoreFormat{}, &CorruptError{Path: path, Why: err.Error()}
	}
	return f, nil
}

func assemble(env Env, dir string, f format.StoreFormat, config *Config) *Repo {
	store := objects.Open(dir, env.FS)
	if env.Now != nil {
		store.Now = env.Now
	}
	log := refs.Open(dir, f.Store, env.FS, store)
	store.ReadLog = func() error { _, err := log.Read(); return err }
	store.MendLog = func() error {
		view, err := log.Read()
		if err == nil {
			_ = log.CheckCarried(view) // fails where a writer takes the objects to a pack meanwhile
		}
		return err
	}
	r := &Repo{
		Dir:        dir,
		ID:         f.Store,
		Shared:     cmp.Or(f.SharedAs, f.Store),
		Config:     config,
		FS:         env.FS,
		Objects:    store,
		Refs:       log,
		Now:        env.Now,
		owner:      env.Owner,
		userConfig: env.UserConfig,
		userData:   env.UserData,
	}
	store.Key = r.secret
	return r
}

// Close closes the files that Objects keeps open. It does not release the lock.
func (r *Repo) Close() error { return r.Objects.Close() }

// Lock takes the store's lock for Env.Owner. It waits for the setting lock.timeout, or until ctx
// is done. Before the first time it puts up the shield against git clean. Errors: those of
// lock.Acquire.
func (r *Repo) Lock(ctx context.Context) (*lock.Held, error) {
	r.shieldOnce()
	return lock.Acquire(ctx, r.FS, r.Dir, r.Config.Lock.Timeout, since(r.owner, r.Now))
}

// since returns who, with the current time if Since is zero.
func since(who lock.Owner, now func() time.Time) lock.Owner {
	if who.Since.IsZero() && now != nil {
		who.Since = now()
	}
	return who
}
