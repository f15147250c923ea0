package history

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/varint"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Links are the entries that point at an older one, which the older one cannot name: its later
// versions, and what a source was imported to. They are cached and follow the log.
type Links struct {
	stamp cache.Stamp
	// newer are the amends of a message that a branch stands on, oldest first, by the message's id.
	Newer map[format.ID][]format.ID
	// replaces are the replace entries that a branch stands on, by the digest of the session in which
	// they were made.
	replaces map[format.ID][]format.ID
	// source are entries by source, oldest first; those in packs may be missing, and there may be some
	// that nothing stands on any more.
	source map[[16]byte][]format.ID
	added  int    // since the file was written
	read   int    // bytes of log read since then, to catch up
	saved  uint64 // the operation that the file covers
	// packed, while everything is read anew, says which entries' sources a pack's index has: they need
	// not be here.
	packed func(format.ID) bool
	// own, while everything is read anew, says which of the messages that other stores have amended
	// this store has in a session of its own.
	own map[format.ID]bool
	// damage says why some of a session could not be read, so that links of it may be missing.
	damage error
}

// SaveAfter is how many additions or operations the file of the links may be behind. Catching up by
// so many takes about a millisecond; writing a long file each time would cost more.
const SaveAfter = 32

// A short file may be fewer operations behind, as it takes no longer to write it than to follow
// saveLeast of them: the file of a session that nothing was imported into is empty. Each
// savePerOperation links in it are another one.
const (
	saveLeast        = 4
	savePerOperation = 64
)

// mayBeBehind returns how many operations the file may be behind.
func (l *Links) mayBeBehind() uint64 {
	return uint64(min(saveLeast+(len(l.Newer)+len(l.source))/savePerOperation, SaveAfter))
}

// keepSources is how many sources the file holds before those that a pack's index has too are
// dropped from it.
const keepSources = 8192

// WithLinks calls look with the links as of view or later, all of them. look must not keep them.
func (s *Reader) WithLinks(view *refs.View, look func(*Links) error) error {
	return s.ReadLinks(view, func(l *Links) error {
		if l.damage != nil {
			return l.damage
		}
		return look(l)
	})
}

// ReadLinks is WithLinks for who only reads: links of sessions that are damaged may be missing.
func (s *Reader) ReadLinks(view *refs.View, look func(*Links) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.renewLinks(view); err != nil {
		return err
	}
	return look(s.known)
}

// Newest returns the id of the latest version of a message.
func (s *Reader) Newest(view *refs.View, id format.ID) (newest format.ID, err error) {
	newest = id
	err = s.ReadLinks(view, func(l *Links) error {
		if list := l.Newer[id]; len(list) > 0 {
			newest = list[len(list)-1]
		}
		return nil
	})
	return newest, err
}

