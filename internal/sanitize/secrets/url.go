package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// urlAt finds the password in a URL of any scheme whose :// is at b[i]:
// scheme://user:PASSWORD@host, where the user may be empty. Only the password is replaced. A
// placeholder or a reference to a variable stays.
func (s *scan) urlAt(i, _ int) {
	b := s.b
	start := i + len("://")
	end := authorityEnd(b, start)
	s.past[urlRule] = max(end, start)
	// an IPv6 host, or usage text
	if i == 0 || !chars.IsAlnum(b[i-1]) || start < end && b[start] == '[' {
		return
	}
	s.hookAt(start, end)
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

// hookAt finds the made values in the path of a URL to which anybody may post who knows it: that of
// a hook or a bot. The host begins at b[start], and the path at b[path].
func (s *scan) hookAt(start, path int) {
	b := s.b
	end := chars.RunEnd(b[:min(len(b), path+2*maxBare)], path, func(c byte) bool {
		return c == '/' || c == '@' || isAuthority(c) && c != ')'
	})
	if url := b[start:end]; !bytes.Contains(url, []byte("hook")) &&
		!bytes.HasPrefix(b[path:end], []byte("/bot")) {
		return
	}
	for at := path; at < end; {
		at = chars.RunEnd(b[:end], at, func(c byte) bool { return c == '/' })
		to := chars.RunEnd(b[:end], at, func(c byte) bool {
			return c != '/' && c != '@' && c != '?'
		})
		if bytes.HasPrefix(b[at:to], []byte("bot")) {
			at += len("bot")
		}
		if v := b[at:to]; near.takes(v, strongKey) {
			s.add(at, to, weakKey.Class())
		}
		at = to + 1
	}
}

// authorityEnd returns the end of the part before the path. A ?, # or / in a password that was
// pasted without encoding would end it too early. In that case the name of the host, after an @,
// follows before any character that no password has.
func authorityEnd(b []byte, start int) int {
	end := chars.RunEnd(b, start, isAuthority)
	if end == len(b) || bytes.IndexByte([]byte("?#/"), b[end]) < 0 ||
		bytes.IndexByte(b[start:end], '@') >= 0 {
		return end
	}
	colon := bytes.IndexByte(b[start:end], ':')
	if colon < 0 || chars.RunEnd(b, start+colon+1, chars.IsDigit) == end { // a host and its port
		return end
	}
	far := chars.RunEnd(b[:min(len(b), end+maxKey)], end, func(c byte) bool {
		return isAuthority(c) || c == '?' || c == '#' || c == '/'
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
