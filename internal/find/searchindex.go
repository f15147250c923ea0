package find

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// searchIndex is the index of everything that a search can find, as of some tips of branches. Its
// content depends only on these tips. It is brought up to date by comparing them with the tips of a
// view.
type searchIndex struct {
	tips     branchTips
	segments []*searchSegment
	loaded   []byte   // the manifest in the cache; nil if there was none
	replaced []string // the files that the manifest names
	changed  int      // the number of documents added or hidden since
	noWrite  bool     // the cache cannot be written
}

// searchSegment is a segment in the cache or, if it has no name, in memory.
type searchSegment struct {
	search.Source
	name  string
	pages *cache.Pages
	bytes []byte
}

// dropSearch closes the index of this process. The next search opens it again.
func (s *Reader) dropSearch() {
	s.searching.Lock()
	defer s.searching.Unlock()
	if s.index != nil {
		s.index.close()
		s.index = nil
	}
}

// withIndex calls ask with the sources that q may search. If the index turns out to be damaged,
// withIndex makes it anew and calls ask again.
func (s *Reader) withIndex(view *refs.View, q SearchQuery, ask func([]search.Source) error) error {
	return s.withIndexAt(view, q, math.MaxUint64, ask)
}

// maxBehind is about how many messages that the index lacks are read while a model waits.
const maxBehind = 1024

// withNearIndex is withIndex while a model waits: with an index that is far behind, it asks of
// what that has, and of some more. The next call finds this there.
func (s *Reader) withNearIndex(view *refs.View, ask func([]search.Source) error) error {
	return s.withIndexAt(view, SearchQuery{}, maxBehind, ask)
}

// CatchUpAll brings the index up to date, in steps that are kept, until that is done or stop says
// so.
func (s *Reader) CatchUpAll(view *refs.View, stop func() bool) error {
	for most := uint64(maxBehind); !stop(); most *= 2 {
		err := s.withIndexAt(view, SearchQuery{}, most, func([]search.Source) error { return nil })
		if err != nil || s.isUpToDate(view) {
			return err
		}
	}
	return nil
}

func (s *Reader) isUpToDate(view *refs.View) bool {
	s.searching.Lock()
	defer s.searching.Unlock()
	now := branchTipsIn(view, "sessions/")
	return s.index != nil && maps.EqualFunc(now, s.index.tips,
		func(a, b map[string]format.ID) bool { return maps.Equal(a, b) })
}

// withIndexAt is withIndex with an index that is brought up to date by reading at most most
// messages.
func (s *Reader) withIndexAt(
	view *refs.View, q SearchQuery, most uint64, ask func([]search.Source) error,
) error {
	s.searching.Lock()
	defer s.searching.Unlock()
	once := func(fresh bool) error {
		sources, err := s.searchSources(view, fresh, most)
		if err == nil && q.Branch != "" {
			sources, err = s.onlyBranch(view, q, sources)
		}
		if err != nil {
			return err
		}
		return ask(sources)
	}
	err := once(false)
	if isIndexDamage(err) {
		err = once(true)
	}
	return err
}

// searchSources returns the index as of view, as far as at most most messages bring it there. If
// fresh is true, it ignores the cached index. The caller holds s.searching.
func (s *Reader) searchSources(
	view *refs.View, fresh bool, most uint64,
) ([]search.Source, error) {
	s.Cache.Begin()
	if fresh && s.index != nil {
		s.index.close()
		s.index = nil
	}
	x := s.index
	if x == nil && !fresh {
		x = s.loadSearch()
	}
	if x == nil {
		x = s.emptySearch()
	}
	s.index = nil // after an error its state is unknown
	if err := s.updateSearch(x, view, most); err != nil {
		x.close()
		return nil, err
	}
	s.index = x
	if x.changed >= history.SaveAfter {
		s.saveSearch(x, view, 1)
	}
	return x.sources(), nil
}

// emptySearch returns an index without documents, which replaces the one in the cache.
func (s *Reader) emptySearch() *searchIndex {
	there, _, _ := s.Cache.Load(cache.SearchName)
	return &searchIndex{tips: branchTips{}, loaded: there}
}

