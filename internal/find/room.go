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
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
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

// Line is a line of a message that matches a pattern.
type Line struct {
	Session string
	Shown   *history.Shown
	Number  int // of the line, from 1
	Text    string
	At      [2]int // the first match: its first byte in Text, and the one after its last
	Rewound bool
}

// Grep calls yield for every line that matches q.Pattern, in the entries that q selects, by session
// and in the order of the history. It ignores Text, Limit, Clusters and Phrases of q.
func (s *Reader) Grep(view *refs.View, q SearchQuery, yield func(Line) error) error {
	list, err := s.documents(view, q)
	if err != nil {
		return err
	}
	if list, err = s.withoutTwins(view, list); err != nil {
		return err
	}
	for _, d := range list {
		shown, ok, err := s.documentText(d, q.Reader)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := eachLine(shown.Text, q.Pattern, func(number int, text string, at [2]int) error {
			return yield(Line{Session: d.Session, Shown: shown, Number: number, Text: text, At: at,
				Rewound: d.Rewound})
		}); err != nil {
			return err
		}
	}
	return nil
}

// withoutTwins leaves out what a session of another store says as the one of this store with the
// same beginning does.
func (s *Reader) withoutTwins(
	view *refs.View, list []search.Document,
) ([]search.Document, error) {
	all, err := s.Overviews(view)
	if err != nil {
		return nil, err
	}
	own, here := map[string]string{}, map[string]map[uint64]bool{} // what own sessions say
	for i := range all {
		if own[all[i].Name] = all[i].Also; all[i].Also != "" {
			here[all[i].Also] = map[uint64]bool{}
		}
	}
	for _, d := range list {
		if prints := here[d.Session]; prints != nil && d.Print != 0 {
			prints[d.Print] = true
		}
	}
	return slices.DeleteFunc(list,
		func(d search.Document) bool { return here[own[d.Session]][d.Print] }), nil
}

// eachLine calls yield for every line of a text that matches a pattern.
func eachLine(
	text string, pattern *regexp.Regexp, yield func(number int, line string, at [2]int) error,
) error {
	for number := 1; text != ""; number++ {
		line, rest, _ := strings.Cut(text, "\n")
		line = strings.TrimSuffix(line, "\r")
		if at := pattern.FindStringIndex(line); at != nil {
			if err := yield(number, line, [2]int{at[0], at[1]}); err != nil {
				return err
			}
		}
		text = rest
	}
	return nil
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
