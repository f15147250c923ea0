// Package sealed is a remote over a remote: it encrypts what it is given and stores that in the one
// below, whose host then learns sizes and times, but neither words nor names. The members of a
// group share the keys, which are on the remote too, encrypted to each member by age.
// docs/format/remote-sealed.md describes the bytes, docs/remote-age.md what the host learns.
//
// Begin to read at Open. envelope.go seals files and hides names, keys.go reads, checks and changes
// the keys, keyring.go is what one person has of their own.
package sealed

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// Feature is the name of the feature in the file format of an encrypted remote.
const Feature = "age"

// The names on the host that are not hidden.
const (
	formatFile = "format"
	keysFile   = "keys"
	otherTop   = "other/"
)

// Config says what a sealed remote stands on.
type Config struct {
	Inner      remote.Remote // where the ciphertexts are; Close closes it
	Identities []age.Identity
	Pin        Pin
	Group      string    // the id that the group has to have; "" for any that the Pin allows
	Random     io.Reader // nil for that of the system; age itself always takes the system's
}

// Remote is an encrypted remote. It implements remote.Remote, remote.Checker and remote.Grouper.
type Remote struct {
	c     Config
	inner remote.Remote
	group *group // nil before it is read
	names *namer
	host  []byte // the file keys as the host has it
}

// Open returns the encrypted remote over another one. It asks that one nothing yet: the first call
// reads the keys.
func Open(c Config) *Remote {
	if c.Random == nil {
		c.Random = rand.Reader
	}
	return &Remote{c: c, inner: c.Inner}
}

