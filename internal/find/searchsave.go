package find

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

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
