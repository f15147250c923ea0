package repo

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/identity"
)

// ErrNotAllowed says that nobody on this machine has made or allowed a store, so that it may say
// nothing to a model.
var ErrNotAllowed = errors.New("store was not made or allowed on this machine")

// How a store came to be allowed.
const (
	MadeHere = "made"
	ByUser   = "allowed"
)

// AllowedStore is a place of a store that may speak to models: a line in the user's list.
type AllowedStore struct {
	V     int       `json:"v"`
	Store string    `json:"store"` // its id
	Path  string    `json:"path"`  // its directory, as it was found
	Git   string    `json:"git"`   // the directory that all work trees share; "" for none
	How   string    `json:"how"`
	Time  time.Time `json:"time"`
}

// The list has a file for each key, stores/<fingerprint> in the user's data. A line is a place.
const (
	allowedDir      = "stores"
	maxAllowed      = 1 << 20
	fingerprintSize = 16
)

// Allowed reports whether the store may speak to models, and hooks may record into it: somebody has
// made it on this machine, or allowed it. The user's list knows it by its key, which no one else
// has: the id of a store is on each of its remotes, and a path stays when another project takes the
// place of a first one. A store that was moved or copied stays allowed. If a link leads to it, the
// list has to have that path: a link may come with a project and lead to another one.
func (r *Repo) Allowed() (bool, error) {
	path, err := r.allowedFile()
	if err != nil {
		return false, err
	}
	list, err := readAllowed(path)
	if err != nil || len(list) == 0 {
		return false, err
	}
	if Physical(r.Dir) == r.Dir {
		return true, nil
	}
	return slices.ContainsFunc(list, func(a AllowedStore) bool { return a.Path == r.Dir }), nil
}

// Allow puts the store at its place on the user's list. Errors: those of Key, and those of the file
// system.
func (r *Repo) Allow(how string) error {
	path, err := r.allowedFile()
	var list []AllowedStore
	if err == nil {
		list, err = readAllowed(path)
	}
	if err != nil {
		return fmt.Errorf("cannot allow store %q: %w", r.Dir, err)
	}
	if slices.ContainsFunc(list, func(a AllowedStore) bool { return a.Path == r.Dir }) {
		return nil
	}
	a := AllowedStore{V: 1, Store: r.ID, Path: r.Dir, How: how}
	if r.Now != nil {
		a.Time = r.Now().UTC().Truncate(time.Second)
	}
	_, a.Git, _ = identity.Enclosing(filepath.Dir(r.Dir))
	line, err := json.Marshal(a)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = r.FS.AppendNoSync(path, append(line, '\n'), maxAllowed)
	}
	if err != nil {
		return fmt.Errorf("cannot allow store %q: %w", r.Dir, err)
	}
	return nil
}

// Moved returns the ids of the stores that this user had where this one is, and puts the place of a
// store that was moved here on the list.
func (r *Repo) Moved(env Env) (before []string) {
	if ok, err := r.Allowed(); !ok || err != nil {
		return nil
	}
	_ = r.Allow(ByUser) // the next command may do it
	list, _ := AllowedStores(env)
	for _, one := range list {
		if one.Path == r.Dir && one.Store != r.ID {
			before = append(before, one.Store)
		}
	}
	return before
}

// Disallow takes the store off the user's list, with all places of its copies.
func (r *Repo) Disallow() error {
	path, err := r.allowedFile()
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot take store %q off the list: %w", r.Dir, err)
	}
	return nil
}

// errNoData says that the user has no list.
func errNoData() error {
	return fmt.Errorf("%w: no home directory for the list is known", ErrNotAllowed)
}

// allowedFile returns the file of the user's list that has the store.
func (r *Repo) allowedFile() (string, error) {
	if r.userData == "" {
		return "", errNoData()
	}
	sum, err := r.keyed("allowed", nil, fingerprintSize)
	if err != nil {
		return "", err
	}
	return filepath.Join(r.userData, allowedDir, hex.EncodeToString(sum)), nil
}

// readAllowed returns the lines of a file of the list; none if there is no file. It leaves out
// lines that it cannot read.
func readAllowed(path string) (list []AllowedStore, err error) {
	b, err := durable.ReadAtMost(path, maxAllowed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of stores: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		var a AllowedStore
		if json.Unmarshal([]byte(line), &a) == nil && a.V == 1 {
			list = append(list, a)
		}
	}
	return list, nil
}

// AllowedStores returns the user's list, sorted by path.
func AllowedStores(env Env) (list []AllowedStore, err error) {
	if env.UserData == "" {
		return nil, errNoData()
	}
	dir := filepath.Join(env.UserData, allowedDir)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of stores: %w", err)
	}
	for _, f := range files {
		of, err := readAllowed(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, of...)
	}
	slices.SortFunc(list, func(a, b AllowedStore) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}
