package session

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/search"
)

// searchIndex is the index of what a search may find, as of some tips of branches. What it knows follows from these tips alone, so that it is brought up to date by
// what lies between them and the tips there are now, whatever happened in between.
type searchIndex struct {
	tips     map[string]format.ID // by session/branch
	segments []*searchSegment
	loaded   []byte   // the manifest that was there; nil where there was none
	replaced []string // files that manifest names
	changed  int      // documents added or hidden since
	noWrite  bool     // the cache cannot be written
}

// searchSegment is a segment in the cache or, where it has no name, in memory.
type searchSegment struct {
	search.Source
	name  string
	pages *index.Pages
	bytes []byte
}

// searchSources returns the index as of view, and does not use what is in the cache where fresh is true. The caller holds s.searching.
func (s *Store) searchSources(view *refs.View, fresh bool) ([]search.Source, error) {
	s.Cache.Begin()
	if fresh && s.searched != nil {
		s.searched.close()
		s.searched = nil
	}
	x := s.searched
	if x == nil && !fresh {
		x = s.loadSearch()
	}
	if x == nil {
		// What is in the cache is of no use, and is replaced.
		there, _, _ := s.Cache.Load(index.SearchName)
		x = &searchIndex{tips: map[string]format.ID{}, loaded: there}
	}
	s.searched = nil // after an error nothing is known of it
	if err := s.renewSearch(x, view); err != nil {
		x.close()
		return nil, err
	}
	s.searched = x
	if x.changed >= saveAfter {
		s.saveSearch(x, view)
	}
	return x.sources(), nil
}

// isIndexDamage reports whether an error is about the index, which can be made again.
func isIndexDamage(err error) bool {
	return errors.Is(err, search.ErrDamaged) || errors.Is(err, index.ErrPage)
}

func (x *searchIndex) sources() []search.Source {
	list := make([]search.Source, len(x.segments))
	for i, seg := range x.segments {
		list[i] = seg.Source
	}
	return list
}

func (x *searchIndex) close() {
	for _, seg := range x.segments {
		seg.close()
	}
}

func (g *searchSegment) close() {
	if g.pages != nil {
		_ = g.pages.Close() // opened for reading
	}
}

// loadTries is how often the manifest is read again where a file that it names is gone: another process has just replaced both.
const loadTries = 3

