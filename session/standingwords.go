package session

import (
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// A summary that a model or a person worded stands for as long as its members are what they were:
// the extractive summariser summarises what lies beside it, and never takes its place.

// The summariser that joinSummaries names: it words nothing, it puts the texts of several summaries
// into one.
const (
	joiner        = "joined"
	joinerVersion = "1"
)

// uncovered is some members of a cluster that follow each other: from is the first, to the one
// after the last.
type uncovered struct{ from, to uint64 }

// standing returns those of some real covers whose words stand. Words of the extractive summariser
// do not, nor words that are gone.
func (s *Store) standing(covers []format.Cover) ([]format.Cover, error) {
	var out []format.Cover
	for _, v := range covers {
		header, err := s.Objects.Header(v.Summary)
		if err != nil {
			return nil, err
		}
		sum, err := format.DecodeSummary(header)
		if err != nil {
			return nil, err
		}
		if sum.Body.Media != format.MediaText || sum.Summarizer == extractive {
			continue
		}
		text, _, err := s.worded(v.Summary)
		if err != nil {
			return nil, err
		}
		if text != "" {
			out = append(out, v)
		}
	}
	return out, nil
}

// uncoveredBeside returns the runs of a cluster's members inside from..to that are under no
// standing summary and that want an extract: those that have no real summary of just their members
// yet.
func (s *Store) uncoveredBeside(c *forest.Cluster, from, to uint64) ([]uncovered, error) {
	real := realCovers(c.Covers, from, to)
	stand, err := s.standing(real)
	if err != nil {
		return nil, err
	}
	var out []uncovered
	end := func(r uncovered) {
		done := slices.ContainsFunc(real, func(v format.Cover) bool {
			return v.Offset == r.from && v.Offset+v.Count == r.to
		})
		if r.from < r.to && (len(stand) == 0 || !done) {
			out = append(out, r)
		}
	}
	at := from
	for _, v := range stand {
		end(uncovered{at, v.Offset})
		at = v.Offset + v.Count
	}
	end(uncovered{at, to})
	return out, nil
}

// joinSummaries gives a cluster whose members are all under real summaries, but several of them,
// one that stands for all: the words that stand as they are, and of an extract the best sentences
// that fit into an answer. A cluster needs that before it can be evicted. ok is false where there
// is no such summary: a member has none, or one of them has been summarised over as often as may
// be.
func (t *tx) joinSummaries(name string, st *forest.State, c *forest.Cluster) (ok bool, err error) {
	real := realCovers(c.Covers, 0, c.Count())
	if !c.Frozen() || len(real) != len(c.Covers) {
		return false, nil
	}
	sum := &format.Summary{Generation: 1, Summarizer: joiner, Version: joinerVersion}
	var texts []string
	for _, v := range real {
		text, generation, err := t.worded(v.Summary)
		if err != nil {
			return false, err
		}
		if sum.Generation = max(sum.Generation, generation+1); sum.Generation > MaxGeneration {
			return false, nil
		}
		if text == "" {
			if text, err = t.bestOf(v.Summary); err != nil {
				return false, err
			}
		}
		if text != "" {
			texts = append(texts, text)
		}
		sum.Inputs = append(sum.Inputs, format.Input{Summary: true, ID: v.Summary})
	}
	if len(texts) == 0 {
		return false, nil
	}
	members, err := st.Members(c)
	if err != nil {
		return false, err
	}
	if sum.Node, err = t.addNodes(members); err != nil {
		return false, err
	}
	text := []byte(strings.Join(texts, "\n"))
	object, err := t.sealNew(text, format.MediaText, func(b format.Body) ([]byte, error) {
		sum.Body = b
		return sum.Encode()
	})
	if err != nil {
		return false, err
	}
	err = t.decideIn(name, format.Decision{
		Kind: format.DecideSettle, Cluster: c.Number, ID: t.add(object), Count: c.Count(),
	})
	if err == nil {
		err = t.flush() // the tombstone is made of it
	}
	return err == nil, err
}

// bestOf returns the best sentences of an extract, in order, within the tokens of an answer; ""
// where its words are gone.
func (s *Store) bestOf(id format.ID) (string, error) {
	list, _, err := s.ranked(id)
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	used := 0
	for i, sentence := range list {
		if used += summarize.Tokens(sentence.Text) + 1; used > maxAnswer {
			list = list[:i]
			break
		}
	}
	var lines []string
	for _, source := range sourcesOf(list) {
		lines = append(lines, source.Text)
	}
	return strings.Join(lines, "\n"), nil
}
