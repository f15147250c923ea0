package remote

import (
	"context"
	"errors"
	"time"
)

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
