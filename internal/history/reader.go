// Package history reads what a store holds: entries, the branches that they make, the forests, and
// what was forgotten. A Reader has no method that writes to the store; what it derives it keeps in
// the cache.
//
// Begin to read at Reader (reader.go), then Reader.Walk (walk.go): it yields the entries that a tip
// stands on, and everything else here is a question about them. entry.go reads one entry; head.go
// keeps the state of a branch that an append needs; links.go finds entries that point at another
// one; relations.go tells how branches of a session stand to each other; visibility.go and the
// package dag tell what a reader in a branch may see; standin.go goes on where an entry is damaged.
package history

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/refs"
)

// Objects reads the objects of a store. objects.Store is one.
type Objects interface {
	Get(id format.ID) (format.Raw, error)
	Header(id format.ID) ([]byte, error)
	Has(id format.ID) (bool, error)
	Gone(ids []format.ID) ([]format.ID, error)
	NothingGone() (bool, error)
	Forgotten(id format.ID) (bool, error)
	Prefix(hex string) ([]format.ID, error)
	BySource(key [16]byte) ([]format.ID, error)
	MaybeBySource(key [16]byte) ([]format.ID, error)
	ByPlace(ids []format.ID)
	IsLogged(id format.ID) bool
	Refresh() error
	Path(name string) string
	ForgetFiles() (numbers []uint64, unfinished bool, err error)
}

// Refs reads the refs and the log of a store. refs.DB is one.
type Refs interface {
	Read() (*refs.View, error)
	Base() (*format.Checkpoint, error)
	Backward(view *refs.View, fn func(refs.Record) bool) error
	Unsound(view *refs.View) error
}

// Repo knows the key of a store, and the settings of the agent in its project. repo.Repo is one.
type Repo interface {
	AgentStrategy() (strategy, path string, err error)
	Nonce(label string, header []byte) ([]byte, error)
	Digest16(record []byte) (string, error)
	Keyed(label string, data []byte) (format.ID, error)
}

// Reader reads a store. It cannot write: its objects and refs have no method that does. What it
// makes of them it keeps in the cache. Its methods may be called from several goroutines.
type Reader struct {
	Objects Objects
	Refs    Refs
	Repo
	Config *repo.Config
	ID     string // of the store
	Dir    string // of the store, absolute
	Now    func() time.Time
	Cache  *cache.Cache

	// Warn is told, in one line, of what went wrong after an operation was recorded and is made
	// good by the next one, and of damage that is passed over. It may be nil.
	Warn func(string)

	onForget []func()

	// headers, while the links follow an operation, holds the entries that were read since it began:
	// several walks read the same ones.
	headers atomic.Pointer[sync.Map]

	stands  stands // for what is damaged
	nodes   nodes
	members members

	mu     sync.Mutex
	known  *Links  // nil until asked for
	traced *Traces // what was forgotten; nil until asked for
}

// NewReader returns a reader of a store.
func NewReader(r *repo.Repo) *Reader {
	s := &Reader{
		Refs: r.Refs, Repo: r, Config: r.Config, ID: r.ID, Dir: r.Dir, Now: r.Now,
		Cache: cache.Open(r.Dir, r.FS),
	}
	s.Objects = &near{Objects: r.Objects, standIn: s.standIn}
	r.Objects.Now, r.Refs.OnDamage = r.Now, s.onDamage
	s.Cache.Guard(s.ForgetMark)
	return s
}

// OnForget has drop called when words are forgotten. Whoever keeps something in memory that was
// made of the store's words drops it then. It is called before the reader is used.
func (s *Reader) OnForget(drop func()) { s.onForget = append(s.onForget, drop) }

// DropWords drops everything in memory that was made of the store's words.
func (s *Reader) DropWords() {
	s.Cache.Renew()
	s.mu.Lock()
	s.known, s.traced = nil, nil
	s.mu.Unlock()
	for _, drop := range s.onForget {
		drop()
	}
}

// Report passes an error to Warn, in one line.
func (s *Reader) Report(err error) {
	if s.Warn != nil {
		s.Warn(err.Error())
	}
}

// Params returns the sizes of the window from the settings of the store.
func (s *Reader) Params() Window {
	return Window{GraduateAt: s.Config.Window.GraduateAt, EvictAt: s.Config.Window.EvictAt}
}
