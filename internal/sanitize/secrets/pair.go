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
		kind = keyAfter(&s.runs, separatorStart(b, i), end)
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
		secret = setting.takes(unmarked(b[v.start:v.end]), kind)
	}
	if secret {
		s.add(v.start, v.end, kind.Class())
		s.past[pairRule] = v.end
	}
	if next, ok := bytes.CutPrefix(b[min(v.end+1, len(b)):], []byte(" -> ")); ok && v.quoted {
		v = valueAfter(&s.runs, len(b)-len(next)) // what it becomes in a plan of Terraform
		if v.quoted && Judge(b[v.start:v.end], true, kind) {
			s.add(v.start, v.end, kind.Class())
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
	if stop := s.runs.valueAt(at).end; isUser(last) && end+1 == at &&
		near.takes(unmarked(b[at:stop]), userKey) {
		s.add(at, stop, strongKey.Class())
		return
	}
	if !isVendor(strings.TrimSuffix(last, "api")) && (last != "api" ||
		!vendorBefore(b[nameStart(b, name):name-3], nil)) {
		return
	}
	v := valueAfter(&s.runs, at)
	value := unmarked(b[v.start:v.end])
	if near.takes(value, vendorKey) {
		s.add(v.start, v.end, weakKey.Class())
	}
}

// isUser reports whether a word is a name that many machines have for a user.
func isUser(word string) bool {
	switch word {
	case "root", "admin", "administrator", "postgres", "deploy", "backup", "guest", "ubuntu":
		return true
	}
	return false
}

// separatorStart returns the start of the separator whose last character is at b[i]: before the
// colons of ::= and the dot of .=
func separatorStart(b []byte, i int) int {
	if b[i] != '=' {
		return i
	}
	start := i
	for start > 0 && i-start < 3 && b[start-1] == ':' {
		start--
	}
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
	start := i
	for start > 0 && i-start < maxKey && (chars.IsUpperNum(b[start-1]) || b[start-1] == '_') {
		start--
	}
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
		end = trimKey(b, trimByte(b, start, '&'))
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
				isAccount(b[nameStart(b, start-1):start-1])) {
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
	if end-start >= len("value") && bytes.EqualFold(b[end-len("value"):end], []byte("value")) {
		return keyBeside(b, start)
	}
	if string(b[start:end]) == "content" {
		return keyInTag(b, start)
	}
	if string(b[start:end]) == "default" {
		return keyOfVariable(b, start)
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

// keyAfter returns the kind of the name that follows a "value" in an object, with the separator
// between start and end: {"value": "…", "name": "DB_PASSWORD"}.
func keyAfter(runs *bareRuns, start, end int) Key {
	b := runs.b
	if start == 0 || b[start-1]|0x20 != 'e' && b[start-1] != '"' && b[start-1] != '\'' {
		return NoKey
	}
	name := trimKey(b, start)
	if n := name - len("value"); n < 0 || !bytes.EqualFold(b[n:name], []byte("value")) {
		return NoKey
	}
	v := valueAfter(runs, end)
	rest := bytes.TrimLeft(b[v.end:min(len(b), v.end+2*maxKey)], " \r\n\t\"'\\,")
	for _, word := range [...]string{"name", "key", "Name", "Key"} {
		if after, ok := bytes.CutPrefix(rest, []byte(word)); ok {
			after = bytes.TrimLeft(after, " \"'\\:=")
			return KeyOf(after[:chars.RunEnd(after, 0, chars.IsDotted)])
		}
	}
	return NoKey
}

// keyOfVariable returns the kind of the variable of Terraform whose default is at b[i].
func keyOfVariable(b []byte, i int) Key {
	before := b[max(0, i-4*maxKey):i]
	at := bytes.LastIndex(before, []byte(`variable "`))
	if at < 0 || bytes.Contains(before[at:], []byte("\n}")) {
		return NoKey
	}
	name := before[at+len(`variable "`):]
	return KeyOf(name[:chars.RunEnd(name, 0, chars.IsDotted)])
}

// keyBeside returns the kind of the name beside a "value", on the same line or the line before:
// name="db.password" value="…", or "- name: DB_PASSWORD" over "value: …". Or the object with the
// value has a name: "db_password": {"sensitive": true, "value": "…"}.
func keyBeside(b []byte, value int) Key {
	if kind := keyInTag(b, value); kind != NoKey {
		return kind
	}
	low := max(0, value-2*maxKey)
	open := low + bytes.LastIndexByte(b[low:value], '{')
	if open < low || bytes.IndexByte(b[open:value], '}') >= 0 {
		return NoKey
	}
	end := trimKey(b, open)
	if end == 0 || b[end-1] != ':' {
		return NoKey
	}
	end = trimKey(b, end-1)
	return KeyOf(b[nameStart(b, end):end])
}

// keyInTag is keyBeside for names on the line of the value and the one before.
func keyInTag(b []byte, value int) Key {
	low := max(0, value-2*maxKey)
	line := value - 1
	for lines := 0; line >= low; line-- {
		if b[line] == '<' {
			break
		}
		if b[line] == '\n' {
			if lines++; lines == 2 {
				break
			}
		}
	}
	before := b[line+1 : value]
	for _, word := range [...]string{"name", "key", "Name", "Key", "type", "Type"} {
		i := bytes.LastIndex(before, []byte(word))
		if i < 0 || i > 0 && chars.IsAlnum(before[i-1]) &&
			!(chars.IsUpper(word[0]) && chars.IsLower(before[i-1])) {
			continue
		}
		rest := bytes.TrimLeft(before[i+len(word):], " \"'\\")
		if len(rest) == 0 || rest[0] != ':' && rest[0] != '=' {
			continue
		}
		rest = bytes.TrimLeft(rest[1:], " \"'\\")
		kind := KeyOf(rest[:chars.RunEnd(rest, 0,
			func(c byte) bool { return chars.IsDotted(c) || c == '/' })])
		if kind != NoKey {
			return kind
		}
	}
	return NoKey
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

func trimByte(b []byte, i int, c byte) int {
	for i > 0 && b[i-1] == c {
		i--
	}
	return i
}

// nameStart returns the start of the name that ends at end.
func nameStart(b []byte, end int) int {
	low := max(0, end-maxKey)
	start := end
	for start > low && chars.IsDotted(b[start-1]) {
		start--
	}
	// a colour before the name
	if open := bytes.LastIndexByte(b[max(0, start-8):end], '['); open >= 0 {
		if open += max(0, start-8); chars.Colour(b[open:end]) > start-open {
			start = open + chars.Colour(b[open:end])
		}
	}
	return start
}

// isAccount reports whether "<word> pass" is a password, and not a run of a program.
func isAccount(word []byte) bool {
	switch strings.ToLower(string(word)) {
	case "smtp", "db", "ftp", "user", "admin", "root", "mail", "imap", "wifi", "sudo", "database":
		return true
	}
	return false
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
		for rest := near; ; {
			n := bytes.Index(rest, []byte(word))
			if n < 0 {
				break
			}
			before := n == 0 || !chars.IsLetter(rest[n-1])
			rest = rest[n+len(word):]
			end := chars.RunEnd(rest, 0, func(c byte) bool {
				return chars.IsURLSafe(c) || chars.IsQuote(c) || c == ' ' || c == '\\'
			})
			if before && end < min(len(rest), 16) && (rest[end] == '=' || rest[end] == ':') {
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
	switch string(name) {
	case "string", "str", "String":
		return true
	}
	return false
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
