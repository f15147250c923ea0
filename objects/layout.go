package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// The layout of an object store in a store's directory. This file alone knows it; docs/format has a
// page for each sort of file.
//
//	objects/pack/pack-ID.pack a pack
//	objects/pack/pack-ID.idx  the index of a pack
//	absent/xx/yyyy…           why the body of an object is absent; xx begins its id
//	absent/forget-N           what operation N forgot
//	absent/unfinished         what an operation is about to forget
const (
	Dir       = "objects" // under the store's directory: all objects
	AbsentDir = "absent"  // under the store's directory: the records of absent bodies
	PackExt   = ".pack"   // ends the name of a pack
	IndexExt  = ".idx"    // ends the name of a pack's index

	packFolder   = "pack"
	packPrefix   = "pack-"
	forgetPrefix = "forget-"
	unfinished   = "unfinished"
)

// The most bytes of files in AbsentDir. An id, a reason and a time take some 150 bytes of a record;
// keyed digests may follow.
const (
	MaxAbsentFile = 64 << 10
	MaxForgetFile = format.MaxHeader + 100
)

// fanFolders returns the names of the 256 folders over which files are spread by their ids.
func fanFolders() []string {
	names := make([]string, 256)
	for i := range names {
		names[i] = fmt.Sprintf("%02x", i)
	}
	return names
}

// Folders returns every folder that may hold files of the object store in the store's directory
// root, and may be missing.
func Folders(root string) []string {
	dirs := []string{filepath.Join(root, AbsentDir), filepath.Join(root, Dir, packFolder)}
	for _, xx := range fanFolders() {
		dirs = append(dirs, filepath.Join(root, AbsentDir, xx))
	}
	return dirs
}

func (s *Store) objectsDir() string { return filepath.Join(s.root, Dir) }
func (s *Store) packDir() string    { return filepath.Join(s.root, Dir, packFolder) }

// Path returns the path of a file of the store by its name, which has slashes.
func (s *Store) Path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// AbsentName returns the name of the record of an absent body under the store's directory, with
// slashes.
func AbsentName(id format.ID) string {
	hex := id.String()
	return AbsentDir + "/" + hex[:2] + "/" + hex[2:]
}

// Kept names a folder below the store's directory whose files have no other copy in the store: a
// regular expression of their names, and how they end.
type Kept struct{ Folder, Name, Ext string }

// KeptFiles lists the folders of packs and of the records of absent bodies.
var KeptFiles = []Kept{
	{AbsentDir, `forget-[1-9][0-9]*`, ""},
	{Dir + "/" + packFolder, `pack-[0-9a-f]{64}`, PackExt},
}

// PackName is AbsentName for a pack (PackExt) or its index (IndexExt).
func PackName(pack format.ID, ext string) string {
	return Dir + "/" + packFolder + "/" + packPrefix + pack.String() + ext
}

// ForgottenName is the name, under the store's directory, of the file of what operation n forgot.
func ForgottenName(n uint64) string {
	return AbsentDir + "/" + forgetPrefix + strconv.FormatUint(n, 10)
}

// UnfinishedName is the name of the file of a forget that is under way, or was cut short.
func UnfinishedName() string { return AbsentDir + "/" + unfinished }

// AbsentPath returns the path of the record of an absent body, whether or not it is there.
func (s *Store) AbsentPath(id format.ID) string { return s.Path(AbsentName(id)) }

// PackPath is AbsentPath for a pack.
func (s *Store) PackPath(pack format.ID) string { return s.Path(PackName(pack, PackExt)) }

// IndexPath is AbsentPath for the index of a pack.
func (s *Store) IndexPath(pack format.ID) string { return s.Path(PackName(pack, IndexExt)) }

// FileLimit returns how many bytes the file of a name may have. ok is false for a name, with
// slashes, that no file of an object store has. A pack is bounded by a terabyte alone.
func FileLimit(name string) (limit int64, ok bool) {
	if file, found := strings.CutPrefix(name, Dir+"/"+packFolder+"/"); found {
		_, isPack := packID(file, filepath.Ext(file))
		return 1 << 40, isPack
	}
	rest, found := strings.CutPrefix(name, AbsentDir+"/")
	if _, isForget := forgetNumber(rest); found && isForget {
		return MaxForgetFile, true
	}
	return MaxAbsentFile, found && isFanned(rest)
}

// isFanned accepts xx/yyyy…, the digits of an id.
func isFanned(s string) bool {
	xx, rest, ok := strings.Cut(s, "/")
	_, err := format.ParseID(xx + rest)
	return ok && len(xx) == 2 && err == nil
}

// packID returns the id in the name of a pack or an index, which ext says.
func packID(file, ext string) (id format.ID, ok bool) {
	hex, ok := strings.CutPrefix(strings.TrimSuffix(file, ext), packPrefix)
	id, err := format.ParseID(hex)
	return id, ok && err == nil && (ext == PackExt || ext == IndexExt)
}

// forgetNumber returns the operation in the name of a file of what it forgot.
func forgetNumber(file string) (n uint64, ok bool) {
	digits, ok := strings.CutPrefix(file, forgetPrefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && strconv.FormatUint(n, 10) == digits
}

// PackNames returns, in order, the ids of the packs that have a file: the pack itself for PackExt,
// an index for IndexExt.
func (s *Store) PackNames(ext string) ([]format.ID, error) {
	files, err := os.ReadDir(s.packDir())
	if errors.Is(err, fs.ErrNotExist) && exists(s.root) {
		return nil, nil // a program that copies no empty folders may have copied the store
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list packs: %w", err)
	}
	var ids []format.ID
	for _, f := range files {
		if id, ok := packID(f.Name(), ext); ok && strings.HasSuffix(f.Name(), ext) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// EachAbsent calls each for the records of absent bodies in the order of their ids, and stops at
// its first error. It does not read them.
func (s *Store) EachAbsent(each func(id format.ID, path string) error) error {
	if none, err := s.NothingGone(); none || err != nil {
		return err // in most stores nothing was ever forgotten
	}
	for _, xx := range fanFolders() {
		if err := s.absentIn(xx, each); err != nil {
			return err
		}
	}
	return nil
}

// absentIn is EachAbsent for ids with the first digits xx.
func (s *Store) absentIn(xx string, each func(id format.ID, path string) error) error {
	dir := filepath.Join(s.root, AbsentDir, xx)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if id, err := format.ParseID(xx + f.Name()); err == nil {
			if err := each(id, filepath.Join(dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// ForgetFiles returns the operations that have a file of what they forgot, in order, and whether
// there is one of a forget that is not finished.
func (s *Store) ForgetFiles() (operations []uint64, half bool, err error) {
	dir, err := os.Open(filepath.Join(s.root, AbsentDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, false, fmt.Errorf("cannot look for what was forgotten: %w", err)
	}
	for _, name := range names {
		half = half || name == unfinished
		if n, ok := forgetNumber(name); ok {
			operations = append(operations, n)
		}
	}
	slices.Sort(operations)
	return operations, half, nil
}
