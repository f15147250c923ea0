package session

import (
	"errors"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// Brief is a summary as a list of clusters shows it: the text of a summariser as it is, of a ranked extract the best sentences that fit into so many
// tokens, in reading order, and the best one always. found is false where there is no summary, or where its words were forgotten.
func (s *Store) Brief(covers []format.Cover, tokens int) (text string, found bool, err error) {
	var gone *objects.GoneError
	list, err := s.parts(covers)
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
		ranked = merge(ranked, p.Sentences)
	}
	for _, sentence := range summarize.Order(fitting(ranked, tokens)) {
		said = append(said, sentence.Text)
	}
	return strings.Join(said, "\n"), len(said) > 0, nil
}

// fitting takes from a ranked list what fits, the best first; a sentence that does not is passed over.
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
