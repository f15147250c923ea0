package find

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// excerptLen is the largest number of runes of an excerpt.
const excerptLen = 160

// wholeDepth is the number of messages with every term of a query whose texts are compared with the
// query word for word: so many of the best ones, and so many of those that have most of the terms.
const wholeDepth = 8

// rankedHit is a hit of the index, with its text if it was read.
type rankedHit struct {
	search.Hit
	shown  *history.Shown
	quoted int // the number of notes that quote it and are left out
}

// rank asks the index for messages, and compares the best with the query word for word.
func (s *Reader) rank(view *refs.View, parsed *search.Query, q SearchQuery) ([]rankedHit, error) {
	hits, err := s.indexed(view, parsed, q)
	if err != nil {
		return nil, err
	}
	return s.compared(parsed, hits, q)
}

// indexed asks the index for messages. It reads none.
func (s *Reader) indexed(
	view *refs.View, parsed *search.Query, q SearchQuery,
) (hits []search.Hit, err error) {
	o := q.options(view)
	o.Limit = max(q.Limit, clusterDepth)
	o.Shared = func(session string) bool {
		_, shared := history.Owner(view, session)
		return shared
	}
	if q.Reader != nil || parsed.HasPhrases() {
		o.Limit = math.MaxInt32 // any of them may be visible to the reader, or have the phrases
	}
	err = s.withIndex(view, q, func(sources []search.Source) (err error) {
		hits, err = search.Rank(sources, parsed, o)
		return err
	})
	return hits, err
}

// compared is byWords for what the index has.
func (s *Reader) compared(
	parsed *search.Query, hits []search.Hit, q SearchQuery,
) ([]rankedHit, error) {
	most := max(q.Limit, clusterDepth)
	switch {
	case q.Reader != nil:
		most = math.MaxInt32
	case parsed.HasPhrases() && !q.Clusters:
		most = q.Limit + wholeDepth // some may be forgotten, or quote another one
	}
	return byWords(parsed, hits, most,
		func(h search.Hit) (*history.Shown, error) { return s.Version(h.ID, h.Version) })
}

// byWords sorts ranked hits by their texts. Hits without a required phrase are left out. Hits with
// the whole query word for word score higher, and hits with nothing else come first. It returns at
// most most hits; read returns the text of one.
func byWords(
	q *search.Query, ranked []search.Hit, most int, read func(h search.Hit) (*history.Shown, error),
) (kept []rankedHit, err error) {
	best := 0 // the number of hits that are compared word for word, without spare ones
	for _, h := range ranked {
		if q.HasPhrases() && len(kept) == most {
			break
		}
		hit := rankedHit{Hit: h}
		like := h.Whole && q.Words() > 1 && (h.Spare || best < wholeDepth)
		if like || q.HasPhrases() {
			if hit.shown, err = read(h); err != nil {
				return nil, err
			}
		}
		if like && !h.Spare {
			best++
		}
		if hit.shown != nil {
			m := q.Match(hit.shown.Text)
			if !m.Phrases || h.Spare && !m.Whole && !h.Equal {
				continue
			}
			hit.Score = float64(h.Score * search.WordsGain(m, q.Words()))
		} else if h.Spare && !h.Equal {
			continue
		}
		kept = append(kept, hit)
	}
	kept = withoutQuotes(kept)
	top := 0.0
	for _, h := range kept {
		top = max(top, h.Score)
	}
	for i := range kept {
		if kept[i].Equal {
			kept[i].Score += top
		}
	}
	slices.SortStableFunc(kept, func(a, b rankedHit) int { return cmp.Compare(b.Score, a.Score) })
	return kept[:min(len(kept), most)], nil
}

// minQuotedWords is the smallest number of words in a row that count as a quotation.
const minQuotedWords = 4

