package replay

import "strings"

// readScript reads the simple commands of a POSIX shell script with their redirections and
// here-documents. Loops, functions and conditions become words, which name no program that counts.
// Substitutions stay as they are written.
func readScript(script string) []command {
	p := &scriptReader{in: script}
	for p.at < len(p.in) {
		p.step()
	}
	p.endCommand()
	return p.out
}

type scriptReader struct {
	in   string
	at   int
	out  []command
	cur  command
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
	of            int // the command, as an index into scriptReader.out
}

func (p *scriptReader) step() {
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
	case ';', '&', '|', '(', ')', '{', '}':
		p.operator(c)
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

func (p *scriptReader) put(s string) {
	p.word.WriteString(s)
	p.some = true
}

// upTo moves to the next s, or to the end, and returns the text before it.
func (p *scriptReader) upTo(s string) string {
	rest := p.in[p.at:]
	if i := strings.Index(rest, s); i >= 0 {
		rest = rest[:i]
	}
	p.at += len(rest)
	return rest
}

func (p *scriptReader) doubleQuoted() {
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

// substitution copies $(...) and `...` as they are written.
func (p *scriptReader) substitution() {
	rest := p.in[p.at:]
	n := 1
	switch {
	case rest[0] == '`':
		if end := strings.IndexByte(rest[1:], '`'); end >= 0 {
			n = end + 2
		}
	case strings.HasPrefix(rest, "$("):
		depth := 0
		for n = 1; n < len(rest); n++ {
			if rest[n] == '(' {
				depth++
			} else if rest[n] == ')' {
				if depth--; depth == 0 {
					n++
					break
				}
			}
		}
	}
	p.put(rest[:n])
	p.at += n
}

func (p *scriptReader) operator(c byte) {
	if (c == '{' || c == '}') && p.some {
		p.put(string(c))
		p.at++
		return
	}
	if strings.HasPrefix(p.in[p.at:], "&>") { // what goes into the file is not only the output
		p.endWord()
		p.at += len("&>")
		p.next = elsewhere
		return
	}
	p.endCommand()
	p.at++
	if c == ')' || c == '}' {
		p.cur.words = []string{string(c)} // a redirection that follows is that of the group
		return
	}
	double := p.at < len(p.in) && p.in[p.at] == c
	if double || c == '|' && p.at < len(p.in) && p.in[p.at] == '&' {
		p.at++
	}
	p.cur.piped = c == '|' && !double
}

// redirect reads a redirection up to the word that it is about.
func (p *scriptReader) redirect() {
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
func (p *scriptReader) document(strip bool) {
	p.at += len(p.in[p.at:]) - len(strings.TrimLeft(p.in[p.at:], " \t"))
	rest := p.in[p.at:]
	n := strings.IndexAny(rest, " \t\r\n;|&)>")
	if n < 0 {
		n = len(rest)
	}
	p.at += n
	if end := strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(rest[:n]); end != "" {
		p.docs = append(p.docs, document{end, end != rest[:n], strip, len(p.out)})
	}
}

// documents reads the here-documents of the line before.
func (p *scriptReader) documents() {
	for _, d := range p.docs {
		var b strings.Builder
		for p.at < len(p.in) {
			line, rest, _ := strings.Cut(p.in[p.at:], "\n")
			p.at = len(p.in) - len(rest)
			if d.strip {
				line = strings.TrimLeft(line, "\t")
			}
			if strings.TrimSuffix(line, "\r") == d.end {
				break
			}
			b.WriteString(line + "\n")
		}
		text := b.String()
		if !d.quoted {
			text = strings.NewReplacer("\\\n", "", `\\`, `\`, `\$`, "$", "\\`", "`").Replace(text)
		}
		if d.of < len(p.out) {
			p.out[d.of].input = &text
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
	next := p.next
	p.next = noRedirection
	switch next {
	case intoFile, toEndOfFile:
		p.cur.to, p.cur.more = word, next == toEndOfFile
	case fromString:
		text := word + "\n"
		p.cur.input = &text
	case noRedirection:
		if len(p.cur.words) == 0 && isAssignment(word) || len(p.cur.words) == 0 && isKeyword(word) {
			return
		}
		p.cur.words = append(p.cur.words, word)
	}
}

// isKeyword reports whether a word stands before a command.
func isKeyword(w string) bool {
	switch w {
	case "if", "then", "else", "elif", "do", "while", "until", "!", "time":
		return true
	}
	return false
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// endCommand ends a command. It is kept even without words if it has a redirection.
func (p *scriptReader) endCommand() {
	p.endWord()
	p.next = noRedirection
	waits := len(p.docs) > 0 && p.docs[len(p.docs)-1].of == len(p.out)
	if len(p.cur.words) > 0 || p.cur.to != "" || waits {
		p.out = append(p.out, p.cur)
	}
	p.cur = command{}
}
