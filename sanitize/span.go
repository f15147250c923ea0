package sanitize

import (
	"bytes"
	"slices"
)

// span is a secret in a text: b[start:end], of the given class.
type span struct {
	start, end int
	class      string
}

const (
	markOpen  = "[REDACTED:"
	markClose = ']'
)

// marker returns the replacement of a secret.
func marker(class string) string { return markOpen + class + string(markClose) }

// secrets runs every rule over b, as it is and in other ways of reading, and returns disjoint spans
// in order.
func secrets(b []byte) []span {
	found, seen := rules(nil, b)
	if seen.percent {
		found = percentSpans(found, b)
	}
	if seen.escaped {
		found = escapedSpans(found, b)
	}
	if seen.wrapped {
		found = wrappedSpans(found, b)
	}
	return join(found)
}

// join sorts spans and merges overlapping ones, so that nothing of either remains. The longest of
// them gives the class; among equally long ones, a class that names the issuer.
func join(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	out := spans[:1]
	longest := spans[0].end - spans[0].start
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		n := s.end - s.start
		if s.start >= last.end {
			out = append(out, s)
			longest = n
			continue
		}
		if n > longest || n == longest && isGeneric(last.class) {
			last.class, longest = s.class, n
		}
		last.end = max(last.end, s.end)
	}
	return out
}

// isGeneric reports whether a class only tells where the secret stood.
func isGeneric(class string) bool {
	switch class {
	case "authorization", "cookie", "password", "secret":
		return true
	}
	return false
}

// replace returns b with every span replaced by its marker.
func replace(b []byte, spans []span, t *tally) []byte {
	out := make([]byte, 0, len(b)+len(spans)*len("[REDACTED:authorization]"))
	from := 0
	for _, s := range spans {
		out = append(out, b[from:s.start]...)
		out = append(out, marker(s.class)...)
		t.add(s.class, 1)
		from = s.end
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
