// Package pasted finds what a person pasted into a message: logs, traces, output of programs,
// diffs, data. Nobody wrote it, so it is not what the person wants, though it may be long.
//
// The package is pure. A line counts as pasted only by its form: a time in front, a level, a place
// in a file, a percentage. Words in sentences are the person's, in any language, and so are some
// lines of code: somebody who pastes them often wants them used as they are. A few lines are kept
// in any case, because they cost little. Begin with Find and Fold.
package pasted

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Kind is what a block is.
type Kind string

// The kinds, as they stand in "58 lines of a log".
const (
	Log      Kind = "a log"
	Trace    Kind = "a stack trace"
	Check    Kind = "output of a compiler or of tests"
	Diff     Kind = "a diff"
	JSON     Kind = "JSON"
	CSV      Kind = "CSV"
	Table    Kind = "a table"
	Terminal Kind = "a terminal"
	Code     Kind = "code" // of many lines: a few are often to be used as they are
	Plan     Kind = "a plan"
	Quote    Kind = "a quote"
	Settings Kind = "settings"
	Markup   Kind = "markup"
)

// Block is a run of pasted lines.
type Block struct {
	Start, End int // of the text, in bytes, without the line end
	Lines      int
	Kind       Kind
	// The line that tells most of it, such as the last error, and for a test that failed what it
	// expected; "" for none
	Telling string
}

// The smallest block: shorter ones stay. Nobody types the lines of a trace. A long line is one that
// nobody types, either.
const (
	minLines = 4
	minTrace = 2
	longLine = 400
)

// Find returns the blocks of a text, in order.
func Find(text string) []Block {
	if len(text) < longLine && strings.Count(text, "\n") < minTrace-1 {
		return nil
	}
	f := finder{lines: linesOf(text), text: text}
	for f.at < len(f.lines) {
		if b, ok := f.block(); ok {
			f.blocks = append(f.blocks, b)
		}
	}
	return f.blocks
}

// Whole returns the block that a text is if somebody pasted all of it, however short.
func Whole(text string) Block {
	f := finder{lines: linesOf(text), text: text}
	b := Block{End: len(text), Lines: len(f.lines), Kind: Code}
	if IsCommand(strings.TrimSpace(f.lines[0].text)) {
		b.Kind = Terminal
	}
	b.Telling = f.telling(0, b.Lines, b.Kind)
	return b
}

// Fold returns a text with one line in place of each block.
func Fold(text string) string {
	blocks := Find(text)
	if len(blocks) == 0 {
		return text
	}
	var w strings.Builder
	at := 0
	for _, b := range blocks {
		w.WriteString(text[at:b.Start] + b.String())
		at = b.End
	}
	return w.String() + text[at:]
}

// String returns the line that stands for a block.
func (b Block) String() string {
	lines := "1 line"
	if b.Lines > 1 {
		lines = fmt.Sprint(b.Lines, " lines")
	}
	if b.Telling == "" {
		return fmt.Sprintf("[%s of %s]", lines, b.Kind)
	}
	return fmt.Sprintf("[%s of %s: %s]", lines, b.Kind, b.Telling)
}

// IsMark reports whether a line is one that stands for a block.
func IsMark(line string) bool {
	n := digits(strings.TrimPrefix(line, "["))
	return n > 0 && line[0] == '[' && strings.HasPrefix(line[n+1:], " line") &&
		line[len(line)-1] == ']'
}

// Said returns a text without its blocks, and without lines between fences of Markdown.
func Said(text string) string {
	blocks := Find(text)
	for i := len(blocks) - 1; i >= 0; i-- {
		text = text[:blocks[i].Start] + text[blocks[i].End:]
	}
	if parts := strings.Split(text, fence); len(parts)%2 == 1 { // every fence is closed
		text = parts[0]
		for i := 1; i < len(parts); i += 2 {
			if !strings.Contains(parts[i], "\n") {
				text += fence + parts[i] + fence
			}
			text += parts[i+1]
		}
	}
	return strings.TrimSpace(text)
}

const fence = "```"

// line is a line of a text.
type line struct {
	start, end int
	text       string // without spaces at its end
}

func linesOf(text string) []line {
	list := make([]line, 0, strings.Count(text, "\n")+1)
	at := 0
	for l := range strings.Lines(text) {
		whole := strings.TrimRight(l, " \t\r\n")
		list = append(list, line{at, at + len(strings.TrimRight(l, "\r\n")), whole})
		at += len(l)
	}
	return list
}

