package faults

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
)

// kinds returns the errors with which a call can end.
func kinds() []error {
	return []error{syscall.EIO, syscall.ENOSPC, syscall.EACCES, syscall.EMFILE,
		syscall.EROFS, errSharing}
}

// failing describes how a run is disturbed: call n fails. If the failure is permanent, all later
// calls fail too.
type failing struct {
	n    int
	kind error
	good bool
}

func (f failing) String() string {
	often := "once"
	if f.good {
		often = "for good"
	}
	return fmt.Sprintf("call %d fails %s: %v", f.n, often, f.kind)
}

// failer makes a run fail at its calls.
type failer struct {
	t    *testing.T
	p    *place
	r    *run
	seen map[string]bool

	injected, silent, checked, found int
}

// run disturbs the command, and checks its error and the result.
func (x *failer) run(f failing) {
	if x.found > 3 {
		return
	}
	x.injected++
	x.p.put(x.t, x.r.start)
	w := &world{root: x.p.root, now: today}
	fsys, events := recorder(x.p.root)
	call := ""
	var failed []string
	fsys.Hook = func(c durable.Call) error {
		if c.N != f.n && (!f.good || c.N < f.n) {
			return nil
		}
		if call == "" {
			call = fmt.Sprintf("%s %s", c.Op, c.Path)
		}
		failed = append(failed, c.Path)
		return &fs.PathError{Op: c.Op, Path: c.Path, Err: f.kind}
	}
	w.fs = x.p.watch(fsys)
	err := x.r.do(w)
	if err == nil {
		x.silent++
	}
	problem := x.told(err, failed)
	d := newDisk(x.r.start)
	for _, e := range *events {
		d.run(e, len(e.Data))
	}
	if key := fmt.Sprint(d.now().sum(), err == nil); problem == nil && !x.seen[key] {
		x.seen[key] = true
		x.checked++
		problem = x.left(err)
	}
	if problem != nil {
		x.found++
		x.t.Errorf("%s, %v (%s), and the command says %v: %v", x.r.name, f, call, err, problem)
	}
}

// told checks the message to the user: one line that names the file, and the exit code of a
// failure, not of damage.
func (x *failer) told(err error, failed []string) error {
	if err == nil {
		return nil
	}
	p := command.Explain(err)
	switch {
	case p.Code != command.Failed:
		return fmt.Errorf("exit code %d", p.Code)
	case strings.Contains(p.Message, "\n"):
		return errors.New("the error has more than a line")
	case !slices.ContainsFunc(failed,
		func(path string) bool { return strings.Contains(p.Message, path) }):
		return fmt.Errorf("the error names none of %q", failed)
	}
	return nil
}

// left checks the disk: it has no part of the command's work, and nothing that disturbs the next
// run.
func (x *failer) left(told error) error {
	r := x.r
	w := &world{root: x.p.root, now: today, fs: x.p.watch(&durable.FS{})}
	if !r.makes && !r.ends {
		if left := x.p.temporaries(x.t); len(left) > 0 {
			return fmt.Errorf("it leaves %q", left[0])
		}
	}
	s, err := w.open()
	missing := errors.Is(err, repo.ErrNoStore) || errors.Is(err, repo.ErrHalf)
	switch {
	case missing && (r.makes || r.needs) && told != nil:
		return x.again(w)
	case missing && r.ends:
		var made *repo.Repo
		if made, _, err = repo.Init(w.env(), w.project()); err != nil {
			return err
		}
		return errors.Join(made.Close(), x.next(w))
	case err != nil:
		return err
	case r.ends && told == nil:
		return errors.Join(errors.New("the store is still there"), s.Close())
	case r.needs && told != nil:
		return errors.Join(s.Close(), x.again(w))
	}
	says, err := x.says(s)
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	image, err := readImage(x.p.root, written)
	if err != nil {
		return err
	}
	if err := r.checkFiles(image, told == nil); err != nil {
		return err
	}
	for _, name := range r.clear {
		if err := os.Remove(w.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	switch {
	case told == nil && says != r.after:
		return fmt.Errorf("it was acknowledged, and is not what it is to be: %s",
			difference(r.after, says))
	case !r.many && says != r.after && says != r.before:
		return fmt.Errorf("it is half done: %s", difference(r.before, says))
	case told != nil && (says != r.after || len(r.verb.files) > 0):
		return x.again(w)
	}
	return x.next(w)
}

func (x *failer) says(s *session.Store) (string, error) {
	if err := clean(s); err != nil {
		return "", err
	}
	if err := s.Store.FinishForget(bg); err != nil { // as the next lock holder does
		return "", err
	}
	return contents(s)
}

// again checks that the command can be run again and then does its work.
func (x *failer) again(w *world) error {
	if err := x.r.do(w); err != nil {
		return fmt.Errorf("done again: %w", err)
	}
	var says string
	err := w.with(func(s *session.Store) (err error) {
		says, err = x.says(s)
		return err
	})
	if err == nil && !x.r.many && !x.r.ends && says != x.r.after {
		err = errors.New(difference(x.r.after, says))
	}
	if x.r.ends && errors.Is(err, repo.ErrNoStore) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("after it was done again: %w", err)
	}
	return x.next(w)
}

func (x *failer) next(w *world) error {
	w.now, w.tick = later, 1e9
	return goOn(w, false, x.p, x.t)
}

// TestFailEveryCall makes every durable call of every command fail, once or permanently. The
// command must report the error in one line that names the file, or do its work anyway; nothing may
// be half done; and the command must work when it is run again.
func TestFailEveryCall(t *testing.T) {
	seed := seedOf(t)
	p := newPlace(t)
	sum := &failer{}
	var lines []string
	for i, v := range verbs() {
		if !mine(t, i+1) { // not the commands that TestStopEveryCall has as well
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			r := record(t, p, v, startOf(t, p, v))
			calls := 0
			for _, e := range r.events {
				calls = max(calls, e.N)
			}
			x := &failer{t: t, p: p, r: r, seen: map[string]bool{}}
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			if everything() {
				for i, e := range r.events {
					n := e.N
					if n == 0 || r.amidst(i) {
						continue
					}
					for _, kind := range kinds() {
						x.run(failing{n, kind, false})
						x.run(failing{n, kind, true})
					}
				}
			} else {
				for range 2 {
					x.run(failing{1 + random.IntN(calls), kinds()[random.IntN(len(kinds()))],
						random.IntN(2) == 0})
				}
			}
			lines = append(lines,
				fmt.Sprintf("%-32s %6d %6d %6d %6d", v.name, calls, x.injected,
					x.silent, x.checked))
			sum.injected, sum.silent, sum.checked = sum.injected+x.injected, sum.silent+x.silent,
				sum.checked+x.checked
		})
	}
	t.Logf("%-32s %6s %6s %6s %6s", "command", "calls", "errors", "done", "looks")
	for _, line := range lines {
		t.Log(line)
	}
	t.Logf("%-32s %6s %6d %6d %6d", "all", "", sum.injected, sum.silent, sum.checked)
}
