package find

import (
	"math"

	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// What the tests of this package compare a search with.
const (
	ClusterDepth = clusterDepth
	WholeDepth   = wholeDepth
)

var ByWords = byWords

// RebuildSearch makes the index anew, without what the cache has.
func (s *Reader) RebuildSearch(view *refs.View) error {
	s.searching.Lock()
	defer s.searching.Unlock()
	_, err := s.searchSources(view, true, math.MaxUint64)
	return err
}

// SearchesInMemory reports whether the index could not be written to the cache.
func (s *Reader) SearchesInMemory() bool { return s.index.noWrite }

// DropSearch closes the index of this process, as a forget does.
func (s *Reader) DropSearch() { s.dropSearch() }

// Documents returns everything that the index has: the one in the cache, or one made anew.
func (s *Reader) Documents(view *refs.View, fresh bool) ([]search.Document, error) {
	s.searching.Lock()
	defer s.searching.Unlock()
	sources, err := s.searchSources(view, fresh, math.MaxUint64)
	if err != nil {
		return nil, err
	}
	return search.Each(sources, search.Options{Rewound: true})
}

// Behind returns the number of changes that the index in the cache lacks; -1 if there is none.
func (s *Reader) Behind(view *refs.View) (int, error) {
	x := s.loadSearch()
	if x == nil {
		return -1, nil
	}
	defer x.close()
	err := s.updateSearch(x, view, math.MaxUint64)
	return x.changed, err
}

// SaveAfter has the index saved whenever so many documents were added.
func (g *Indexing) SaveAfter(docs int) { g.most = docs }