// finder goes through the lines of a text.
type finder struct {
	text   string
	lines  []line
	at     int
	blocks []Block
}

// block returns the block that begins at the line at; ok is false if none does. It moves on in any
// case.
func (f *finder) block() (b Block, ok bool) {
	start := f.at
	for _, whole := range [...]func(int) (int, Kind){f.json, f.csv, f.plan, f.alike,
		f.run, f.code} {
		end, kind := whole(start)
		if end == start {
			continue
		}
		if f.at = end; kind == "" {
			return b, false
		}
		start = f.behindCommand(start, end)
		from, to := f.fenced(start, end)
		b = Block{f.lines[from].start, f.lines[to-1].end, end - start, kind,
			f.telling(start, end, kind)}
		if at := f.glued(from); at > 0 {
			b.Start, b.Lines = at, b.Lines+1
		}
		if at := f.fencedBehind(from, to); at > 0 {
			b.Start, b.End = at, f.lines[to].end
		}
		return b, b.Lines >= minLines || b.End-b.Start >= longLine ||
			kind == Trace && b.Lines >= minTrace
	}
	f.at++
	return b, false
}

// behindCommand returns the first line behind the command that a block begins with: what somebody
// ran says what the rest is.
func (f *finder) behindCommand(start, end int) int {
	if !IsCommand(strings.TrimSpace(f.lines[start].text)) {
		return start
	}
	for start < end-1 && strings.HasSuffix(f.lines[start].text, "\\") {
		start++
	}
	return min(start+1, end-1)
}

// fenced widens a block by the fences around it, if it is all that they have between them.
func (f *finder) fenced(start, end int) (from, to int) {
	if start > 0 && end < len(f.lines) && isFence(f.lines[start-1].text) &&
		isFence(f.lines[end].text) {
		return start - 1, end + 1
	}
	return start, end
}

// fencedBehind returns where the fence before a block stands behind words, as in "it is ```", if
// there is one below the block, too; 0 for nowhere.
func (f *finder) fencedBehind(from, to int) int {
	if from == 0 || to >= len(f.lines) || strings.TrimSpace(f.lines[to].text) != fence {
		return 0
	}
	before := f.lines[from-1]
	if words, ok := strings.CutSuffix(before.text, " "+fence); ok {
		return before.start + len(words) + 1
	}
	return 0
}

// gluedHead is how many bytes of a line must look alike for it to go on from the middle of the line
// before.
const gluedHead = 12

// glued returns where the block that begins with a line begins in the middle of the line before, as
// in "it still fails: {"time": …"; 0 for nowhere. Digits are alike.
func (f *finder) glued(first int) int {
	head := strings.TrimLeft(f.lines[first].text, " \t")
	if first == 0 || len(head) < gluedHead ||
		len(f.blocks) > 0 && f.blocks[len(f.blocks)-1].End > f.lines[first-1].start {
		return 0
	}
	before := f.lines[first-1]
	form := withoutDigits(before.text)
	at := strings.Index(form, " "+withoutDigits(head[:gluedHead]))
	if at < 0 {
		return 0
	}
	return before.start + at + 1
}

// withoutDigits returns a text of the same length with a 0 for each digit.
func withoutDigits(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= '0' && c <= '9' {
			b[i] = '0'
		}
	}
	return string(b)
}

func isFence(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, fence) || strings.HasPrefix(s, "~~~")
}

// maxGap is the largest number of blank or unclear lines between two pasted lines of a block.
const maxGap = 3

