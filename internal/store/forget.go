package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Forgetting is what is to be forgotten.
type Forgetting struct {
	Objects []format.ID // whose bodies go: what was asked for, and all that was made of it
	Said    []format.ID // entries among them whose words and sources are not to come back
	// Answers are entries among them whose sources are not to come back. Others say their words.
	Answers []format.ID
	Phrases []string // what no message may hold any more
}

// Forgot is what Forget did.
type Forgot struct {
	Operation uint64      // zero where there was nothing to do
	Objects   []format.ID // whose bodies went
	Covers    int         // summaries that clusters have no more
	Packs     int         // that were written anew
	Remains   []string    // files in which something is left, or may be: they cannot be read
}

// Forget removes bodies from every place of the store. plan is asked under the lock, so that
// nothing comes or moves before it is done; the lock is held until all is over.
//
// The operation is in the log before the first body goes. After a crash either nothing has
// happened, or whoever next takes the lock does what is left before anything else. Headers stay,
// with a record of why their bodies are absent.
func (s *Store) Forget(ctx context.Context, plan func() (*Forgetting, error)) (Forgot, error) {
	var done Forgot
	err := s.Locked(ctx, func(t *Tx) error {
		// What a pack without an index has is nothing that plan could see. One that is damaged is
		// told with what remains.
		if err := t.repo.Objects.IndexPacks(t.Held, func(string) {}); err != nil {
			return err
		}
		if err := t.UnloadLog(); err != nil { // bodies are removed from packs
			return err
		}
		p, err := plan()
		if err != nil {
			return err
		}
		done, err = t.forget(ctx, p)
		return err
	})
	return done, err
}

// FinishWrites ends what writers that were stopped have begun: their packs are indexed, so that a
// forget sees what is in them, and their temporary files go.
func (s *Store) FinishWrites(ctx context.Context) error {
	return s.Locked(ctx, func(t *Tx) error {
		return errors.Join(t.repo.Objects.IndexPacks(t.Held, func(string) {}),
			t.cleanDir(objects.Dir, nil))
	})
}

func (t *Tx) forget(ctx context.Context, p *Forgetting) (done Forgot, err error) {
	f := &format.Forgotten{Operation: t.View.Number + 1, Time: t.Now(),
		Objects: slices.Clone(p.Objects)}
	if err := t.traceAll(f, p); err != nil {
		return done, err
	}
	if len(f.Objects)+len(f.Phrases) == 0 {
		return t.lookAgain(p)
	}
	if err := t.beginForget(f); err != nil {
		return done, err
	}
	covers, err := t.dropCovers(f)
	if err != nil {
		return done, err
	}
	unread := t.unreadRecords() // a commit that writes a checkpoint takes them out of the view
	if err := t.Commit(&format.Operation{Verb: refs.VerbForget}); err != nil {
		return done, err
	}
	done, err = t.finishForget(ctx, f, unread)
	done.Covers = covers
	return done, err
}

// NoteForgotten records that others have forgotten the bodies of objects that this store has not
// got. They may then be stored without them. A crash leaves all of it or nothing, as with Forget.
func (t *Tx) NoteForgotten(ids []format.ID) error {
	if len(ids) == 0 {
		return nil
	}
	f := &format.Forgotten{Operation: t.View.Number + 1, Time: t.Now(), Objects: slices.Clone(ids)}
	if err := t.beginForget(f); err != nil {
		return err
	}
	if err := t.Commit(&format.Operation{Verb: refs.VerbForget}); err != nil {
		return err
	}
	if err := t.MarkAbsent(f.Objects, format.ReasonForgotten, f.Time); err != nil {
		return err
	}
	return t.endForget(f)
}

// beginForget writes what is to be forgotten, before the log says so.
func (t *Tx) beginForget(f *format.Forgotten) error {
	if err := t.keepEarlier(f); err != nil {
		return err
	}
	b, err := f.Encode()
	if err != nil {
		return err
	}
	if err := t.repo.FS.MkdirAll(filepath.Join(t.Dir, objects.AbsentDir)); err != nil {
		return err
	}
	if err := t.repo.FS.WriteDurable(t.Objects.Path(objects.UnfinishedName()), b,
		0o600); err != nil {
		return fmt.Errorf("cannot begin to forget: %w", err)
	}
	return nil
}

// endForget gives the file of what is forgotten its own name.
func (t *Tx) endForget(f *format.Forgotten) error {
	if err := t.repo.FS.Rename(t.Objects.Path(objects.UnfinishedName()),
		t.Objects.Path(objects.ForgottenName(f.Operation))); err != nil {
		return fmt.Errorf("cannot end to forget: %w", err)
	}
	return t.repo.FS.SyncDir(filepath.Join(t.Dir, objects.AbsentDir))
}

// keepEarlier adds to f what an earlier operation of the same number forgot: after a repair of a
// log that was cut, numbers come again, and the file of f takes the place of the earlier one.
func (t *Tx) keepEarlier(f *format.Forgotten) error {
	old, err := t.Forgotten(f.Operation)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f.Objects = append(f.Objects, old.Objects...)
	f.Sources = append(f.Sources, old.Sources...)
	f.Texts = append(f.Texts, old.Texts...)
	f.Phrases = append(f.Phrases, old.Phrases...)
	return nil
}

