package objects

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"
)

// indexFile reads the file of an index in pieces, and holds all of it in memory once that would
// have cost less. One look-up reads little of it; a command that reads a session looks up every
// entry, which is a few system calls for each.
type indexFile struct {
	file  io.ReaderAt
	size  int64
	most  int64 // bytes of a file that is held
	reads atomic.Int64
	whole atomic.Pointer[bytes.Reader]
}

const (
	// indexPiece is how many bytes of a file one system call costs about as much as.
	indexPiece = 4 << 10
	// fewReads are left to the file whatever its size.
	fewReads = 64
	// maxIndexHeld is the largest index that is held, in bytes: that of some 8,000,000 objects.
	maxIndexHeld = 64 << 20
	// fewIndexHeld is the same for who reads all of a store, and has little memory to spare.
	fewIndexHeld = 4 << 20
)

func (f *indexFile) ReadAt(b []byte, at int64) (int, error) {
	if whole := f.whole.Load(); whole != nil {
		return whole.ReadAt(b, at)
	}
	if f.size <= f.most && f.reads.Add(1) == fewReads+f.size/indexPiece {
		all := make([]byte, f.size)
		if n, err := f.file.ReadAt(all, 0); err == nil || errors.Is(err, io.EOF) {
			f.whole.Store(bytes.NewReader(all[:n]))
		}
	}
	return f.file.ReadAt(b, at)
}
