package recall

import "github.com/gemini-ctx/ctx/refs"

// What the tests of this package compare a search with.
const (
	ClusterDepth  = clusterDepth
	WholeDepth    = wholeDepth
	ProjectBudget = projectBudget
)

var (
	ByWords    = byWords
	BranchesOf = branchesOf
)

// RebuildSearch makes the index anew, without what the cache has.
func (s *Reader) RebuildSearch(view *refs.View) error {
	s.searching.Lock()
	defer s.searching.Unlock()
	_, err := s.searchSources(view, true)
	return err
}

// SearchesInMemory reports whether the index could not be written to the cache.
func (s *Reader) SearchesInMemory() bool { return s.index.noWrite }

// DropSearch closes the index of this process, as a forget does.
func (s *Reader) DropSearch() { s.dropSearch() }
