package find

import (
	"iter"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

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
	for some := range slices.Chunk(list, lookAhead) {
		lines, errs := make([][]Line, len(some)), make([]error, len(some))
		s.eachOf(some, func(i int) { lines[i], errs[i] = s.linesOf(some[i], q) })
		for i := range some {
			if errs[i] != nil {
				return errs[i]
			}
			for _, l := range lines[i] {
				if err := yield(l); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// linesOf returns the lines of a document that match q.Pattern.
func (s *Reader) linesOf(d search.Document, q SearchQuery) (list []Line, err error) {
	shown, ok, err := s.documentText(d, q.Reader)
	if err != nil || !ok {
		return nil, err
	}
	for number, text := range numbered(shown.Text) {
		if at := q.Pattern.FindStringIndex(text); at != nil {
			list = append(list, Line{Session: d.Session, Shown: shown, Number: number, Text: text,
				At: [2]int(at), Rewound: d.Rewound})
		}
	}
	return list, nil
}

// withoutTwins leaves out what a session of another store says as the one of this store with the
// same beginning does.
func (s *Reader) withoutTwins(
	view *refs.View, list []search.Document,
) ([]search.Document, error) {
	if len(view.Names(history.LabelRefs)) == 0 {
		return list, nil // there is no other store
	}
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

// numbered returns the lines of a text, numbered from 1.
func numbered(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for number := 1; text != ""; number++ {
			line, rest, _ := strings.Cut(text, "\n")
			if !yield(number, strings.TrimSuffix(line, "\r")) {
				return
			}
			text = rest
		}
	}
}
