package history

import (
	"sync"

	"github.com/gemini-ctx/ctx/format"
)

// written holds the objects that this process wrote or read last, for whoever reads them soon: in
// the packs they are compressed, and checked again.
type written struct {
	mu         sync.Mutex
	young, old map[format.ID]format.Raw
	size       int // of young, in bytes
}

// writtenBytes is about how much of the newest objects is held at least, and half of the most.
const writtenBytes = 8 << 20

func (w *written) add(id format.ID, r format.Raw) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.young == nil || w.size > writtenBytes {
		w.young, w.old, w.size = map[format.ID]format.Raw{}, w.young, 0
	}
	w.young[id] = r
	w.size += len(r.Header) + len(r.Body)
}

func (w *written) get(id format.ID) (r format.Raw, ok bool) {
	if w == nil {
		return r, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok = w.young[id]; !ok {
		r, ok = w.old[id]
	}
	return r, ok
}

// KeepWritten has the reader keep the newest objects of those that Wrote tells it of, and of those
// that are read whole, until done is called. It is for a process that reads what it has written, or
// reads twice. Their bytes are lent, and must not be changed.
func (s *Reader) KeepWritten() (done func()) {
	n, ok := s.Objects.(*near)
	if !ok {
		return func() {}
	}
	n.written.Store(&written{})
	return func() { n.written.Store(nil) }
}

// Wrote tells of objects that were written.
func (s *Reader) Wrote(raws []format.Raw) {
	if n, ok := s.Objects.(*near); ok {
		if w := n.written.Load(); w != nil {
			for _, r := range raws {
				w.add(r.ID(), r)
			}
		}
	}
}

// KeepsWritten reports whether an object is one that was written, or read whole, and is kept.
func (s *Reader) KeepsWritten(id format.ID) bool {
	n, ok := s.Objects.(*near)
	if ok {
		_, ok = n.written.Load().get(id)
	}
	return ok
}

// CheckWritten lets go of what was written if the store has lost bodies: that of an object that is
// kept may be among them. It belongs at the beginning of each transaction, so that nothing is made
// of words that were forgotten since the one before.
func (s *Reader) CheckWritten() error {
	n, ok := s.Objects.(*near)
	if !ok || n.written.Load() == nil {
		return nil
	}
	none, err := n.NothingGone()
	if err != nil || !none {
		n.written.Store(nil)
	}
	return err
}
