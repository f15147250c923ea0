package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/sanitize"
)

// output is buffered standard output. It keeps its first error, which run reports, so commands need
// not check it. A command whose reader waits for each answer calls Flush.
type output struct {
	w    io.Writer
	buf  []byte // grows up to outputSize: most commands print a few lines
	err  error
	line *progressLine // which ends where output begins; nil without one
}

const outputSize = 64 << 10

func newOutput(w io.Writer) *output { return &output{w: w} }

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	if len(o.buf)+len(p) > outputSize {
		if err := o.Flush(); err != nil {
			return 0, err
		}
	}
	if len(p) > outputSize {
		n, err := o.w.Write(p)
		return n, o.keep(err)
	}
	o.buf = append(o.buf, p...)
	return len(p), nil
}

// Flush writes the buffered bytes.
func (o *output) Flush() error {
	o.line.clear()
	if o.err != nil {
		return o.err
	}
	if len(o.buf) == 0 {
		return nil
	}
	_, err := o.w.Write(o.buf)
	o.buf = o.buf[:0]
	return o.keep(err)
}

func (o *output) keep(err error) error {
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("cannot write the output: %w", err)
	}
	return o.err
}

// printf writes to standard output.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// line writes one item of a list: a line, or with -z a text that ends in a zero byte.
func (a *app) line(format string, args ...any) {
	fmt.Fprintf(a.out, format, args...)
	fmt.Fprint(a.out, a.end())
}

// pathLine is line for a path. It prints the exact bytes with -z; otherwise it removes terminal
// controls.
func (a *app) pathLine(path string) {
	if !a.nul {
		path = oneLine(path)
	}
	a.line("%s", path)
}

// cleanLines applies oneLine to each line of a text, but keeps tabs. A line may end as on Windows.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		for j, cell := range cells {
			cells[j] = oneLine(cell)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

// indented returns a body as people are shown it, with a line end. No body can steer a terminal, or
// write a line that looks like one of ours: all of its lines begin with four spaces.
func indented(body string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(cleanLines(strings.TrimRight(body, "\r\n")), "\n") {
		b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return b.String()
}

// forModel prints a text that a model is given: byte for byte, but cleaned and broken into lines
// where a terminal shows it.
func (a *app) forModel(text string) error {
	if asked(a.outTerm) {
		text = a.fitted(cleanLines(text))
	}
	_, err := io.WriteString(a.out, text)
	return err
}

func (a *app) end() string {
	if a.nul {
		return "\x00"
	}
	return "\n"
}

// answer prints one JSON document on a line. document.Encode defines the fields.
func (a *app) answer(fields ...any) error {
	if a.at != nil {
		fields = slices.Concat([]any{"project", a.at.dir}, fields)
	}
	b, err := document.Encode(fields...)
	if err != nil {
		return a.out.keep(err)
	}
	if a.tell != nil {
		a.tell(a.command, fields, b)
	}
	_, err = a.out.Write(append(b, '\n'))
	return err
}

// result prints what a command has to say: the document of doc with --json, and else a line.
func (a *app) result(doc []any, format string, args ...any) error {
	if a.json {
		return a.answer(doc...)
	}
	a.line(format, args...)
	return nil
}

// pathResult is result for a path.
func (a *app) pathResult(doc []any, path string) error {
	if a.json {
		return a.answer(doc...)
	}
	a.pathLine(path)
	return nil
}

// fields returns the fields of a document.
func fields(list ...any) []any { return list }

// within runs print, and leaves out the middle of what it prints if that is more than a budget of
// tokens; 0 is none.
func (a *app) within(budget int, print func() error) error {
	if budget == 0 {
		return print()
	}
	if a.json {
		return usagef("--budget goes without --json")
	}
	var all strings.Builder
	out := a.out
	a.out = newOutput(&all)
	err := errors.Join(print(), a.out.Flush())
	a.out = out
	part := summaries.WithoutMiddle(all.String(), budget)
	if part != all.String() { // words of a message begin no line
		part = strings.Replace(part, "\n[…]\n", "\n    […]\n    ", 1)
		a.say("ctx: left out: the middle: --budget %d prints all", summarize.Tokens(all.String()))
	}
	a.printf("%s", part)
	return err
}

// document is answer for a command that goes on after it: output keeps the error.
func (a *app) document(fields ...any) { _ = a.answer(fields...) }

// say prints information for people on standard error, unless -q is given.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		if asked(a.outTerm) { // what was printed before stands above it
			_ = a.out.Flush()
		}
		fmt.Fprintf(a.stderr, "%s\n", oneLine(fmt.Sprintf(format, args...)))
	}
}

// sayCleaned says what sanitizing took out of the input of a command.
func (a *app) sayCleaned(command string, found []sanitize.Finding) {
	if len(found) > 0 {
		a.say("ctx: %s: cleaned: %s", command, cleaned(byClass(found)))
	}
}

