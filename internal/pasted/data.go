package pasted

import (
	"encoding/json"
	"strings"
)

// maxJSON is the most lines of one value of JSON.
const maxJSON = 4096

// json returns the end of the values of JSON that begin at a line. One that ends in the middle of
// nowhere, or is no JSON, as a literal of code, is none.
func (f *finder) json(start int) (end int, kind Kind) {
	for end = start; end < len(f.lines); {
		next := f.value(end)
		if next == end {
			break
		}
		end = next
	}
	if end-start >= minLines && strings.Contains(f.lines[start].text, `"level":`) {
		return end, Log
	}
	return end, JSON
}

// value returns the end of one value of JSON with a member, or with a list of them.
func (f *finder) value(start int) int {
	text := strings.TrimSpace(f.lines[start].text)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return start
	}
	// A line beside it, such as a comma between two values, belongs to it.
	depth, quoted, escaped := 0, false, false
	for i := start; i < len(f.lines) && i-start < maxJSON; i++ {
		for _, c := range []byte(f.lines[i].text) {
			switch {
			case escaped:
				escaped = false
			case quoted:
				escaped, quoted = c == '\\', c != '"'
			case c == '"':
				quoted = true
			case c == '{', c == '[':
				depth++
			case c == '}', c == ']':
				depth--
			}
		}
		if depth > 0 || quoted {
			continue
		}
		value := f.text[f.lines[start].start:f.lines[i].end]
		value = strings.TrimRight(strings.TrimSpace(value), ",")
		if depth == 0 && strings.Contains(value, `":`) && json.Valid([]byte(value)) {
			return i + 1
		}
		return start
	}
	return start
}

// csv returns the end of lines with the same number of fields: at least three behind commas without
// spaces, or two behind tabs.
func (f *finder) csv(start int) (end int, kind Kind) {
	for _, sep := range [...]string{",", "\t", ";"} {
		least := 2
		if sep == "\t" {
			least = 1
		}
		want := f.fields(start, sep)
		if want < least {
			continue
		}
		for end = start; end < len(f.lines) && f.fields(end, sep) == want; end++ {
		}
		if end-start >= minLines {
			return end, CSV
		}
	}
	return start, ""
}

// fields returns the number of separators of a line of data; 0 if it is none, as code is, or words
// with commas between them.
func (f *finder) fields(i int, sep string) int {
	text := f.lines[i].text
	n := strings.Count(text, sep)
	if n == 0 || strings.ContainsAny(text[:1], " \t{}()[]|#+-*/\"'") && sep != "\t" ||
		text[0] == '\t' || strings.Contains(text, ", ") && strings.Count(text, ", ") > n/2 ||
		strings.ContainsAny(text[len(text)-1:], "{}();,") {
		return 0
	}
	return n
}

// plan returns the end of a plan: a document of Markdown that begins with a head that calls it so,
// up to its end.
func (f *finder) plan(start int) (end int, kind Kind) {
	if !isPlanHead(f.lines[start].text) {
		return start, ""
	}
	marked := 0
	for end = start; end < len(f.lines); end++ {
		if text := strings.TrimSpace(f.lines[end].text); isMarked(text) {
			marked++
		}
	}
	for end > start && f.lines[end-1].text == "" {
		end--
	}
	if end-start < minPlan || marked < minPlan/2 {
		return start, ""
	}
	return end, Plan
}

// minPlan is the smallest number of lines of a plan.
const minPlan = 12

func isPlanHead(s string) bool {
	if !strings.HasPrefix(s, "# ") {
		return false
	}
	for word := range strings.FieldsSeq(strings.ToLower(s)) {
		if word = strings.Trim(word, ":*_`"); word == "plan" {
			return true
		}
	}
	return false
}

// isMarked reports whether a line is a head or an item of a list.
func isMarked(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	return strings.HasPrefix(s, "#") || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") ||
		len(rest) < len(s) && strings.HasPrefix(rest, ". ")
}

// alike returns the end of lines that all have one form, which a few lines of what a person writes
// have, too: a quote of somebody else, settings of an environment, markup.
func (f *finder) alike(start int) (end int, kind Kind) {
	return f.formed(start, form{Quote, minLines, isQuote}, form{Settings, 8, isSetting},
		form{Markup, 16, isMarkup})
}

// code returns the end of lines of a program, or of settings in YAML, which no other kind has.
func (f *finder) code(start int) (end int, kind Kind) {
	return f.formed(start, form{Settings, 12, isYAML}, form{Code, 24, isCode})
}

// form is what all lines of a block look like.
type form struct {
	kind  Kind
	least int // lines: fewer are what the person wants used
	is    func(string) bool
}

func (f *finder) formed(start int, forms ...form) (end int, kind Kind) {
	for _, form := range forms {
		n := 0
		for end = start; end < len(f.lines); end++ {
			if text := strings.TrimSpace(f.lines[end].text); form.is(text) {
				n++
			} else if n == 0 || text != "" || form.kind == Quote {
				break
			}
		}
		for end > start && f.lines[end-1].text == "" {
			end--
		}
		if n >= form.least {
			return end, form.kind
		}
	}
	return start, ""
}

func isQuote(t string) bool { return t == ">" || strings.HasPrefix(t, "> ") }

// isSetting reports whether a line is NAME=value, as in the environment of a process.
func isSetting(t string) bool {
	name, _, ok := strings.Cut(strings.TrimPrefix(t, "export "), "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// isYAML reports whether a line is a member of YAML: a name without spaces, and a value of a few
// words at most.
func isYAML(t string) bool {
	name, value, ok := strings.Cut(strings.TrimPrefix(t, "- ")+" ", ": ")
	member := ok && name != "" && !strings.ContainsAny(name, " ({") &&
		strings.Count(value, " ") <= 3
	return member || strings.HasPrefix(t, "#") ||
		strings.HasPrefix(t, "- ") && !strings.Contains(t[2:], " ")
}

// isCode reports whether a line looks like one of a program: no sentence ends or begins so.
func isCode(t string) bool {
	if t == "" || len(t) > longLine/2 || strings.HasPrefix(t, `{"`) {
		return false
	}
	last := t[len(t)-1]
	return strings.IndexByte("{};([]=", last) >= 0 ||
		last == ',' && !strings.Contains(t, ", ") && !strings.Contains(t, "' ") ||
		last == ')' && strings.Contains(t, "(") && !strings.Contains(t, " (") ||
		strings.Contains(t, " = ") || strings.Contains(t, " := ") ||
		hasAny(t, "return", "if ", "for ", "while ", "else", "elif ", "try", "except", "with ",
			"import ", "from ", "const ", "let ", "var ", "type ", "func ", "def ", "class ", "package ",
			"case ", "use ", "fn ", "pub ", "//", "#", "/*", "* ", "@", "}", ")", "]")
}

// isMarkup reports whether a line is of HTML or XML, from its first tag to its last.
func isMarkup(t string) bool {
	return len(t) > 2 && t[0] == '<' && t[len(t)-1] == '>' &&
		(isLetter(t[1]) || strings.IndexByte("/!?", t[1]) >= 0)
}
