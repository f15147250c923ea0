package sanitize

import "bytes"

// urlAt finds the password in a URL of any scheme whose :// is at b[i]: scheme://user:PASSWORD@host,
// the user may be empty. Only the password goes. A password that is a
// placeholder or a reference to a variable stays.
func (s *scan) urlAt(i int) {
	b := s.b
	start := i + len("://")
	end := authorityEnd(b, start)
	s.past[urlRule] = max(end, start)
	if i == 0 || !isAlnum(b[i-1]) || start < end && b[start] == '[' { // an IPv6 host, or usage text
		return
	}
	host := bytes.LastIndexByte(b[start:end], '@')
	colon := bytes.IndexByte(b[start:end], ':')
	if colon < 0 || host <= colon+1 {
		return
	}
	from, to := start+colon+1, start+host
	if password := unmarked(b[from:to]); len(password) > 0 && !standIn(password) {
		s.add(from, to, "url-password")
	}
}

// authorityEnd returns where the part before the path ends. A ? or # in a password that was pasted as it is ends it too
// early: then the name of the host, behind an @, follows before anything that no password has.
func authorityEnd(b []byte, start int) int {
	end := runEnd(b, start, isAuthority)
	if end == len(b) || b[end] != '?' && b[end] != '#' || bytes.IndexByte(b[start:end], '@') >= 0 {
		return end
	}
	colon := bytes.IndexByte(b[start:end], ':')
	if colon < 0 || runEnd(b, start+colon+1, isDigit) == end { // a host and its port
		return end
	}
	far := runEnd(b[:min(len(b), end+maxKey)], end, func(c byte) bool { return isAuthority(c) || c == '?' || c == '#' })
	if host := bytes.LastIndexByte(b[end:far], '@'); host >= 0 {
		return runEnd(b, end+host, isAuthority)
	}
	return end
}

// isAuthority reports whether c may stand between :// and the path. It takes
// more than a strict URL does, since passwords are often pasted unescaped.
func isAuthority(c byte) bool {
	switch c {
	case '/', '?', '#', '\\', '<', '>', '|':
		return false
	}
	return !isSpace(c) && !isQuote(c)
}