// isIndexDamage reports whether an error means that the index is damaged. The index can be made
// anew.
func isIndexDamage(err error) bool {
	return errors.Is(err, search.ErrDamaged) || errors.Is(err, cache.ErrPage)
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

// loadTries is the number of times that the manifest is read if one of its files is missing,
// because another process has just replaced both.
const loadTries = 3

// loadSearch returns the index in the cache, or nil if it cannot be used.
func (s *Reader) loadSearch() *searchIndex {
	for range loadTries {
		payload, _, ok := s.Cache.Load(cache.SearchName)
		if !ok {
			return nil
		}
		m, err := search.DecodeManifest(payload)
		if err != nil {
			return nil
		}
		x := &searchIndex{tips: branchTips{}, loaded: payload}
		for _, t := range m.Tips {
			if session, branch, ok := strings.Cut(t.Name, "/"); ok {
				x.tips.set(session, branch, t.ID)
			}
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

func (s *Reader) openSegment(name string, hidden map[uint32]bool) (*searchSegment, error) {
	if !strings.HasPrefix(name, cache.SearchPrefix) || strings.ContainsAny(name, `/\`) {
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

// writeSegment merges segments into one segment in the cache.
func (s *Reader) writeSegment(list []*searchSegment) (*searchSegment, error) {
	hidden := map[uint32]bool{}
	if len(list) == 1 && list[0].bytes != nil {
		hidden = list[0].Hidden
	}
	return s.newSegment(hidden, func(w io.Writer) error {
		if len(list) == 1 && list[0].bytes != nil {
			_, err := w.Write(list[0].bytes)
			return err
		}
		sources := make([]search.Source, len(list))
		for i, seg := range list {
			sources[i] = seg.Source
		}
		_, kept, err := search.Merge(w, sources)
		maps.Copy(hidden, kept)
		return err
	})
}

// newSegment makes a segment in the cache of what write writes.
func (s *Reader) newSegment(
	hidden map[uint32]bool, write func(io.Writer) error,
) (*searchSegment, error) {
	w, err := s.Cache.NewPages()
	if err != nil {
		return nil, err
	}
	defer w.Discard()
	if err := write(w); err != nil {
		return nil, err
	}
	name, err := w.Name(cache.SearchPrefix)
	if err != nil {
		return nil, err
	}
	return s.openSegment(name, hidden)
}

// saveSearch writes the index to the cache if it can, and reports whether it did. It merges
// segments so that each is at least twice as large as the next one, if more than least segments
// would become one. Both the number of segments and the number of times that a document is written
// are then logarithmic.
func (s *Reader) saveSearch(x *searchIndex, view *refs.View, least int) bool {
	if x.noWrite {
		return false
	}
	from, size := len(x.segments), 0
	for i, seg := range slices.Backward(x.segments) {
		if seg.name == "" || seg.size() < 2*size {
			from = i
		}
		size += seg.size()
	}
	if err := s.mergeSegments(x, from, least); err != nil {
		x.noWrite = true
		return false
	}
	m := &search.Manifest{}
	for session, branches := range x.tips {
		for branch, id := range branches {
			m.Tips = append(m.Tips, search.Tip{Name: session + "/" + branch, ID: id})
		}
	}
	slices.SortFunc(m.Tips, func(a, b search.Tip) int { return strings.Compare(a.Name, b.Name) })
	for _, seg := range x.segments {
		m.Segments = append(m.Segments, search.Part{Name: seg.name, Hidden: seg.Hidden})
	}
	if there, _, _ := s.Cache.Load(cache.SearchName); !bytes.Equal(there, x.loaded) {
		return false // another process has saved an index, which is as good
	}
	payload := m.Encode()
	if err := s.Cache.Replace(cache.SearchName,
		cache.Stamp{Number: view.Number, Digest: view.Digest}, payload); err != nil {
		x.noWrite = true
		return false
	}
	s.sweepSearch(x, m)
	x.loaded, x.changed = payload, 0
	x.replaced = x.replaced[:0]
	for _, p := range m.Segments {
		x.replaced = append(x.replaced, p.Name)
	}
	return true
}

// mergeSegments makes one segment of the segments from an index on, if they are more than least.
// Else it writes those that are only in memory.
func (s *Reader) mergeSegments(x *searchIndex, from, least int) error {
	last := x.segments[from:]
	if len(last) > least {
		seg, err := s.writeSegment(last)
		if err != nil {
			return err
		}
		for _, old := range last {
			old.close()
		}
		x.segments = append(x.segments[:from:from], seg)
		return nil
	}
	for i, old := range last {
		if old.name != "" {
			continue
		}
		seg, err := s.writeSegment(last[i : i+1])
		if err != nil {
			return err
		}
		last[i] = seg
	}
	return nil
}

// size returns the number of documents that a merge would keep.
func (g *searchSegment) size() int {
	n := g.Docs()
	for _, rewound := range g.Hidden {
		if !rewound {
			n--
		}
	}
	return n
}

// sweepSearch removes segments that neither the manifest in the cache names nor the manifest before
// it: a process that has just read the older manifest still finds its files.
func (s *Reader) sweepSearch(x *searchIndex, m *search.Manifest) {
	names, err := s.Cache.Names(cache.SearchPrefix)
	if err != nil {
		return
	}
	for _, name := range names {
		named := slices.ContainsFunc(m.Segments, func(p search.Part) bool { return p.Name == name })
		if !named && !slices.Contains(x.replaced, name) {
			_ = s.Cache.Remove(name) // the next save tries again
		}
	}
}
