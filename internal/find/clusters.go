package find

import (
	"errors"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Clusters returns the clusters of the shared forest: first the live ones in the order in which
// they were opened, then the tombstones, newest first.
func (s *Reader) Clusters(view *refs.View) ([]clusters.ClusterInfo, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	return s.clusters.Infos(st)
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