// run returns the end of a run of lines that look pasted, and what most of them are; "" if the run
// is none after all.
func (f *finder) run(start int) (end int, kind Kind) {
	first := kindOf(f.lines[start].text, "")
	if first == "" {
		return start, ""
	}
	count := map[Kind]int{}
	leads := map[string]bool{} // words such as "remote:" before which lines of the block stand
	commands, last, clear := 0, start, 0
	mode := first
	for i := start; i < len(f.lines); i++ {
		text := f.lines[i].text
		k := kindOf(text, "")
		if k == "" && (mode == Diff || mode == Check && isDeep(text) || !asks(text)) {
			if k = kindOf(text, mode); k == "" && leads[lead(text)] {
				k = Log
			}
		}
		switch {
		case k != "":
			count[k]++
			clear++
			if l := lead(text); l != "" {
				leads[l] = true
			}
			if IsCommand(strings.TrimSpace(text)) {
				commands++
			}
			last, mode = i, k
		case asks(text) || isFence(text) || i-last > maxGap:
			i = len(f.lines)
		case mode == Terminal && text != "":
			// What a command printed may look like anything.
			count[Terminal]++
			clear++
			last = i
		}
	}
	end = last + 1
	whole := 0
	for _, l := range f.lines[start:end] {
		if l.text != "" {
			whole++
		}
	}
	// A list of commands is what somebody wants done. A few telling lines do not make a text a log.
	if 2*commands > whole || 2*clear < whole {
		return end, ""
	}
	for _, k := range [...]Kind{Diff, Trace, Log, Check, Table, JSON, Terminal} {
		if count[k] > count[kind] {
			kind = k
		}
	}
	return end, kind
}

// isDeep reports whether a line is as deep as the output of a test.
func isDeep(s string) bool { return strings.HasPrefix(s, "    ") || strings.HasPrefix(s, "\t") }

// lead returns the one word before the first colon of a line, "" if there is none.
func lead(s string) string {
	word, _, ok := strings.Cut(s, ": ")
	if !ok || strings.Contains(word, " ") {
		return ""
	}
	return word
}

// maxTelling is the most bytes of the line that tells most of a block.
const maxTelling = 120

// telling returns the line that tells most of a block: the last that names an error, or the file of
// a diff.
func (f *finder) telling(start, end int, kind Kind) string {
	switch kind {
	case JSON, CSV, Table, Quote, Settings, Markup:
		return ""
	case Plan:
		return cut(strings.TrimSpace(strings.TrimLeft(f.lines[start].text, "# ")))
	case Diff:
		for _, l := range f.lines[start:end] {
			if name, ok := strings.CutPrefix(l.text, "+++ b/"); ok {
				return cut(name)
			}
		}
		return ""
	}
	for _, tells := range [...]func(string) bool{isError, namesError} {
		for i := end - 1; i >= start; i-- {
			if text := strings.TrimSpace(f.lines[i].text); tells(text) {
				return cut(text) + f.expectation(start, end, text)
			}
		}
	}
	if kind == Check { // a compiler says the place and what is wrong there, the first one first
		for _, l := range f.lines[start:end] {
			if text := strings.TrimSpace(l.text); place(text) {
				return cut(text)
			}
		}
	}
	return ""
}

// expectation returns the last line of a block that says what a test expected, behind a semicolon,
// if the line that tells most is the head of a failed test, which names no reason.
func (f *finder) expectation(start, end int, head string) string {
	if !strings.HasPrefix(head, "--- FAIL: ") {
		return ""
	}
	for i := end - 1; i >= start; i-- {
		text := strings.TrimSpace(f.lines[i].text)
		if place(text) && expects(text) {
			return "; " + cut(text)
		}
	}
	return ""
}

// expects reports whether a line says what should have been.
func expects(s string) bool {
	lower := strings.ToLower(s)
	return holdsAny(lower, []string{"should", "want", "expect", "must", " got ", "mismatch",
		"not equal"})
}

// isError reports whether a line is an error, and does not only speak of one.
func isError(s string) bool {
	lower := strings.ToLower(s)
	return holdsAny(lower, []string{"error: ", "fatal: ", "panic: ", "level=error",
		`"level":"error`, "exception: ", "--- fail", " error "})
}

// cut returns a line of at most about maxTelling bytes: its beginning, and of a chain of errors the
// last one, which is the cause.
func cut(s string) string {
	if len(s) <= maxTelling {
		return s
	}
	cause := ""
	if i := strings.Index(s[len(s)-maxTelling/2:], ": "); i >= 0 && s[0] != '{' {
		cause = " " + s[len(s)-maxTelling/2+i+2:]
	}
	n := maxTelling - len(cause)
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n]) + " …" + cause
}

// namesError reports whether a line says that something failed.
func namesError(s string) bool {
	lower := strings.ToLower(s)
	return holdsAny(lower, []string{"error", "fatal", "panic", "exception", "fail", "refused",
		"✗", "✘", "❌"})
}
