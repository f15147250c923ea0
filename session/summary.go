package session

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// Extractive is the summariser that is built in, as its summaries and the setting summarize.chain name
// it.
const Extractive = "extractive"

const (
	extractive        = Extractive
	extractiveVersion = "3"
)

// ranked reads the sentences of a stored extractive summary, and its generation. A text summary is one sentence of no entry in particular.
func (s *Store) ranked(id format.ID) (list []summarize.Sentence, generation uint64, err error) {
	header, text, err := s.text(id)
	if err != nil {
		return nil, 0, err
	}
	sum, err := format.DecodeSummary(header)
	if err != nil {
		return nil, 0, fmt.Errorf("object %v: %w", id, err)
	}
	if sum.Body.Media != format.MediaExtract {
		return nil, sum.Generation, nil
	}
	list, err = summarize.Decode(text)
	if err != nil {
		return nil, 0, fmt.Errorf("summary %v: %w", id, err)
	}
	return list, sum.Generation, nil
}

// sources reads entries for the summariser. What was forgotten says nothing.
func (s *Store) sources(view *refs.View, ids []format.ID) ([]summarize.Source, error) {
	return sourcesBy(func(id format.ID) (*Shown, error) { return s.latest(view, id) }, ids)
}

// maxSummary is the most tokens of an extractive summary: enough for a rendering at half the length of the largest conversation that one cluster holds
// with the flat strategy, in practice; what a rendering reads of it is bounded.
const maxSummary = 32000

// beyondHalf is what an extract may have beyond half of its sources, so that small clusters are kept nearly whole: a choice among all clusters is
// only as good as what each has to offer. Where half was all, union-find kept 4 points less than flat at a quarter of the length.
const beyondHalf = 400

// half is the most tokens an extractive summary of sources may have: half of what they have and a little more, all where that is little.
func half(sources []summarize.Source) int {
	n := 0
	for _, s := range sources {
		n += summarize.Tokens(s.Text)
	}
	whole := n + len(sources) // each was rounded down
	return min(max(1, min(whole, n/2+beyondHalf)), maxSummary)
}

// shorten cuts a ranked list that was merged of several to what one summary may have.
func shorten(list []summarize.Sentence) []summarize.Sentence {
	used := 0
	for i, sentence := range list {
		if used += summarize.Tokens(sentence.Text) + 1; i > 0 && used > maxSummary {
			return list[:i]
		}
	}
	return list
}

// merge joins ranked lists into one; a text that both have counts once.
func merge(a, b []summarize.Sentence) []summarize.Sentence {
	out := make([]summarize.Sentence, 0, len(a)+len(b))
	seen := map[string]bool{}
	for _, s := range append(slices.Clone(a), b...) {
		if !seen[s.Text] {
			seen[s.Text] = true
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b summarize.Sentence) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Seq, b.Seq), a.Entry.Compare(b.Entry), cmp.Compare(a.Pos, b.Pos))
	})
	return out
}

// sealSummary builds the object of an extractive summary.
func (s *Store) sealSummary(sum *format.Summary, list []summarize.Sentence) (format.Raw, error) {
	return s.sealNew(summarize.Encode(shorten(list)), format.MediaExtract, func(b format.Body) ([]byte, error) {
		sum.Body = b
		return sum.Encode()
	})
}

// sourcesOf takes the sentences of a summary for what the entries said, an entry's sentences together.
func sourcesOf(list []summarize.Sentence) []summarize.Source {
	var out []summarize.Source
	for _, s := range summarize.Order(list) {
		if n := len(out); n > 0 && out[n-1].Entry == s.Entry {
			out[n-1].Text += "\n" + s.Text
			continue
		}
		out = append(out, summarize.Source{Entry: s.Entry, Seq: s.Seq, Role: s.Role, Text: s.Text})
	}
	return out
}
