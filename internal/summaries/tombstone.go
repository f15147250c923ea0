package summaries

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/objects"
)

// stoneOf returns the tombstone that was made with the summary of the cluster if it still fits,
// else a new one.
func (t *Tx) stoneOf(st *forest.State, c *forest.Cluster, a SealedAnswer) (format.ID, error) {
	if !a.stone.IsZero() && c.Covers[0].Summary == a.Summary && c.Arrival == a.arrival {
		return a.stone, nil
	}
	members, err := st.Members(c)
	if err != nil {
		return format.ID{}, err
	}
	said, err := t.summarySaid(c.Covers[0].Summary)
	if err != nil {
		return format.ID{}, err
	}
	// The node has to be in the store, whether or not the forest was written since the cluster grew.
	node, err := t.clusters.AddNodes(members)
	if err != nil {
		return format.ID{}, err
	}
	others, err := t.othersNow(st)
	if err != nil {
		return format.ID{}, err
	}
	raw, _, err := t.tombstone(SealedAnswer{
		Claim:   Claim{Cluster: c.Number, Node: node, arrival: c.Arrival, Members: members},
		Summary: c.Covers[0].Summary,
	}, said, others, &entries{Reader: t.Reader.Reader})
	if err != nil {
		return format.ID{}, err
	}
	return t.store.Add(raw), nil
}

// The line of a tombstone names what is rare. It is compared with the newest tombstones and with
// the newest clusters. Both are few, because they are read under the lock.
const (
	comparedLines    = 64
	comparedClusters = 16
)

// evictedLines returns the lines of the newest tombstones, the newest first, to compare a line
// with.
func (s *Reader) evictedLines(st *forest.State) ([]string, error) {
	newest, _, err := st.NewestEvicted(comparedLines)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(newest))
	for i, e := range newest {
		if _, lines[i], err = s.clusters.Tombstone(e.Tombstone); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// othersNow returns the words of other clusters as of the first eviction of a transaction.
func (t *Tx) othersNow(st *forest.State) (*summarize.Others, error) {
	if t.others != nil {
		return t.others, nil
	}
	lines, err := t.evictedLines(st)
	if err != nil {
		return nil, err
	}
	others := &summarize.Others{}
	for _, line := range lines {
		others.AddLine(line)
	}
	live := clusters.ByArrival(st)
	for _, c := range live[max(0, len(live)-comparedClusters):] {
		covers := RealCovers(c.Covers, 0, c.Count())
		if len(covers) == 0 {
			continue
		}
		said, err := t.summarySaid(covers[0].Summary)
		if err != nil {
			return nil, err
		}
		others.Add(said)
	}
	t.others = others
	return others, nil
}

// summarySaid returns the sources for the line of a tombstone that a summary has, none if its
// words were forgotten.
func (s *Reader) summarySaid(id format.ID) ([]summarize.Source, error) {
	parts, err := s.Parts([]format.Cover{{Summary: id}})
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if text := parts[0].Text; text != "" {
		return []summarize.Source{{Text: text}}, nil
	}
	return sourcesOf(parts[0].Sentences), nil
}

// tombstone builds the object of an evicted cluster. Its line is made of the summary, which is
// small, and names what other clusters do not have. It only reads others.
func (s *Reader) tombstone(
	a SealedAnswer, said []summarize.Source, others *summarize.Others, read *entries,
) (raw format.Raw, line string, err error) {
	if line, err = lineOf(a.Members, said, others, read); err != nil {
		return raw, line, err
	}
	stone := &format.Tombstone{Cluster: a.Cluster, Node: a.Node, Count: uint64(len(a.Members)),
		Arrival: a.arrival, Summary: a.Summary}
	raw, err = s.seal([]byte(line), format.MediaText, func(b format.Body) ([]byte, error) {
		stone.Body = b
		return stone.Encode()
	})
	if err != nil {
		return raw, line, fmt.Errorf("cluster %d: %w", a.Cluster, err)
	}
	return raw, line, nil
}

// lineOf returns the line of a tombstone: the label of the cluster, the count and the days.
func lineOf(
	members []format.ID, said []summarize.Source, others *summarize.Others, read *entries,
) (string, error) {
	first, err := read.Header(members[0])
	if err != nil {
		return "", err
	}
	last, err := read.Header(members[len(members)-1])
	if err != nil {
		return "", err
	}
	topic, err := topicFrom(read.Entry, members[:min(len(members), clusters.OpeningMembers)], said)
	if err != nil {
		return "", err
	}
	return others.Label(topic) + " " + summarize.Span(len(members), first.Time, last.Time), nil
}