// warn prints a warning on standard error.
func (a *app) warn(text string) { fmt.Fprintf(a.stderr, "ctx: warning: %s\n", oneLine(text)) }

// progressLine is standard error with a line at its end that the next write replaces.
type progressLine struct {
	w     io.Writer
	shown bool
}

// Write implements io.Writer. It clears the line first.
func (l *progressLine) Write(p []byte) (int, error) {
	l.clear()
	return l.w.Write(p)
}

func (l *progressLine) show(text string) {
	l.shown = true
	fmt.Fprintf(l.w, "\r\x1b[K%s", text)
}

func (l *progressLine) clear() {
	if l != nil && l.shown {
		l.shown = false
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}

// progressLine returns standard error with such a line, which output clears, too; nil without a
// terminal.
func (a *app) progressLine() *progressLine {
	if a.out.line == nil && !a.quiet && asked(a.errTerm) {
		a.out.line = &progressLine{w: a.stderr}
		a.stderr = a.out.line
	}
	return a.out.line
}

// progress returns a function that shows the progress of long work on a terminal, until something
// else is printed. Without a terminal it does nothing.
func (a *app) progress() func(done, total int, what string) {
	line, last := a.progressLine(), ""
	return func(done, total int, what string) {
		if line == nil {
			return
		}
		text := fmt.Sprintf("%s: %d", what, done)
		if total > 0 {
			text = fmt.Sprintf("%s: %d%% (%d of %d)", what,
				int64(done)*100/int64(total), done, total)
		}
		if key := strings.TrimRight(text, "0123456789"); key != last || done%1000 == 0 ||
			done == total {
			last = key
			line.show(oneLine(text))
		}
	}
}

// shortLen is the minimum length of a short id. In a store with a million objects, one of 3,000
// such prefixes is ambiguous.
const shortLen = 12

// short returns the shortest unique prefix of an id that has at least shortLen digits.
func short(s *session.Store, id format.ID) string {
	for n := shortLen; n < format.IDLen; n += 4 {
		ids, err := s.Objects.Prefix(id.Short(n))
		if err == nil && len(ids) <= 1 {
			return id.Short(n)
		}
	}
	return id.String()
}

// widestCell is the most columns that a cell of a table may take and still push the others.
const widestCell = 64

// table writes rows in columns with two spaces between them. On a terminal the last cell of a row
// goes on below itself.
func (a *app) table(rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			if n := columnsOf(cell); n <= widestCell {
				width[i] = max(width[i], n)
			}
		}
	}
	gap, all := 2, 0
	for _, n := range width {
		all += n + gap
	}
	if all -= gap; asked(a.outTerm) && len(width) > 3 && all > a.lineWidth() &&
		all-len(width) < a.lineWidth() { // numbers, which do not break
		gap = 1
	}
	for _, row := range rows {
		var b strings.Builder
		begin := 0
		for i, cell := range row {
			if i == len(row)-1 {
				cell = a.hanging(cell, begin)
			}
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", max(width[i]-columnsOf(cell), 0)+gap))
				begin += width[i] + gap
			}
		}
		a.line("%s", strings.TrimRight(b.String(), " "))
	}
}

// hanging breaks a text that begins at a column of a terminal into lines that begin there.
func (a *app) hanging(text string, column int) string {
	left := a.lineWidth() - column
	if !asked(a.outTerm) || left < leastLabel || text != unpainted(text) {
		return text
	}
	line, rest := broken(text, left)
	for rest != "" {
		text, rest = broken(rest, left)
		line += "\n" + strings.Repeat(" ", column) + text
	}
	return line
}

// columnsOf returns how many columns of a terminal a text takes, which may be painted.
func columnsOf(text string) int { return displaywidth.String(unpainted(text)) }

// itemList prints the items of a list: the document of each with --json, or else a table.
type itemList struct {
	a      *app
	titles []string // of the columns; none for a table without
	rows   [][]string
}

func (a *app) listing(titles ...string) *itemList { return &itemList{a: a, titles: titles} }

// add takes an item, as a document and as the cells of its row.
func (l *itemList) add(doc []any, cells ...string) {
	if l.a.json {
		l.a.document(doc...)
		return
	}
	l.rows = append(l.rows, cells)
}

// print prints the rows, with titles if there are any.
func (l *itemList) print() error {
	if len(l.titles) > 0 && len(l.rows) > 0 {
		l.a.titled(l.titles, l.rows)
	} else {
		l.a.table(l.rows)
	}
	return l.a.out.err
}

// titled is table with a row of titles. With -z there are no titles, since they are no items of the
// list.
func (a *app) titled(titles []string, rows [][]string) {
	if !a.nul {
		head := lists.Map(titles, func(title string) string { return a.paint(styleTitle, title) })
		rows = slices.Insert(rows, 0, head)
	}
	a.table(rows)
}
