package find

import (
	"regexp"
	"strings"

	"github.com/gemini-ctx/ctx/internal/history"
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
