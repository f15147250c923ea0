package main

import (
	"fmt"
	"path/filepath"
)

// importTotals counts what an import of several files brings, and shows on a terminal how far it
// is.
type importTotals struct {
	a                        *app
	of, done, changed        int // files: of the import, that have ended, with something new
	messages, known, skipped int
	unknown                  map[string]int // kept records of kinds that ctx does not know
	shown                    bool
}

func newImportTotals(a *app, files int) *importTotals {
	return &importTotals{a: a, of: files, unknown: map[string]int{}}
}

// add counts a file that has ended.
func (t *importTotals) add(f *importedFile) {
	t.done++
	t.messages, t.known, t.skipped = t.messages+f.new, t.known+f.known, t.skipped+f.skipped
	if len(f.more) > 0 {
		t.changed++
	}
	for kind, n := range f.unknown {
		t.unknown[kind] += n
	}
	if t.of < 2 || t.a.quiet || !asked(t.a.errTerm) {
		return
	}
	t.shown = true
	text := fmt.Sprintf("import: %d of %d, %s: %s", t.done, t.of, plural(t.messages, "message", "messages"), filepath.Base(f.file))
	fmt.Fprintf(t.a.stderr, "\r\x1b[K%s", cutWidth(oneLine(text), t.a.lineWidth()-1))
}

// say prints the totals, if there is more than one file.
func (t *importTotals) say() {
	if t.shown {
		fmt.Fprint(t.a.stderr, "\r\x1b[K")
	}
	if t.of < 2 {
		return
	}
	found := fmt.Sprintf("%d transcripts found, %d with something new", t.of, t.changed)
	t.a.say("ctx: import: %s: %s", found, tally(
		counted{t.messages, "message", "messages"}, counted{t.known, "known", "known"}, counted{t.skipped, "skipped", "skipped"},
	))
	if len(t.unknown) > 0 {
		t.a.say("ctx: import: records of unknown kinds, kept: %s", oneLine(counts(t.unknown)))
	}
}
