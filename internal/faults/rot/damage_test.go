package rot

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// file is a file of a store with its sound content.
type file struct {
	name string // relative, with slashes
	path string
	kind string
	good []byte
}

// truth reports whether the content of this kind of file exists nowhere else.
func truth(kind string) bool {
	switch kind {
	case "format", "key", "log", "dense log", "checkpoint", "absent", "pack":
		return true
	}
	return false
}

// cached reports whether files of a kind may be lost at any time without a message.
func cached(kind string) bool {
	switch kind {
	case "cache", "search segment", "hook state", "trouble log", "lock", "lock.owner",
		"tmp", ".gitignore":
		return true
	}
	return false
}

func kindOf(t testing.TB, name string, good []byte) string {
	t.Helper()
	top, _, _ := strings.Cut(name, "/")
	switch {
	case strings.HasPrefix(name, "cache/search-"):
		return "search segment"
	case strings.HasPrefix(name, "cache/hook-"), strings.HasPrefix(name, "cache/cursor-"):
		return "hook state"
	case top == "log":
		return "trouble log"
	case strings.HasSuffix(name, ".pack"):
		return "pack"
	case strings.HasSuffix(name, ".idx"):
		return "idx"
	case strings.HasPrefix(name, "refs/log-"):
		if _, records, _ := bytes.Cut(good, []byte{'\n'}); format.BeginsDense(records) {
			return "dense log"
		}
		return "log"
	case top == "refs":
		return "checkpoint" // and the base, which has the same form
	}
	return top
}

// read lists the files of a store by kind.
func read(t testing.TB, dir string) map[string][]*file {
	t.Helper()
	kinds := map[string][]*file{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f := &file{name: filepath.ToSlash(rel), path: path}
		if f.good, err = os.ReadFile(path); err != nil {
			return err
		}
		f.kind = kindOf(t, f.name, f.good)
		kinds[f.kind] = append(kinds[f.kind], f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// damage is something that happens to a file.
type damage struct {
	*file
	how string
	do  func() error
	// bytes is the content of the file afterwards; nil if it is no longer a file.
	bytes []byte
	other *file // the file it is swapped with
}

func (d *damage) String() string { return fmt.Sprintf("%s: %s", d.name, d.how) }

func (f *file) becomes(how string, b []byte) *damage {
	return &damage{file: f, how: how, bytes: b,
		do: func() error { return os.WriteFile(f.path, b, 0o600) }}
}

func (f *file) flip(at int, bit uint) *damage {
	b := bytes.Clone(f.good)
	b[at] ^= 1 << bit
	return f.becomes(fmt.Sprintf("bit %d of byte %d flipped", bit, at), b)
}

// blot damages two bytes, which is more than readers can put right in a record of the log.
func (f *file) blot(at int) *damage {
	b := bytes.Clone(f.good)
	b[at] ^= 4
	b[at+1] ^= 4
	return f.becomes(fmt.Sprintf("bytes %d and %d changed", at, at+1), b)
}

// borders returns the offsets at which the records of a log segment begin, and its end.
func (f *file) borders() []int {
	at := bytes.IndexByte(f.good, '\n') + 1
	list := []int{at}
	for at < len(f.good) {
		_, _, n, err := format.DecodeOperation(f.good[at:])
		if err != nil {
			break
		}
		at += n
		list = append(list, at)
	}
	return list
}

// lengths returns the lengths to which a file is cut: all lengths of a short file; of a long one a
// hundred, and those around each border of a record.
func (f *file) lengths(r *rand.Rand) []int {
	list := []int{0, 1, len(f.good) - 1}
	for range 100 {
		list = append(list, r.IntN(len(f.good)))
	}
	if f.kind == "log" {
		for _, b := range f.borders() {
			list = append(list, b-1, b, b+1, b+11, b+12, b+13)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(n int) bool { return n < 0 || n >= len(f.good) })
}

// damages returns everything that can happen to one file, except flips of single bits.
func (f *file) damages(r *rand.Rand, kind []*file) []*damage {
	var list []*damage
	if len(f.good) > 0 {
		for _, n := range f.lengths(r) {
			list = append(list, f.becomes(fmt.Sprintf("cut to %d bytes", n), f.good[:n]))
		}
		for range 30 {
			from := r.IntN(len(f.good))
			to := from + 1 + r.IntN(min(len(f.good)-from, 600))
			b := bytes.Clone(f.good)
			clear(b[from:to])
			if !bytes.Equal(b, f.good) {
				list = append(list, f.becomes(fmt.Sprintf("bytes %d to %d zero", from, to), b))
			}
		}
		list = append(list, f.becomes("all zero", make([]byte, len(f.good))))
	}
	for _, garbage := range []string{"\n", "x", "garbage\n\nmore", "\x00\x00\x00\x00",
		strings.Repeat("z", 5000), "ctxo"} {
		list = append(list,
			f.becomes(fmt.Sprintf("%.12q appended", garbage),
				append(bytes.Clone(f.good), garbage...)))
	}
	list = append(list, f.becomes("twice", append(bytes.Clone(f.good), f.good...)))
	for _, other := range kind {
		if other != f && !bytes.Equal(other.good, f.good) {
			d := f.becomes("swapped with "+other.name, other.good)
			write := d.do
			d.other = other
			d.do = func() error {
				if err := os.WriteFile(other.path, f.good, 0o600); err != nil {
					return err
				}
				return write()
			}
			list = append(list, d)
			// An older checkpoint with more of the log is equivalent; a newer base is a log that
			// begins later
			if f.kind != "checkpoint" {
				list = append(list, f.becomes("a copy of "+other.name, other.good))
			}
		}
	}
	for how, put := range replacements() {
		list = append(list, &damage{file: f, how: how, do: func() error {
			if err := os.Remove(f.path); err != nil {
				return err
			}
			return put(f.path)
		}})
	}
	// Replacements come from a map
	slices.SortFunc(list, func(a, b *damage) int { return strings.Compare(a.how, b.how) })
	return slices.DeleteFunc(list,
		func(d *damage) bool { return d.bytes != nil && bytes.Equal(d.bytes, f.good) })
}

// replacements returns what may take the place of a file.
func replacements() map[string]func(path string) error {
	return map[string]func(path string) error{
		"deleted":     func(string) error { return nil },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe":      pipe,
		"a link to nothing": func(path string) error {
			return os.Symlink(path+"-not-there", path)
		},
		"a link to itself": func(path string) error {
			return os.Symlink(filepath.Base(path), path)
		},
		"a link to /dev/zero": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link to /dev/tty":  func(path string) error { return os.Symlink("/dev/tty", path) },
	}
}

// mend undoes a damage.
func (d *damage) mend() error {
	for _, f := range []*file{d.file, d.other} {
		if f == nil {
			continue
		}
		if info, err := os.Lstat(f.path); err == nil && !info.Mode().IsRegular() {
			if err := os.Remove(f.path); err != nil {
				return err
			}
		}
		if err := os.WriteFile(f.path, f.good, 0o600); err != nil {
			return err
		}
	}
	return nil
}
