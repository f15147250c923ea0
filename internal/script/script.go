// Package script reads the shell scripts that agents run, as far as their text says what they do.
// It runs nothing and expands nothing.
package script

import (
	"slices"
	"strings"
)

// Command is a simple command of a script. One that ends a group, whose redirections it has, is the
// word ) or }.
type Command struct {
	Words []string // without quotes, redirections, assignments and keywords before the first
	Vars  []string // the assignments before the first word
	To    string   // the file that it prints into; "" for none
	More  bool     // at its end
	Input *string  // its here-document, or the last of them; nil for none
	Piped bool     // it reads what the command before prints
}

// Read returns the simple commands of a POSIX shell script. It handles what agents usually write:
// of loops, functions and conditions there are words, which name no program that counts.
// Substitutions stay as they are written, but $(cat <<END) is the text of its here-document. A
// command may have a redirection and no words.
func Read(script string) []Command {
	p := &reader{in: script}
	for p.at < len(p.in) {
		p.step()
	}
	p.endCommand()
	return p.out
}

type reader struct {
	in   string
	at   int
	out  []Command
	cur  Command
	word strings.Builder
	some bool // a word has begun
	next redirection
	docs []document // the here-documents that begin after this line
}

// redirection says what the next word is.
type redirection uint8

const (
	noRedirection redirection = iota
	intoFile
	toEndOfFile
	fromString
	elsewhere // neither a file that is written nor an input that counts
)

// document is a here-document that begins after the line.
type document struct {
	end           string
	quoted, strip bool
	of            int // the command, as an index into reader.out
}

func (p *reader) step() {
	switch c := p.in[p.at]; c {
	case '\'':
		p.at++
		p.put(p.upTo("'"))
		p.at++
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
		p.documents()
	case ';', '&', '|', '(', ')':
		p.operator(c)
	case '{', '}': // of a group only where a command begins: find -exec rm {} has a word
		if !p.some && len(p.cur.Words) == 0 {
			p.operator(c)
			return
		}
		p.put(p.in[p.at : p.at+1])
		p.at++
	case '<', '>':
		p.redirect()
	case '#':
		if p.some {
			p.put("#")
			p.at++
			return
		}
		p.upTo("\n")
	default:
		p.put(p.in[p.at : p.at+1])
		p.at++
	}
}

func (p *reader) put(s string) {
	p.word.WriteString(s)
	p.some = true
}

// upTo moves to the next s, or to the end, and returns the text before it.
func (p *reader) upTo(s string) string {
	rest := p.in[p.at:]
	if i := strings.Index(rest, s); i >= 0 {
		rest = rest[:i]
	}
	p.at += len(rest)
	return rest
}

func (p *reader) doubleQuoted() {
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c == '"':
			p.at++
			return
		case c == '\\' && p.at+1 < len(p.in) && strings.IndexByte("\"\\$`\n", p.in[p.at+1]) >= 0:
			if p.in[p.at+1] != '\n' {
				p.put(p.in[p.at+1 : p.at+2])
			}
			p.at += 2
		case c == '$', c == '`':
			p.substitution()
		default:
			p.put(p.in[p.at : p.at+1])
			p.at++
		}
	}
}

// substitution copies $(...) and `...` as they are written, but for that of a here-document.
func (p *reader) substitution() {
	rest := p.in[p.at:]
	n := 1
	switch {
	case rest[0] == '`':
		if end := strings.IndexByte(rest[1:], '`'); end >= 0 {
			n = end + 2
		}
	case strings.HasPrefix(rest, "$("):
		text, length, ok := catDocument(rest)
		if ok {
			p.put(text)
			p.at += length
			return
		}
		n = closing(rest)
	}
	p.put(rest[:n])
	p.at += n
}

// catDocument reads $(cat <<END ... END) at the start of s. It returns the text, which has no line
// end at its end, and the number of bytes of the substitution.
func catDocument(s string) (text string, n int, ok bool) {
	rest, ok := strings.CutPrefix(s, "$(cat <<")
	if !ok {
		return "", 0, false
	}
	head, rest, ok := strings.Cut(rest, "\n")
	d := documentOf(strings.TrimPrefix(head, "-"), strings.HasPrefix(head, "-"))
	if !ok || d.end == "" {
		return "", 0, false
	}
	text, rest = d.read(rest)
	_, rest, ok = strings.Cut(rest, ")")
	return strings.TrimRight(text, "\n"), len(s) - len(rest), ok
}

// closing returns the number of bytes of the substitution at the start of s, which begins with $(.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
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

