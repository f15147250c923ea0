// Package find answers what somebody asks a store: which messages have these words (Reader.Search,
// Reader.Grep), which turns tell of it (Reader.Answers), what was decided about a file
// (Reader.About), and how it was done before (Reader.Outcomes).
//
// It promises that a Reader never writes to the store. The index is kept in the cache, which may be
// deleted at any time: what a call returns depends on the view of the refs that the caller passes.
//
// Files named search*.go keep and ask the index. The ranking is made in package search.
package find

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Reader finds messages, turns and sessions. It has no way to write.
type Reader struct {
	*sessions.Reader
	clusters  *clusters.Reader
	summaries *summaries.Reader

	searching sync.Mutex
	index     *searchIndex // nil before the first search
}

// NewReader returns a reader over the rooms below.
func NewReader(
	h *history.Reader, clusters *clusters.Reader, summaries *summaries.Reader,
) *Reader {
	r := &Reader{Reader: sessions.NewReader(h, clusters), clusters: clusters,
		summaries: summaries}
	h.OnForget(r.dropSearch)
	return r
}

// Clusters returns the clusters of the shared forest: first the live ones in the order in which
// they were opened, then the tombstones, newest first.
func (s *Reader) Clusters(view *refs.View) ([]clusters.ClusterInfo, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	return s.clusters.Infos(st)
}

// ClustersWith returns the clusters that have some of these entries, in the order of Clusters; by
// their numbers, the entries in the order in which they arrived; and how many clusters there are.
func (s *Reader) ClustersWith(view *refs.View, entries map[format.ID]bool) (
	list []clusters.ClusterInfo, members map[uint64][]format.ID, all int, err error,
) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, nil, 0, err
	}
	places, err := st.Find(entries)
	if err != nil {
		return nil, nil, 0, err
	}
	members = map[uint64][]format.ID{}
	for _, id := range slices.SortedFunc(maps.Keys(places), func(a, b format.ID) int {
		return cmp.Compare(places[a].Offset, places[b].Offset)
	}) {
		members[places[id].Cluster] = append(members[places[id].Cluster], id)
	}
	list, err = s.clusters.InfosOf(st, func(n uint64) bool { return members[n] != nil })
	if err != nil {
		return nil, nil, 0, err
	}
	_, evicted, err := st.NewestEvicted(0)
	return list, members, st.LiveCount() + int(evicted), err
}

// CoversText returns the text of a list of covers: the texts of models as they are, and of ranked
// extracts the best sentences, in reading order, that fit into so many tokens. The best sentence is
// always included. found is false if there is no summary, or if its text was forgotten.
func (s *Reader) CoversText(
	covers []format.Cover, tokens int,
) (text string, found bool, err error) {
	var gone *objects.GoneError
	list, err := s.summaries.Parts(covers)
	if errors.As(err, &gone) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	var said []string
	var ranked []summarize.Sentence
	for _, p := range list {
		if p.Text != "" {
			said = append(said, p.Text)
		}
		ranked = summaries.MergeExtracts(ranked, p.Sentences)
	}
	for _, sentence := range summarize.Order(fitting(ranked, tokens)) {
		said = append(said, sentence.Text)
	}
	return strings.Join(said, "\n"), len(said) > 0, nil
}

// fitting returns the sentences of a ranked list that fit into so many tokens, the best first. It
// skips a sentence that does not fit, but never the first.
func fitting(ranked []summarize.Sentence, tokens int) []summarize.Sentence {
	var list []summarize.Sentence
	used := 0
	for i, sentence := range ranked {
		n := summarize.Tokens(sentence.Text) + 1
		if i > 0 && used+n > tokens {
			continue
		}
		list = append(list, sentence)
		used += n
	}
	return list
}
