package secrets

import (
	"bytes"
	"slices"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// Found is a secret in a text and its place: b[From:To] of the text b.
type Found struct {
	Class    string
	From, To int
}

const (
	markOpen  = "[REDACTED:"
	markClose = ']'
)

// Marker returns the replacement of a secret.
func Marker(class string) string { return markOpen + class + string(markClose) }

// Find runs every rule over b, as it is and in other ways of reading, and returns disjoint findings
// in order.
func Find(b []byte) []Found {
	found, seen := rules(b)
	if seen.percent {
		found = percentEncoded(found, b)
	}
	if seen.escaped {
		found = escapedLines(found, b)
	}
	if seen.entities {
		found = withoutEntities(found, b)
	}
	if seen.wrapped {
		found = wrappedLines(found, b)
	}
	return join(again(join(found), b))
}

// mostAgain is the number of secrets that are looked for everywhere in their text, and of places
// where one may stand.
const mostAgain = 16

// again adds the places where a secret stands once more, with nothing there that says so. What has
// a dot in it or stands in many places may be a name, and one mark in a wrong place may not become
// many.
func again(found []Found, b []byte) []Found {
	for _, s := range found[:min(len(found), mostAgain)] {
		v := b[s.From:s.To]
		if makingOf(v, false) < drawn || len(v) > maxBare || bytes.IndexByte(v, '.') >= 0 ||
			bytes.Count(b, v) > mostAgain {
			continue
		}
		for at := 0; ; {
			from := chars.IndexFrom(b, at, string(v))
			if from < 0 {
				break
			}
			if at = from + len(v); from != s.From && chars.StartsToken(b, from) &&
				!bytes.HasSuffix(b[:from], []byte("Basic ")) { // which was judged
				found = append(found, Found{s.Class, from, at})
			}
		}
	}
	return found
}

// join sorts secrets and merges overlapping ones, so that nothing of either remains. The longest of
// them gives the class; among equally long ones, a class that names the issuer.
func join(found []Found) []Found {
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b Found) int { return a.From - b.From })
	out := found[:1]
	longest := found[0].To - found[0].From
	for _, s := range found[1:] {
		last := &out[len(out)-1]
		n := s.To - s.From
		if s.From >= last.To {
			out = append(out, s)
			longest = n
			continue
		}
		if n > longest || n == longest && isGeneric(last.Class) {
			last.Class, longest = s.Class, n
		}
		last.To = max(last.To, s.To)
	}
	return out
}

// isGeneric reports whether a class only tells where the secret stood.
func isGeneric(class string) bool {
	return slices.Contains([]string{"authorization", "cookie", "password", "secret"}, class)
}

// Redact returns b with a marker in place of each secret. The secrets are disjoint and in order.
func Redact(b []byte, found []Found) []byte {
	if len(found) == 0 {
		return b
	}
	out := make([]byte, 0, len(b)+len(found)*len("[REDACTED:authorization]"))
	from := 0
	for _, s := range found {
		out = append(out, b[from:s.From]...)
		out = append(out, Marker(s.Class)...)
		from = s.To
	}
	return append(out, b[from:]...)
}

// unmarked returns v without its markers, which is the part that a rule must judge.
func unmarked(v []byte) []byte {
	if !bytes.Contains(v, []byte(markOpen)) {
		return v
	}
	var out []byte
	for {
		i := bytes.Index(v, []byte(markOpen))
		if i < 0 {
			return append(out, v...)
		}
		n := bytes.IndexByte(v[i:], markClose)
		if n < 0 {
			return append(out, v...)
		}
		out = append(out, v[:i]...)
		v = v[i+n+1:]
	}
}

// inMarker reports whether b[from:to] touches a marker.
func inMarker(b []byte, from, to int) bool {
	low := max(0, from-40)
	at := bytes.LastIndex(b[low:to], []byte(markOpen))
	if at < 0 {
		return false
	}
	at += low
	end := bytes.IndexByte(b[at:], markClose)
	return end >= 0 && at+end >= from
}
