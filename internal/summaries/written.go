package summaries

import (
	"errors"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/objects"
)

// A summary in words, by a model or a person, stays as long as its members stay unchanged. The
// built-in summarizer summarizes the members beside it and never replaces it.

// The summarizer that joinSummaries names: it words nothing, it puts the texts of several summaries
// into one.
const (
	joiner        = "joined"
	joinerVersion = "1"
)

// uncovered is a run of members of a cluster from the offset from up to the offset to.
type uncovered struct{ from, to uint64 }

// WrittenCovers returns the covers whose summaries are in words of a model or a person. It leaves
// out extracts and forgotten texts.
func (s *Reader) WrittenCovers(covers []format.Cover) ([]format.Cover, error) {
	var out []format.Cover
	for _, v := range covers {
		sum, err := headerOf(s.Reader, v.Summary)
		if err != nil {
			return nil, err
		}
		if sum.Body.Media != format.MediaText || sum.Summarizer == Extractive {
			continue
		}
		text, _, err := s.ReadText(v.Summary)
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
func (s *Reader) uncoveredBeside(c *forest.Cluster, from, to uint64) ([]uncovered, error) {
	real := RealCovers(c.Covers, from, to)
	stand, err := s.WrittenCovers(real)
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

// joinSummaries joins the several real summaries of a cluster into one, which the cluster needs
// before it can be evicted: texts as they are, and of an extract the best sentences that fit into
// an answer. ok is false if there is no such summary because a member has none or one of them has
// reached MaxGeneration.
func (t *Tx) joinSummaries(name string, st *forest.State, c *forest.Cluster) (ok bool, err error) {
	real := RealCovers(c.Covers, 0, c.Count())
	if !c.Renderable() || len(real) != len(c.Covers) {
		return false, nil
	}
	sum := &format.Summary{Generation: 1, Summarizer: joiner, Version: joinerVersion}
	var texts []string
	for _, v := range real {
		text, generation, err := t.ReadText(v.Summary)
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
	if sum.Node, err = t.clusters.AddNodes(members); err != nil {
		return false, err
	}
	text := []byte(strings.Join(texts, "\n"))
	object, err := t.SealNew(text, format.MediaText, func(b format.Body) ([]byte, error) {
		sum.Body = b
		return sum.Encode()
	})
	if err != nil {
		return false, err
	}
	err = t.store.DecideIn(name, format.Decision{
		Kind: format.DecideSettle, Cluster: c.Number, ID: t.store.Add(object), Count: c.Count(),
	})
	if err == nil {
		err = t.store.Flush() // the tombstone is made of it
	}
	return err == nil, err
}

// bestOf returns the best sentences of an extract, in order, within the tokens of an answer. It
// returns "" if the extract was forgotten.
func (s *Reader) bestOf(id format.ID) (string, error) {
	list, _, err := s.ReadExtract(id)
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
	lines := lists.Map(sourcesOf(list), func(s summarize.Source) string { return s.Text })
	return strings.Join(lines, "\n"), nil
}
