package session

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/search"
)

// documents returns what q may find, by session and as it was said.
func (s *Store) documents(view *refs.View, q SearchQuery) (list []search.Document, err error) {
	if err := q.check(view); err != nil {
		return nil, err
	}
	err = s.withIndex(view, q, func(sources []search.Source) error {
		list, err = search.Each(sources, q.options())
		return err
	})
	return list, err
}

// searchPattern is Search for a pattern. It reads texts from the newest on until there are hits
// enough.
func (s *Store) searchPattern(view *refs.View, q SearchQuery) ([]Hit, error) {
	list, err := s.documents(view, q)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b search.Document) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Seq, a.Seq), bytes.Compare(a.ID[:], b.ID[:]))
	})
	copies := map[uint64]int{}
	for _, d := range list {
		copies[d.Print]++
	}
	names := &branchNames{s: s, view: view, out: map[string]map[format.ID]bool{}}
	given := map[uint64]bool{}
	var hits []Hit
	for _, d := range list {
		if len(hits) == q.Most {
			break
		}
		if given[d.Print] {
			continue
		}
		shown, ok, err := s.documentText(d, q.Reader)
		if err != nil {
			return nil, err
		}
		at := q.Pattern.FindStringIndex(shown.Text)
		if !ok || at == nil {
			continue
		}
		h := Hit{
			ID: d.ID, Score: 1, Session: d.Session, Branch: q.Branch, Shown: shown, Text: shown.Text, Rewound: d.Rewound,
			Excerpt: search.Passage(shown.Text, at[0], at[1], ExcerptLen),
		}
		if d.Print != 0 {
			given[d.Print], h.Copies = true, copies[d.Print]-1
		}
		if h.Branch == "" && !d.Rewound {
			if h.Branch, err = names.of(d.Session, d.ID); err != nil {
				return nil, err
			}
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// searchWords is Search for words that are everywhere: first the messages that say just that, then
// those that say it among other words; the newest first.
func (s *Store) searchWords(view *refs.View, q SearchQuery, whole, within *regexp.Regexp) ([]Hit, error) {
	q.Pattern = whole
	hits, err := s.searchPattern(view, q)
	if err != nil || len(hits) >= q.Most {
		return hits, err
	}
	q.Pattern = within
	more, err := s.searchPattern(view, q)
	for _, h := range more {
		known := slices.ContainsFunc(hits, func(o Hit) bool { return o.ID == h.ID })
		if !known && len(hits) < q.Most {
			hits = append(hits, h)
		}
	}
	return hits, err
}

// documentText reads a document. ok is false where its words were forgotten since it was indexed,
// and where a reader may not see it.
func (s *Store) documentText(d search.Document, r *Reader) (shown *Shown, ok bool, err error) {
	if shown, err = s.Version(d.ID, d.Version); err != nil {
		return nil, false, err
	}
	return shown, shown.Gone == "" && (r == nil || r.Sees(d.ID, shown.Entry)), nil
}

// Line is a line of a message that a pattern matches.
type Line struct {
	Session string
	Shown   *Shown
	Number  int // of the line, from 1
	Text    string
	At      [2]int // the first match: its first byte in Text, and the one after its last
	Rewound bool
}

// Grep calls yield for every line of what q may find that its Pattern matches, by session and as
// they were said. Text, Most, Clusters and Phrases of q do not count.
func (s *Store) Grep(view *refs.View, q SearchQuery, yield func(Line) error) error {
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
			return yield(Line{Session: d.Session, Shown: shown, Number: number, Text: text, At: at, Rewound: d.Rewound})
		}); err != nil {
			return err
		}
	}
	return nil
}

// eachLine calls yield for every line of text that a pattern matches.
func eachLine(text string, pattern *regexp.Regexp, yield func(number int, line string, at [2]int) error) error {
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
