package digest

import (
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/pasted"
)

// sentences adds the sentences of a text and returns their number. Lines inside fences are code.
// The sentences of a short prompt are never slight, because they are all that the user wrote.
func (d *Digester) sentences(kind Kind, text string) int {
	n := 0
	split := summarize.Fragments
	if kind == Prompt {
		split = summarize.WholeFragments
	}
	text = unwrapped(text)
	list := split(text)
	var heads headings
	if kind == Said {
		heads = headingsOf(text)
		if lead, _, _ := strings.Cut(text, " "); len(list) > 0 && agrees(lead) &&
			!strings.HasPrefix(list[0].Text, lead) {
			list[0].Text = strings.TrimSpace(lead) + " " + list[0].Text
		}
		list = withAnswers(list, text)
	}
	for _, p := range list {
		line := tidy(p.Text)
		answers := kind == Prompt && len(list) <= shortPrompt // "2" answers a question of the model
		if line == "" || isNumbered(line) && !answers ||
			p.Code && strings.Count(line, " ") < minCode ||
			strings.HasPrefix(line, "::") { // a directive of Markdown, for the client
			continue
		}
		if p.More {
			line += " …"
		}
		f := Fact{Kind: kind, Text: line}
		f.Heading, f.Key = heads.of(p.Text)
		if p.Code || kind == Prompt && isPastedCommand(line) {
			f.Kind = Code
		} else {
			f.Slight = kind == Recap && isFrame(line) ||
				(kind != Prompt || len(list) > shortPrompt) && isSlight(line)
		}
		d.add(f)
		n++
	}
	return n
}

// plain removes the marks of words in bold.
func plain(text string) string { return strings.ReplaceAll(text, "**", "") }

// withAnswers joins each question with what the text says right behind it.
func withAnswers(list []summarize.Fragment, text string) []summarize.Fragment {
	text = plain(squeeze(text))
	out := list[:0]
	for _, p := range list {
		last := len(out) - 1
		if last >= 0 && !p.Code && !out[last].Code && withoutMark(p.Text) == p.Text &&
			!announces(p.Text) &&
			strings.HasSuffix(strings.TrimRight(out[last].Text, "*_`)\"'”"), "?") &&
			strings.Contains(text, plain(squeeze(out[last].Text+" "+p.Text))) {
			out[last].Text += " " + p.Text
			out[last].More = p.More
			continue
		}
		out = append(out, p)
	}
	return out
}

// wordless says what a prompt has that has no sentence: what came of it is not to count for the
// prompt before.
func wordless(text string) string {
	if !strings.Contains(text, "\n") {
		return Cut(text, maxTitle)
	}
	return pasted.Whole(text).String()
}

// prompt adds what a user typed: the sentences, and one fact in place of each block that was
// pasted, or the block behind the words that lead to it, as in "it still fails:".
func (d *Digester) prompt(text string) {
	text = unquoted(text)
	if hasLead(strings.ToLower(strings.TrimSpace(text)), withdrawals[:]) {
		d.withdraw()
	}
	blocks := pasted.Find(text)
	if len(blocks) == 0 {
		d.sentences(Prompt, text)
		return
	}
	at := 0
	for _, b := range blocks {
		n := d.sentences(Prompt, text[at:b.Start])
		if last := len(d.Made) - 1; n > 0 && strings.HasSuffix(d.Made[last].Text, ":") {
			d.Made[last].Text += " " + b.String()
		} else {
			d.add(Fact{Kind: Prompt, Text: b.String()})
		}
		at = b.End
	}
	d.sentences(Prompt, text[at:])
}

// withdrawals begin a prompt that stands for the one before.
var withdrawals = [...]string{"ignore the last message", "ignore my last message",
	"ignore the last prompt", "ignore my last prompt", "ignore the previous message",
	"ignore my previous message", "disregard the last message", "disregard my last message",
	"disregard the previous message", "disregard my previous message"}

// withdraw takes back the newest prompt: nobody wants it any more.
func (d *Digester) withdraw() {
	seq := uint64(0)
	for i := len(d.Made) - 1; i >= 0; i-- {
		f := &d.Made[i]
		if f.Kind != Prompt {
			continue
		}
		if seq == 0 {
			seq = f.Seq
		}
		if f.Seq != seq {
			return
		}
		f.State = Dropped
	}
}

// maxQuote is the largest number of lines of a quote that says only what an answer is to. A longer
// one is told as pasted.
const maxQuote = 3

// unquoted returns a prompt without short quotes, as in "> shall I?" before what the user says to
// it: their words are somebody else's. Where nothing else is said they stay.
func unquoted(text string) string {
	isQuote := func(line string) bool {
		bare := strings.TrimSpace(line)
		return (bare == ">" || strings.HasPrefix(line, "> ")) && !pasted.IsCommand(bare)
	}
	var said []string
	own, fenced := false, false
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && !fenced && isQuote(lines[end]) {
			end++
		}
		if n := end - i; n > 0 && n <= maxQuote {
			i = end
			continue
		}
		end = max(end, i+1)
		for _, line := range lines[i:end] {
			bare := strings.TrimSpace(line)
			fenced = fenced != strings.HasPrefix(bare, "```")
			own = own || bare != "" && !isQuote(line)
		}
		said, i = append(said, lines[i:end]...), end
	}
	if !own {
		return text
	}
	return strings.Join(said, "")
}

