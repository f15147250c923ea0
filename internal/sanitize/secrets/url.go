package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// urlAt finds the password in a URL of any scheme whose :// is at b[i]:
// scheme://user:PASSWORD@host, where the user may be empty. Only the password is replaced. A
// placeholder or a reference to a variable stays.
func (s *scan) urlAt(i int) {
	b := s.b
	start := i + len("://")
	end := authorityEnd(b, start)
	s.past[urlRule] = max(end, start)
	// an IPv6 host, or usage text
	if i == 0 || !chars.IsAlnum(b[i-1]) || start < end && b[start] == '[' {
		return
	}
	host := bytes.LastIndexByte(b[start:end], '@')
	colon := bytes.IndexByte(b[start:end], ':')
	// a token in place of a user
	if colon < 0 && host >= 16 && inQuotes.takes(b[start:start+host], vendorKey) {
		s.add(start, start+host, "url-password")
	}
	if colon < 0 || host <= colon+1 {
		return
	}
	from, to := start+colon+1, start+host
	if password := unmarked(b[from:to]); len(password) > 0 && !standIn(password) {
		s.add(from, to, "url-password")
	}
}

// authorityEnd returns the end of the part before the path. A ? or # in a password that was pasted
// without encoding would end it too early. In that case the name of the host, after an @, follows
// before any character that no password has.
func authorityEnd(b []byte, start int) int {
	end := chars.RunEnd(b, start, isAuthority)
	if end == len(b) || b[end] != '?' && b[end] != '#' || bytes.IndexByte(b[start:end], '@') >= 0 {
		return end
	}
	colon := bytes.IndexByte(b[start:end], ':')
	if colon < 0 || chars.RunEnd(b, start+colon+1, chars.IsDigit) == end { // a host and its port
		return end
	}
	far := chars.RunEnd(b[:min(len(b), end+maxKey)], end, func(c byte) bool {
		return isAuthority(c) || c == '?' || c == '#'
	})
	if host := bytes.LastIndexByte(b[end:far], '@'); host >= 0 {
		return chars.RunEnd(b, end+host, isAuthority)
	}
	return end
}

// isAuthority reports whether c may stand between :// and the path. It accepts more than a strict
// URL does, because passwords are often pasted without encoding.
func isAuthority(c byte) bool {
	switch c {
	case '/', '?', '#', '\\', '<', '>', '|':
		return false
	}
	return !chars.IsSpace(c) && !chars.IsQuote(c)
}

// thinAt finds the password in jdbc:oracle:thin:user/PASSWORD@host, with the user at b[start].
func (s *scan) thinAt(start int) {
	end := chars.RunEnd(s.b, start, isAuthority)
	if end == len(s.b) || s.b[end] != '/' {
		return
	}
	stop := chars.RunEnd(s.b, end+1, func(c byte) bool { return isAuthority(c) && c != '@' })
	if stop < len(s.b) && s.b[stop] == '@' {
		s.given(value{end + 1, stop, false}, false)
	}
}
