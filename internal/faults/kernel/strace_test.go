//go:build linux && faults

package kernel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/faults"
)

// watched are the system calls that read and write a store, with the errors that they are made to
// fail with.
var watched = []struct {
	names  string
	errors string
}{
	{"openat", "EACCES EMFILE EIO ENOSPC EROFS"},
	{"write pwrite64", "ENOSPC EIO EDQUOT"},
	{"fsync fdatasync", "EIO ENOSPC"},
	{"renameat renameat2", "EIO ENOSPC EACCES EROFS"},
	{"unlinkat", "EACCES EIO EROFS"},
	{"mkdirat", "ENOSPC EACCES EROFS"},
	{"ftruncate truncate", "EIO ENOSPC"},
	{"flock", "EIO ENOLCK"},
	{"read pread64", "EIO"},
	{"getdents64", "EIO"},
	{"newfstatat fstat", "EIO EACCES"},
	{"utimensat", "EACCES EROFS"},
	{"fchmod fchmodat", "EROFS"},
	{"close", "EIO"},
}

func callNames() string {
	var names []string
	for _, w := range watched {
		names = append(names, strings.Fields(w.names)...)
	}
	return strings.Join(names, ",")
}

// point is the nth call of a system call in a thread.
type point struct {
	call string
	n    int
}

// sample is the number of faults of each command in a sample.
const sample = 18

// seed is the seed of the sample.
const seed = 6

// tracer runs a command on copies of one store.
type tracer struct {
	t        *testing.T
	program  faults.Program
	template string
	work     string
	runs     int
}

// trace runs a command on a new copy under strace, with further arguments for strace. It returns
// the result, and the output of strace.
func (x *tracer) trace(
	c command, more ...string,
) (p faults.Program, r faults.Result, log string) {
	x.t.Helper()
	x.runs++
	p = x.program
	p.Dir = filepath.Join(x.work, "run")
	if err := errors.Join(os.RemoveAll(p.Dir), cloneStore(x.template, p.Dir)); err != nil {
		x.t.Fatal(err)
	}
	out := filepath.Join(x.work, "trace")
	args := append([]string{"-f", "-y", "-qq", "-o", out, "-s", "0", "-e", "trace=" + callNames(),
		"-e", "signal=none"}, more...)
	traced := p
	traced.Path = "strace"
	r = traced.Run(append(append(args, p.Path), c.args...)...)
	r.Args = c.args
	b, err := os.ReadFile(out)
	if err != nil {
		x.t.Fatalf("strace wrote nothing: %v, %s", err, r.Err)
	}
	return p, r, string(b)
}

// alike matches the parts in which similar calls for two files differ.
var alike = regexp.MustCompile(`0x[0-9a-f]+|[0-9a-f]{2,}|[0-9]+`)

// points returns the calls of a trace that touch the store, each with its number in its thread. Of
// a sequence of similar calls, for example for 256 directories, it returns the first two, one in
// the middle, and the last.
func points(log, dir string) (list []point) {
	count := map[string]int{}
	seen := map[point]bool{}
	kinds := map[string][]point{}
	var order []string
	for line := range strings.Lines(log) {
		thread, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		name, _, found := strings.Cut(rest, "(")
		if !found || strings.HasPrefix(rest, "<...") {
			continue // the end of a call that began in another line
		}
		count[thread+name]++
		p := point{name, count[thread+name]}
		if strings.Contains(rest, dir) && !seen[p] {
			seen[p] = true
			kind := alike.ReplaceAllString(rest, "#")
			if len(kinds[kind]) == 0 {
				order = append(order, kind)
			}
			kinds[kind] = append(kinds[kind], p)
		}
	}
	for _, kind := range order {
		run := kinds[kind]
		if n := len(run); n > 4 {
			run = []point{run[0], run[1], run[n/2], run[n-1]}
		}
		list = append(list, run...)
	}
	return list
}

// fault is what happens at a point: an error, or if err is empty, the end of the process.
type fault struct {
	point
	err string
}

func (f fault) String() string {
	if f.err == "" {
		return fmt.Sprintf("killed at %s %d", f.call, f.n)
	}
	return fmt.Sprintf("%s at %s %d", f.err, f.call, f.n)
}

func faultsAt(list []point) (faults []fault) {
	for _, p := range list {
		faults = append(faults, fault{p, ""})
		for _, w := range watched {
			if slices.Contains(strings.Fields(w.names), p.call) {
				for _, e := range strings.Fields(w.errors) {
					faults = append(faults, fault{p, e})
				}
			}
		}
	}
	return faults
}

// needsTracing skips a test if nothing can be traced.
func needsTracing(t *testing.T) {
	t.Helper()
	needs(t, "strace")
	if out, err := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull,
		"true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: strace may not trace here: %v: %s", err, out)
	}
}

