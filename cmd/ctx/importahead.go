package main

import (
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/importer"
)

// readAhead opens the transcripts of an import in order. While one of them is imported, goroutines
// read and clean those after it.
type readAhead struct {
	files []string // those that are not open
	named string   // the session that was asked for
	agent func(file string) *catalog.Agent
	// listed are the sessions in databases, by file; nil or without a file that is one.
	listed map[string]*catalog.Listed
	asker  *catalog.Asker // that exports them
	open   []*reading
}

// reading is a transcript that is read, or will be.
type reading struct {
	file    string
	began   time.Time
	before  importer.File // what was there when it was opened, if onDisk
	onDisk  bool
	source  *watched
	close   func()
	err     error           // it cannot be opened
	ahead   *importer.Ahead // nil while it is not read
	current func() importer.File
	read    func()
}

// opened is how many transcripts are read at once: each may keep some 100 MB in memory.
const opened = 2

// next returns the next transcript, and begins to read those after it.
func (r *readAhead) next(a *app, run *importer.Imports) *reading {
	for len(r.files) > 0 && len(r.open) < opened {
		r.open = append(r.open,
			r.begin(a, r.agent(r.files[0]), r.files[0], run))
		r.files = r.files[1:]
	}
	first := r.open[0]
	r.open = r.open[1:]
	return first
}

// end lets go of what is not imported.
func (r *readAhead) end() {
	for _, t := range r.open {
		t.end()
	}
	r.open = nil
}

// begin opens a transcript. It is read if it may bring something new.
func (r *readAhead) begin(
	a *app, f *catalog.Agent, file string, run *importer.Imports,
) *reading {
	t := &reading{file: file, began: time.Now()}
	open := a.openImport
	look := func() (importer.File, bool) { return a.transcriptFile(f, file, r.named) }
	if listed := r.listed[file]; listed != nil {
		open = func(file string) (*watched, func(), error) {
			return a.openListed(r.asker, f, file, listed)
		}
		look = func() (importer.File, bool) { return a.listedFile(f, file, r.named, listed), true }
	}
	t.before, t.onDisk = look()
	t.current = func() importer.File {
		now, _ := look()
		return now
	}
	t.read = func() {
		a.expectMuch()
		if t.source, t.close, t.err = open(file); t.err == nil {
			f := r.agent(file) // it may not have been known before
			t.ahead = importer.ReadAhead(a.c, a.transcript(f, file, t.source))
			if t.onDisk && t.before.Time > 0 {
				t.ahead.Changed = time.Unix(0, t.before.Time)
			}
		}
	}
	if t.onDisk && a.c.Err() == nil {
		if _, known := run.Unchanged(t.before); known {
			return t
		}
	}
	if file != "-" { // whoever writes there may wait, and an error before must not wait for that
		t.read()
	}
	return t
}

func (t *reading) end() {
	if t.ahead != nil {
		t.ahead.Close()
		t.close()
	}
}

// read imports a transcript. It does not read a file that brings nothing new. then is told what
// came of it, in the order of the files: at once, or when more has been read. An error that then
// returns ends the import.
func (l *linker) read(
	a *app, t *reading, then func(importer.ImportedTranscript, error) error,
) error {
	if t.onDisk && a.c.Err() == nil {
		passed, err := l.run.PassOver(t.before,
			func(done importer.ImportedTranscript) error { return then(done, nil) })
		if passed {
			t.end()
			return err
		}
	}
	if t.ahead == nil && t.err == nil {
		t.read()
	}
	if t.err != nil {
		return l.run.After(func() error { return then(importer.ImportedTranscript{}, t.err) })
	}
	defer t.end()
	return l.run.Import(a.c, t.ahead,
		l.ahead.named, func(done importer.ImportedTranscript, err error) error {
			l.run.Imported(t.before, &done,
				err == nil && t.onDisk && t.before == t.current() && settled(t.before, t.began))
			return then(done, importError(a.c, t.source, t.file, err))
		})
}
