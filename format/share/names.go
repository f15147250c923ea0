package share

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// The names of files on a remote.
const (
	FormatFile = "format"
	Heads      = "heads/"  // and the folder of a store: its head
	Stores     = "stores/" // and the folder of a store: its other files
	LogFolder  = "log/"    // in that folder: segments of the log
	PackFolder = "pack/"   // in that folder: packs of objects
)

// HeadName returns the name of the head of the store with the given folder.
func HeadName(folder string) string { return Heads + folder }

// File is a file of a store that never changes: a segment of the log, or a pack of the objects that
// some pushes brought.
type File struct {
	First, Last uint64    // the pushes
	Digest      format.ID // SHA-256 of a segment's bytes; the id of a pack
}

// Name returns the name of the file in its folder, LogFolder or PackFolder.
func (f File) Name() string { return fmt.Sprintf("%d-%d-%s", f.First, f.Last, f.Digest) }

// Covers reports whether f has all pushes of other.
func (f File) Covers(other File) bool { return f.First <= other.First && other.Last <= f.Last }

// ParseFileName reads the name of a file under the folder of its store: LogFolder or PackFolder,
// and what Name returned.
func ParseFileName(name string) (folder string, f File, err error) {
	bad := fmt.Errorf("not a file of a store: %.200q", name)
	kind, rest, ok := strings.Cut(name, "/")
	parts := strings.Split(rest, "-")
	if folder = kind + "/"; !ok || folder != LogFolder && folder != PackFolder || len(parts) != 3 {
		return "", f, bad
	}
	first, err1 := strconv.ParseUint(parts[0], 10, 64)
	last, err2 := strconv.ParseUint(parts[1], 10, 64)
	digest, err3 := format.ParseID(parts[2])
	f = File{First: first, Last: last, Digest: digest}
	if errors.Join(err1, err2, err3) != nil || f.First == 0 || f.Last < f.First ||
		f.Name() != rest {
		return "", File{}, bad
	}
	return folder, f, nil
}
