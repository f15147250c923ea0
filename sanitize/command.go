package sanitize

import "bytes"

// flagSpans finds the value after a flag that names a secret: --password hunter2, -token abc. With a separator between
// them they are a pair.
func flagSpans(found []span, b []byte) []span {
	runs := bareRuns{b: b}
	for at := 0; ; {
		i := indexFrom(b, at, "-")
		if i < 0 {
			return found
		}
		name := runEnd(b, i, func(c byte) bool { return c == '-' })
		end := runEnd(b[:min(len(b), name+maxKey)], name, isURLSafe)
		at = max(end, name)
		if name-i > 2 || end == name || end >= len(b) || b[end] != ' ' || i > 0 && !isSpace(b[i-1]) && !isQuote(b[i-1]) && b[i-1] != '(' {
			continue
		}
		kind := keyOf(b[name:end])
		if kind == noKey {
			continue
		}
		v := valueAfter(&runs, end)
		if v.start < len(b) && b[v.start] != '-' && judge(b[v.start:v.end], v.quoted, kind) {
			found = append(found, span{v.start, v.end, kind.class()})
		}
	}
}

// commandSpans finds passwords in the arguments of programs that take them under a short name, or under none.
func commandSpans(found []span, b []byte) []span {
	found = vaultSpans(found, b)
	if indexFrom(b, 0, " -") < 0 { // most text has no flags
		return found
	}
	for _, c := range [...]struct {
		program string
		flags   string // letters behind which the password stands
		joined  bool   // without a blank between them
		user    bool   // as user:password
	}{
		{"curl", "uU", false, true},
		{"mysql", "p", true, false}, {"mysqldump", "p", true, false}, {"mysqladmin", "p", true, false}, {"mariadb", "p", true, false},
		{"sshpass", "p", false, false}, {"redis-cli", "a", false, false}, {"login", "p", false, false}, {"smbclient", "U", false, true},
		{"mongosh", "p", false, false}, {"mongodump", "p", false, false}, {"ldapsearch", "w", false, false},
	} {
		for at := 0; ; {
			i := indexFrom(b, at, c.program)
			if i < 0 {
				break
			}
			at = i + len(c.program)
			if !startsToken(b, i) || at >= len(b) || b[at] != ' ' {
				continue
			}
			found = argumentSpans(found, b, at, c.flags, c.joined, c.user)
		}
	}
	return passSpans(found, b)
}

// argumentSpans reads the arguments at b[at:], up to the end of the command.
func argumentSpans(found []span, b []byte, at int, flags string, joined, user bool) []span {
	end := runEnd(b[:min(len(b), at+1024)], at, func(c byte) bool { return c != '\n' && c != '\r' && c != '|' && c != ';' })
	line := b[:end]
	for i := at; i+1 < end; i++ {
		if line[i] != ' ' || line[i+1] != '-' {
			continue
		}
		start := 0
		switch rest := line[i+1:]; {
		case user && bytes.HasPrefix(rest, []byte("--user ")), user && bytes.HasPrefix(rest, []byte("--user=")):
			start = i + 1 + len("--user ")
		case user && bytes.HasPrefix(rest, []byte("--proxy-user ")):
			start = i + 1 + len("--proxy-user ")
		case len(rest) < 4 || bytes.IndexByte([]byte(flags), rest[1]) < 0:
			continue
		case rest[2] == ' ' && !joined:
			start = i + 4
		case rest[2] != ' ' && joined:
			start = i + 3
		default:
			continue
		}
		start = runEnd(line, start, func(c byte) bool { return isQuote(c) || c == '\\' })
		stop := runEnd(line, start, func(c byte) bool { return !isSpace(c) && !isQuote(c) && c != '\\' })
		if user {
			colon := bytes.IndexByte(line[start:stop], ':')
			if colon < 0 {
				continue
			}
			start += colon + 1
		}
		if v := unmarked(line[start:stop]); len(v) >= 4 && !standIn(v) && (user || bareSecret(strongKey, v)) {
			found = append(found, span{start, stop, strongKey.class()})
		}
	}
	return found
}

// vaultSpans finds vault login TOKEN.
func vaultSpans(found []span, b []byte) []span {
	for at := 0; ; {
		i := indexFrom(b, at, "vault login ")
		if i < 0 {
			return found
		}
		at = i + len("vault login ")
		end := runEnd(b, at, isBare)
		if v := unmarked(b[at:end]); len(v) >= 16 && v[0] != '-' && bareSecret(weakKey, v) {
			found = append(found, span{at, end, "vault"})
		}
	}
}

// passSpans finds -passin pass:hunter2, as openssl takes it.
func passSpans(found []span, b []byte) []span {
	for at := 0; ; {
		i := indexFrom(b, at, "pass:")
		if i < 0 {
			return found
		}
		at = i + len("pass:")
		if i == 0 || b[i-1] != ' ' && !isQuote(b[i-1]) || !bytes.Contains(b[max(0, i-12):i], []byte("-pass")) {
			continue
		}
		end := runEnd(b, at, isBare)
		if v := unmarked(b[at:end]); bareSecret0(v) {
			found = append(found, span{at, end, strongKey.class()})
		}
	}
}

// bareSecret0 is bareSecret for what may be empty.
func bareSecret0(v []byte) bool { return len(v) > 0 && bareSecret(strongKey, v) }
