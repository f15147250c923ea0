package sanitize

import "bytes"

// fileSpans finds secrets in files of a known form in which no name says so.
func fileSpans(found []span, b []byte) []span {
	found = netrcSpans(found, b)
	found = pgpassSpans(found, b)
	found = puttySpans(found, b)
	found = manifestSpans(found, b)
	return sasSpans(found, b)
}

// netrcSpans reads "login NAME password SECRET", in one line or several.
func netrcSpans(found []span, b []byte) []span {
	for at := 0; ; {
		i := indexFrom(b, at, "login ")
		if i < 0 {
			return found
		}
		at = i + len("login ")
		user := runEnd(b, at, func(c byte) bool { return !isSpace(c) })
		word := runEnd(b, user, isGap)
		for bytes.HasPrefix(b[word:], []byte(`\n`)) {
			word = runEnd(b, word+2, isGap)
		}
		if !startsToken(b, i) || !bytes.HasPrefix(b[word:], []byte("password ")) {
			continue
		}
		start := blanks(b, word+len("password "))
		end := runEnd(b, start, isBare)
		if v := unmarked(b[start:end]); len(v) > 0 && !standIn(v) {
			found = append(found, span{start, end, "password"})
		}
		at = max(at, end)
	}
}

// isGap is what may stand between two words of such a file, also where it is shown in a diff or quoted.
func isGap(c byte) bool { return isSpace(c) || c == '+' || c == '-' || c == '>' }

// pgpassSpans reads host:port:database:user:password.
func pgpassSpans(found []span, b []byte) []span {
	runs := bareRuns{b: b}
	for at := 0; ; {
		i := indexFrom(b, at, ":")
		if i < 0 {
			return found
		}
		start := i
		for start > at && isPgField(b[start-1]) {
			start--
		}
		at = i + 1
		if start == i || start > 0 && b[start-1] == ':' {
			continue
		}
		port := runEnd(b[:min(len(b), at+6)], at, func(c byte) bool { return isDigit(c) || c == '*' })
		if port-at < 1 || port-at > 5 || port >= len(b) || b[port] != ':' || port-at < 4 && b[at] != '*' || b[at] == '0' {
			continue
		}
		database := runEnd(b, port+1, isPgField)
		if database == port+1 || database >= len(b) || b[database] != ':' {
			continue
		}
		user := runEnd(b, database+1, isPgField)
		if user == database+1 || user >= len(b) || b[user] != ':' {
			continue
		}
		end := runs.valueAt(user + 1).end
		if v := unmarked(b[user+1 : end]); bytes.IndexByte(v, ':') < 0 && bareSecret0(v) { // an IPv6 address goes on
			found = append(found, span{user + 1, end, "password"})
			at = end
		}
	}
}

func isPgField(c byte) bool { return isDotted(c) || c == '*' }

// puttySpans finds the private lines of a PuTTY key.
func puttySpans(found []span, b []byte) []span {
	for at := 0; ; {
		i := indexFrom(b, at, "Private-Lines: ")
		if i < 0 {
			return found
		}
		digits := runEnd(b, i+len("Private-Lines: "), isDigit)
		at = digits
		start := lineStart(b, digits)
		if end := base64Lines(b, digits); end > start {
			found = append(found, span{start, end, "pem"})
			at = end
		}
	}
}

// manifestSpans finds the data of a Kubernetes Secret in YAML, where no key has to tell what it is.
func manifestSpans(found []span, b []byte) []span {
	for at := 0; ; {
		i := indexFrom(b, at, "kind: Secret")
		if i < 0 {
			return found
		}
		at = i + len("kind: Secret")
		if at < len(b) && !isSpace(b[at]) {
			continue
		}
		line := bytes.LastIndexByte(b[:i], '\n') + 1
		lead := b[line:i] // indentation, or the sign of a diff
		if len(lead) > 32 {
			continue
		}
		low, high := max(0, i-1<<16), min(len(b), i+1<<16)
		if j := bytes.LastIndex(b[low:i], []byte("---")); j >= 0 {
			low += j
		}
		if j := bytes.Index(b[i:high], []byte("\n---")); j >= 0 {
			high = i + j
		}
		for _, word := range [...]string{"data:\n", "stringData:\n"} {
			section := append(append([]byte("\n"), lead...), word...)
			if j := bytes.Index(b[low:high], section); j >= 0 {
				found = dataSpans(found, b[:high], low+j+len(section), lead)
			}
		}
	}
}

// dataSpans takes the values of the lines from at on that are further in than lead.
func dataSpans(found []span, b []byte, at int, lead []byte) []span {
	for at < len(b) {
		end := at + bytes.IndexByte(b[at:], '\n')
		if end < at {
			end = len(b)
		}
		line := b[at:end]
		if !bytes.HasPrefix(line, lead) || len(line) == len(lead) || line[len(lead)] != ' ' {
			return found
		}
		colon := bytes.Index(line, []byte(": "))
		if colon > 0 {
			from, to := trimCell(line, colon+2, len(line))
			if v := unmarked(line[from:to]); len(v) >= 4 && !standIn(v) && !bytes.ContainsAny(v, " |") {
				found = append(found, span{at + from, at + to, "secret"})
			}
		}
		at = end + 1
	}
	return found
}

// sasSpans finds the signature of an Azure SAS: sig= and at least 40 bytes of base64, percent-encoded or not.
func sasSpans(found []span, b []byte) []span {
	for at := 0; ; {
		i := indexFrom(b, at, "sig=")
		if i < 0 {
			return found
		}
		start := i + len("sig=")
		end := runEnd(b, start, func(c byte) bool { return isBase64(c) || c == '%' || c == '-' || c == '_' })
		at = end
		if i > 0 && (b[i-1] == '&' || b[i-1] == '?' || b[i-1] == ';' || b[i-1] == ' ') && end-start >= 40 {
			found = append(found, span{start, end, "azure"})
		}
	}
}
