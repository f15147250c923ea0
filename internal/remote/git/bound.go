package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// What one fetch may take. A remote belongs to strangers, and git has no limit of its own for what
// it fetches: receive.maxInputSize holds for those who receive pushes.
const (
	// maxCopy is the most bytes that the objects of a copy take. Hosts ask for repositories of 5 to
	// 10 GB at most.
	maxCopy = 20 << 30
	// maxStill is how long a fetch may bring nothing. A large host counts objects for minutes first.
	maxStill = 10 * time.Minute
	// maxRun is how long any git may run: 10 GB take two hours and a half at 10 Mbit/s.
	maxRun = 6 * time.Hour
	// lookEach is how often a fetch is looked at. Most end before the first look.
	lookEach = 500 * time.Millisecond
)

// errBound says that a git was ended because it took more than it may. It is an answer: neither
// another try nor another copy helps.
var errBound = errors.New("ended by ctx")

// bounded runs do, which fetches, and ends it if the copy grows too large or does not grow at all.
func (r *Remote) bounded(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, end := context.WithCancelCause(ctx)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		r.look(ctx, end)
	}()
	err := do(ctx)
	end(nil)
	<-looked
	if errors.Is(err, errBound) {
		return errors.Join(err, r.removeUnfinished())
	}
	return err
}

// look ends a fetch with the reason, if there is one.
func (r *Remote) look(ctx context.Context, end context.CancelCauseFunc) {
	most, still := r.c.MaxCopy, r.c.MaxStill
	if most == 0 {
		most = maxCopy
	}
	if still == 0 {
		still = maxStill
	}
	ticker := time.NewTicker(lookEach)
	defer ticker.Stop()
	last, grew := int64(-1), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		size := r.copySize()
		switch {
		case size > most:
			end(fmt.Errorf(
				"git fetch: %w: with what the remote sends, its copy %q takes %d bytes, and may "+
					"take %d", errBound, r.c.Bare, size, most))
			return
		case size != last:
			last, grew = size, time.Now()
		case time.Since(grew) >= still:
			end(fmt.Errorf("git fetch: %w: the remote has sent nothing for %v", errBound, still))
			return
		}
	}
}

// copySize returns how many bytes the objects of the copy have, finished or not. What goes away
// meanwhile does not count.
func (r *Remote) copySize() (size int64) {
	_ = filepath.WalkDir(
		filepath.Join(r.c.Bare, "objects"), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil
			}
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
			return nil
		})
	return size
}

// removeUnfinished removes objects that a git has begun and not finished: nobody else does. No git
// is writing objects: this process has the lock of the copy.
func (r *Remote) removeUnfinished() error {
	return filepath.WalkDir(
		filepath.Join(r.c.Bare, "objects"), func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || e.IsDir() || !strings.HasPrefix(e.Name(), "tmp_") {
				return err
			}
			if err := r.c.FS.RemoveNoSync(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		})
}
