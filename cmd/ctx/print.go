package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
)

// output is standard output behind a buffer. It keeps its first error, which run reports: a command need not look at it. A
// command whose reader waits for an answer calls Flush after each.
type output struct {
	w   *bufio.Writer
	err error
}

func newOutput(w io.Writer) *output { return &output{w: bufio.NewWriterSize(w, 64<<10)} }

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	return n, o.keep(err)
}

// Flush hands over what is in the buffer.
func (o *output) Flush() error {
	if o.err != nil {
		return o.err
	}
	return o.keep(o.w.Flush())
}

func (o *output) keep(err error) error {
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("cannot write the output: %w", err)
	}
	return o.err
}

// printf writes to standard output.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// line writes one record of a list: a line, or with -z what ends in a zero byte.
func (a *app) line(format string, args ...any) {
	fmt.Fprintf(a.out, format, args...)
	fmt.Fprint(a.out, a.end())
}

// pathLine is line for a path of this machine. A directory may have any name: people get it without what would steer
// their terminal, and scripts get its bytes with -z.
func (a *app) pathLine(path string) {
	if !a.nul {
		path = oneLine(path)
	}
	a.line("%s", path)
}

// cleanLines is text of several lines, each as oneLine leaves it, but for tabs.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j, cell := range cells {
			cells[j] = oneLine(cell)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

func (a *app) end() string {
	if a.nul {
		return "\x00"
	}
	return "\n"
}

// printJSON writes a document, or one of many, on a line of its own.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// say tells a person something that is no data, unless they asked for quiet.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, "%s\n", oneLine(fmt.Sprintf(format, args...)))
	}
}

// warn tells what went wrong without being in the way.
func (a *app) warn(text string) { fmt.Fprintf(a.stderr, "ctx: warning: %s\n", oneLine(text)) }

// progress returns what shows how far long work has come, on a terminal, and what clears that line; both do nothing elsewhere.
func (a *app) progress() (show func(done, total int, what string), clear func()) {
	if a.quiet || !asked(a.errTerm) {
		return func(int, int, string) {}, func() {}
	}
	last := ""
	show = func(done, total int, what string) {
		text := fmt.Sprintf("%s: %d", what, done)
		if total > 0 {
			text = fmt.Sprintf("%s: %d%% (%d of %d)", what, int64(done)*100/int64(total), done, total)
		}
		if key := strings.TrimRight(text, "0123456789"); key != last || done%1000 == 0 || done == total {
			last = key
			fmt.Fprintf(a.stderr, "\r\x1b[K%s", oneLine(text))
		}
	}
	return show, func() {
		if last != "" {
			fmt.Fprint(a.stderr, "\r\x1b[K")
		}
	}
}

// shortLen is how many digits of an id people are shown: with a million objects in a store, one in three thousand such prefixes
// fits two of them.
const shortLen = 12

// short returns the first digits of an id, as many as it takes to tell it from every other object of the store.
func short(s *session.Store, id format.ID) string {
	for n := shortLen; n < format.IDLen; n += 4 {
		ids, err := s.Objects.Prefix(id.Short(n))
		if err == nil && len(ids) <= 1 {
			return id.Short(n)
		}
	}
	return id.String()
}

// table writes rows in columns, two spaces between them, the last one as it is.
func (a *app) table(rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], displaywidth.String(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-displaywidth.String(cell)+2))
			}
		}
		a.line("%s", strings.TrimRight(b.String(), " "))
	}
}

// titled is table with a row of titles. With -z there is none: it is no item of the list.
func (a *app) titled(titles []string, rows [][]string) {
	if !a.nul {
		rows = slices.Insert(rows, 0, titles)
	}
	a.table(rows)
}