// BySource returns the entries that a source was imported to, whether a branch has them or not.
func (s *Reader) BySource(view *refs.View, key [16]byte) ([]format.ID, error) {
	ids, err := s.Objects.BySource(key)
	if err != nil {
		return nil, err
	}
	err = s.WithLinks(view, func(l *Links) error {
		for _, id := range l.source[key] {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return nil
	})
	return ids, err
}

// Learn adds entries that this process has just committed, without reading them again. before is
// the view that they were committed on. Sources of a batch that went into a pack are in the index
// of the pack.
func (s *Reader) Learn(before, now *refs.View, appended []Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || s.known.stamp.Number != before.Number || now.Number != before.Number+1 {
		return
	}
	packed := len(appended) > objects.MaxCarried
	for _, e := range appended {
		if !packed || e.Kind == format.KindAmend {
			s.known.add(e)
		}
	}
	s.known.stamp = cache.Stamp{Number: now.Number, Digest: now.Digest}
	if packed {
		s.saveLinks(s.known)
	}
}

// add adds an entry that a branch has come to stand on.
func (l *Links) add(e Entry) {
	if _, asked := l.own[e.ID]; asked {
		l.own[e.ID] = true
	}
	if e.Kind == format.KindAmend && !slices.Contains(l.Newer[e.Amends], e.ID) {
		l.Newer[e.Amends] = append(l.Newer[e.Amends], e.ID)
		l.added++
	}
	if key := format.Sum([]byte(e.Session)); e.Kind == format.KindReplace &&
		!slices.Contains(l.replaces[key], e.ID) {
		l.replaces[key] = append(l.replaces[key], e.ID)
		l.added++
	}
	l.addSource(e)
}

// ReplacesIn returns the replace entries that were made in a session, and that a branch stands on.
func (l *Links) ReplacesIn(session string) []format.ID {
	return l.replaces[format.Sum([]byte(session))]
}

// drop takes out an amend or a replacement that no branch stands on any more.
func (l *Links) drop(e Entry) {
	if e.Kind == format.KindAmend {
		l.Newer[e.Amends] = slices.DeleteFunc(l.Newer[e.Amends],
			func(a format.ID) bool { return a == e.ID })
		l.added++
	}
	if key := format.Sum([]byte(e.Session)); e.Kind == format.KindReplace {
		l.replaces[key] = slices.DeleteFunc(l.replaces[key],
			func(a format.ID) bool { return a == e.ID })
		l.added++
	}
}

// concerns reports whether add would note anything of an entry.
func (l *Links) concerns(e Entry) bool {
	_, asked := l.own[e.ID]
	return asked || e.Kind == format.KindAmend || e.Kind == format.KindReplace ||
		l.concernsSource(e)
}

// concernsSource reports whether an entry has a source that no pack's index tells.
func (l *Links) concernsSource(e Entry) bool {
	return e.Source != nil && (l.packed == nil || !l.packed(e.ID))
}

func (l *Links) addSource(e Entry) {
	if !l.concernsSource(e) {
		return
	}
	key, err := e.Source.Key()
	if err == nil && !slices.Contains(l.source[key], e.ID) {
		l.source[key] = append(l.source[key], e.ID)
		l.added++
	}
}

func newLinks(stamp cache.Stamp) *Links {
	return &Links{stamp: stamp, saved: stamp.Number, Newer: map[format.ID][]format.ID{},
		replaces: map[format.ID][]format.ID{}, source: map[[16]byte][]format.ID{}}
}

// linksVersion is that of the form of the links in the cache.
const linksVersion = 3

func (l *Links) code(c *varint.Code) {
	list := func(ids *[]format.ID) {
		varint.List(c, ids, func(id *format.ID, c *varint.Code) { c.Fixed(id[:]) })
	}
	for _, m := range []*map[format.ID][]format.ID{&l.Newer, &l.replaces} {
		varint.MapBy(c, m, format.ID.Compare, func(key *format.ID, ids *[]format.ID) {
			c.Fixed(key[:])
			list(ids)
		})
	}
	byBytes := func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }
	varint.MapBy(c, &l.source, byBytes, func(key *[16]byte, ids *[]format.ID) {
		c.Fixed(key[:])
		list(ids)
	})
}

// loadLinks returns nil where the file cannot be used.
func (s *Reader) loadLinks(view *refs.View) *Links {
	l := &Links{}
	stamp, ok := s.Cache.Get(cache.LinksName, linksVersion, l.code)
	if !ok || stamp.Number > view.Number ||
		stamp.Number == view.Number && stamp.Digest != view.Digest {
		return nil
	}
	l.stamp, l.saved = stamp, stamp.Number
	return l
}

func (s *Reader) saveLinks(l *Links) {
	if len(l.source) > keepSources {
		s.dropPacked(l)
	}
	if err := s.Cache.Put(cache.LinksName, l.stamp, linksVersion, l.code); err != nil {
		s.Report(fmt.Errorf("cannot write the cache: %w", err))
		return
	}
	l.added, l.read, l.saved = 0, 0, l.stamp.Number
}

// dropPacked takes out the sources that packs know themselves.
func (s *Reader) dropPacked(l *Links) {
	for key, ids := range l.source {
		packed, err := s.Objects.MaybeBySource(key)
		if err != nil {
			return
		}
		ids = slices.DeleteFunc(ids, func(id format.ID) bool { return slices.Contains(packed, id) })
		if len(ids) == 0 {
			delete(l.source, key)
		} else {
			l.source[key] = ids
		}
	}
}
