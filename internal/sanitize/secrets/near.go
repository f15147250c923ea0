package secrets

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file asks where no rule knows the form of a text: is a word that tells of a secret in reach,
// what is between it and a value, and does the value look like a secret there?

// maxReach is the number of bytes behind a telling word in which a made value is a secret.
const maxReach = 160

// links end what stands between a word for a secret and its value, in any language.
var links = [...]string{":", "=", "->", "=>", ">", "|", "—", "→", "：", "＝", "「", "『", "是", "为",
	"為", "は", "는", "은", "это", "é", "è", "là", "är", " -", " is", " to", " as", " ist", " lautet",
	" est", " es", " was", " now", " with"}

// calls are what stands, but for quotation marks, between a name and a literal that a call gives to
// it, sets it to, or types into a field of that name.
var calls = [...]string{"(", "{", ",", ".type(", ".fill(", ".send_keys(", ".sendKeys(", ", with:",
	"with", ""}

// nearAt adds the secrets in reach of the telling word b[i:end]. On its line, these are the made
// values behind it, and before it if the line is a sentence; and those to which it is linked. On
// the next line, or the one after an empty line, it is a made value that is alone.
func (s *scan) nearAt(i, end int, kind Key) {
	b := s.b
	rule := nearTokenRule
	if kind == strongKey {
		rule = nearPasswordRule
	}
	if inMarker(b, i, end) {
		return
	}
	wasRead := end < s.past[rule]
	low, stop := lineStartOf(b, i), lineEnd(b[:min(len(b), end+maxReach)], end)
	line := b[low:stop]
	if bytes.Contains(line, []byte("ENC[")) { // encrypted by SOPS
		return
	}
	s.past[rule] = stop
	isPass := bytes.EqualFold(b[i:end], []byte("pass"))
	at := end
	if !wasRead && (saysWhatBefore(b[low:i]) || kind == strongKey && stop-low < maxReach &&
		!bytes.ContainsAny(line, `(){}[];=<>\"`)) {
		at = low
	}
	if before := whatBefore(b[low:i]); !wasRead && before >= 0 {
		at = low + before
	}
	for at < stop {
		from, to, next := nextWord(b, at, stop)
		in := near
		if from > end && from < to && !isPass && kind != userKey {
			in, to = s.linked(end, from, to, kind)
		}
		if slash := bytes.IndexByte(b[from:to], '/'); slash > 0 && kind == strongKey &&
			!in.takesIn(b[from:to], kind, line) {
			from += slash + 1 // behind the name of a user
		}
		compared := bytes.HasSuffix(b[:from], []byte("== "))
		if !compared && in.takesIn(unmarked(b[from:to]), kind, line) {
			s.add(from, to, kind.Class())
		}
		if at = max(next, to); wasRead && from > end { // but for what this word is linked to
			return
		}
	}
	s.belowAt(i, end, stop, kind, line)
}

// saysWhatBefore reports whether the text before a telling word is a value alone, and a sign of a
// remark on it: V # password, V <- password, - V (password), V is the password.
func saysWhatBefore(before []byte) bool {
	before = bytes.TrimLeft(before, " \t-*>\"'`")
	_, to, _ := nextWord(before, 0, len(before))
	rest := strings.Replace(string(bytes.TrimLeft(before[to:], "\"'`,;)")), " (", "# ", 1)
	rest = strings.TrimLeft(rest, " \t")
	return to >= 8 && begins(rest, "#", "//", "<-", "--", "—", "- ", "= ", ": ", "is ", "ist ")
}

// whatBefore returns where the values begin that a telling word behind them names: in a line of
// code with a remark (V; // live secret key), or as a sentence does (use V as the API key); -1 for
// none.
func whatBefore(before []byte) int {
	for _, sign := range [...]string{" // ", " # ", " -- ", " as "} {
		at := bytes.LastIndex(before, []byte(sign))
		if at < 0 || len(before)-at > 32 || !chars.Only(before[at+len(sign):],
			func(c byte) bool { return chars.IsLetter(c) || c == ' ' }) {
			continue
		}
		if sign != " as " {
			return 0
		}
		return bytes.LastIndexByte(before[:at], ' ') + 1
	}
	return -1
}