func (p *reader) operator(c byte) {
	if strings.HasPrefix(p.in[p.at:], "&>") { // what goes into the file is not only the output
		p.endWord()
		p.at += len("&>")
		p.next = elsewhere
		return
	}
	p.endCommand()
	p.at++
	if c == ')' || c == '}' {
		p.cur.Words = []string{string(c)} // a redirection that follows is that of the group
		return
	}
	double := p.at < len(p.in) && p.in[p.at] == c
	if double || c == '|' && p.at < len(p.in) && p.in[p.at] == '&' {
		p.at++
	}
	p.cur.Piped = c == '|' && !double
}

// redirect reads a redirection up to the word that it is about.
func (p *reader) redirect() {
	number := ""
	if w := p.word.String(); w != "" && strings.Trim(w, "0123456789") == "" {
		number = w
		p.word.Reset()
		p.some = false
	}
	p.endWord()
	rest := p.in[p.at:]
	for _, r := range [...]struct {
		mark string
		next redirection
	}{{"<<<", fromString}, {"<<-", elsewhere}, {"<<", elsewhere}, {">>", toEndOfFile},
		{">|", intoFile}, {">&", elsewhere}, {"<&", elsewhere},
		{"<>", elsewhere}, {">", intoFile}, {"<", elsewhere}} {
		if !strings.HasPrefix(rest, r.mark) {
			continue
		}
		p.at += len(r.mark)
		if r.mark == "<<" || r.mark == "<<-" {
			p.document(r.mark == "<<-")
			return
		}
		if p.next = r.next; number != "" && number != "1" {
			p.next = elsewhere
		}
		return
	}
}

// document reads the word that ends a here-document.
func (p *reader) document(strip bool) {
	p.at += len(p.in[p.at:]) - len(strings.TrimLeft(p.in[p.at:], " \t"))
	rest := p.in[p.at:]
	n := strings.IndexAny(rest, " \t\r\n;|&)>")
	if n < 0 {
		n = len(rest)
	}
	p.at += n
	if d := documentOf(rest[:n], strip); d.end != "" {
		d.of = len(p.out)
		p.docs = append(p.docs, d)
	}
}

// documentOf returns the here-document that ends with a word, as the word is written.
func documentOf(word string, strip bool) document {
	word = strings.TrimSpace(word)
	end := strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(word)
	return document{end: end, quoted: end != word, strip: strip}
}

// read returns the text of a here-document that begins with in, and what follows it.
func (d document) read(in string) (text, rest string) {
	var b strings.Builder
	for in != "" {
		var line string
		line, in, _ = strings.Cut(in, "\n")
		if d.strip {
			line = strings.TrimLeft(line, "\t")
		}
		if strings.TrimSuffix(line, "\r") == d.end {
			break
		}
		b.WriteString(line + "\n")
	}
	if text = b.String(); !d.quoted {
		text = strings.NewReplacer("\\\n", "", `\\`, `\`, `\$`, "$", "\\`", "`").Replace(text)
	}
	return text, in
}

// documents reads the here-documents of the line before.
func (p *reader) documents() {
	for _, d := range p.docs {
		text, rest := d.read(p.in[p.at:])
		p.at = len(p.in) - len(rest)
		if d.of < len(p.out) {
			p.out[d.of].Input = &text
		}
	}
	p.docs = nil
}

func (p *reader) endWord() {
	if !p.some {
		return
	}
	word := p.word.String()
	p.word.Reset()
	p.some = false
	next := p.next
	p.next = noRedirection
	switch next {
	case intoFile, toEndOfFile:
		p.cur.To, p.cur.More = word, next == toEndOfFile
	case fromString:
		text := word + "\n"
		p.cur.Input = &text
	case noRedirection:
		switch {
		case len(p.cur.Words) > 0:
		case isAssignment(word):
			p.cur.Vars = append(p.cur.Vars, word)
			return
		case isKeyword(word):
			return
		}
		p.cur.Words = append(p.cur.Words, word)
	}
}

// isKeyword reports whether a word stands before a command.
func isKeyword(w string) bool {
	return slices.Contains([]string{"if", "then", "else", "elif", "do", "while", "until", "!",
		"time"}, w)
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// endCommand ends a command. It is kept even without words if it has a redirection.
func (p *reader) endCommand() {
	p.endWord()
	p.next = noRedirection
	waits := len(p.docs) > 0 && p.docs[len(p.docs)-1].of == len(p.out)
	if len(p.cur.Words) > 0 || p.cur.To != "" || waits {
		p.out = append(p.out, p.cur)
	}
	p.cur = Command{}
}
