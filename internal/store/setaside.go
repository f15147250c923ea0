package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// SetAside is a file that another program has put beside a file of the store: a program that syncs
// folders keeps one of two versions, and gives the other another name. What only the other says is
// in no session.
type SetAside struct {
	Path  string // below the store's directory
	Of    string // the file that it is a version of; it may be missing
	Known bool   // it has nothing that the file lacks
}

func (s SetAside) String() string {
	if s.Known {
		return fmt.Sprintf("%q is a copy of %s that another program set aside; it says nothing new",
			s.Path, s.Of)
	}
	return fmt.Sprintf("%q is a version of %s that another program set aside; what only it says is "+
		"in no session", s.Path, s.Of)
}

// SetAsideHint says how what is in such files comes into the store.
const SetAsideHint = "copy the store to another place, and give the file its name there; then " +
	"`CTX_DIR=PLACE ctx export -s SESSION --format jsonl | ctx import jsonl -s SESSION -`"

// truthFolders lists the folders whose files have no other copy in the store. A version that
// another program set aside has such a name somewhere in its own.
func truthFolders() []objects.Kept {
	list := append(slices.Clip(objects.KeptFiles),
		objects.Kept{Folder: "refs", Name: refs.KeptNames}, objects.Kept{Name: `^(key|format)\b`})
	for xx := range 256 {
		list = append(list, objects.Kept{Folder: fmt.Sprintf("%s/%02x", objects.AbsentDir, xx),
			Name: `^[0-9a-f]{62}`})
	}
	return list
}

// SetAsides returns the files in a store that only another program can have made of the store's
// own, in the order of their paths.
func SetAsides(store string) (list []SetAside, err error) {
	for _, folder := range truthFolders() {
		files, err := os.ReadDir(filepath.Join(store, folder.Folder))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		name := regexp.MustCompile(folder.Name)
		for _, f := range files {
			own := name.FindString(f.Name()) + folder.Ext
			if own == folder.Ext || own == f.Name() || !f.Type().IsRegular() ||
				strings.HasPrefix(f.Name(), ".") || strings.Contains(f.Name(), objects.IndexExt) {
				continue
			}
			one := SetAside{Path: filepath.Join(folder.Folder, f.Name()),
				Of: filepath.Join(folder.Folder, own)}
			one.Known, err = begins(filepath.Join(store, one.Of), filepath.Join(store, one.Path))
			if err != nil {
				return nil, err
			}
			list = append(list, one)
		}
	}
	return list, nil
}

// begins reports whether a file begins with all the bytes of another one.
func begins(file, with string) (bool, error) {
	a, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := os.Open(with)
	if err != nil {
		return false, err
	}
	defer b.Close()
	one, other := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(b, other)
		if m, _ := io.ReadFull(a, one[:n]); m < n || !bytes.Equal(one[:n], other[:n]) {
			return false, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}
