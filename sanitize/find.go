package sanitize

import (
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/internal/sanitize/controls"
	"github.com/gemini-ctx/ctx/internal/sanitize/secrets"
)

// Found is one secret and its place: b[From:To] of the searched text b. Its class is one of those
// in the package comment.
type Found = secrets.Found

// Find returns the secrets that Text would redact, in order and without overlaps. It does not list
// control characters and broken UTF-8. A secret with such bytes inside is found together with them.
// The error is that of Text.
func Find(b []byte) ([]Found, error) {
	var marks controls.Shifts
	b, _, _ = controls.Strip(b, &marks)
	found, err := find(b)
	if err != nil {
		return nil, fmt.Errorf("find secrets: %w", err)
	}
	for i := range found {
		found[i].From = marks.Before(found[i].From)
		found[i].To = marks.Before(found[i].To-1) + 1
	}
	return found, nil
}

// find is Find for a text without control characters and broken UTF-8. As in Text, the rules run
// over their own result until they find nothing more.
func find(b []byte) ([]Found, error) {
	var found []Found
	for range maxRounds {
		spans := secrets.Find(secrets.Redact(b, found))
		if len(spans) == 0 {
			return found, nil
		}
		found = with(found, spans)
	}
	return nil, errUnsettled
}

// with adds spans of the redacted text to the secrets found before. A span that overlaps markers
// becomes one secret together with the secrets that the markers replaced.
func with(found, spans []Found) []Found {
	out := make([]Found, 0, len(found)+len(spans))
	grown := 0 // how much longer the redacted text is than the text, up to found[0]
	for _, s := range spans {
		for len(found) > 0 && found[0].From+grown+len(secrets.Marker(found[0].Class)) <= s.From {
			grown += growth(found[0])
			out = append(out, found[0])
			found = found[1:]
		}
		f := Found{Class: s.Class, From: s.From - grown, To: s.To - grown}
		for len(found) > 0 && found[0].From+grown < s.To {
			f.From = min(f.From, found[0].From)
			grown += growth(found[0])
			f.To = max(found[0].To, s.To-grown)
			found = found[1:]
		}
		out = append(out, f)
	}
	return append(out, found...)
}

// growth returns the length of the marker minus the length of the secret.
func growth(f Found) int { return len(secrets.Marker(f.Class)) - (f.To - f.From) }

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
		found = []Found{{Class: whole, To: len(s)}}
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