// lookAgain looks for phrases that were forgotten before, and may stand where a forget leaves them.
func (t *Tx) lookAgain(p *Forgetting) (done Forgot, err error) {
	w, err := t.NewTraces()
	if err != nil || len(p.Phrases) == 0 {
		return done, err
	}
	f := &format.Forgotten{}
	for _, phrase := range p.Phrases {
		trace, err := w.Trace([]byte(phrase))
		if err != nil {
			return done, err
		}
		f.Phrases = append(f.Phrases, trace)
	}
	w.Add(f)
	done.Remains, err = t.remains(f, w, map[string]bool{})
	return done, err
}

// traceAll completes what is to be recorded: by what the words and their sources are known again.
func (t *Tx) traceAll(f *format.Forgotten, p *Forgetting) error {
	w, err := t.NewTraces()
	if err != nil {
		return err
	}
	known, err := t.ForgottenWords()
	if err != nil {
		return err
	}
	for _, phrase := range p.Phrases {
		if known != nil && known.Has(known.Phrases, []byte(phrase)) {
			continue
		}
		trace, err := w.Trace([]byte(phrase))
		if err != nil {
			return err
		}
		f.Phrases = append(f.Phrases, trace)
	}
	for i, id := range slices.Concat(p.Said, p.Answers) {
		if err := w.TraceEntry(f, id, i < len(p.Said)); err != nil {
			return err
		}
	}
	return nil
}

// dropCovers takes summaries that are about to go away from the clusters that have them, so that
// these are summarized again.
func (t *Tx) dropCovers(f *format.Forgotten) (n int, err error) {
	for _, name := range t.Forests() {
		st, err := t.DraftOf(name)
		if err != nil {
			return n, err
		}
		var drops []format.Decision
		for _, c := range st.Live() {
			for _, v := range c.Covers {
				if f.Has(v.Summary) {
					drops = append(drops,
						format.Decision{Kind: format.DecideDrop, Cluster: c.Number, ID: v.Summary})
				}
			}
		}
		if err := t.DecideIn(name, drops...); err != nil {
			return n, err
		}
		n += len(drops)
	}
	return n, nil
}

// finishForget does what is to be done once the log has the operation: it may have been begun
// before. The file of what is forgotten takes its own name last; as long as it is unfinished,
// whoever takes the lock comes here first.
//
// unread names files that cannot be read and may have something of it; more are added.
func (t *Tx) finishForget(
	ctx context.Context, f *format.Forgotten, unread map[string]bool,
) (Forgot, error) {
	done := Forgot{Operation: f.Operation, Objects: f.Objects}
	w, err := t.NewTraces()
	if err != nil {
		return done, err
	}
	w.Add(f)
	if err := t.MarkAbsent(f.Objects, format.ReasonForgotten, f.Time); err != nil {
		return done, err
	}
	if err := t.cleanFiles(w); err != nil {
		return done, err
	}
	if done.Packs, err = t.repo.Objects.StripPacks(ctx, t.Held, f.Has,
		func(path string) { unread[path] = true }); err != nil {
		return done, err
	}
	t.DropWords()
	if done.Remains, err = t.remains(f, w, unread); err != nil {
		return done, err
	}
	return done, t.endForget(f)
}

// unreadRecords returns the files of the log in which bodies may be left: UnloadLog leaves damaged
// records, and segments in use on Windows.
func (t *Tx) unreadRecords() map[string]bool {
	unread := map[string]bool{}
	for _, r := range t.View.Since {
		if len(r.Op.Objects) > 0 || r.Damaged {
			unread[t.Objects.Path(r.File())] = true
		}
	}
	return unread
}

// errorIsDamage reports whether an error is about a file that cannot be read as what it is, and
// notes that file: what is in it stays, and is told.
func errorIsDamage(err error, unread map[string]bool) bool {
	var corrupt *objects.CorruptError
	if !errors.As(err, &corrupt) {
		return false
	}
	unread[corrupt.Path] = true
	return true
}

// cleanFiles removes what is made of words outside of objects/: the cache, what writes left behind,
// and of the logs what holds something of it. All of it can be had again, or be done without.
func (t *Tx) cleanFiles(w *history.Traces) error {
	aside := t.setAside()
	for _, sub := range []string{"cache", "tmp", "log", "refs", objects.AbsentDir,
		objects.Dir, "."} {
		if err := t.cleanDir(sub, w); err != nil {
			return err
		}
	}
	for _, dir := range aside {
		_ = os.RemoveAll(dir) // folders without files: gc removes what is left
	}
	return nil
}

