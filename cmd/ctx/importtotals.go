package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/jsonl"
)

// importTotals counts what an import of several files brings, and shows on a terminal how far it
// is.
type importTotals struct {
	a                        *app
	always                   bool // the totals are told of a single file, too
	of, done, changed        int  // files: of the import, that have ended, with something new
	messages, known, skipped int
	agents                   map[string]int // files of each; of an import of one agent none
	unknown                  map[string]int // kept records of kinds that ctx does not know
	cleaned                  map[string]int // what sanitizing took out, by class
	line                     *progressLine  // nil without a terminal
}

func newImportTotals(a *app, files int) *importTotals {
	t := &importTotals{a: a, of: files, agents: map[string]int{}, unknown: map[string]int{},
		cleaned: map[string]int{}}
	if files > 1 {
		t.line = a.progressLine()
	}
	return t
}

// add counts a file that has ended.
func (t *importTotals) add(f *importedFile) {
	t.done++
	t.messages, t.known, t.skipped = t.messages+f.new, t.known+f.known, t.skipped+f.skipped
	if len(f.more) > 0 {
		t.changed++
	}
	kindOf := ""
	if f.agent != "" {
		t.agents[f.agent]++
		kindOf = f.agent + " "
	}
	for kind, n := range f.unknown {
		t.unknown[kindOf+kind] += n
	}
	for class, n := range f.cleaned {
		t.cleaned[class] += n
	}
	if t.line == nil {
		return
	}
	text := fmt.Sprintf("import: %d of %d, %s: %s", t.done, t.of,
		plural(t.messages, "message", "messages"), filepath.Base(f.file))
	t.line.show(cutWidth(oneLine(text), t.a.lineWidth()-1))
}

// say prints the totals, if there is more than one file or they are always told.
func (t *importTotals) say() {
	t.line.clear()
	if t.of < 2 && !t.always {
		return
	}
	found := plural(t.of, "transcript", "transcripts") + " found"
	if len(t.agents) > 0 {
		found += " (" + counts(t.agents) + ")"
	}
	found += fmt.Sprintf(", %d with something new", t.changed)
	t.a.say("ctx: import: %s: %s", found, tally(
		counted{t.messages, "message", "messages"}, counted{t.known, "known", "known"},
		counted{t.skipped, "skipped", "skipped"},
	))
	if len(t.unknown) > 0 {
		t.a.say("ctx: import: records of unknown kinds, kept: %s", oneLine(counts(t.unknown)))
	}
	if len(t.cleaned) > 0 {
		t.a.say("ctx: import: cleaned: %s", cleaned(t.cleaned))
	}
}

// counted is a number of things, with their singular and plural names.
type counted struct {
	n         int
	one, many string
}

// tally lists how many there are of each. It always includes the first, and the others if there are
// any.
func tally(first counted, more ...counted) string {
	said := []string{plural(first.n, first.one, first.many)}
	for _, c := range more {
		if c.n != 0 {
			said = append(said, plural(c.n, c.one, c.many))
		}
	}
	return strings.Join(said, ", ")
}

// counts lists the number of each name, sorted by name.
func counts(m map[string]int) string { return jsonl.Counts(m) }

// cleaned says in words what sanitizing took out.
func cleaned(m map[string]int) string { return jsonl.Cleaned(m) }