// linked returns the place of the word b[from:to] behind a telling word that ends at end, and the
// end of the value there.
func (s *scan) linked(end, from, to int, kind Key) (place, int) {
	b := s.b
	lead := b[end:from]
	quoted := chars.IsQuote(b[from-1])
	if sign := string(bytes.Trim(lead, " \"'`\\])")); quoted && slices.Contains(calls[:], sign) {
		v := quotedValue(b, from-1)
		if sign != "(" && sign != "{" {
			isCall := sign != "," || bytes.IndexByte(b[lineStartOf(b, end):end], '(') >= 0
			if isCall && (chars.IsQuote(lead[0]) || lead[0] == '\\' || lead[0] == ']') {
				return inQuotes, v.end
			}
			return near, to
		}
		after := chars.RunEnd(b, v.end, func(c byte) bool { return c == '\\' || c == b[from-1] })
		if b[from-1] != '`' && after < len(b) && bytes.IndexByte([]byte(").}"), b[after]) >= 0 {
			return said, v.end
		}
		return near, to
	}
	if b[from] == '@' || bytes.ContainsAny(lead, "={};$+\t") ||
		bytes.HasSuffix(b[:end], []byte(":secret")) {
		return near, to
	}
	lead = bytes.TrimRight(lead, " \"'`*\\([")
	for _, link := range links {
		if bytes.HasSuffix(lead, []byte(link)) { // of two signs before that of one
			v := s.runs.valueAt(from)
			switch direct := string(bytes.TrimSpace(lead)) == strings.TrimSpace(link); {
			case direct && quoted:
				return inQuotes, quotedValue(b, from-1).end
			case !direct && (kind != strongKey || link == ">" || link == "|"),
				bytes.ContainsAny(b[from:v.end], "()[]{}"):
				return near, to
			case direct:
				return bare, v.end
			}
			return said, v.end
		}
	}
	return near, to
}

// wideAt adds the value behind a key and a colon of East Asia, at b[i:end].
func (s *scan) wideAt(i, end int) {
	if kind := keyBefore(s.b, i); kind != NoKey {
		s.judge(valueAfter(&s.runs, end), kind)
	}
}

// slashAt adds the made value behind the name of a user and the slash at b[i].
func (s *scan) slashAt(i, _ int) {
	at := i + len(" / ")
	end := chars.RunEnd(s.b, at, chars.NotSpace)
	from, to := trimCell(s.b, at, end)
	in := near
	name := nameStart(s.b, i)
	if isListed("user", string(s.b[name:i])) {
		in = said
	}
	if name < i {
		s.take(in, from, to, strongKey)
	}
}

// belowAt adds the made value that is alone below the line of the telling word b[i:end], which ends
// at stop.
func (s *scan) belowAt(i, end, stop int, kind Key, line []byte) {
	b := s.b
	next := stop + len("\n")
	if next >= len(b) || b[stop] != '\n' ||
		kind == strongKey && bytes.EqualFold(b[i:end], []byte("pass")) {
		return // to pass is a verb, too
	}
	if b[next] == '\n' && b[stop-1] == ':' && next+1 < len(b) && !chars.IsQuote(b[next+1]) {
		next++
	}
	next = blanks(b, next)
	last := lineEnd(b[:min(len(b), next+maxReach)], next)
	if bytes.HasPrefix(b[next:last], []byte("2) ")) { // Redis numbers what it prints
		next += len("2) ")
	}
	from, to, _ := nextWord(b, next, last)
	in := below
	if b[stop-1] == ':' && kind == strongKey {
		in = said
	}
	if v := b[from:to]; len(v) < 64 && len(v)+4 > last-next && in.takesIn(v, kind, line) {
		s.add(from, to, kind.Class())
	}
}

// nextWord returns the next word of b[at:stop] without punctuation, and where to go on.
func nextWord(b []byte, at, stop int) (from, to, next int) {
	from = chars.RunEnd(b[:stop], at, endsWord)
	next = chars.RunEnd(b[:min(len(b), from+2*maxBare)], from, func(c byte) bool {
		return !endsWord(c)
	})
	return from, trimClosers(b, from, next), next
}

func endsWord(c byte) bool {
	return c >= 0x80 || chars.IsSpace(c) || chars.IsQuote(c) ||
		bytes.IndexByte([]byte("()[]{}<>|,;:=\\"), c) >= 0
}

// tellsDigest reports whether a line says something of digests.
func tellsDigest(line []byte) bool {
	return has(strings.ToLower(string(line))+" ", "hash", "digest", "md5", "sha", "checksum",
		"commit", " id ", " id:", " id=", "_id\"", "salt", "h1:", "integrity")
}

// isHandmade reports whether v is of letters in both cases, a digit and a sign, as people make
// passwords that a rule takes.
func isHandmade(v []byte, m chars.Counts) bool {
	signs := len(v) - m.Letters - m.Digits
	if signs == 1 { // within a value an operator of code
		v = bytes.TrimRight(v, "%^&*~+?")
	}
	name, number, ok := bytes.Cut(v, []byte("$"))
	if ok && camel(name) && chars.IsLower(v[0]) && chars.Only(number, chars.IsDigit) {
		return false // a bundler numbers names so
	}
	return len(v) >= 8 && len(v) <= 40 && signs > 0 && signs <= 3 && m.Digits > 0 &&
		chars.IsAlnum(v[0]) && hasBothCases(v) && chars.Only(v, func(c byte) bool {
		return chars.IsAlnum(c) || bytes.IndexByte([]byte("!@#$"), c) >= 0
	})
}

func hasBothCases(v []byte) bool {
	return bytes.ContainsFunc(v, func(r rune) bool { return r >= 'a' && r <= 'z' }) &&
		bytes.ContainsFunc(v, func(r rune) bool { return r >= 'A' && r <= 'Z' })
}
