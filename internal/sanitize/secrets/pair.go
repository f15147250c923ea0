package secrets

import (
	"bytes"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// pairAt finds a value that follows a key that names a secret and the separator at b[i]: = : => :=
// ::= .= or a percent-encoded = or :, or that a comparison has in quotes. Only the value is
// replaced.
func (s *scan) pairAt(i int) {
	b := s.b
	if i < s.past[pairRule] {
		return
	}
	end := separator(b, i)
	if end == 0 {
		return
	}
	s.past[pairRule] = end
	kind := keyBefore(b, separatorStart(b, i))
	if b[i] == ':' && bytes.HasSuffix(b[:i], []byte(":secret")) {
		return // the name of a secret in an ARN
	}
	if kind == NoKey {
		s.vendorAt(separatorStart(b, i), end)
		return
	}
	v := valueAfter(&s.runs, end)
	if kind == headerKey {
		v = afterScheme(&s.runs, v)
	}
	if compares(b, i) && !v.quoted {
		return // code on both sides
	}
	secret := Judge(b[v.start:v.end], v.quoted, kind)
	if !secret && b[i] == '=' && !v.quoted && isSetting(b, i) {
		if kind == authKey { // REDISCLI_AUTH
			kind = weakKey
		}
		secret = setting.takes(unmarked(b[v.start:v.end]), kind)
	}
	if secret {
		s.add(v.start, v.end, kind.Class())
		s.past[pairRule] = v.end
	}
	if next, ok := bytes.CutPrefix(b[min(v.end+1, len(b)):], []byte(" -> ")); ok && v.quoted {
		// What it becomes in a plan of Terraform
		if v = valueAfter(&s.runs, len(b)-len(next)); v.quoted {
			s.judge(v, kind)
		}
	}
}

// vendorAt reads the value at b[at:] if nothing but the name of a vendor ends at b[end]: a value
// that was made to be secret, and is no UUID, which names of services have beside them often.
func (s *scan) vendorAt(end, at int) {
	b := s.b
	from := chars.RunEnd(b[:min(len(b), at+4)], at, func(c byte) bool {
		return c == ' ' || chars.IsQuote(c)
	})
	if from+8 >= len(b) || !chars.Only(b[from:from+8], chars.IsURLSafe) || b[from+8] == '-' {
		return
	}
	name := trimKey(b, end)
	last, _ := lastPart(b[nameStart(b, name):name])
	if stop := s.runs.valueAt(at).end; (isListed("user", last) || isAddress(b, name)) &&
		end+1 == at && near.takes(unmarked(b[at:stop]), userKey) {
		s.add(at, stop, strongKey.Class())
		return
	}
	if !isVendor(strings.TrimSuffix(last, "api")) && (last != "api" ||
		!vendorBefore(b[nameStart(b, name):name-3], nil)) {
		return
	}
	v := valueAfter(&s.runs, at)
	s.take(near, v.start, v.end, vendorKey)
}

// isAddress reports whether the address of an account, such as bob@mail.test, ends at b[end].
func isAddress(b []byte, end int) bool {
	host := nameStart(b, end)
	return host > 0 && b[host-1] == '@' && bytes.IndexByte(b[host:end], '.') > 0
}

// separatorStart returns the start of the separator whose last character is at b[i]: before the
// colons of ::= and the dot of .=
func separatorStart(b []byte, i int) int {
	if b[i] != '=' {
		return i
	}
	start := chars.RunStart(b, max(0, i-3), i, func(c byte) bool { return c == ':' })
	switch {
	case start < i:
	case compares(b, i):
		for b[start-1] == '=' || b[start-1] == '!' {
			if start--; start == 0 {
				break
			}
		}
	case i > 1 && b[i-1] == '.' && b[i-2] == ' ':
		start--
	case isDefault(b, i):
		start -= 2
	}
	return start
}

// isDefault reports whether the equals sign at b[i] belongs to ||= or ??=, which assign a default.
func isDefault(b []byte, i int) bool {
	return i > 1 && (b[i-1] == '|' || b[i-1] == '?') && b[i-2] == b[i-1]
}

// compares reports whether the equals sign at b[i] is the last of a comparison: == != === !==
func compares(b []byte, i int) bool {
	return b[i] == '=' && i > 0 && (b[i-1] == '=' || b[i-1] == '!')
}

// afterScheme returns the value after v if v is a word such as ApiKey before the credential.
func afterScheme(runs *bareRuns, v value) value {
	b := runs.b
	if v.quoted || v.start == v.end || v.end-v.start > 16 || v.end >= len(b) || b[v.end] != ' ' ||
		chars.RunEnd(b, v.start, chars.IsLetter) != v.end {
		return v
	}
	return valueAfter(runs, v.end)
}

// isSetting reports whether the equals sign at b[i] is that of NAME=value in a shell or an .env
// file, where a value is no code.
func isSetting(b []byte, i int) bool {
	start := chars.RunStart(b, max(0, i-maxKey), i,
		func(c byte) bool { return chars.IsUpperNum(c) || c == '_' })
	return start < i && i+1 < len(b) && !chars.IsSpace(b[i+1]) &&
		(start == 0 || chars.IsSpace(b[start-1]) || chars.IsQuote(b[start-1]) ||
			chars.StartsToken(b, start))
}

// separator returns the offset after the separator at b[i], or 0 if there is none. Comparisons of
// order, scopes and compound assignments are none.
func separator(b []byte, i int) int {
	next := byte(0)
	if i+1 < len(b) {
		next = b[i+1]
	}
	switch b[i] {
	case '=':
		if i > 0 && strings.IndexByte("<>+-*/|^~&%", b[i-1]) >= 0 && !isDefault(b, i) ||
			next == '=' ||
			next == '~' {
			return 0
		}
		if next == '>' {
			return i + 2
		}
		return i + 1
	case ':':
		if i > 0 && b[i-1] == ':' || next == ':' {
			return 0
		}
		if next == '=' {
			return i + 2
		}
		return i + 1
	case '%':
		if next == '3' && i+2 < len(b) && bytes.IndexByte([]byte("ADad"), b[i+2]) >= 0 {
			return i + 3
		}
	}
	return 0
}

// maxGap is the number of blanks that may stand on either side of a separator: enough for manually
// aligned columns.
const maxGap = 40

// keyBefore returns the kind of the key before the separator at b[i]. The key may be quoted,
// indexed (env["TOKEN"]), optional (token?), emphasized (**Token**), coloured, and followed by the
// name of a string type. If it is "value", the key is the name beside it.
func keyBefore(b []byte, i int) Key {
	end := trimKey(b, i)
	for _, accessors := range [...]string{"{ get; set; }", "{ get; init; }", "{ get; }"} {
		end = trimKey(b, len(bytes.TrimSuffix(b[:end], []byte(accessors))))
	}
	if !mayEndKey(b[:end]) {
		return NoKey
	}
	start := nameStart(b, end)
	if isStringType(b[start:end]) {
		end = trimKey(b, len(bytes.TrimRight(b[:start], "&")))
		if end > 0 && b[end-1] == ':' {
			end = trimKey(b, end-1)
		}
		if bytes.HasSuffix(b[:end], []byte(" As")) {
			end = trimKey(b, end-len(" As"))
		}
		start = nameStart(b, end)
	}
	if start == end {
		return NoKey
	}
	if start > 0 && b[start-1] == ' ' && chars.Only(b[start:end], chars.IsDigit) {
		end = start - 1 // "Unseal Key 2: …"
		start = nameStart(b, end)
	}
	if start > 0 && b[start-1] == ' ' &&
		(bytes.EqualFold(b[start:end], []byte("key")) ||
			bytes.EqualFold(b[nameStart(b, start-1):end], []byte("secret id")) ||
			bytes.EqualFold(b[start:end], []byte("pass")) &&
				isListed("account", strings.ToLower(string(b[nameStart(b, start-1):start-1])))) {
		start = nameStart(b, start-1) // "API key: …" in prose
	}
	if two := b[max(0, end-len("pass phrase")):end]; bytes.EqualFold(two, []byte("pass phrase")) {
		return strongKey
	}
	if isLonePass(b, start, end) {
		return when(accountNear(b, start) || drawnAfter(b, i), strongKey)
	}
	switch string(b[start:end]) {
	case "pass", "Pass", "PASS", "pw", "PW":
		return when(drawnAfter(b, i), strongKey)
	}
	if bytes.HasPrefix(b[start:end], []byte("BUNDLE_")) &&
		bytes.Contains(b[start:end], []byte("__")) {
		return strongKey // credentials for a host, as Bundler takes them
	}
	for _, member := range [...]string{"value", "content", "default"} {
		if n := len(member); end-start >= n && bytes.EqualFold(b[end-n:end], []byte(member)) {
			return keyBeside(b, start, i)
		}
	}
	return KeyOf(b[start:end])
}

// mayEndKey is a quick test of the last letters before a separator. The name of a key, "value", a
// string type, and the name of a host for Bundler pass it.
func mayEndKey(b []byte) bool {
	n := len(b)
	if n < 2 {
		return false
	}
	switch last := b[n-1]; last {
	case 'g', 'r', 'e', 'E', 't': // string, str, value, default
		return true
	case 'M', 'G', 'O': // BUNDLE_…__COM, ORG, IO
		return true
	case '_', '-', '.':
		return true
	default:
		return chars.IsDigit(last) || mayBeKey(b[n-2:])
	}
}

// keyBeside returns the kind of the name of a "value" that begins at b[start], with the separator
// at b[i]. The name is another member of the object, on the same line, on the line before or behind
// the value: name="db.password" value="…", or "- name: DB_PASSWORD" over "value: …". Or the object
// with the value has a name: "db_password": {"sensitive": true, "value": "…"}, variable "token" {.
func keyBeside(b []byte, start, i int) Key {
	low := max(0, start-2*maxKey)
	line := low + bytes.LastIndexAny(b[low:start], "<\n")
	if line >= low && b[line] == '\n' {
		line = low + bytes.LastIndexAny(b[low:line], "<\n")
	}
	before := b[line+1 : start]
	at := chars.RunEnd(b, i, func(c byte) bool {
		return bytes.IndexByte([]byte(":= \"'\\"), c) >= 0
	})
	at = chars.RunEnd(b[:min(len(b), at+maxLiteral)], at, func(c byte) bool {
		return c != '\n' && c != ',' && !chars.IsQuote(c)
	})
	behind := bytes.TrimLeft(b[at:min(len(b), at+2*maxKey)], " \r\n\t\"'\\,")
	behind = bytes.TrimPrefix(behind, []byte("WHERE "))
	for _, word := range [...]string{"name", "key", "Name", "Key", "type", "Type",
		"label"} {
		if n := bytes.LastIndex(before, []byte(word)); n >= 0 && (n == 0 ||
			!chars.IsAlnum(before[n-1]) || chars.IsUpper(word[0]) && chars.IsLower(before[n-1])) {
			if kind := keyIn(before[n+len(word):]); kind != NoKey {
				return kind
			}
		}
		if rest, ok := bytes.CutPrefix(behind, []byte(word)); ok && word[1] != 'y' {
			return keyIn(rest)
		}
	}
	low = max(0, start-4*maxKey)
	open := low + bytes.LastIndexByte(b[low:start], '{')
	if open < low || bytes.IndexByte(b[open:start], '}') >= 0 {
		return NoKey
	}
	end := trimKey(b, open)
	switch {
	case end == 0:
		return NoKey
	case b[end-1] == ':':
		end = trimKey(b, end-1)
	case !chars.IsQuote(b[end]):
		return NoKey
	}
	return KeyOf(b[nameStart(b, end):end])
}

// keyIn returns the kind of the name behind the separator with which b begins.
func keyIn(b []byte) Key {
	b = bytes.TrimLeft(b, " \"'\\")
	if len(b) == 0 || b[0] != ':' && b[0] != '=' {
		return NoKey
	}
	b = bytes.TrimLeft(b[1:], " \"'\\")
	return KeyOf(b[:chars.RunEnd(b, 0,
		func(c byte) bool { return chars.IsDotted(c) || c == '/' })])
}

// trimKey returns i without the characters that may stand between a key and a separator.
func trimKey(b []byte, i int) int {
	low := max(0, i-maxGap)
	for i > low {
		switch b[i-1] {
		case '[':
			if i == len(b) || b[i] != ']' { // of an array without a size
				return i
			}
			i--
		case ' ', '\t', '"', '\'', '`', '\\', ']', ')', '*', '?':
			i--
		case 'm':
			open := chars.ColourBefore(b[low:i])
			if open < 0 {
				return i
			}
			i = low + open
		default:
			return i
		}
	}
	return i
}

// nameStart returns the start of the name that ends at end.
func nameStart(b []byte, end int) int {
	start := chars.RunStart(b, max(0, end-maxKey), end, chars.IsDotted)
	// a colour before the name
	if open := bytes.LastIndexByte(b[max(0, start-8):end], '['); open >= 0 {
		if open += max(0, start-8); chars.Colour(b[open:end]) > start-open {
			start = open + chars.Colour(b[open:end])
		}
	}
	return start
}

// isLonePass reports whether the name b[start:end] is "pass" alone, which most often is no
// password, and begins a setting or a member of an object.
func isLonePass(b []byte, start, end int) bool {
	switch string(b[start:end]) {
	case "pass", "Pass", "pw":
		lead := bytes.TrimRight(b[max(0, start-maxGap):start], " \t\"'\\")
		return len(lead) == 0 || bytes.IndexByte([]byte("\n{,"), lead[len(lead)-1]) >= 0
	}
	return false
}

// accountNear reports whether the settings around b[i], up to an empty line, are those of an
// account: one of them names a user or a host.
func accountNear(b []byte, i int) bool {
	near := b[max(0, i-4*maxKey):min(len(b), i+4*maxKey)]
	at := min(i, 4*maxKey)
	if empty := bytes.LastIndex(near[:at], []byte("\n\n")); empty >= 0 {
		near, at = near[empty:], at-empty
	}
	if empty := bytes.Index(near[at:], []byte("\n\n")); empty >= 0 {
		near = near[:at+empty]
	}
	for _, word := range [...]string{"user", "host", "login", "server", "email"} {
		before, rest, ok := bytes.Cut(near, []byte(word))
		for ; ok; before, rest, ok = bytes.Cut(rest, []byte(word)) {
			end := chars.RunEnd(rest, 0, func(c byte) bool {
				return chars.IsURLSafe(c) || chars.IsQuote(c) || c == ' ' || c == '\\'
			})
			if (len(before) == 0 || !chars.IsLetter(before[len(before)-1])) &&
				end < min(len(rest), 16) && (rest[end] == '=' || rest[end] == ':') {
				return true
			}
		}
	}
	return false
}

// drawnAfter reports whether the value behind the separator at b[i] can only be a password: what
// passed is often told with the same word.
func drawnAfter(b []byte, i int) bool {
	start := chars.RunEnd(b[:min(len(b), i+maxGap)], i, func(c byte) bool {
		return c == ':' || c == '=' || c == ' ' || chars.IsQuote(c)
	})
	if bytes.HasPrefix(b[start:], []byte("is ")) {
		start += len("is ")
	}
	v := b[start:chars.RunEnd(b[:min(len(b), start+maxBare)], start, isBare)]
	m := chars.Measure(v)
	return len(v) >= 8 && said.takes(v, strongKey) && (m.Switches >= 3 || m.Symbols > 0)
}

func isStringType(name []byte) bool {
	return bytes.EqualFold(name, []byte("string")) || string(name) == "str"
}

// The limits of the examined part of a value, in bytes. A longer literal is text and no secret. Of
// a longer bare value only the beginning is examined.
const (
	maxLiteral = 4096
	maxBare    = 128
)

// Judge decides whether v is a secret under a key of this kind.
func Judge(v []byte, quoted bool, kind Key) bool {
	if quoted {
		return len(v) <= maxLiteral && inQuotes.takes(unmarked(v), kind)
	}
	v = unmarked(v[:min(len(v), 4*maxBare)]) // room for markers before the rest
	return bare.takes(v[:min(len(v), maxBare)], kind)
}
