package sanitize

import (
	"fmt"
	"slices"
	"sort"
)

// Found is one secret and its place: b[From:To] of the searched text b.
type Found struct {
	Class    string // one of the classes listed in the package comment
	From, To int
}

// Find returns the secrets that Text would redact, in order and without overlaps. It does not list
// control characters and broken UTF-8. A secret with such bytes inside is found together with them.
// The error is that of Text.
func Find(b []byte) ([]Found, error) {
	var marks shifts
	b = strip(b, new(tally), &marks)
	found, err := find(b)
	if err != nil {
		return nil, fmt.Errorf("find secrets: %w", err)
	}
	for i := range found {
		found[i].From = marks.before(found[i].From)
		found[i].To = marks.before(found[i].To-1) + 1
	}
	return found, nil
}

// find is Find for a text without control characters and broken UTF-8. As in Text, the rules run
// over their own result until they find nothing more.
func find(b []byte) ([]Found, error) {
	var found []Found
	for range maxRounds {
		spans := secrets(redacted(b, found))
		if len(spans) == 0 {
			return found, nil
		}
		found = with(found, spans)
	}
	return nil, errUnsettled
}

// redacted returns b with a marker in place of each found secret.
func redacted(b []byte, found []Found) []byte {
	if len(found) == 0 {
		return b
	}
	spans := make([]span, len(found))
	for i, f := range found {
		spans[i] = span{f.From, f.To, f.Class}
	}
	return replace(b, spans, new(tally))
}

// with adds spans of the redacted text to the secrets found before. A span that overlaps markers
// becomes one secret together with the secrets that the markers replaced.
func with(found []Found, spans []span) []Found {
	out := make([]Found, 0, len(found)+len(spans))
	grown := 0 // how much longer the redacted text is than the text, up to found[0]
	for _, s := range spans {
		for len(found) > 0 && found[0].From+grown+len(marker(found[0].Class)) <= s.start {
			grown += growth(found[0])
			out = append(out, found[0])
			found = found[1:]
		}
		f := Found{s.class, s.start - grown, s.end - grown}
		for len(found) > 0 && found[0].From+grown < s.end {
			f.From = min(f.From, found[0].From)
			grown += growth(found[0])
			f.To = max(found[0].To, s.end-grown)
			found = found[1:]
		}
		out = append(out, f)
	}
	return append(out, found...)
}

// growth returns the length of the marker minus the length of the secret.
func growth(f Found) int { return len(marker(f.Class)) - (f.To - f.From) }

// shifts maps offsets in a stripped text to offsets in the original. Between one shift and the
// next, both offsets advance together.
type shifts []struct{ now, before int }

// note adds a shift. If several shifts have the same offset, the last one counts.
func (s *shifts) note(now, before int) {
	if s != nil {
		*s = append(*s, struct{ now, before int }{now, before})
	}
}

// before returns the original offset of the byte at the offset at of the stripped text.
func (s shifts) before(at int) int {
	i := sort.Search(len(s), func(i int) bool { return s[i].now > at })
	was := at
	if i > 0 {
		was += s[i-1].before - s[i-1].now
	}
	if i < len(s) { // a replacement is longer than the byte it replaced
		was = min(was, s[i].before-1)
	}
	return was
}

// FindJSON returns the secrets that JSON would redact, in order. The place of a secret is its own
// offsets, with two exceptions: for a secret in a string with escapes, and for a secret that
// extends over several texts, the place is the whole string or strings, without quotes. The error
// is that of JSON.
func FindJSON(b []byte) ([]Found, error) { return findJSON(b, mayJoin(b)) }

// FindStrings is FindJSON for a value in which neighboring members "text" are not pieces of one
// message, such as the sentences of a summary. It searches each string by itself.
func FindStrings(b []byte) ([]Found, error) { return findJSON(b, false) }

func findJSON(b []byte, joins bool) ([]Found, error) {
	w := walker{reader: newReader(b), finds: true, joins: joins}
	err := w.walk()
	if err != nil {
		return nil, fmt.Errorf("find secrets in JSON: %w", err)
	}
	found := w.spots
	slices.SortStableFunc(found, byStart)
	for _, group := range w.groups {
		more, err := group.find()
		if err != nil {
			return nil, fmt.Errorf("find secrets in JSON: %w", err)
		}
		found = append(found, more...)
	}
	slices.SortStableFunc(found, byStart)
	return found, nil
}

func byStart(a, b Found) int { return a.From - b.From }

// find adds the secrets in the string w.in[start:end] to w.spots. If whole is not empty, the whole
// string is one secret of that class.
func (w *walker) find(start, end int, whole string) {
	inside := w.in[start:end]
	s := unquote(inside)
	found, err := Find(s)
	if err != nil {
		w.err = err
		return
	}
	if whole != "" {
		found = []Found{{whole, 0, len(s)}}
	}
	for _, f := range found {
		if len(s) != len(inside) {
			f.From, f.To = 0, len(inside)
		}
		f.From, f.To = start+f.From, start+f.To
		if !slices.Contains(w.spots, f) {
			w.spots = append(w.spots, f)
		}
	}
}
