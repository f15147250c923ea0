// Package lock holds the lock of a store: one process writes at a time.
package lock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// The files in a store's directory. The lock file is never renamed, replaced or removed: a lock
// belongs to a file, not to its name.
const (
	fileName  = "lock"
	ownerName = "lock.owner"
)

// The first and the longest pause between two tries. The pause grows so that many waiters do not
// spin. It stays short compared with the time for which a lock is held: a few file writes. A
// process that held the lock for long waits for two such pauses, even if nobody else wants it.
const (
	firstPause = time.Millisecond
	lastPause  = 5 * time.Millisecond
)

// maxOwner is how many bytes of lock.owner are read.
const maxOwner = 4096

// Owner says who holds a lock. The caller fills it in: this package reads neither the clock nor
// the environment. Whoever may read the directory of the lock may read it.
type Owner struct {
	PID  int    `json:"pid"`
	Host string `json:"host,omitempty"`
	// An id, in the place of a host that others must not know
	Store   string    `json:"store,omitempty"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}

// String returns one line for people, without the control characters of the fields.
func (o Owner) String() string {
	if o == (Owner{}) {
		return "an unknown process"
	}
	text := printable(o.Command) + " (process " + strconv.Itoa(o.PID)
	if o.Host != "" {
		text += " on " + printable(o.Host)
	}
	if o.Store != "" {
		text += " of store " + printable(o.Store)
	}
	if !o.Since.IsZero() {
		text += " since " + o.Since.UTC().Format(time.RFC3339)
	}
	return text + ")"
}

// line returns the owner as a line of JSON. That of a store's own lock, which each append writes,
// mostly needs no escapes and no encoder.
func (o Owner) line() ([]byte, error) {
	if o.Host == "" || o.Store != "" || !isPlain(o.Host) || !isPlain(o.Command) ||
		o.Since.Year() < 0 || o.Since.Year() > 9999 {
		b, err := json.Marshal(o)
		return append(b, '\n'), err
	}
	b := strconv.AppendInt([]byte(`{"pid":`), int64(o.PID), 10)
	b = append(b, `,"host":"`+o.Host+`","command":"`+o.Command+`","since":"`...)
	return append(o.Since.AppendFormat(b, time.RFC3339Nano), "\"}\n"...), nil
}

// isPlain reports whether a JSON encoder writes a string as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// BusyError says that another process kept the lock for as long as the caller was willing to wait.
type BusyError struct {
	Owner  Owner // the last holder, from lock.owner; zero if that cannot be read
	Waited time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("locked by %v, waited %v", e.Owner, e.Waited)
}

// Held is a lock that is held. A writer passes it as proof. The zero Held holds nothing.
type Held struct {
	dir   string
	file  *flock.Flock
	since time.Time
}

// giveWay is when this process may take a lock again, in nanoseconds since 1970. A process that
// held one for long, and takes it again at once as an import of many files does, would keep out
// those that wait: they look only now and then.
var giveWay atomic.Int64

// longHeld is how long a process holds a lock at least that lets those who wait go first.
const longHeld = 50 * time.Millisecond

// Acquire takes the lock of the store in dir. It waits until ctx is done, or until timeout is over
// in which one holder kept the lock (0: it tries once): where others take turns, it waits for its
// own. Then it writes who to <dir>/lock.owner, without a sync, as information for other
// processes. When a process ends, however it ends, the system releases its lock. A held lock is
// never stolen, whatever its age. Errors: *BusyError, the error of ctx, and those of the file
// system.
func Acquire(
	ctx context.Context, fs *durable.FS, dir string, timeout time.Duration, who Owner,
) (*Held, error) {
	if fs.Stopped() {
		return nil, durable.ErrStopped
	}
	h := &Held{dir: dir,
		file: flock.New(filepath.Join(dir, fileName),
			flock.SetFlag(os.O_CREATE|os.O_RDONLY|durable.NoWait))}
	if until := time.Unix(0, giveWay.Load()); timeout > 0 && time.Now().Before(until) {
		select {
		case <-ctx.Done():
		case <-time.After(min(time.Until(until), timeout)):
		}
	}
	waited, ok, err := wait(ctx, timeout, h.file.TryLock, func() string { return ownerLine(dir) })
	if err != nil {
		return nil, fmt.Errorf("cannot lock %q: %w", dir, err)
	}
	if !ok {
		return nil, &BusyError{Owner: readOwner(dir), Waited: waited}
	}
	h.since = time.Now()
	line, err := who.line()
	if err == nil {
		err = fs.WriteNoSync(filepath.Join(dir, ownerName), line)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot lock %q: %w", dir, err), h.Release())
	}
	return h, nil
}

// With runs do under the lock of dir, which it takes as Acquire does.
func With(
	ctx context.Context, fs *durable.FS, dir string, timeout time.Duration, who Owner,
	do func() error,
) (err error) {
	held, err := Acquire(ctx, fs, dir, timeout, who)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	return do()
}

// wait calls try until it takes the lock. ok is false when the time is up, and the lock has not
// changed hands in it.
func wait(
	ctx context.Context, timeout time.Duration, try func() (bool, error), holder func() string,
) (waited time.Duration, ok bool, err error) {
	if ok, err := uninterrupted(try); ok || err != nil || timeout == 0 {
		return 0, ok, err // most locks are free; a timer would wake another thread
	}
	for last := holder(); ; {
		waited += timeout
		if ok, err := waitFor(ctx, timeout, try); ok || err != nil {
			return waited, ok, err
		}
		now := holder()
		if now == last {
			return waited, false, nil
		}
		last = now
	}
}

// uninterrupted calls try. A call that a signal interrupts has neither taken the lock nor failed:
// Go's own runtime sends signals to its threads at any time.
func uninterrupted(try func() (bool, error)) (bool, error) {
	for {
		if ok, err := try(); !errors.Is(err, syscall.EINTR) {
			return ok, err
		}
	}
}

// waitFor calls try until it takes the lock, or until the time is up.
func waitFor(
	ctx context.Context, timeout time.Duration, try func() (bool, error),
) (ok bool, err error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for pause := firstPause; ; pause = min(pause+pause/2, lastPause) {
		select {
		case <-limited.Done():
			if err := ctx.Err(); err != nil {
				return false, err
			}
			return uninterrupted(try)
		case <-time.After(pause):
		}
		if ok, err := uninterrupted(try); ok || err != nil {
			return ok, err
		}
	}
}

// Of returns an error unless the lock of a directory is held.
func (h *Held) Of(dir string) error {
	if h == nil || h.dir != dir {
		return errors.New("the store's lock is not held")
	}
	return nil
}

// Release releases the lock. A second call does nothing. lock.owner stays: it names the last
// holder, and is read only while the lock is held.
func (h *Held) Release() error {
	if h == nil || h.file == nil {
		return nil
	}
	err := h.file.Unlock()
	for errors.Is(err, syscall.EINTR) {
		err = h.file.Unlock()
	}
	if err != nil {
		return fmt.Errorf("cannot unlock %q: %w", h.dir, err)
	}
	if now := time.Now(); !h.since.IsZero() && now.Sub(h.since) >= longHeld {
		giveWay.Store(now.Add(2 * lastPause).UnixNano())
	}
	return nil
}

// readOwner returns the last holder of the lock of dir, or the zero Owner if lock.owner cannot be
// read.
func readOwner(dir string) Owner {
	var o Owner
	if json.Unmarshal([]byte(ownerLine(dir)), &o) != nil {
		return Owner{}
	}
	return o
}

// ownerLine returns the line of lock.owner, or "" if it cannot be read.
func ownerLine(dir string) string {
	b, err := durable.ReadAtMost(filepath.Join(dir, ownerName), maxOwner)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(b, []byte{'\n'}) // the rest of an older, longer line may follow
	return string(line)
}
