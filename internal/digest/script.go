package digest

import "strings"

// simple is one simple command of a shell script.
type simple struct {
	words []string // without quotes, redirections, and assignments before the first word
	input string   // its here-documents
	piped bool     // it reads the output of the command before it
}

// The limits of what is read of a script.
const (
	maxScript  = 64 << 10 // bytes
	maxSimples = 64
)

// parseScript parses a POSIX shell script into its simple commands. It handles what agents usually
// write; loops, functions and arithmetic become plain words. Substitutions stay as written, except
// $(cat <<END), which becomes the text of the here-document.
func parseScript(script string) []simple {
	p := scriptReader{in: script[:min(len(script), maxScript)]}
	for p.at < len(p.in) && len(p.out) < maxSimples {
		p.step()
	}
	p.endCommand()
	return p.out
}

type scriptReader struct {
	in   string
	at   int
	out  []simple
	cur  simple
	word strings.Builder
	some bool     // a word has begun
	skip bool     // the next word is the target of a redirection
	docs []string // end marks of the here-documents that begin after this line
}

func (p *scriptReader) step() {
	c := p.in[p.at]
	switch c {
	case '\'':
		p.quoted()
	case '"':
		p.at++
		p.some = true
		p.doubleQuoted()
	case '\\':
		if p.at++; p.at < len(p.in) && p.in[p.at] != '\n' {
			p.put(p.in[p.at : p.at+1])
		}
		p.at++
	case '$', '`':
		p.substitution()
	case ' ', '\t', '\r':
		p.endWord()
		p.at++
	case '\n':
		p.endCommand()
		p.at++
		p.hereDocuments()
	case ';', '&', '|', '(', ')':
		p.operator()
	case '<', '>':
		p.redirection()
	case '#':
		if p.some {
			p.put("#")
			p.at++
			return
		}
		p.until("\n")
	default:
		p.put(p.in[p.at : p.at+1])
		p.at++
	}
}

func (p *scriptReader) put(s string) {
	p.word.WriteString(s)
	p.some = true
}

// until moves to the next s, or to the end, and returns the text before it.
func (p *scriptReader) until(s string) string {
	rest := p.in[p.at:]
	if i := strings.Index(rest, s); i >= 0 {
		rest = rest[:i]
	}
	p.at += len(rest)
	return rest
}

func (p *scriptReader) quoted() {
	p.at++
	p.put(p.until("'"))
	p.at++
}

func (p *scriptReader) doubleQuoted() {
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c == '"':
			p.at++
			return
		case c == '\\' && p.at+1 < len(p.in) && strings.IndexByte("\"\\$`\n", p.in[p.at+1]) >= 0:
			p.put(p.in[p.at+1 : p.at+2])
			p.at += 2
		case c == '$':
			p.substitution()
		default:
			p.put(p.in[p.at : p.at+1])
			p.at++
		}
	}
}

// substitution copies $(...) and `...` as written.
func (p *scriptReader) substitution() {
	rest := p.in[p.at:]
	if body, n, ok := catDocument(rest); ok {
		p.put(body)
		p.at += n
		return
	}
	n := 1
	switch {
	case rest[0] == '`':
		if end := strings.IndexByte(rest[1:], '`'); end >= 0 {
			n = end + 2
		}
	case strings.HasPrefix(rest, "$("):
		n = closing(rest)
	}
	p.put(rest[:n])
	p.at += n
}

// catDocument parses $(cat <<END ... END) at the start of s. It returns the text of the
// here-document and the number of bytes of the substitution.
func catDocument(s string) (body string, n int, ok bool) {
	rest, ok := strings.CutPrefix(s, "$(cat <<")
	if !ok {
		return "", 0, false
	}
	head, rest, ok := strings.Cut(rest, "\n")
	end := strings.Trim(head, " -'\"\\")
	if !ok || end == "" {
		return "", 0, false
	}
	body, rest = document(rest, end)
	_, rest, ok = strings.Cut(rest, ")")
	return body, len(s) - len(rest), ok
}

// document splits s after the last line of a here-document.
func document(s, end string) (body, rest string) {
	for at := 0; at < len(s); {
		line := s[at:]
		next := len(s)
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line, next = line[:i], at+i+1
		}
		if strings.TrimSpace(line) == end {
			return s[:at], s[next:]
		}
		at = next
	}
	return s, ""
}

// closing returns the number of bytes of the substitution at the start of s, which begins with $(.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

func (p *scriptReader) operator() {
	c := p.in[p.at]
	p.endCommand()
	p.at++
	double := p.at < len(p.in) && p.in[p.at] == c
	if double || c == '|' && p.at < len(p.in) && p.in[p.at] == '&' {
		p.at++
	}
	p.cur.piped = c == '|' && !double
}

// redirection skips a redirection and notes the end mark of a here-document.
func (p *scriptReader) redirection() {
	if strings.Trim(p.word.String(), "0123456789") == "" { // the number of a file descriptor
		p.word.Reset()
		p.some = false
	}
	p.endWord()
	rest := p.in[p.at:]
	mark := rest[:len(rest)-len(strings.TrimLeft(rest, "<>&-|"))]
	p.at += len(mark)
	if !strings.HasPrefix(mark, "<<") || mark == "<<<" {
		p.skip = true
		return
	}
	p.at += len(p.in[p.at:]) - len(strings.TrimLeft(p.in[p.at:], " \t"))
	rest = p.in[p.at:]
	n := strings.IndexAny(rest, " \t\n;|&)>")
	if n < 0 {
		n = len(rest)
	}
	p.at += n
	if end := strings.Trim(rest[:n], "'\"\\"); end != "" {
		p.docs = append(p.docs, end)
	}
}

// hereDocuments reads the here-documents of the previous line, for the command that ended with it.
func (p *scriptReader) hereDocuments() {
	for _, end := range p.docs {
		body, rest := document(p.in[p.at:], end)
		p.at = len(p.in) - len(rest)
		if n := len(p.out); n > 0 {
			p.out[n-1].input += body
		}
	}
	p.docs = nil
}

func (p *scriptReader) endWord() {
	if !p.some {
		return
	}
	word := p.word.String()
	p.word.Reset()
	p.some = false
	if p.skip {
		p.skip = false
		return
	}
	if len(p.cur.words) == 0 && isAssignment(word) {
		return
	}
	p.cur.words = append(p.cur.words, word)
}

func (p *scriptReader) endCommand() {
	p.endWord()
	p.skip = false
	if len(p.cur.words) > 0 {
		p.out = append(p.out, p.cur)
	}
	p.cur = simple{}
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && identifierAt(name) == name
}