// List implements remote.Remote. Sizes are those of the plain files.
func (r *Remote) List(ctx context.Context, prefix string) ([]remote.File, error) {
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	var files []remote.File
	for _, top := range r.tops(prefix) {
		found, err := r.inner.List(ctx, top)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			one, shown, err := r.plain(ctx, f)
			if err != nil {
				return nil, err
			}
			if shown && strings.HasPrefix(one.Name, prefix) {
				files = append(files, one)
			}
		}
	}
	slices.SortFunc(files, func(a, b remote.File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// tops returns the prefixes on the host under which files are that begin with a prefix.
func (r *Remote) tops(prefix string) []string {
	top, rest, _ := strings.Cut(prefix, "/")
	store, _, deeper := strings.Cut(rest, "/")
	switch {
	case prefix == "":
		return []string{""}
	case top != "heads" && top != "stores":
		return []string{otherTop}
	case deeper:
		return []string{top + "/" + r.names.seal(storeContext, store) + "/"}
	}
	return []string{top + "/"}
}

// plain returns a file of the host as clients see it. shown is false for one that they do not see.
func (r *Remote) plain(ctx context.Context, f remote.File) (_ remote.File, shown bool, err error) {
	top, _, _ := strings.Cut(f.Name, "/")
	switch {
	case f.Name == formatFile:
		b, err := r.Get(ctx, formatFile)
		f.Size = int64(len(b))
		return f, err == nil, err
	case top != "heads" && top != "stores" && top+"/" != otherTop:
		return f, false, nil // the keys, or nothing of ours
	}
	name, err := r.names.open(f.Name)
	if err != nil {
		return f, false, nil // no member named a file so
	}
	if f.Size, err = plainSize(f.Size); err != nil {
		f.Size = 0 // it has not arrived: who reads it is told
	}
	f.Name = name
	return f, true, nil
}

// Get implements remote.Remote.
func (r *Remote) Get(ctx context.Context, name string) ([]byte, error) {
	b, _, err := r.read(ctx, name)
	return b, err
}

// read returns a file, and how the host has it.
func (r *Remote) read(ctx context.Context, name string) (plain, there []byte, err error) {
	at, err := r.place(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	there, err = r.inner.Get(ctx, at)
	if errors.Is(err, remote.ErrNotFound) {
		return nil, nil, fmt.Errorf("%w: %s", remote.ErrNotFound, name)
	}
	if err != nil {
		return nil, nil, err
	}
	if name == formatFile {
		plain, err = withoutFeature(there)
		return plain, there, err
	}
	plain, err = openFile(r.group.rounds, name, there)
	if errors.Is(err, errNewRound) { // it began after this client had read the keys
		if err := r.load(ctx); err != nil {
			return nil, nil, err
		}
		plain, err = openFile(r.group.rounds, name, there)
	}
	if err != nil && isCut(there) {
		return nil, nil, fmt.Errorf("%w: %s", remote.ErrIncomplete, name)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s is not what a member put there under this name: %w",
			remote.ErrTampered, name, err)
	}
	return plain, there, nil
}

// place returns the name on the host of a file, after it has read the keys.
func (r *Remote) place(ctx context.Context, name string) (string, error) {
	if err := remote.CheckName(name); err != nil {
		return "", err
	}
	if err := r.ready(ctx); err != nil {
		return "", err
	}
	if name == formatFile {
		return name, nil
	}
	at := r.names.place(name)
	if len(at) > remote.MaxName {
		return "", fmt.Errorf("%s: the name is too long for an encrypted remote", name)
	}
	return at, nil
}

// sealed returns what the host gets for a file.
func (r *Remote) sealed(name string, data []byte) ([]byte, error) {
	if name == formatFile {
		return withFeature(data), nil
	}
	if size := sealedSize(int64(len(data))); size > remote.MaxFile {
		return nil, fmt.Errorf("%s: %d bytes, an encrypted remote has files of %d at most", name,
			len(data), int64(remote.MaxFile)-(size-int64(len(data))))
	}
	return sealFile(r.c.Random, r.group.rounds, name, data)
}

// PutNew implements remote.Remote. A file that is there with the same plain bytes stays as it is.
func (r *Remote) PutNew(ctx context.Context, name string, data []byte) error {
	at, err := r.place(ctx, name)
	if err != nil {
		return err
	}
	b, err := r.sealed(name, data)
	if err != nil {
		return err
	}
	if err = r.inner.PutNew(ctx, at, b); !errors.Is(err, remote.ErrExists) {
		return err
	}
	plain, _, err := r.read(ctx, name)
	if err == nil && !bytes.Equal(plain, data) {
		err = fmt.Errorf("%w: %s", remote.ErrExists, name)
	}
	return err
}

// Swap implements remote.Remote. The host compares ciphertexts, so this compares the plain bytes
// first, and then has the host swap the ciphertext that it has read.
func (r *Remote) Swap(ctx context.Context, name string, old, new []byte) error {
	at, err := r.place(ctx, name)
	if err != nil {
		return err
	}
	var there []byte
	if old != nil {
		if there, err = r.holding(ctx, name, at, old); err != nil {
			return err
		}
	}
	b, err := r.sealed(name, new)
	if err != nil {
		return err
	}
	err = r.inner.Swap(ctx, at, there, b)
	if errors.Is(err, remote.ErrStale) {
		return fmt.Errorf("%w: %s", remote.ErrStale, name)
	}
	return err
}

// holding returns the ciphertext of a file that has these plain bytes. Errors: ErrStale.
func (r *Remote) holding(ctx context.Context, name, at string, plain []byte) ([]byte, error) {
	for try := 0; ; try++ {
		now, there, err := r.read(ctx, name)
		switch {
		case err == nil && bytes.Equal(now, plain):
			return there, nil
		case err != nil && !errors.Is(err, remote.ErrNotFound):
			return nil, err
		case try > 0:
			return nil, fmt.Errorf("%w: %s", remote.ErrStale, name)
		}
		// The remote below may have answered from a copy, which a swap that fails brings up to date.
		none := make([]byte, 16)
		if _, err := io.ReadFull(r.c.Random, none); err != nil {
			return nil, err
		}
		if err := r.inner.Swap(ctx, at, none, none); !errors.Is(err, remote.ErrStale) {
			return nil, errors.Join(err, fmt.Errorf("%w: %s", remote.ErrStale, name))
		}
	}
}

// Delete implements remote.Remote.
func (r *Remote) Delete(ctx context.Context, names []string) error {
	at := make([]string, len(names))
	for i, name := range names {
		var err error
		if at[i], err = r.place(ctx, name); err != nil {
			return err
		}
	}
	return r.inner.Delete(ctx, at)
}

// Check implements remote.Checker: it has the remote below check itself, and then writes and
// removes an encrypted file.
func (r *Remote) Check(ctx context.Context) error {
	if own, ok := r.inner.(remote.Checker); ok {
		if err := own.Check(ctx); err != nil {
			return err
		}
	}
	id := make([]byte, 8)
	if _, err := io.ReadFull(r.c.Random, id); err != nil {
		return err
	}
	return remote.Prove(ctx, r, hex.EncodeToString(id))
}

// Close implements remote.Remote.
func (r *Remote) Close() error { return r.inner.Close() }

// withFeature returns the file format of the host for that of a client, in which features are
// sorted; a file of another form stays as it is.
func withFeature(b []byte) []byte {
	lines := bytes.SplitAfter(b, []byte("\n"))
	own := []byte("feature " + Feature + "\n")
	at := 1
	for at < len(lines) && len(lines[at]) > 0 && bytes.Compare(lines[at], own) < 0 {
		at++
	}
	return bytes.Join(slices.Insert(lines, min(at, len(lines)), own), nil)
}

// errNotSealed says that a remote is not encrypted.
var errNotSealed = errors.New("the remote is not an encrypted one")

// withoutFeature is the inverse of withFeature.
func withoutFeature(b []byte) ([]byte, error) {
	lines := bytes.SplitAfter(b, []byte("\n"))
	at := slices.IndexFunc(lines,
		func(line []byte) bool { return string(line) == "feature "+Feature+"\n" })
	if at < 1 {
		return nil, errNotSealed
	}
	return bytes.Join(slices.Delete(lines, at, at+1), nil), nil
}
