package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/importer"
)

// endBytes is how many bytes at each end of a transcript are compared before it is left unread: an
// agent that rewrites a file changes its last bytes, its length or its time.
const endBytes = 4 << 10

// clockStep is the coarsest step in which file systems record the time of a change: that of FAT. A
// file that was changed so shortly before it was read may be changed once more without a new time.
const clockStep = 2 * time.Second

// transcriptFile describes a transcript before it is read. ok is false for standard input, for one
// of a session that is stored as several files, and for a file that cannot be read: the import says
// why.
func (a *app) transcriptFile(f *catalog.Agent, file, named string) (of importer.File, ok bool) {
	path := a.path(file)
	if file == "-" || f.ReadFile != nil && f.ReadFile(path) != nil {
		return of, false
	}
	in, info, err := durable.OpenAtMost(path, durable.MaxInput)
	if err != nil {
		return of, false
	}
	defer in.Close()
	h := sha256.New()
	n := min(info.Size(), endBytes)
	for _, from := range []int64{0, info.Size() - n} {
		if _, err := io.CopyN(h, io.NewSectionReader(in, from, n), n); err != nil {
			return of, false
		}
	}
	return importer.File{
		Path: path, Agent: f.Name, As: named, Size: info.Size(), Time: info.ModTime().UnixNano(),
		Ends: hex.EncodeToString(h.Sum(nil)),
	}, true
}

// settled reports whether every change to a file after a moment shows in its time.
func settled(f importer.File, at time.Time) bool {
	return f.Time < at.Add(-clockStep).UnixNano()
}

// build identifies the program. Two builds of a working tree have the same version.
func build() string {
	id := environ.Version()
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			id += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return id
}
