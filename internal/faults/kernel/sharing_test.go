//go:build linux && faults

package kernel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/faults"
)

// sharing are the commands that read and write a remote. The clone makes the store "new/desk".
var sharing = []command{
	{name: "push", args: []string{"push"}},
	{name: "pull", args: []string{"pull"}},
	{name: "sync", args: []string{"sync"}},
	{name: "clone", args: []string{"clone", "--share", "all", "", "desk"}},
}

// changing are the system calls that change what others find: a process that is killed before any
// other call leaves what one leaves that is killed before the next of these.
const changing = "openat,write,pwrite64,renameat,renameat2,unlinkat,mkdirat,ftruncate,linkat,fchmod,fchmodat,utimensat,flock"

// neighbours are three stores and their remote, with the settings of each in its own home. The
// remote has what each has shared, and each has something new for the others: messages, clusters,
// and a message that is to be forgotten.
type neighbours struct {
	*testing.T
	bin      string
	template string // what every run begins with
	run      string // where it runs: the settings have absolute paths
	url      string // of the remote, seen from a store
	remote   string
}

func meet(t *testing.T, bin, kind string) *neighbours {
	t.Helper()
	work := memory(t)
	w := &neighbours{T: t, bin: bin, template: filepath.Join(work, "template"),
		run: filepath.Join(work, "run")}
	if kind == "git" {
		w.remote, w.url = filepath.Join(w.run, "memory.git"), "../memory.git"
		do(t, "git", "init", "-q", "--bare", "--template=", w.remote)
	} else {
		w.remote, w.url = filepath.Join(w.run, "shared"), "dir:../shared"
	}
	names := []string{"here", "there", "third"}
	for _, name := range append(names, "new") {
		if err := os.MkdirAll(filepath.Join(w.run, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	say := func(p faults.Program, from, to int) {
		for n := from; n < to; n++ {
			p.Must(t, "append", "-s", "talk", "--role", "user", "-m",
				filepath.Base(p.Dir)+" says that "+message(n))
		}
		p.Must(t, "compact", "--all")
	}
	for _, name := range names {
		p := w.store(name)
		p.Must(t, "init")
		p.Must(t, "config", "set", "remote.label", name)
		p.Must(t, "remote", "add", "--share", "all", "origin", w.url)
		say(p, 0, 16)
		p.Must(t, "sync")
	}
	for _, name := range names {
		p := w.store(name)
		p.Must(t, "sync")
		say(p, 16, 22)
		p.Must(t, "append", "-s", "more", "--role", "model", "-m", "more of "+name)
		p.Must(t, "forget", "--force", "--text", name+" says that "+message(2))
	}
	w.store("there").Must(t, "push")
	w.store("third").Must(t, "push")
	if err := os.Rename(w.run, w.template); err != nil {
		t.Fatal(err)
	}
	return w
}

// store is a ctx that works on one of the stores.
func (w *neighbours) store(name string) faults.Program {
	home := filepath.Join(w.run, name, ".home")
	if name == "desk" {
		name, home = "new/desk", filepath.Join(w.run, "new", ".home")
	}
	env := append(slices.Clone(settings), "CTX_USER_CONFIG="+filepath.Join(home, "none.toml"))
	return faults.Program{Path: w.bin, Dir: filepath.Join(w.run, name), Env: env}
}

// begin makes all stores and the remote as they were at first.
func (w *neighbours) begin() {
	w.Helper()
	if err := errors.Join(os.RemoveAll(w.run), cloneStore(w.template, w.run)); err != nil {
		w.Fatal(err)
	}
}

// trace runs a command under strace as its store would, or all of its processes if deep is set.
func (w *neighbours) trace(c command, deep bool, more ...string) (r faults.Result, log string) {
	w.Helper()
	p := w.store("here")
	args := slices.Clone(c.args)
	if c.name == "clone" {
		p = w.store("new")
		args[slices.Index(args, "")] = w.url
	}
	out := filepath.Join(filepath.Dir(w.run), "trace")
	with := []string{"-f", "-y", "-qq", "-o", out, "-s", "0", "-e", "trace=" + changing, "-e",
		"signal=none"}
	if !deep {
		with = append(with, "--detach-on=execve")
	}
	traced := p
	traced.Path = "strace"
	r = traced.Run(slices.Concat(with, more, []string{p.Path}, args)...)
	r.Args = args
	w.settle()
	b, err := os.ReadFile(out)
	if err != nil {
		w.Fatalf("strace wrote nothing: %v, %s", err, r.Err)
	}
	return r, string(b)
}

// settle waits until no git is left that a killed command has started.
func (w *neighbours) settle() {
	w.Helper()
	for range 3000 {
		left := ""
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			if b, err := os.ReadFile(file); err == nil &&
				strings.Contains(string(b), "HOME="+w.run+"/") {
				left = file
			}
		}
		if left == "" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.Fatal("a process that a command has started does not end")
}

// steps returns the calls of a trace at which the command may be killed: of those that change
// something, and those that tell another process to.
func (w *neighbours) steps(log string) (list []point) {
	var kept strings.Builder
	for line := range strings.Lines(log) {
		if strings.Contains(line, " openat(") && !strings.Contains(line, "O_CREAT") &&
			!strings.Contains(line, "O_TRUNC") {
			line = strings.ReplaceAll(line, w.run, "")
		}
		kept.WriteString(strings.ReplaceAll(line, "<pipe:", "<"+w.run))
	}
	return points(kept.String(), w.run)
}

// shared is what two stores have: the one that runs the command, and one that pulls then.
type shared struct{ own, others state }

// look pulls with another store, and returns what each has. Both must be whole.
func (w *neighbours) look(name string) (now shared, err error) {
	if p := w.store(name); name == "here" ||
		exists(filepath.Join(p.Dir, ".gemini", "context", "format")) {
		if now.own, err = whole(p); err != nil {
			return now, err
		}
	}
	p := w.store("third")
	if r := p.Run("pull"); !r.OK() {
		return now, fmt.Errorf("another store: %v", r)
	}
	now.others, err = whole(p)
	return now, err
}

// whole checks a store, and returns its state with the clusters that others share.
func whole(p faults.Program) (state, error) {
	if r := p.Run("fsck"); !r.OK() {
		return nil, fmt.Errorf("%s: %v%s", filepath.Base(p.Dir), r, r.Out)
	}
	s, err := stateOf(p)
	if err != nil {
		return nil, err
	}
	for _, label := range []string{"here", "there", "third"} {
		if !hasSessionsOf(s, label) {
			continue
		}
		r := p.Run("forest", "--of", label, "--json")
		if !r.OK() {
			return nil, errors.New(r.String())
		}
		s["forest of "+label] = slices.Sorted(strings.Lines(r.Out))
	}
	return s, nil
}

func hasSessionsOf(s state, label string) bool {
	for name := range s {
		if strings.Contains(name, "@"+label+"/") {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// onTheWay returns an error unless each branch is as it was before or as it is to be, but for words
// that are to be forgotten and may be gone already: a pull takes in one store after the other, and
// forgets before it takes in.
func onTheWay(before, after, now state) error {
	for name, texts := range now {
		was, will := before[name], after[name]
		if strings.HasPrefix(name, "forest of ") {
			continue // clusters change in every step, and are compared in the end
		}
		if !follows(will, texts) && !follows(was, texts) {
			return fmt.Errorf("%s is neither what it was nor what it was to be: %q", name, texts)
		}
	}
	for name := range before {
		if _, there := now[name]; !there && after[name] != nil {
			return fmt.Errorf("%s is gone", name)
		}
	}
	return nil
}

// follows reports whether texts are some that a branch is to have, or had, without those that are
// forgotten.
func follows(want, texts []string) bool {
	if len(want) != len(texts) {
		return false
	}
	for i, text := range texts {
		if text != want[i] && text != "" {
			return false
		}
	}
	return true
}

// A command that shares is killed at every call that changes something. What others had they have,
// what was acknowledged is there, and the same command again does the rest, nothing twice.
func TestKilledWhileSharing(t *testing.T) {
	needsTracing(t)
	needs(t, "git")
	bin := faults.Build(t, "-tags", "faults")
	for _, kind := range []string{"dir", "git"} {
		w := meet(t, bin, kind)
		for _, c := range sharing {
			t.Run(kind+" "+c.name, func(t *testing.T) {
				w.T = t
				w.everyStep(c, false)
			})
			if kind == "git" {
				t.Run("git "+c.name+", git itself", func(t *testing.T) {
					w.T = t
					w.everyStep(c, true)
				})
			}
		}
	}
}

func (w *neighbours) everyStep(c command, deep bool) {
	t := w.T
	name := "here"
	if c.name == "clone" {
		name = "desk"
	}
	w.begin()
	before, err := w.look(name)
	if err != nil {
		t.Fatal(err)
	}
	w.begin()
	r, log := w.trace(c, deep, "--seccomp-bpf")
	if !r.OK() {
		t.Fatal(r)
	}
	after, err := w.look(name)
	if err != nil {
		t.Fatal(err)
	}
	if same(before.own, after.own) && same(before.others, after.others) {
		t.Fatal("the command changes nothing")
	}
	steps := w.steps(log)
	possible := len(steps)
	if !all && possible > shareSample {
		rng := rand.New(rand.NewPCG(seed, uint64(len(c.name))))
		rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		steps = steps[:shareSample]
	}
	killed, failed, done, early, late := 0, 0, 0, 0, 0
	for i, p := range steps {
		w.begin()
		r, _ := w.trace(c, deep, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", p.call, p.n))
		now, err := w.killed(c, name, r, before, after, i%3 == 0)
		if err != nil {
			t.Errorf("%v: %v; the command: %v", fault{p, ""}, err, r)
			continue
		}
		switch r.Code {
		case -1:
			killed++
		case 0:
			done++
		default:
			failed++
		}
		switch {
		case same(now.own, after.own) && same(now.others, after.others):
			late++
		case same(now.own, before.own) && same(now.others, before.others):
			early++
		}
	}
	if killed+failed == 0 {
		t.Error("nothing was killed")
	}
	t.Logf(
		"%d steps, %d tried: %d times killed, %d failed and said so, %d done all the same; "+
			"before the change %d, after it %d, between %d; nothing lost",
		possible, len(steps), killed, failed, done, early, late, len(steps)-early-late)
}

// shareSample is the number of kills of each command in a sample.
const shareSample = 3

// killed checks what a killed command has left, and runs it again.
func (w *neighbours) killed(
	c command, name string, r faults.Result, before, after shared, thorough bool,
) (now shared, err error) {
	if now, err = w.look(name); err != nil {
		return now, err
	}
	if err := errors.Join(onTheWay(before.own, after.own, now.own),
		onTheWay(before.others, after.others, now.others)); err != nil {
		return now, err
	}
	if r.Code == 0 && !(same(now.own, after.own) && same(now.others, after.others)) {
		return now,
			fmt.Errorf("it said that it was done, and was not: %v %v",
				differences(after.own, now.own), differences(after.others, now.others))
	}
	p, args := w.store(name), slices.Clone(c.args)
	if c.name == "clone" {
		p = w.store("new")
		args[slices.Index(args, "")] = w.url
	}
	if again := p.Run(args...); !again.OK() {
		return now, fmt.Errorf("the same command again: %v", again)
	}
	last, err := w.look(name)
	if err != nil {
		return now, fmt.Errorf("after the same command again: %w", err)
	}
	if !same(last.own, after.own) || !same(last.others, after.others) {
		return now,
			fmt.Errorf("after the same command again: %v %v", differences(after.own, last.own),
				differences(after.others, last.others))
	}
	if thorough {
		err = w.goOn(name)
	}
	return now, err
}

// goOn checks that all go on with the remote, and that one who comes anew finds what each has said,
// and nothing twice.
func (w *neighbours) goOn(name string) error {
	for _, which := range []string{name, "there", name, "third"} {
		p := w.store(which)
		for _, args := range [][]string{
			{"append", "-s", "next", "--role", "user", "-m", "life goes on"}, {"sync"},
			{"gc"}, {"fsck"},
		} {
			if r := p.Run(args...); !r.OK() {
				return fmt.Errorf("%s goes on: %v%s", which, r, r.Out)
			}
		}
	}
	if r := w.store("there").Run("clone", w.url, "../fresh"); !r.OK() {
		return fmt.Errorf("a new store: %v", r)
	}
	fresh, err := whole(w.store("fresh"))
	if err != nil {
		return fmt.Errorf("a new store: %w", err)
	}
	for _, label := range []string{name, "there", "third"} {
		if label == "desk" {
			continue // its label is the name of the machine
		}
		own, err := stateOf(w.store(label))
		if err != nil {
			return err
		}
		for ref, texts := range own {
			session, branch, _ := strings.Cut(strings.TrimPrefix(ref, "sessions/"), "/")
			shared := "sessions/" + session + "@" + label + "/" + branch
			if !strings.Contains(session, "@") && !slices.Equal(fresh[shared], texts) {
				return fmt.Errorf("a new store has another %s: %q, want %q", shared,
					fresh[shared], texts)
			}
		}
	}
	return nil
}