// withoutQuotes leaves out notes that contain a message of the list word for word, as the summary
// of an agent quotes the prompts. The message gets the better score of both, and counts the note.
// Only hits whose texts were read are compared.
func withoutQuotes(list []rankedHit) []rankedHit {
	is := func(h *rankedHit, kind string) bool {
		return h.shown != nil && h.Whole && h.shown.Entry != nil && h.shown.Entry.Kind == kind
	}
	quotes := make([]bool, len(list))
	for n := range list {
		note := &list[n]
		for i := 0; i < len(list) && !quotes[n] && is(note, format.KindNote); i++ {
			h := &list[i]
			if is(h, format.KindMessage) &&
				search.Quotes(note.shown.Text, h.shown.Text, minQuotedWords) {
				quotes[n] = true
				h.quoted++
				h.Score = max(h.Score, note.Score)
			}
		}
	}
	kept := list[:0]
	for n, h := range list {
		if !quotes[n] {
			kept = append(kept, h)
		}
	}
	return kept
}

// Found is what the index of a store has for a query, before a message is read.
type Found struct {
	s      *Reader
	view   *refs.View
	q      SearchQuery
	parsed *search.Query
	hits   []search.Hit
	empty  error // of a query without words
}

// Find asks the index for what Search returns for words, with its errors. For a query without words
// it has nothing.
func (s *Reader) Find(view *refs.View, q SearchQuery) (*Found, error) {
	f := &Found{s: s, view: view, q: q}
	var err error
	if f.parsed, err = q.parse(); errors.Is(err, search.ErrNoTerms) {
		f.empty = err
		return f, nil
	} else if err != nil {
		return nil, err
	}
	if q.Alike {
		f.parsed.Widen()
	}
	if err = q.check(view); err != nil {
		return nil, err
	}
	f.hits, err = s.indexed(view, f.parsed, q)
	return f, err
}

// Any reports whether the index has anything.
func (f *Found) Any() bool { return len(f.hits) > 0 }

// Narrow leaves of what several stores have as much as one store that has all of it would be read
// for. Required phrases may stand in any message, so then nothing is left out.
func Narrow(all []*Found) {
	var scores, spare []float64
	for _, f := range all {
		if f.parsed.HasPhrases() || f.q.Reader != nil {
			return
		}
		for _, h := range f.hits {
			if h.Spare {
				spare = append(spare, h.Own)
			} else {
				scores = append(scores, h.Score)
			}
		}
	}
	if len(all) == 0 {
		return
	}
	least, leastSpare := nth(scores, all[0].q.Limit+wholeDepth), nth(spare, wholeDepth)
	for _, f := range all {
		f.hits = slices.DeleteFunc(f.hits, func(h search.Hit) bool {
			return !h.Equal && (h.Spare && h.Own < leastSpare || !h.Spare && h.Score < least)
		})
	}
}

// nth sorts numbers, and returns the n-th from the top; of less it returns the last one, or 0.
func nth[T cmp.Ordered](list []T, n int) (least T) {
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(b, a) })
	if len(list) > 0 {
		least = list[min(n, len(list))-1]
	}
	return least
}

// Hits reads the best messages, and returns what Search does.
func (f *Found) Hits() ([]Hit, error) {
	s, view, q := f.s, f.view, f.q
	ranked, err := s.compared(f.parsed, f.hits, q)
	if err != nil {
		return nil, err
	}
	hits, err := s.entryHits(view, f.parsed, ranked, q)
	if err == nil {
		hits, err = s.markSuperseded(view, q, hits)
	}
	if err == nil {
		err = s.markObjections(view, q, hits)
	}
	if err == nil && q.Titles {
		hits, err = s.withTitles(view, hits, q)
	}
	if err != nil || !q.Clusters {
		return hits, err
	}
	clusters, err := s.clusterHits(view, f.parsed, ranked, q.Limit)
	if err == nil && q.Reader != nil {
		clusters, err = s.visibleTo(view, q.Reader, clusters)
	}
	hits = append(hits, clusters...)
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits, err
}
