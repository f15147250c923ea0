package page

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/sanitize"
)

// The most that a document of Markdown shows of the arguments or the result of a call: people paste
// it into places that take a megabyte.
const (
	mostLines = 40
	mostBytes = 4000
)

// Markdown returns the session as one document of Markdown, as GitHub reads it: each message under
// its id, prompts as quotations, and the steps of a turn folded. Long arguments and results of
// calls are cut; cut is their number, and `ctx expand` prints them whole. No text of the session
// can end its place: headings in it are below those of the document, tags of HTML are text, and
// what hides or reorders text is left out.
func (s *Session) Markdown() (b []byte, cut int) {
	w := &markdown{}
	fmt.Fprintf(&w.b, "# %s\n\nSession `%s`, branch `%s`", plainLine(s.Heading()), s.Name, s.Branch)
	if s.Agent != "" {
		fmt.Fprintf(&w.b, ", %s", plainLine(s.Agent))
	}
	fmt.Fprintf(&w.b, ": %s", Count(s.Messages, "message"))
	if !s.First.IsZero() {
		fmt.Fprintf(&w.b, ", %s to %s UTC", s.First.UTC().Format(Minute),
			s.Last.UTC().Format(Minute))
	}
	w.b.WriteString(".\nAn id leads to the exact words: `ctx expand ID`.\n")
	for i := range s.Turns {
		w.turn(&s.Turns[i])
	}
	if w.wordless > 0 {
		w.line("*%s without words, as of thoughts, left out.*", Count(w.wordless, "message"))
	}
	return []byte(sanitize.Shown(w.b.String())), w.cut
}

type markdown struct {
	b   bytes.Buffer
	day string
	cut int
	// wordless are the messages of thoughts alone, and of what a provider keeps to itself.
	wordless int
}

func (w *markdown) turn(t *Turn) {
	for _, part := range t.Parts() {
		if part.Folded {
			line := part.Steps()
			if line.Tools != "" {
				tools := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(oneLine(line.Tools))
				line.Tools = " <small>" + tools + "</small>"
			}
			if line.Failed != "" {
				line.Failed = " · <em>" + line.Failed + "</em>"
			}
			fmt.Fprintf(&w.b, "\n<details><summary>%s%s%s%s</summary>\n", line.Count, line.Tools,
				line.Rest, line.Failed)
		}
		for i := range part.Items {
			w.item(&part.Items[i])
		}
		if part.Folded {
			w.b.WriteString("\n</details>\n")
		}
	}
}

// item writes a message or an event with its heading.
func (w *markdown) item(it *Item) {
	if it.Kind == format.KindMessage && len(it.Pieces)+len(it.Left) == 0 &&
		it.Text+it.Note+it.Hole == "" {
		w.wordless++
		return
	}
	id := Anchor(it.ID)
	who := it.Role
	switch {
	case it.Kind != format.KindMessage:
		who = it.Kind
	case it.Author != "":
		who += ", " + plainLine(it.Author)
	}
	fmt.Fprintf(&w.b, "\n<a id=\"%s\"></a>\n### [%s](#%s) %s", id, id[:8], id, who)
	if !it.Time.IsZero() {
		form := "15:04"
		if day := it.Time.UTC().Format(time.DateOnly); day != w.day {
			w.day, form = day, Minute
		}
		fmt.Fprintf(&w.b, ", %s", it.Time.UTC().Format(form))
	}
	w.b.WriteByte('\n')
	if it.Note != "" {
		w.line("*%s*", plainLine(it.Note))
	}
	if it.Hole != "" {
		w.line("*%s*", plainLine(it.Hole))
	}
	if n := strings.Count(it.Text, "\n"); it.Kind == format.KindNote && n >= longNote {
		fmt.Fprintf(&w.b, "\n<details><summary>%s</summary>\n", Count(n+1, "line"))
		w.quoted(it.Text)
		w.b.WriteString("\n</details>\n")
	} else if it.Text != "" {
		w.quoted(it.Text)
	}
	for i := range it.Pieces {
		p := &it.Pieces[i]
		switch {
		case p.Kind == PieceCall:
			w.call(p, it.ID)
		case p.Kind != PieceText || it.Role == "tool":
			w.code("", p.Text, it.ID)
		case it.Role == "user":
			w.quoted(p.Text)
		default:
			w.prose(p.Text)
		}
	}
	if n := len(it.Left); n > 0 {
		fmt.Fprintf(&w.b, "\n<details><summary>%s taken back</summary>\n", Count(n, "message"))
		for i := range it.Left {
			w.item(&it.Left[i])
		}
		w.b.WriteString("\n</details>\n")
	}
}

func (w *markdown) line(format string, args ...any) { fmt.Fprintf(&w.b, "\n"+format+"\n", args...) }

// oneLine returns a text with spaces for what would end a line.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text)
}

