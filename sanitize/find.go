package sanitize

import (
	"fmt"
	"slices"
	"sort"
)

// Found is one secret and where it stands: b[From:To] of what was searched.
type Found struct {
	Class    string // one of the classes listed in the package comment
	From, To int
}

// Find returns the secrets that Text would redact, in order, none overlapping another. Controls and
// broken UTF-8 are not listed; a secret that they split is found with what splits it. The error is
// that of Text.
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

// find is Find on clean text. As in Text the rules run over what they left, until they find nothing
// more.
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

// redacted returns b with a marker in the place of everything found.
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

// with adds spans of the redacted text to what was found before. One that reaches into markers
// takes in what they stand for.
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

// growth is how much longer the marker is than the secret.
func growth(f Found) int { return len(marker(f.Class)) - (f.To - f.From) }

// shifts says where the bytes of a stripped text were before: from each shift up to the next one in
// step with it.
type shifts []struct{ now, before int }

// note adds a shift; what is repaired at one offset has the last one.
func (s *shifts) note(now, before int) {
	if s != nil {
		*s = append(*s, struct{ now, before int }{now, before})
	}
}

// before returns the old offset of the byte at an offset of now.
func (s shifts) before(at int) int {
	i := sort.Search(len(s), func(i int) bool { return s[i].now > at })
	was := at
	if i > 0 {
		was += s[i-1].before - s[i-1].now
	}
	if i < len(s) { // a repaired byte was shorter
		was = min(was, s[i].before-1)
	}
	return was
}

// FindJSON returns the secrets that JSON would redact, in order. A secret in a string with escapes,
// or in several texts, is told as all of the string, without its quotes, and any other with its own
// offsets. The error is that of JSON.
func FindJSON(b []byte) ([]Found, error) {
	found, err := FindStrings(b)
	if err != nil {
		return nil, err
	}
	for _, group := range textGroups(b) {
		more, err := group.find()
		if err != nil {
			return nil, fmt.Errorf("find secrets in JSON: %w", err)
		}
		found = append(found, more...)
	}
	slices.SortStableFunc(found, func(a, b Found) int { return a.From - b.From })
	return found, nil
}

// FindStrings is FindJSON for a value whose members "text" are no pieces of one message, as the
// sentences of a summary are none: each string is read by itself.
func FindStrings(b []byte) ([]Found, error) {
	if err := checkJSON(b); err != nil {
		return nil, fmt.Errorf("find secrets in JSON: %w", err)
	}
	w := walker{in: b, finds: true}
	if err := w.value(noKey, 0); err != nil {
		return nil, fmt.Errorf("find secrets in JSON: %w", err)
	}
	slices.SortStableFunc(w.spots, func(a, b Found) int { return a.From - b.From })
	return w.spots, nil
}

// find notes the secrets of the string w.in[start:end], whose cleaned content is clean and which is
// replaced whole by class unless that is empty.
func (w *walker) find(start, end int, whole string) error {
	inside := w.in[start:end]
	s := unquote(inside)
	found, err := Find(s)
	if err != nil {
		return err
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
	return nil
}