// loadSearch returns nil where the cache has no index that can be used.
func (s *Store) loadSearch() *searchIndex {
	for range loadTries {
		payload, _, ok := s.Cache.Load(index.SearchName)
		if !ok {
			return nil
		}
		m, err := search.DecodeManifest(payload)
		if err != nil {
			return nil
		}
		x := &searchIndex{tips: map[string]format.ID{}, loaded: payload}
		for _, t := range m.Tips {
			x.tips[t.Name] = t.ID
		}
		for _, p := range m.Segments {
			x.replaced = append(x.replaced, p.Name)
			var seg *searchSegment
			if seg, err = s.openSegment(p.Name, p.Hidden); err != nil {
				break
			}
			x.segments = append(x.segments, seg)
		}
		if err == nil {
			return x
		}
		x.close()
		if !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return nil
}

func (s *Store) openSegment(name string, hidden map[uint32]bool) (*searchSegment, error) {
	if !strings.HasPrefix(name, index.SearchPrefix) || strings.ContainsAny(name, `/\`) {
		return nil, search.ErrDamaged
	}
	pages, err := s.Cache.OpenPages(name)
	if err != nil {
		return nil, err
	}
	seg := &searchSegment{name: name, pages: pages, Source: search.Source{Hidden: hidden}}
	if seg.Segment, err = search.OpenSegment(pages, pages.Size()); err != nil {
		seg.close()
		return nil, err
	}
	return seg, nil
}

// renewSearch brings x up to view.
func (s *Store) renewSearch(x *searchIndex, view *refs.View) error {
	now := map[string]format.ID{}
	sessions := map[string]bool{}
	for _, name := range view.Names("sessions/") {
		branch := strings.TrimPrefix(name, "sessions/")
		now[branch] = view.Get(name).ID
		if x.tips[branch] != now[branch] {
			sessions[sessionOf(branch)] = true
		}
	}
	for branch := range x.tips {
		if now[branch].IsZero() {
			sessions[sessionOf(branch)] = true
		}
	}
	r := &searchRenewal{s: s, x: x, rewound: map[format.ID]bool{}}
	names := make([]string, 0, len(sessions))
	for name := range sessions {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c, err := s.searchChange(view, name, x.tips, now)
		if err == nil {
			err = r.apply(name, c)
		}
		if err != nil {
			return err
		}
	}
	x.tips = now
	return r.flush()
}

func sessionOf(branch string) string {
	session, _, _ := strings.Cut(branch, "/")
	return session
}

// searchChange is what becomes of a session's documents.
type searchChange struct {
	there []sayable
	gone  []sayable
	whole bool // there is all; everything else is gone
}

// searchChange compares a session as it was with what it is.
func (s *Store) searchChange(view *refs.View, session string, old, now map[string]format.ID) (c searchChange, err error) {
	was, is := branchesOf(session, old), branchesOf(session, now)
	if len(is) == 0 {
		return searchChange{whole: true}, nil
	}
	moved := slices.DeleteFunc(slices.Clone(is), func(b string) bool { return old[b] == now[b] })
	if slices.Equal(was, is) && len(moved) == 1 {
		c, ok, err := s.movedBranch(view, old[moved[0]], now[moved[0]], len(is) > 1)
		// What a branch stood on before may be gone from the store by now.
		if ok || err != nil && !errors.Is(err, objects.ErrNotFound) {
			return c, err
		}
	}
	list, err := s.sessionDocs(view, session)
	return searchChange{there: list, whole: true}, err
}

func branchesOf(session string, tips map[string]format.ID) []string {
	var list []string
	for name := range tips {
		if sessionOf(name) == session {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// movedBranch is searchChange for a session of which one branch has moved. ok is false where what it leaves may belong to other branches, too.
func (s *Store) movedBranch(view *refs.View, from, to format.ID, others bool) (c searchChange, ok bool, err error) {
	base, err := s.Base(from, to)
	if err != nil || others && base != from {
		return c, false, err
	}
	past, err := s.branchWalk(chain{from, base})
	if err != nil || past.joins {
		return c, false, err
	}
	next, err := s.branchWalk(chain{to, base})
	if err != nil || next.joins {
		return c, false, err
	}
	known := map[format.ID]bool{}
	for _, f := range next.list {
		known[f.id] = true
	}
	for _, f := range past.list {
		if !known[f.id] {
			known[f.id] = true
			c.gone = append(c.gone, f)
		}
	}
	// Messages before the base that have another newest version now.
	for _, id := range append(past.amended, next.amended...) {
		if known[id] {
			continue
		}
		known[id] = true
		e, err := s.entry(id)
		if err != nil {
			return c, false, err
		}
		c.there = append(c.there, sayable{id: id, seq: e.Seq})
	}
	if err := s.setNewest(view, c.there); err != nil {
		return c, false, err
	}
	if err := s.setNewest(view, next.list[:next.standing]); err != nil {
		return c, false, err
	}
	c.there = append(next.list, c.there...)
	return c, true, nil
}

// branchWalk walks a chain and what was rewound from it.
func (s *Store) branchWalk(c chain) (*walk, error) {
	w := &walk{s: s}
	left, err := w.along(c, false)
	w.standing = len(w.list)
	if err == nil && !w.joins {
		err = w.rewound(left)
	}
	return w, err
}

// searchRenewal puts changes into an index.
type searchRenewal struct {
	s       *Store
	x       *searchIndex
	b       search.Builder
	rewound map[format.ID]bool // versions in b that were rewound
}

func (r *searchRenewal) apply(session string, c searchChange) error {
	if c.whole {
		if err := r.hideOthers(session, c.there); err != nil {
			return err
		}
	}
	for _, f := range c.gone {
		if _, err := r.mark(session, f, true); err != nil {
			return err
		}
	}
	for _, f := range slices.Backward(c.there) { // oldest first, as they lie on the disk
		has, err := r.mark(session, f, false)
		if err != nil {
			return err
		}
		if !has {
			if err := r.add(session, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// hideOthers hides what the index has of a session beside list.
func (r *searchRenewal) hideOthers(session string, list []sayable) error {
	var keep map[format.ID]bool
	for _, seg := range r.x.segments {
		first, end := seg.Range(session)
		if first < end && keep == nil {
			keep = make(map[format.ID]bool, len(list))
			for _, f := range list {
				keep[f.id] = true
			}
		}
		for doc := first; doc < end; doc++ {
			id, _, err := seg.Entry(doc)
			if err != nil {
				return err
			}
			if !keep[id] {
				r.hide(seg, doc, false)
			}
		}
	}
	return nil
}

// mark makes the documents of an entry what f says they are, or gone. has is true where the index has its text.
func (r *searchRenewal) mark(session string, f sayable, gone bool) (has bool, err error) {
	for _, seg := range r.x.segments {
		docs, err := seg.Find(session, f.seq, f.id)
		if err != nil {
			return false, err
		}
		for _, doc := range docs {
			_, version, err := seg.Entry(doc)
			switch {
			case err != nil:
				return false, err
			case gone || version != f.version() || has:
				r.hide(seg, doc, false)
			case f.rewound:
				has = true
				r.hide(seg, doc, true)
			default:
				has = true
				if _, hidden := seg.Hidden[doc]; hidden {
					delete(seg.Hidden, doc)
					r.x.changed++
				}
			}
		}
	}
	return has, nil
}

func (r *searchRenewal) hide(seg *searchSegment, doc uint32, rewound bool) {
	if was, hidden := seg.Hidden[doc]; !hidden || was != rewound {
		seg.Hidden[doc] = rewound
		r.x.changed++
	}
}

func (r *searchRenewal) add(session string, f sayable) error {
	doc, ok, err := r.s.document(session, f)
	if err != nil || !ok {
		return err
	}
	r.b.Add(doc)
	r.x.changed++
	if f.rewound {
		r.rewound[f.version()] = true
	}
	if r.b.Full() {
		return r.flush()
	}
	return nil
}

// flush makes a segment of what was added.
func (r *searchRenewal) flush() error {
	if r.b.Docs() == 0 {
		return nil
	}
	large := r.b.Full()
	segment, b, err := r.b.Segment()
	if err != nil {
		return err
	}
	seg := &searchSegment{bytes: b, Source: search.Source{Segment: segment, Hidden: map[uint32]bool{}}}
	for doc := uint32(0); len(r.rewound) > 0 && int(doc) < segment.Docs(); doc++ {
		_, version, err := segment.Entry(doc)
		if err != nil {
			return err
		}
		if r.rewound[version] {
			seg.Hidden[doc] = true
		}
	}
	clear(r.rewound)
	if large && !r.x.noWrite {
		// A large index is not held in memory whole, if it can be helped.
		if named, err := r.s.writeSegment([]*searchSegment{seg}); err == nil {
			seg = named
		} else {
			r.x.noWrite = true
		}
	}
	r.x.segments = append(r.x.segments, seg)
	return nil
}

// writeSegment merges segments into one in the cache.
func (s *Store) writeSegment(list []*searchSegment) (*searchSegment, error) {
	w, err := s.Cache.NewPages()
	if err != nil {
		return nil, err
	}
	defer w.Discard()
	var hidden map[uint32]bool
	if len(list) == 1 && list[0].bytes != nil {
		hidden = list[0].Hidden
		_, err = w.Write(list[0].bytes)
	} else {
		sources := make([]search.Source, len(list))
		for i, seg := range list {
			sources[i] = seg.Source
		}
		_, hidden, err = search.Merge(w, sources)
	}
	if err != nil {
		return nil, err
	}
	name, err := w.Name(index.SearchPrefix)
	if err != nil {
		return nil, err
	}
	return s.openSegment(name, hidden)
}

// saveSearch writes the index to the cache, if it can. Of the segments so many are merged that each is at least twice as large as the one after it: there are as
// many as the logarithm of the number of documents, and each document is written that often.
func (s *Store) saveSearch(x *searchIndex, view *refs.View) {
	if x.noWrite {
		return
	}
	from, size := len(x.segments), 0
	for i, seg := range slices.Backward(x.segments) {
		if seg.name == "" || seg.size() < 2*size {
			from = i
		}
		size += seg.size()
	}
	if last := x.segments[from:]; len(last) > 1 || len(last) == 1 && last[0].name == "" {
		seg, err := s.writeSegment(last)
		if err != nil {
			x.noWrite = true
			return
		}
		for _, old := range last {
			old.close()
		}
		x.segments = append(x.segments[:from:from], seg)
	}
	m := &search.Manifest{}
	for name, id := range x.tips {
		m.Tips = append(m.Tips, search.Tip{Name: name, ID: id})
	}
	slices.SortFunc(m.Tips, func(a, b search.Tip) int { return strings.Compare(a.Name, b.Name) })
	for _, seg := range x.segments {
		m.Segments = append(m.Segments, search.Part{Name: seg.name, Hidden: seg.Hidden})
	}
	if there, _, _ := s.Cache.Load(index.SearchName); !bytes.Equal(there, x.loaded) {
		return // another process was faster; what it wrote is as good
	}
	payload := m.Encode()
	if err := s.Cache.Replace(index.SearchName, index.Stamp{Number: view.Number, Digest: view.Digest}, payload); err != nil {
		x.noWrite = true
		return
	}
	s.sweepSearch(x, m)
	x.loaded, x.changed = payload, 0
	x.replaced = x.replaced[:0]
	for _, p := range m.Segments {
		x.replaced = append(x.replaced, p.Name)
	}
}

// size is how many documents are worth keeping.
func (g *searchSegment) size() int {
	n := g.Docs()
	for _, rewound := range g.Hidden {
		if !rewound {
			n--
		}
	}
	return n
}

// sweepSearch removes the segments that neither the manifest in the cache names nor the one before it: a reader that has just read that one still finds them.
func (s *Store) sweepSearch(x *searchIndex, m *search.Manifest) {
	names, err := s.Cache.Names(index.SearchPrefix)
	if err != nil {
		return
	}
	for _, name := range names {
		named := slices.ContainsFunc(m.Segments, func(p search.Part) bool { return p.Name == name })
		if !named && !slices.Contains(x.replaced, name) {
			_ = s.Cache.Remove(name) // the next one to write tries again
		}
	}
}
