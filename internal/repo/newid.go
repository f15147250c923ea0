package repo

import (
	"context"
	"encoding/hex"
	"errors"
	"path/filepath"

	"github.com/gemini-ctx/ctx/lock"
)

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