// plainLine returns a text as one line without marks of Markdown that could open something.
func plainLine(text string) string {
	marks := strings.NewReplacer(`\`, `\\`, "<", "&lt;", "`", "\\`", "*", "\\*", "[", "\\[")
	return marks.Replace(oneLine(text))
}

// quoted writes a text as a quotation, in which it means nothing.
func (w *markdown) quoted(text string) {
	w.b.WriteByte('\n')
	for line := range strings.Lines(inPlace(text)) {
		w.b.WriteString(strings.TrimRight("> "+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
}

// prose writes a text that is Markdown itself.
func (w *markdown) prose(text string) { w.line("%s", strings.TrimRight(inPlace(text), "\n")) }

// call writes what a call did, then what it changes, writes or runs, and then the arguments that
// neither says.
func (w *markdown) call(p *Piece, id string) {
	members, err := jsonvalue.Members(p.Args)
	if err != nil || len(members) == 0 {
		w.code("", p.Text, id)
		return
	}
	did := digest.Did(digest.Call{Name: p.Tool, Args: p.Args}, nil)
	kind, text := "diff", digest.Change(p.Args)
	if text == "" {
		kind, text = "", digest.TextOf(p.Args)
	}
	if script := (&digest.Call{Args: p.Args}).Script(); script == "" || text != script {
		w.line("▸ %s", plainLine(did))
	} else {
		kind = "sh"
	}
	if strings.TrimSpace(text) != "" && !strings.Contains(did, text) || kind == "sh" {
		w.code(kind, text, id)
	}
	var rest []string
	for _, m := range members {
		value, ok := jsonvalue.Text(m.Value)
		if !ok {
			value = string(m.Value)
		}
		isDefault := value == "false" || value == "null"
		if !isDefault && !digest.IsChange(m.Name) && !strings.Contains(did, value) &&
			!strings.Contains(text, value) {
			rest = append(rest, m.Name+": "+value)
		}
	}
	if line := strings.Join(rest, ", "); len(line) > longRest || strings.Contains(line, "\n") {
		w.code("", strings.Join(rest, "\n"), id)
	} else if line != "" {
		w.line("*%s*", plainLine(line))
	}
}

// longNote is how many lines a note has that is folded: what clients tell their models, and large
// outputs that lay beside a transcript.
const longNote = 12

// longRest is the number of bytes of arguments that are no line any more.
const longRest = 200

// code writes a text of a call or a result between fences that it does not have itself.
func (w *markdown) code(kind, text, id string) {
	text, more := shortened(text)
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	w.line("%s%s\n%s\n%s", fence, kind, strings.TrimRight(text, "\n"), fence)
	if more > 0 {
		w.cut++
		w.line("*%s more: `ctx expand %s`*", Count(more, "line"), Anchor(id))
	}
}

// shortened cuts a text, and returns how many lines are not there or not whole.
func shortened(text string) (kept string, more int) {
	at, lines := 0, 0
	for line := range strings.Lines(text) {
		if lines == mostLines || at+len(line) > mostBytes {
			break
		}
		at += len(line)
		lines++
	}
	if at == 0 { // the first line alone is too long
		at = min(len(text), mostBytes)
	}
	return strings.ToValidUTF8(text[:at], ""), strings.Count(text[at:], "\n") + ending(text[at:])
}

// ending is 1 for a text with a last line without a line feed.
func ending(text string) int {
	if text == "" || strings.HasSuffix(text, "\n") {
		return 0
	}
	return 1
}

// belowHeads is how many levels a heading of a text is moved down: those of the document are of
// levels 1 and 3.
const belowHeads = 3

// inPlace returns Markdown whose headings are below those of the document, and whose tags and
// pictures are text. Code between fences stays as it is, and a fence that nobody closes is closed.
func inPlace(text string) string {
	var b strings.Builder
	fence, blank, loose := "", true, false
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " ")
		indent := len(line) - len(bare)
		mark := fenceOf(bare)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(bare[len(mark):]) == "" {
				fence = ""
			}
			b.WriteString(line)
			continue
		case mark != "" && indent < 4:
			fence = mark
			b.WriteString(line)
			continue
		}
		level := len(bare) - len(strings.TrimLeft(bare, "#"))
		if level > 0 && indent < 4 {
			line = strings.Repeat("#", min(belowHeads, max(6-level, 0))) + bare
		} else if !blank && underlines(bare) {
			line = `\` + bare // it would make a heading of the line above
		}
		if blank = strings.TrimSpace(bare) == ""; blank {
			loose = false
		}
		loose = textTags(&b, line, loose)
	}
	if fence != "" {
		if !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(fence + "\n")
	}
	return b.String()
}

// fenceOf returns the marks that a line begins with, if it can begin code; "" if not.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if len(line)-len(rest) >= 3 && (mark == "~" || !strings.Contains(rest, "`")) {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// underlines reports whether a line makes a heading of a line of text above it.
func underlines(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// textTags writes a line of a paragraph, in which what may begin a tag of HTML, or a picture that a
// reader fetches, is escaped, but not in code. loose says that a mark of code before it may still
// be open, so that nobody knows what is code; it returns the same of what follows.
func textTags(b *strings.Builder, line string, loose bool) bool {
	for line != "" {
		i := strings.IndexAny(line, "`<!")
		if i < 0 {
			break
		}
		b.WriteString(line[:i])
		escaped := strings.HasSuffix(line[:i], `\`)
		if line = line[i:]; line[0] != '`' {
			rest, picture := strings.CutPrefix(line, "![")
			if picture {
				b.WriteString(`!\[`)
			} else if rest = line[1:]; line[0] == '<' {
				b.WriteString("&lt;")
			} else {
				b.WriteByte('!')
			}
			line = rest
			continue
		}
		mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		end := codeEnd(line[len(mark):], mark)
		if loose || escaped || end < 0 {
			loose = true
			b.WriteString(mark)
			line = line[len(mark):]
			continue
		}
		b.WriteString(line[:len(mark)+end])
		line = line[len(mark)+end:]
	}
	b.WriteString(line)
	return loose
}

// codeEnd returns the index after the mark that ends code in a line; -1 if there is none.
func codeEnd(line, mark string) int {
	for at := 0; at < len(line); {
		i := strings.IndexByte(line[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		run := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
		if at += run; run == len(mark) {
			return at
		}
	}
	return -1
}