// cleanDir removes temporary files of a directory of the store and those below it, and of the cache
// and the logs what cleanFiles does.
func (t *Tx) cleanDir(sub string, w *history.Traces) error {
	dir := filepath.Join(t.Dir, sub)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if d.IsDir() {
			if sub == "." && path != t.Dir {
				return filepath.SkipDir
			}
			return nil
		}
		remove := durable.IsTemp(d.Name())
		switch sub {
		case "cache":
			remove = remove ||
				!strings.HasPrefix(d.Name(), "avail") && !strings.HasPrefix(d.Name(), "hook-")
		case "tmp":
			remove = true
		}
		if !remove && (sub == "cache" || sub == "log") {
			if remove, err = w.InFile(path); errors.Is(err, fs.ErrNotExist) {
				return nil
			} else if err != nil {
				return err
			}
		}
		if !remove {
			return nil
		}
		if err := t.repo.FS.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove %q: %w", path, err)
		}
		err = t.repo.FS.SyncDir(filepath.Dir(path))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // another process, such as git in its copy, has removed the folder
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// setAside gives the folders of the cache, such as the copies of remotes, names under which nobody
// looks for them, and returns their paths. Another process that makes one of them anew meanwhile
// would lose files of it to the forget. Where a folder is in use and cannot be renamed, its files
// are removed one by one.
func (t *Tx) setAside() (aside []string) {
	cache := filepath.Join(t.Dir, "cache")
	entries, err := os.ReadDir(cache)
	if err != nil {
		return nil // the walk that follows says so
	}
	for _, d := range entries {
		if !d.IsDir() || durable.IsTemp(d.Name()) {
			continue
		}
		to := filepath.Join(cache, fmt.Sprintf("%s%s-%d", durable.OwnPrefix, d.Name(),
			t.Now().UnixNano()))
		if t.repo.FS.Rename(filepath.Join(cache, d.Name()), to) == nil {
			aside = append(aside, to)
		}
	}
	return aside
}

// remains looks at every byte of the store for what is forgotten: at bodies by their digests, which
// are in the headers, and at everything for the phrases.
func (t *Tx) remains(
	f *format.Forgotten, w *history.Traces, unread map[string]bool,
) ([]string, error) {
	digests := map[[sha256.Size]byte]bool{}
	for _, id := range f.Objects {
		header, err := t.Objects.Header(id)
		if err != nil && !errorIsDamage(err, unread) && !errors.Is(err, objects.ErrNotFound) {
			return nil, err
		}
		if body, ok, err := format.HeaderBody(header); err == nil && ok && body.Size > 0 {
			digests[body.Digest] = true
		}
	}
	bad := func(path string, _ error) error { unread[path] = true; return nil }
	paths, err := t.repo.Objects.Remains(digests, w.InRecord, bad)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		unread[path] = true
	}
	err = filepath.WalkDir(t.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && path == filepath.Join(t.Dir, objects.Dir):
			return filepath.SkipDir
		case d.IsDir() || !d.Type().IsRegular() || d.Name() == "lock" || d.Name() == "key":
			return nil
		}
		left, err := w.InFile(path)
		if err == nil && !left && strings.HasPrefix(d.Name(), "log-") {
			said, err := t.repo.Refs.Said(path) // a dense segment is compressed
			left = err != nil || w.InBytes(said)
		}
		if left {
			unread[path] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var list []string
	for path := range unread {
		if rel, err := filepath.Rel(t.Dir, path); err == nil {
			path = filepath.ToSlash(rel)
		}
		list = append(list, path)
	}
	slices.Sort(list)
	return list, nil
}

// recover does what a forget that was cut short left to do, if its operation is in the log; if not,
// nothing of it has happened, and its file goes. A store in which nothing is being forgotten is not
// touched.
func (t *Tx) recover(ctx context.Context) error {
	path := t.Objects.Path(objects.UnfinishedName())
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f, err := t.ReadForgotten(objects.UnfinishedName())
	if err != nil {
		return &objects.CorruptError{Path: path, Why: err.Error()}
	}
	happened, err := t.hasForgotten(f.Operation)
	if err != nil {
		return err
	}
	if happened {
		done, err := t.finishForget(ctx, f, t.unreadRecords())
		if err == nil && len(done.Remains) > 0 {
			t.Report(fmt.Errorf("what operation %d forgot may remain in %s", f.Operation,
				strings.Join(done.Remains, ", ")))
		}
		return err
	}
	return t.repo.FS.RemoveDurable(path)
}

// hasForgotten reports whether operation n is in the log and is one that forgets. One that is no
// longer in the log was there.
func (t *Tx) hasForgotten(n uint64) (bool, error) {
	if n > t.View.Number {
		return false, nil
	}
	happened := true
	err := t.Refs.Backward(t.View, func(r refs.Record) bool {
		if r.Op.Number == n {
			happened = r.Op.Effects.Forgets
		}
		return r.Op.Number > n
	})
	return happened, err
}

// FinishForget does what a forget that was cut short left to do.
func (s *Store) FinishForget(ctx context.Context) error {
	_, unfinished, err := s.Objects.ForgetFiles()
	if err != nil || !unfinished {
		return err
	}
	return s.Locked(ctx, func(*Tx) error { return nil })
}