// At every system call that touches the store, the process is killed or the call fails. No
// acknowledged operation may be lost, nothing may be half done, a failure must be reported in a
// line that names the file, and the next command must work.
func TestEverySystemCall(t *testing.T) {
	needsTracing(t)
	bin := faults.Build(t, "-tags", "faults")
	work := memory(t)
	template := filepath.Join(work, "template")
	if err := os.Mkdir(template, 0o700); err != nil {
		t.Fatal(err)
	}
	build(t, faults.Program{Path: bin, Dir: template, Env: settings})
	for _, c := range commands {
		t.Run(c.name, func(t *testing.T) {
			x := &tracer{t: t, program: faults.Program{Path: bin, Env: settings},
				template: template, work: work}
			x.everyCall(c)
		})
	}
}

func (x *tracer) everyCall(c command) {
	t := x.t
	before, err := stateOf(faults.Program{Path: x.program.Path, Dir: x.template, Env: settings})
	if err != nil {
		t.Fatal(err)
	}
	p, r, log := x.trace(c, "--seccomp-bpf")
	if !r.OK() {
		t.Fatal(r)
	}
	after, err := stateOf(p)
	if err != nil {
		t.Fatal(err)
	}
	faults := faultsAt(points(log, filepath.Join(p.Dir, ".gemini")))
	possible := len(faults)
	if !all && possible > sample {
		rng := rand.New(rand.NewPCG(seed, uint64(len(c.name))))
		rng.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		faults = faults[:sample]
	}
	killed, failed, done, missed := 0, 0, 0, 0
	for i, f := range faults {
		hit, code, err := x.one(c, f, before, after, all || i%4 == 0)
		switch {
		case err != nil:
			t.Errorf("%v: %v", f, err)
		case !hit:
			missed++
		case f.err == "":
			killed++
		case code == 0:
			done++
		default:
			failed++
		}
	}
	if killed+failed == 0 {
		t.Error("no fault came to pass")
	}
	t.Logf(
		"%d faults possible; %d times killed, %d failed and said so, %d done all the same, %d "+
			"not reached", possible, killed, failed, done, missed)
}

// one runs the command with one fault, and checks the result.
func (x *tracer) one(
	c command, f fault, before, after state, thorough bool,
) (hit bool, code int, err error) {
	more := []string{"--seccomp-bpf", "-e",
		fmt.Sprintf("inject=%s:error=%s:when=%d", f.call, f.err, f.n)}
	if f.err == "" {
		// With --seccomp-bpf, strace 6.1 sends no signal
		more = []string{"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", f.call, f.n)}
	}
	p, r, log := x.trace(c, more...)
	injected := ""
	begun := map[string]string{} // by thread: a call that a line of another thread interrupted
	for line := range strings.Lines(log) {
		thread, _, _ := strings.Cut(line, " ")
		if strings.Contains(line, "<unfinished ...>") {
			begun[thread] = line
		}
		if strings.Contains(line, "(INJECTED)") { // can happen in several threads
			if strings.Contains(line, " resumed>") {
				injected += begun[thread]
			}
			injected += line
		}
	}
	now, err := checkStore(p, thorough)
	if err == nil {
		err = c.between(before, after, now)
	}
	if err != nil {
		return true, r.Code, fmt.Errorf("%w; the command: %v; %s", err, r, injected)
	}
	switch {
	case r.Code == 0 && !same(now, after):
		return true, 0,
			fmt.Errorf("it said that it was done, and was not: %v; %s",
				differences(after, now), injected)
	case r.Code > 0:
		err = honest(r, injected)
	case r.Code < -1:
		err = errors.New(r.String())
	}
	return injected != "" || r.Code == -1, r.Code, err // strace ends like the process
}

var inTrace = regexp.MustCompile(`["<](/[^">]+)[">]`)

// honest checks that a failed command reported the reason in one line, which names the file if the
// system call had one.
func honest(r faults.Result, injected string) error {
	first, rest, _ := strings.Cut(strings.TrimSuffix(r.Err, "\n"), "\n")
	if !strings.HasPrefix(first, "ctx: ") ||
		rest != "" && (!strings.HasPrefix(rest, "hint: ") || strings.Contains(rest, "\n")) {
		return fmt.Errorf("exit code %d with %q", r.Code, r.Err)
	}
	var names []string
	for _, m := range inTrace.FindAllStringSubmatch(injected, -1) {
		if name := filepath.Base(m[1]); m[1] != r.Args[0] && !strings.HasSuffix(m[1], "/run") {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if strings.Contains(first, name) {
			return nil
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%q does not name the file of %s", first, strings.TrimSpace(injected))
}
