// Package remote is the interface of a remote: a place outside of the store that keeps files by
// name, and that several stores write to. A folder, a git repository, a bucket and a database are
// remotes. The package sharing says what the files are; docs/format/remote.md describes them.
//
// Begin to read at Remote. Dir and the packages below this one implement it, and remotetest holds
// every implementation to the same contract.
package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Limits of what a remote is asked to keep.
const (
	// MaxFile is the most bytes of a file. Hosts of git repositories warn from 50 MB on.
	MaxFile = 50_000_000
	// MaxName is the most bytes of a name.
	MaxName = 200
)

// The errors that callers tell apart. Implementations wrap them; every other error says that the
// remote could not be reached or did not do what it was asked.
var (
	// ErrNotFound says that no file has the name.
	ErrNotFound = errors.New("no such file on the remote")
	// ErrExists says that PutNew found another file of that name.
	ErrExists = errors.New("the remote has another file of that name")
	// ErrStale says that Swap found another content than it was told.
	ErrStale = errors.New("the remote has changed meanwhile")
)

// File is one file of a remote, as List returns it.
type File struct {
	Name string
	Size int64 // bytes
	// Tag is another one whenever the content of the file is. It is "" where the remote cannot say.
	Tag string
}

// Remote keeps files by name. Its methods are the only five verbs that sharing needs, so that any
// engine with an atomic replacement of a small file can be a remote. All methods obey the context.
// Names have the form that CheckName accepts. A Remote is used by one goroutine at a time, and any
// number of Remotes may work on one place at the same time, from several machines.
//
// Files are written in this order: files that never change with PutNew, then one small file that
// names them with Swap. So an implementation may hold back what PutNew takes until the next Swap,
// and then store all of it at once.
type Remote interface {
	// List returns the files whose names begin with prefix, sorted by name. The prefix is "" or ends
	// with a slash. The list holds every file that was there before the call and that is not removed
	// meanwhile.
	List(ctx context.Context, prefix string) ([]File, error)

	// Get returns a file. Errors: ErrNotFound.
	Get(ctx context.Context, name string) ([]byte, error)

	// PutNew stores a file that is not there yet. A file that is there with the same bytes is no
	// error. Errors: ErrExists for a file with other bytes. Other clients see the file at the latest
	// when the next Swap of this Remote returns nil; a client that stops before may leave the file
	// or not, and never a part of it.
	PutNew(ctx context.Context, name string, data []byte) error

	// Swap replaces the content of a file, if the content is old, in one step: other clients see old
	// or new. A nil old means that there is no file yet. Errors: ErrStale, with nothing changed. After
	// any other error the file may have either content. When Swap returns nil, the new content and
	// all that PutNew took before survive a power cut of the remote's host.
	Swap(ctx context.Context, name string, old, new []byte) error

	// Delete removes files. A name without a file is no error. After an error some may be removed.
	Delete(ctx context.Context, names []string) error

	// Close lets go of connections and processes. What PutNew took and no Swap followed may be lost.
	Close() error
}

// CheckName returns an error for a name that no file of a remote may have. A name has parts with
// slashes between them. A part has lower-case letters, digits, `.`, `_` and `-`, and begins with
// neither a dot nor a dash. So no two names differ in case alone.
func CheckName(name string) error {
	if len(name) > MaxName {
		return fmt.Errorf("name of %d bytes: at most %d", len(name), MaxName)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' {
			return fmt.Errorf("bad name %.80q", name)
		}
		for _, c := range []byte(part) {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' {
				continue
			}
			return fmt.Errorf("bad name %.80q", name)
		}
	}
	return nil
}
