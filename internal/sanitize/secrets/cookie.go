package secrets

import (
	"bytes"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// cookieAt finds the values of cookies that identify somebody: those with a name that says so, and
// those that look random. The name of the header ends with b[i:at].
func (s *scan) cookieAt(i, at int) {
	b := s.b
	if i == 0 || b[i-1]|0x20 != 'c' {
		return
	}
	at = openQuote(b, at)
	end := chars.RunEnd(b, at, func(c byte) bool {
		return c != '\n' && c != '\r' && !chars.IsQuote(c) && c != '\\'
	})
	s.found = crumbs(s.found, b[:end], at)
	s.past[cookieRule] = end
}

// crumbsAt finds the same behind the flag of a command that ends at at.
func (s *scan) crumbsAt(i, at int) {
	s.found = crumbs(s.found, s.b[:lineEnd(s.b, i)], openQuote(s.b, at))
}

// crumbs reads name=value; name=value from at on.
func crumbs(found []Found, b []byte, at int) []Found {
	for at < len(b) {
		at = blanks(b, at)
		end := chars.RunEnd(b, at, func(c byte) bool { return c != ';' })
		if eq := bytes.IndexByte(b[at:end], '='); eq > 0 {
			name, start := b[at:at+eq], at+eq+1
			stop := chars.RunEnd(b[:end], start, func(c byte) bool { return c != ' ' && c != ',' })
			if isCrumb(name, unmarked(b[start:stop])) {
				found = append(found, Found{"cookie", start, stop})
			}
		}
		at = end + 1
	}
	return found
}

// isCrumb reports whether a cookie identifies somebody: by its name and a value that is no word, or
// by its value.
func isCrumb(name, v []byte) bool {
	if len(v) < 8 || standIn(v) {
		return false
	}
	n := strings.ToLower(string(name[:min(len(name), maxKey)]))
	return has(n, "sess", "sid", "auth", "token", "jwt", "remember") && continues(v) ||
		len(v) >= 16 && inQuotes.takes(v, weakKey)
}

// jarAt reads the value of a cookie in a file as curl and wget keep it: domain, for its hosts,
// path, only if secure, end, name and value, with tabs between. A field is at b[i].
func (s *scan) jarAt(i, _ int) {
	b := s.b
	start, end := lineStartOf(b, i), lineEnd(b, i)
	if start < s.past[jarRule] {
		return
	}
	s.past[jarRule] = end
	fields := bytes.Split(bytes.TrimRight(b[start:end], "\r"), []byte("\t"))
	if len(fields) != 7 || len(fields[2]) == 0 || fields[2][0] != '/' ||
		!chars.Only(fields[4], chars.IsDigit) {
		return
	}
	v := fields[6]
	if at := start + bytes.LastIndexByte(b[start:end], '\t') + 1; isCrumb(fields[5], v) {
		s.add(at, at+len(v), "cookie")
	}
}
