package history

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// An entry whose header is damaged cannot be read, and nothing says on what it stood. What the log
// says of its branch does: the branch had another tip before. So a reader goes on there.

// stands is what a Reader has found for damaged entries.
type stands struct {
	damaged  atomic.Bool
	sessions sync.Map // of which Warn was told, by name

	mu      sync.Mutex
	number  uint64 // of the newest operation that was followed
	entries map[format.ID]*format.Entry
}

// onDamage is told of damage that a reading of the log passes over.
func (s *Reader) onDamage(err *refs.CorruptError) {
	s.Cache.Leave()
	if !s.stands.damaged.Swap(true) && s.Warn != nil {
		s.Warn(fmt.Sprintf("%v; the rest is read. `ctx fsck --repair` repairs it", err))
	}
}

// PassedDamage reports whether damage of the log was passed over. Warn was told.
func (s *Reader) PassedDamage() bool { return s.stands.damaged.Load() }

// PassOver reports whether err says that objects of a session are damaged or lost. Whoever reads
// several sessions goes on with the next one then: Warn is told, once for each session.
func (s *Reader) PassOver(session string, err error) bool {
	if !IsDamage(err) {
		return false
	}
	s.Cache.Leave()
	if _, told := s.stands.sessions.LoadOrStore(session, true); !told && s.Warn != nil {
		s.Warn(fmt.Sprintf("some of session %q cannot be read: %v; `ctx fsck` lists what is damaged",
			session, err))
	}
	return true
}

// standIn returns the header of an object whose body is damaged in the log, or of an entry that
// stands for one that is. Otherwise it returns err, which says that the object cannot be read.
func (s *Reader) standIn(id format.ID, err error) ([]byte, error) {
	view, readErr := s.Refs.Read()
	if readErr != nil || s.Refs.Unsound(view) == nil {
		return nil, err
	}
	read := s.Objects
	if n, ok := read.(*near); ok {
		read = n.Objects
	}
	if header, bad := read.Header(id); bad == nil {
		return header, nil
	}
	s.stands.mu.Lock()
	defer s.stands.mu.Unlock()
	if s.stands.entries == nil || s.stands.number != view.Number {
		b := Bridge{Before: view.Before, Nonce: s.Nonce,
			Header: func(id format.ID) (*format.Entry, error) {
				return Decoded(read, id, format.DecodeEntry)
			}}
		s.stands.number, s.stands.entries = view.Number, b.Follow(view.Since)
	}
	if e := s.stands.entries[id]; e != nil {
		return e.Encode()
	}
	return nil, err
}

// Bridge finds entries that stand for those that cannot be read. Its fields are to be set.
type Bridge struct {
	Before func(ref string) format.Value                // the value of a ref before the records
	Header func(id format.ID) (*format.Entry, error)    // reads an entry
	Nonce  func(label string, h []byte) ([]byte, error) // that of the store: see Repo

	stands map[format.ID]*format.Entry
	seen   map[format.ID]bool
}

// Follow follows the branches through records of the log, oldest first. It returns for each entry
// that a record brought and that cannot be read one that stands for it: a message of nobody whose
// body is not there, on what can be read of the branch before.
func (b *Bridge) Follow(records []refs.Record) map[format.ID]*format.Entry {
	b.stands, b.seen = map[format.ID]*format.Entry{}, map[format.ID]bool{}
	tips, loose := map[string]format.ID{}, map[format.ID]format.ID{}
	for _, r := range records {
		above := b.above(r.Op.Objects)
		if r.Lost != nil {
			maps.Copy(loose, above)
			continue
		}
		for _, u := range r.Op.Refs {
			if !strings.HasPrefix(u.Name, "sessions/") {
				continue
			}
			last, known := tips[u.Name]
			if !known {
				last = b.Before(u.Name).ID
			}
			b.span(u.Name, u.Old.ID, last, loose, r.Op.Time)
			b.span(u.Name, u.New.ID, u.Old.ID, above, r.Op.Time)
			tips[u.Name] = u.New.ID
		}
	}
	return b.stands
}

// above maps entries to those that stand on them, of objects that the store has made: the nonce
// proves the header, of which some bytes may be damaged.
func (b *Bridge) above(raws []format.Raw) map[format.ID]format.ID {
	above := map[format.ID]format.ID{}
	for _, raw := range raws {
		if e, err := format.DecodeEntry(raw.Header); err == nil && Vouched(raw, b.Nonce) {
			above[FirstParent(e)] = raw.ID()
		}
	}
	return above
}

// Vouched reports whether the nonce of an object is that of its header, and the body is whole.
func Vouched(raw format.Raw, nonce func(string, []byte) ([]byte, error)) bool {
	want, err := nonce(nonceLabel, CutLastLine(raw.Header))
	body, ok, bad := format.HeaderBody(raw.Header)
	return err == nil && bad == nil && ok && body.Check(raw.Body) == nil &&
		bytes.HasPrefix(raw.Body, want)
}

// span goes from a tip of a branch down to an earlier one. If it meets an entry that cannot be
// read, it lays one in its place, on what stands on the earlier tip.
func (b *Bridge) span(
	ref string, from, to format.ID, above map[format.ID]format.ID, at time.Time,
) {
	var child *format.Entry
	for id := from; id != to && !id.IsZero() && !b.seen[id]; id = FirstParent(child) {
		b.seen[id] = true
		e, err := b.entry(id)
		if ButDamage(err) != nil {
			return
		}
		if err != nil {
			for next := above[to]; !next.IsZero() && !b.seen[next]; next = above[to] {
				to = next
			}
			e = b.standIn(ref, id, to, child, at)
			b.stands[id] = e
		}
		child = e
	}
}

func (b *Bridge) entry(id format.ID) (*format.Entry, error) {
	if e := b.stands[id]; e != nil {
		return e, nil
	}
	return b.Header(id)
}

// standIn returns an entry that stands on parent, and that child stands on; child may be nil.
func (b *Bridge) standIn(
	ref string, id, parent format.ID, child *format.Entry, at time.Time,
) *format.Entry {
	session, _, _ := BranchOfRef(ref)
	e := &format.Entry{Session: session, Kind: format.KindMessage, Role: "system", Time: at,
		Body: &format.Body{Digest: id, Size: format.NonceLen, Media: format.MediaText}}
	before := uint64(0)
	if p, err := b.entry(parent); err == nil {
		e.Parents, e.Session, before = []format.ID{parent}, p.Session, p.Seq
	}
	e.Seq = before + 1
	if child != nil {
		e.Session, e.Time, e.Seq = child.Session, child.Time, child.Seq
		if child.Kind == format.KindMessage {
			e.Seq--
		}
	}
	if e.Seq <= before {
		e.Kind, e.Seq = format.KindNote, before
	}
	return e
}
