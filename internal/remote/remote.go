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
	"time"
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

// ErrTemporary says that the remote did not do what it was asked, and that the same call may
// succeed later: it could not be reached, or it was busy.
var ErrTemporary = errors.New("the remote is not available now")

// Checker is implemented by a remote that can prove more than an ordinary call shows: that the
// place does what the verbs need, such as refusing to overwrite. Check may write and remove files
// of its own under check/. It returns nil, or an error that says what the place does not do.
type Checker interface {
	Check(ctx context.Context) error
}

// Limits of what a Searcher is given and returns.
const (
	// MaxText is the most bytes of text of a message in the index, and of a hit's excerpt.
	MaxText = 1 << 20
	// MaxHits is the most hits of one search.
	MaxHits = 1000
	// MaxQuery is the most bytes of a query.
	MaxQuery = 4096
)

// Message is what an engine that can search is told of a message.
type Message struct {
	ID      string    `json:"id"`      // of the entry, in hexadecimal
	Store   string    `json:"store"`   // the store that shares it
	Session string    `json:"session"` // its name in that store
	At      time.Time `json:"at"`
	Role    string    `json:"role"`
	Text    string    `json:"text"` // clean, at most MaxText bytes
}

// Hit is a message that a search found.
type Hit struct {
	ID      string    `json:"id"`
	Store   string    `json:"store"`
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	Role    string    `json:"role"`
	Rank    float64   `json:"rank"`           // of this search alone: more is better
	Text    string    `json:"text,omitempty"` // an excerpt, or "" if the engine keeps no texts
}

// Searcher is implemented by a remote whose engine can search the messages of all stores, so that
// nobody has to fetch them first. What Index took and what Forget removed is durable when the call
// returns nil.
type Searcher interface {
	// Index makes messages known. A store's message that is known already is replaced.
	Index(ctx context.Context, messages []Message) error

	// Forget removes messages of a store with all that was derived from their words. An id that is
	// not known is no error.
	Forget(ctx context.Context, store string, ids []string) error

	// Search returns at most n messages for a query of words, the best first. Words stand for
	// themselves, "quotes" hold a phrase, a minus excludes, and or means either. It never returns an
	// error for the form of a query.
	Search(ctx context.Context, query string, n int) ([]Hit, error)
}

// ErrTampered says that the host of an encrypted remote does not have what its members put there.
var ErrTampered = errors.New("the remote was tampered with")

// ErrIncomplete says that a remote lacks what it has said that it has. In a folder that another
// program syncs, the rest may be on its way.
var ErrIncomplete = errors.New("not all of it has arrived on the remote yet")

// Member is somebody who can read an encrypted remote.
type Member struct {
	Name      string `json:"name"`
	Recipient string `json:"recipient"` // the public key, in the form of age or of SSH
}

// What Grouper.Members does to a group.
const (
	ListMembers   = "list"
	BeginGroup    = "begin" // encrypts an empty place; one that is encrypted is listed
	AddMembers    = "add"
	RemoveMembers = "rm"
)

// MemberChange asks for the members of an encrypted remote, or changes them.
type MemberChange struct {
	Do string `json:"do"` // one of the constants
	// Members are those that BeginGroup adds to the person who asks, and those that AddMembers adds.
	// RemoveMembers takes members by Name alone, which is a name or the beginning of a recipient.
	Members []Member `json:"members,omitempty"`
	Self    string   `json:"self,omitempty"` // the name of the person who begins a group
}

// Group is who can read an encrypted remote.
type Group struct {
	// The same for all who have the same keys, and for nobody else
	ID      string   `json:"id"`
	Round   int      `json:"round"`   // how often the keys began anew, from 1
	Self    string   `json:"self"`    // the name of the member who asks
	Members []Member `json:"members"` // by name
	// Classic says that a member's key is not safe from a large quantum computer.
	Classic bool `json:"classic,omitempty"`
	// Began says that this call encrypted the place.
	Began bool `json:"began,omitempty"`
}

// Grouper is implemented by an encrypted remote. Errors are those of the remote; ErrTampered.
type Grouper interface {
	Members(ctx context.Context, change MemberChange) (Group, error)
}

// Prove checks that a remote keeps what PutNew and Swap promise: it writes a small file under the
// name check/ID, tries what has to be refused, and removes the file. Several stores depend on these
// refusals, and some endpoints ignore them without a word. Errors are those of the remote, or say
// what it does wrong.
func Prove(ctx context.Context, r Remote, id string) (err error) {
	name := "check/" + id
	if err := r.Swap(ctx, name, nil, []byte("one")); err != nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	defer func() { err = errors.Join(err, r.Delete(ctx, []string{name})) }()
	switch b, err := r.Get(ctx, name); {
	case err != nil:
		return fmt.Errorf("cannot read what was written: %w", err)
	case string(b) != "one":
		return errors.New("what was written does not come back")
	}
	if err := r.Swap(ctx, name, nil, []byte("two")); !errors.Is(err, ErrStale) {
		return fmt.Errorf("it makes a file that is there: stores would overwrite one another (%w)",
			orNone(err))
	}
	if err := r.Swap(ctx, name, []byte("zero"), []byte("two")); !errors.Is(err, ErrStale) {
		return fmt.Errorf(
			"it replaces a file that has changed: stores would overwrite one another (%w)",
			orNone(err))
	}
	if err := r.Swap(ctx, name, []byte("one"), []byte("two")); err != nil {
		return fmt.Errorf("cannot replace: %w", err)
	}
	return nil
}

func orNone(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}