// shortPrompt is the largest number of sentences of a prompt that a user types; a longer one is
// pasted.
const shortPrompt = 3

// minCode is the smallest number of spaces in a line of code that becomes a fact; a shorter line
// tells nothing by itself.
const minCode = 3

// isPastedCommand reports whether a line is one of a command that was pasted: it stands behind the
// prompt of a shell, goes on in the next line, or begins with a long flag.
func isPastedCommand(line string) bool {
	return pasted.IsCommand(line) || strings.HasSuffix(line, " \\") ||
		len(line) > 2 && strings.HasPrefix(line, "--") && isLetter(rune(line[2]))
}

// tidy removes the marks of Markdown from a line: heads, bullets, quotes, and pairs of asterisks. A
// mark ends before a space; without one, as in --flag, it belongs to the word.
func tidy(line string) string {
	line = strings.TrimLeft(line, " \t")
	for {
		rest := strings.TrimLeft(line, "#>*-•")
		if rest == line || rest != "" && strings.IndexByte(" \t", rest[0]) < 0 &&
			strings.HasPrefix(line, "-") {
			break
		}
		line = strings.TrimLeft(rest, " \t")
	}
	line = plain(line)
	return plainLinks(strings.TrimLeft(strings.Trim(line, "| \t"), "—– "))
}

// plainLinks puts the target in place of each link whose text says no more than it: of
// [a.go](x/a.go:3) stays x/a.go:3.
func plainLinks(line string) string {
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(line, "[")
		text, after, ok := strings.Cut(rest, "](")
		target, after, closed := strings.Cut(after, ")")
		if !ok || !closed {
			return b.String() + line
		}
		file := strings.TrimRight(target, "0123456789")
		if text != "" && (strings.HasSuffix(target, text) ||
			strings.HasSuffix(strings.TrimSuffix(file, ":"), text)) {
			b.WriteString(before + target)
		} else {
			b.WriteString(line[:len(line)-len(after)])
		}
		line = after
	}
}

// Typed returns the words of a message that the user typed, or "" if they say nothing to the model:
// a command of the client, or what a client adds.
func Typed(text string) string {
	if IsRecap(text) || IsForClient(text) {
		return ""
	}
	return ownWords(text)
}

// Asked returns Typed without what was pasted, or a line for it if nothing else was said.
func Asked(text string) string {
	text = Typed(text)
	if said := pasted.Said(text); said != "" {
		return said
	}
	return pasted.Fold(text)
}

// ownWords returns the words that the user typed. It removes the blocks in angle brackets and the
// marks for an interruption that a client adds. Of a command of the client, the name and the
// arguments remain.
func ownWords(text string) string {
	if name, ok := between(text, "<command-name>", "</command-name>"); ok {
		args, _ := between(text, "<command-args>", "</command-args>")
		return strings.TrimSpace(name + " " + args)
	}
	if rule, ok := between(text, "<user-memory-input>", "</user-memory-input>"); ok {
		return strings.TrimSpace(rule)
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

// clientBlock finds the first block such as <system-reminder> at the start of a line. The names of
// such blocks have a hyphen or an underscore, unlike the tags of HTML.
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

// maxWritten is the largest number of sentences of one edit that become facts.
const maxWritten = 40

// written adds the sentences that an edit adds to a document, or to the comments of code. It
// ignores lines that old already has.
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
	for _, p := range summarize.Fragments(unwrapped(text.String())) {
		line := tidy(p.Text)
		if p.Code || line == "" || isNumbered(line) || strings.Count(line, " ") < 3 ||
			!prose && !givesReason(line) {
			continue
		}
		d.add(Fact{Kind: Written, Path: path, Text: line, Slight: isSlight(line)})
		if n++; n == maxWritten {
			return
		}
	}
}

// givesReason reports whether a sentence of a comment says why the code is so, or what it must not
// do. What the code does, whoever goes on reads there.
func givesReason(line string) bool {
	return hasAny(strings.ToLower(line), []string{"because", " since ", "instead of",
		"rather than", "so that", "otherwise", "never", "must not", "do not", "don't", "cannot",
		"can't", "could not", "couldn't", " not support", "n't support", "workaround"})
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

// comment returns the words of a comment line, and "" for any other line.
func comment(line string) string {
	for _, lead := range [...]string{"//", "#", "--", "/*", "* ", ";;"} {
		if rest, ok := strings.CutPrefix(line, lead); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, "/#*-; "))
		}
	}
	return ""
}
