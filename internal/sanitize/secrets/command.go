package secrets

import (
	"bytes"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// flagAt finds the value after the flag at b[i] if the flag names a secret: --password hunter2,
// -token abc. A flag and a value with a separator between them are a pair, see pairAt.
func (s *scan) flagAt(i int) {
	b := s.b
	if i < s.past[flagRule] {
		return
	}
	name := chars.RunEnd(b, i, func(c byte) bool { return c == '-' })
	s.past[flagRule] = name
	if name-i > 2 || i > 0 && !chars.IsSpace(b[i-1]) && !chars.IsQuote(b[i-1]) && b[i-1] != '(' {
		return
	}
	end := chars.RunEnd(b[:min(len(b), name+maxKey)], name, chars.IsURLSafe)
	s.past[flagRule] = max(end, name)
	if end == name || end >= len(b) {
		return
	}
	at := end
	if b[end] != ' ' {
		if at = nextElement(b, i, end); at == 0 {
			return
		}
	}
	kind := KeyOf(b[name:end])
	flag := string(b[i:end])
	if kind == NoKey && flag != "--pass" && flag != "--user" {
		return
	}
	v := valueAfter(&s.runs, at)
	if kind == NoKey {
		kind = strongKey
		colon := bytes.IndexByte(b[v.start:v.end], ':')
		if v.start += colon + 1; flag == "--user" && colon <= 0 {
			return // without a password
		}
	}
	value := unmarked(b[v.start:v.end])
	if len(value) > 0 && value[0] != '-' && (Judge(value, v.quoted, kind) ||
		!v.quoted && !code(value) && argument.takes(value, kind)) {
		s.add(v.start, v.end, kind.Class())
	}
}

// nextElement returns the start of the string after the string b[start:end] in a list such as
// ["--token", "abc"]. It returns 0 if b[start:end] is no whole string or no string follows. The
// quotes may be escaped, as in JSON within JSON, and the strings may stand on separate lines.
func nextElement(b []byte, start, end int) int {
	if start == 0 || !chars.IsQuote(b[start-1]) {
		return 0
	}
	mark := b[start-1-slashes(b, start-1) : start]
	rest, ok := bytes.CutPrefix(b[end:], mark)
	if !ok {
		return 0
	}
	rest = bytes.TrimLeft(rest[:min(len(rest), maxGap)], " ")
	if rest, ok = bytes.CutPrefix(rest, []byte(",")); !ok {
		return 0
	}
	at := end + bytes.IndexByte(b[end:], ',') + 1
	gap := chars.RunEnd(rest, 0, chars.IsSpace)
	if !bytes.HasPrefix(rest[gap:], mark) {
		return 0
	}
	return at + gap
}

// commandAt finds secrets in the arguments of the command at b[i].
func (s *scan) commandAt(i int, c command) {
	if !chars.StartsToken(s.b, i) {
		return
	}
	at := i + len(c.text)
	line := s.b[:commandEnd(s.b, at)]
	var room [48]value
	args := arguments(room[:0], line, at)
	for takes := range strings.FieldsSeq(c.takes) {
		s.taken(line, args, takes)
	}
}

// listedAt finds secrets in the arguments of the command at b[i] in a list of strings, which is
// behind a quotation mark: ["mysql", "-pVALUE"].
func (s *scan) listedAt(i int, c command) {
	b := s.b
	name := strings.TrimRight(c.text, " ")
	end := i + len(name)
	at := chars.RunEnd(b, min(end, len(b)), isBackslash)
	if !bytes.HasPrefix(b[i:], []byte(name)) || at == len(b) || b[at] != b[i-1] {
		return
	}
	var room [48]value
	args := room[:0]
	for at++; len(args) < cap(args); at = min(len(b), chars.RunEnd(b, at, isBackslash)+1) {
		at = chars.RunEnd(b, at, func(c byte) bool {
			return c == ',' || c == '\\' || chars.IsSpace(c)
		})
		if at == len(b) || b[at] != b[i-1] {
			break
		}
		args = append(args, quotedValue(b, at))
		at = args[len(args)-1].end
	}
	for takes := range strings.FieldsSeq(c.takes) {
		s.taken(b, args, takes)
	}
}

// commandEnd returns the end of the command at b[at:]: a bar, a semicolon, two ampersands, or a
// line feed without a backslash before it.
func commandEnd(b []byte, at int) int {
	most := min(len(b), at+1024)
	for end := at; end < most; end++ {
		switch b[end] {
		case '\n', '\r':
			if !endsInBackslash(b[at:end]) {
				return end
			}
		case '|', ';':
			return end
		case '&':
			if end+1 < len(b) && b[end+1] == '&' {
				return end
			}
		}
	}
	return most
}

func endsInBackslash(line []byte) bool {
	line = bytes.TrimRight(line, " \r\n")
	return len(line) > 0 && line[len(line)-1] == '\\'
}

// arguments appends the arguments at line[at:] to args, as many as have room, without the quotes
// around them. A quote inside an argument belongs to it behind a separator or a short flag, as in
// -p'value'; elsewhere it ends the command, which stands in a literal.
func arguments(args []value, line []byte, at int) []value {
	for len(args) < cap(args) {
		at = chars.RunEnd(line, at, chars.IsSpace)
		for at < len(line) && line[at] == '\\' && at+1 < len(line) && chars.IsSpace(line[at+1]) {
			at = chars.RunEnd(line, at+1, chars.IsSpace)
		}
		if at == len(line) {
			return args
		}
		start := at
		quote := chars.RunEnd(line, at, isBackslash)
		if quote < len(line) && chars.IsQuote(line[quote]) {
			v := quotedValue(line, quote)
			args = append(args, v)
			at = min(len(line), chars.RunEnd(line, v.end, isBackslash)+1)
			continue
		}
		at = chars.RunEnd(line, at, func(c byte) bool {
			return !chars.IsSpace(c) && !chars.IsQuote(c)
		})
		end := at
		if at < len(line) && chars.IsQuote(line[at]) {
			end = start + len(bytes.TrimRight(line[start:at], "\\"))
			if !takesQuote(line[start:end]) {
				return append(args, value{start, end, false})
			}
			end = quotedValue(line, at).end
			at = min(len(line), chars.RunEnd(line, end, isBackslash)+1)
		}
		args = append(args, value{start, end, false})
	}
	return args
}

func isBackslash(c byte) bool { return c == '\\' }

// takesQuote reports whether a quote behind this part of an argument belongs to the argument.
func takesQuote(part []byte) bool {
	return len(part) > 1 && (bytes.IndexByte([]byte("=:,%/"), part[len(part)-1]) >= 0 ||
		part[0] == '-' && len(part) <= len("-hp"))
}

// taken finds the secrets that a command takes in one way; see command.
func (s *scan) taken(line []byte, args []value, takes string) {
	form := takes[len(takes)-1]
	flag := takes[:len(takes)-1]
	switch {
	case takes[0] == '$' || chars.IsDigit(takes[0]):
		if at := nth(line, args, takes[0]); at >= 0 {
			s.argument(line, args[at].start, args[at].end, form)
		}
		return
	case chars.IsAlnum(form):
		form, flag = ' ', takes
	}
	for i, a := range args {
		text := line[a.start:a.end]
		if len(text) < len(flag) || !bytes.EqualFold(text[:len(flag)], []byte(flag)) ||
			flag[0] == '-' && string(text[:len(flag)]) != flag {
			continue
		}
		joined := len(text) > len(flag)
		start, end, kind := a.start+len(flag), a.end, form
		switch {
		case joined && text[len(flag)] == '=':
			start++
		case joined && form == '*':
			kind = '+'
		case joined && (form == ' ' || len(flag) > 2 && form != '+' && form != '>'):
			continue
		case !joined && form == '+':
			continue
		case form == '>' || !joined:
			if i+1 == len(args) {
				continue
			}
			start, end = args[i+1].start, args[i+1].end
			if form == '*' {
				kind = ' '
			}
		}
		s.argument(line, start, end, kind)
	}
}

// nth returns the index of the argument that is no flag and stands at this place, or -1.
func nth(line []byte, args []value, which byte) int {
	const most = 6 // in prose, more words follow
	n := 0
	for i, a := range args {
		if a.start < a.end && line[a.start] != '-' {
			n++
		}
		if n > 0 && (which == '$' && i == len(args)-1 && len(args) <= most || n == int(which-'0')) {
			return i
		}
	}
	return -1
}

// argument adds line[start:end] if it is a secret, where it stands in the given form.
func (s *scan) argument(line []byte, start, end int, form byte) {
	quoted := func(c byte) bool { return chars.IsQuote(c) || c == '\\' }
	start = chars.RunEnd(line[:end], start, quoted)
	var user []byte
	in := argument
	if form == '+' || form == '>' {
		in = only
	}
	if bytes.IndexByte([]byte(":%,/="), form) >= 0 {
		before, _, ok := bytes.Cut(line[start:end], []byte{form})
		if !ok || len(before) == 0 && form != ':' {
			return
		}
		user, in = before, only
		after := chars.RunEnd(line[:end], start+len(user)+1, quoted)
		switch {
		case form == '/':
			if at := bytes.IndexByte(line[after:end], '@'); at >= 0 {
				end = after + at
			}
			if !chars.Only(user, chars.IsDotted) {
				return
			}
			start = after
		case after < end:
			start = after
		case len(user) >= 8 && inQuotes.takes(unmarked(user), weakKey):
			end, user = start+len(user), nil // a token in place of the user
		default:
			return
		}
	}
	if v := unmarked(line[start:end]); !bytes.Equal(v, user) && in.takes(v, strongKey) {
		s.add(start, end, strongKey.Class())
	}
}

// isStandInWord reports whether v is a word that manuals use in place of a password.
func isStandInWord(v []byte) bool {
	return isListed("stand-in", string(bytes.ToLower(bytes.Trim(v, "<>[]{}"))))
}
