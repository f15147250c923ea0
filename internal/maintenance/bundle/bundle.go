// Package bundle copies a store into one file and makes a store of such a file. A bundle that is
// read is not trusted: names and sizes are checked, and the new store is checked by fsck before it
// takes its place.
//
// Begin with Write and Unpack; unbundle.go lists the files that a bundle may hold.
package bundle

import (
	"archive/tar"
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

// Report is what Write wrote, or what Unpack read.
type Report struct {
	// The id of the store; the copy has the same, and the same key
	Store     string `json:"store"`
	Operation uint64 `json:"operation"` // the newest one in it
	Files     int    `json:"files"`
	Bytes     int64  `json:"bytes"` // of the bundle
}

// Write writes a safe copy of a store into one file, which must not be there yet (fs.ErrExist): a
// tar archive of the key, the refs with their log, and every object, in a fixed order. Whoever has
// the file can read all of the store. It takes no lock: refs are read first, objects after, and
// objects only ever move to where they are read later, so all that the refs name is in the copy;
// what is written meanwhile may be in it or not. The file is synced and read again before it
// counts as done; after an error or a crash there is none.
//
// What a bundle that was cut short left beside the file goes first, once it is an hour old: it
// holds the store, too.
func Write(
	ctx context.Context, s *store.Opened, file string, progress graph.Progress,
) (Report, error) {
	store.SweepBeside(s.FS, filepath.Dir(file), s.Now().Add(-store.Leftover))
	_, err := os.Lstat(file)
	if err == nil {
		err = fs.ErrExist
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Report{}, fmt.Errorf("cannot bundle into %q: %w", file, err)
	}
	var report Report
	for range 4 {
		// gc can drop the beginning of the log while it is copied.
		if report, err = writeBundle(ctx, s, file, progress); !errors.Is(err, errLogMoved) {
			break
		}
	}
	if err == nil {
		_, err = readBundle(file, func(string, int64, io.Reader) error { return nil })
		if err != nil {
			err = errors.Join(err, s.FS.Remove(file))
		}
	}
	if err != nil {
		return Report{}, fmt.Errorf("cannot bundle into %q: %w", file, err)
	}
	return report, nil
}

var errLogMoved = errors.New("the log was cut while it was copied")

func writeBundle(
	ctx context.Context, s *store.Opened, file string, progress graph.Progress,
) (Report, error) {
	temp := s.FS.NewTemp(filepath.Dir(file))
	defer temp.Discard()
	out := bufio.NewWriterSize(temp, 1<<20)
	b := &bundler{ctx: ctx, s: s, tar: tar.NewWriter(out), sum: sha256.New(), progress: progress}
	for _, step := range []func() error{b.start, b.refs, b.packs, b.others, b.finish, out.Flush,
		temp.Sync} {
		if err := errors.Join(step(), ctx.Err()); err != nil {
			return b.report, err
		}
	}
	if err := temp.Rename(file); err != nil {
		return b.report, err
	}
	if err := s.FS.SyncDir(filepath.Dir(file)); err != nil {
		return b.report, errors.Join(err, s.FS.Remove(file))
	}
	info, err := os.Stat(file)
	if err == nil {
		b.report.Bytes = info.Size()
	}
	return b.report, err
}

// bundler is a bundle that is being written.
type bundler struct {
	ctx      context.Context
	s        *store.Opened
	tar      *tar.Writer
	sum      hash.Hash
	progress graph.Progress
	report   Report
	seen     int // what was forgotten when it began: a forget mark
}

// add writes one file. Names, modes and times depend on nothing but the content of the store.
func (b *bundler) add(name string, size int64, from io.Reader) error {
	if b.report.Files++; b.report.Files%1024 == 0 {
		b.progress.Tell(b.report.Files, 0, "copying")
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600,
		ModTime: time.Unix(0, 0).UTC()}
	if err := b.tar.WriteHeader(h); err != nil {
		return err
	}
	sumName(b.sum, name, size)
	_, err := io.CopyN(io.MultiWriter(b.tar, b.sum), from, size)
	return err
}

func sumName(sum hash.Hash, name string, size int64) { fmt.Fprintf(sum, "%s %d\n", name, size) }

// addFile copies a file of the store as long as it is now. fs.ErrNotExist where it is not there.
func (b *bundler) addFile(name string) error {
	f, err := durable.Open(filepath.Join(b.s.Dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return errors.Join(b.add(name, info.Size(), f), b.ctx.Err())
}

func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (b *bundler) start() error {
	if err := b.s.Store.FinishForget(b.ctx); err != nil {
		return err
	}
	var err error
	if b.seen, err = b.s.History.ForgetMark(); err != nil {
		return err
	}
	view, err := b.s.Refs.Read()
	if err != nil {
		return err
	}
	if _, err := b.s.Key(); err != nil {
		return err
	}
	b.report.Store, b.report.Operation = b.s.ID, view.Number
	head := bundleHeadText(b.s.ID, view.Number)
	if err := b.add(bundleHead, int64(len(head)), strings.NewReader(string(head))); err != nil {
		return err
	}
	return errors.Join(optional(b.addFile(".gitignore")), optional(b.addFile("config.toml")),
		b.addFile("format"), b.addFile("key"))
}

// refs copies base, checkpoint and then the log, which holds everything that the checkpoint
// stands for and maybe more.
func (b *bundler) refs() error {
	base, err := b.s.Refs.Base()
	if err != nil {
		return err
	}
	if base.Number > 0 {
		text, err := base.Encode()
		if err != nil {
			return err
		}
		if err := b.add("refs/base", int64(len(text)),
			strings.NewReader(string(text))); err != nil {
			return err
		}
	}
	if err := b.addFile("refs/checkpoint"); err != nil {
		return err
	}
	for n := base.Segment; ; n++ {
		name := fmt.Sprintf("refs/log-%d", n)
		// A segment that has one after it does not grow any more, so look for that first.
		_, err := os.Stat(filepath.Join(b.s.Dir, "refs", fmt.Sprintf("log-%d", n+1)))
		last := errors.Is(err, fs.ErrNotExist)
		if err != nil && !last {
			return err
		}
		if last {
			err = b.lastSegment(name)
		} else {
			err = b.addFile(name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return errLogMoved
		}
		if last || err != nil {
			return err
		}
	}
}

// lastSegment copies the segment that is being written, up to its last whole record.
func (b *bundler) lastSegment(name string) error {
	text, err := durable.ReadAtMost(filepath.Join(b.s.Dir, filepath.FromSlash(name)),
		fsck.MaxSegment)
	if err != nil {
		return err
	}
	head := strings.IndexByte(string(text[:min(len(text), 200)]), '\n') + 1
	end := head
	for end < len(text) {
		op, _, n, err := format.DecodeOperation(text[end:])
		torn := format.IsShortRecord(err) || format.IsUnfilledRecord(text[end:], int64(end))
		if err != nil && !torn && !errors.Is(err, format.ErrObjects) {
			return err
		}
		if err != nil && torn {
			break
		}
		b.report.Operation = max(b.report.Operation, op.Number)
		end += n
	}
	return b.add(name, int64(end), strings.NewReader(string(text[:end])))
}

// packs copies packs until every pack is copied. Objects of a pack that is merged away meanwhile
// are in a pack that is listed next.
func (b *bundler) packs() error {
	done := map[format.ID]bool{}
	for again := true; again; {
		again = false
		names, err := b.s.Objects.PackNames(objects.IndexExt)
		if err != nil {
			return err
		}
		for _, id := range names {
			if done[id] {
				continue
			}
			done[id], again = true, true
			if err := optional(b.addPack(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// addPack copies a pack and its index, or neither.
func (b *bundler) addPack(id format.ID) error {
	pack, err := durable.Open(b.s.Objects.PackPath(id))
	if err != nil {
		return err
	}
	defer pack.Close()
	info, err := pack.Stat()
	if err != nil {
		return err
	}
	index, err := durable.ReadFile(b.s.Objects.IndexPath(id))
	if err != nil {
		return err
	}
	if err := b.add(objects.PackName(id, objects.PackExt), info.Size(), pack); err != nil {
		return err
	}
	return b.add(objects.PackName(id, objects.IndexExt), int64(len(index)),
		strings.NewReader(string(index)))
}

// others copies the records of absent bodies. They come after the objects, so that a body that
// was missing when its object was copied has its record in the bundle.
func (b *bundler) others() error {
	err := b.s.Objects.EachAbsent(func(id format.ID, _ string) error {
		return optional(b.addFile(objects.AbsentName(id)))
	})
	if err != nil {
		return err
	}
	numbers, err := b.s.History.Forgets()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if err := b.addFile(objects.ForgottenName(n)); err != nil {
			return err
		}
	}
	if now, err := b.s.History.ForgetMark(); err != nil || now != b.seen {
		return cmp.Or(err, graph.ErrForgot) // some of it may have been copied before it went
	}
	files, err := os.ReadDir(filepath.Join(b.s.Dir, "log"))
	if optional(err) != nil {
		return err
	}
	for _, f := range files {
		if _, ok := bundleLimit("log/" + f.Name()); ok {
			if err := optional(b.addFile("log/" + f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bundler) finish() error {
	text := fmt.Sprintf("%x\n", b.sum.Sum(nil))
	if err := b.add(bundleSum, int64(len(text)), strings.NewReader(text)); err != nil {
		return err
	}
	return b.tar.Close()
}

// readBundle reads a bundle and calls each for its files but the first and the last, in order;
// what each does not read is skipped. It checks names, sizes, that no name comes twice, and that
// all is there as it was written.
func readBundle(
	file string, each func(name string, size int64, from io.Reader) error,
) (Report, error) {
	var report Report
	f, info, err := durable.OpenAtMost(file, durable.MaxInput)
	if err != nil {
		return report, err
	}
	defer f.Close()
	report.Bytes = info.Size()
	left := info.Size() // a file with holes could be larger than what it came in
	in, sum, seen := tar.NewReader(bufio.NewReaderSize(f, 1<<20)), sha256.New(), map[string]bool{}
	for {
		h, err := in.Next()
		switch {
		case err != nil && report.Files == 0:
			return report, errors.New("not a bundle")
		case errors.Is(err, io.EOF):
			return report, errors.New("bundle is cut short")
		}
		if err != nil {
			return report, fmt.Errorf("bundle: %w", err)
		}
		limit, ok := bundleLimit(h.Name)
		special := h.Name == bundleSum || h.Name == bundleHead
		switch {
		case special:
			limit = maxSmall
		case !ok || h.Typeflag != tar.TypeReg:
			return report, fmt.Errorf("bundle: %.80q has no place in a store", h.Name)
		}
		if h.Size < 0 || h.Size > min(limit, left) || seen[h.Name] ||
			(report.Files == 0) != (h.Name == bundleHead) {
			return report, fmt.Errorf("bundle: %.80q is too large, or not where it belongs", h.Name)
		}
		seen[h.Name] = true
		left -= h.Size
		report.Files++
		want := fmt.Sprintf("%x\n", sum.Sum(nil))
		sumName(sum, h.Name, h.Size)
		from := io.TeeReader(in, sum)
		if !special {
			if err := each(h.Name, h.Size, from); err != nil {
				return report, err
			}
			if _, err := io.Copy(io.Discard, from); err != nil {
				return report, fmt.Errorf("bundle: %w", err)
			}
			continue
		}
		text, err := io.ReadAll(from)
		if err != nil {
			return report, fmt.Errorf("bundle: %w", err)
		}
		if h.Name == bundleHead {
			if report.Store, report.Operation, err = parseBundleHead(text); err != nil {
				return report, err
			}
			continue
		}
		if string(text) != want {
			return report, errors.New("bundle does not match its digest")
		}
		return report, nil
	}
}
