package digest

import (
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
)

// sentences adds the sentences of a text and returns how many there were. Lines inside fences are code.
func (d *Digester) sentences(kind Kind, text string) int {
	n := 0
	for _, p := range summarize.Fragments(text) {
		k := kind
		if p.Code {
			k = Code
		}
		line := tidy(p.Text)
		if line != "" && !isNumbered(line) && (!p.Code || strings.Count(line, " ") >= leastCode) {
			d.add(Fact{Kind: k, Text: line})
			n++
		}
	}
	return n
}

// leastCode is how many spaces a line of code has at least: what is shorter says nothing alone.
const leastCode = 3

// tidy takes the marks of Markdown off a line: heads, bullets, quotes, and pairs of asterisks.
func tidy(line string) string {
	line = strings.TrimLeft(line, "#>*-• \t")
	line = strings.ReplaceAll(line, "**", "")
	return strings.Trim(line, "| \t")
}

// ownWords returns what the user typed: text without the blocks that a client adds in angle brackets,
// and without its marks for an interruption. Of a command of the client its name and arguments stay.
func ownWords(text string) string {
	if name, ok := between(text, "<command-name>", "</command-name>"); ok {
		args, _ := between(text, "<command-args>", "</command-args>")
		return strings.TrimSpace(name + " " + args)
	}
	for {
		start, name := clientBlock(text)
		if start < 0 {
			break
		}
		end := strings.Index(text[start:], "</"+name+">")
		if end < 0 {
			break
		}
		text = text[:start] + text[start+end+len(name)+3:]
	}
	if strings.HasPrefix(text, "[Request interrupted") {
		_, text, _ = strings.Cut(text, "]")
	}
	return strings.TrimSpace(text)
}

// clientBlock finds the first block such as <system-reminder>, at the start of a line. Names of such
// blocks have a hyphen or an underscore, which the tags of HTML have not.
func clientBlock(text string) (start int, name string) {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return -1, ""
		}
		i += at
		at = i + 1
		if i > 0 && text[i-1] != '\n' {
			continue
		}
		end := strings.IndexByte(text[i:], '>')
		if end < 0 {
			return -1, ""
		}
		name := text[i+1 : i+end]
		if strings.ContainsAny(name, "-_") && !strings.ContainsAny(name, " \n/=\"") {
			return i, name
		}
	}
}

func between(text, open, close string) (string, bool) {
	_, rest, ok := strings.Cut(text, open)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, close)
	return strings.TrimSpace(inner), ok
}

// isNumbered reports whether a line is one of a numbered listing: a number, then an arrow, a colon, a
// bar or a tab, as readers of files print; or digits and punctuation alone.
func isNumbered(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) == len(line) {
		return false
	}
	trimmed := strings.TrimLeft(rest, " ,.")
	if trimmed == "" {
		return true
	}
	return strings.HasPrefix(rest, "→") || strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "-") ||
		strings.HasPrefix(rest, ":")
}

// firstLine returns the first line of s with something in it, with white space squeezed, cut to most
// bytes at a space where there is one.
func firstLine(s string, most int) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			return cut(line, most)
		}
	}
	return ""
}

// cut returns s, or its beginning and an ellipsis where it has more than most bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	if i := strings.LastIndexByte(s[:n], ' '); i > n/2 {
		n = i
	}
	return strings.TrimRight(s[:n], " ") + " …"
}

// maxWritten is how many sentences of one edit become facts.
const maxWritten = 40

// written adds what an edit says in words: the sentences of a document, and the comments of code.
// What old has already counts for nothing.
func (d *Digester) written(path, old, now string) {
	had := map[string]bool{}
	for l := range strings.SplitSeq(old, "\n") {
		had[strings.TrimSpace(l)] = true
	}
	prose := isDocument(path)
	var text strings.Builder
	for l := range strings.SplitSeq(now, "\n") {
		l = strings.TrimSpace(l)
		if had[l] {
			continue
		}
		if !prose {
			l = comment(l)
		}
		text.WriteString(l + "\n")
	}
	n := 0
	for _, p := range summarize.Fragments(text.String()) {
		line := tidy(p.Text)
		if p.Code || line == "" || isNumbered(line) || strings.Count(line, " ") < 3 {
			continue
		}
		d.add(Fact{Kind: Written, Path: path, Text: line})
		if n++; n == maxWritten {
			return
		}
	}
}

// isDocument reports whether a file is written for people.
func isDocument(path string) bool {
	for _, end := range [...]string{".md", ".markdown", ".txt", ".rst", ".adoc"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// comment returns the words of a line that is a comment; "" for any other line.
func comment(line string) string {
	for _, lead := range [...]string{"//", "#", "--", "/*", "* ", ";;"} {
		if rest, ok := strings.CutPrefix(line, lead); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, "/#*-; "))
		}
	}
	return ""
}

// Plain returns the lines of a tool's answer that are neither numbered nor blank, joined by spaces.
func Plain(output string) string {
	var kept []string
	eachLine(output, func(line string) bool {
		if !isNumbered(line) && !isHead(line) {
			kept = append(kept, line)
		}
		return true
	})
	return strings.Join(kept, " ")
}
