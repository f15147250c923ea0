package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is a run of all groups.
type bench struct {
	options
	dir     string
	missing []string // tools that are not installed
	rows    []row
	made    int // directories of projects
}

// row is a line of the table.
type row struct {
	what, ctx, rival, ratio, memory, rivalMemory string

	// What a bar is compared with; 0 for no figure.
	of   float64 // the ratio
	wall time.Duration
	peak int64
	rate float64
}

// took is what one process needed.
type took struct {
	wall   time.Duration
	memory int64 // peak resident bytes; 0 where the system does not tell
	out    []byte
}

func (b *bench) has(tool string) bool { return !slices.Contains(b.missing, tool) }

// build builds a program of this tree: for the table as a release is built, which takes a second
// compilation of every package.
func (b *bench) build(to, pkg string) error {
	c := exec.Command("go", "build", "-ldflags", "-s -w", "-o", to, pkg)
	if isAsked {
		c = exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", to, pkg)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// project makes a directory, with a store if store is true.
func (b *bench) project(store bool) (string, error) {
	b.made++
	dir := filepath.Join(b.dir, fmt.Sprint("p", b.made))
	if err := os.MkdirAll(dir, 0o700); err != nil || !store {
		return dir, err
	}
	_, err := b.run(dir, nil, b.ctx, "init")
	return dir, err
}

// run runs a command in dir with a home of its own.
func (b *bench) run(dir string, in io.Reader, name string, args ...string) (took, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Stdin = dir, in
	c.Env = append(os.Environ(), "HOME="+b.dir, "CTX_DIR=", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	var out, problem bytes.Buffer
	c.Stdout, c.Stderr = &out, &problem
	start := time.Now()
	err := c.Run()
	t := took{wall: time.Since(start), memory: peak(c.ProcessState), out: out.Bytes()}
	if err != nil {
		return t, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, problem.Bytes())
	}
	return t, nil
}

// once runs ctx once and adds a row.
func (b *bench) once(what, project string, args ...string) (took, error) {
	t, err := b.run(project, nil, b.ctx, args...)
	if err == nil {
		b.beside(what, t)
	}
	return t, err
}

// fed runs a command with a file as its standard input.
func (b *bench) fed(dir, file, name string, args ...string) (t took, err error) {
	in, err := os.Open(file)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return b.run(dir, in, name, args...)
}

// sequence runs commands of ctx one after the other, and returns what they needed together.
func (b *bench) sequence(dir string, commands [][]string) (sum took, err error) {
	for _, args := range commands {
		t, err := b.run(dir, nil, b.ctx, args...)
		if err != nil {
			return sum, err
		}
		sum.wall += t.wall
		sum.memory = max(sum.memory, t.memory)
	}
	return sum, nil
}

// median runs the contenders in turn, once without counting and then rounds times, and returns
// the median of each.
func (b *bench) median(rounds int, contenders ...func(i int) (took, error)) ([]took, error) {
	all := make([][]took, len(contenders))
	for i := range rounds + 1 {
		for n, do := range contenders {
			t, err := do(i)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				all[n] = append(all[n], t)
			}
		}
	}
	medians := make([]took, len(contenders))
	for n, list := range all {
		slices.SortFunc(list, func(a, b took) int { return int(a.wall - b.wall) })
		medians[n] = list[len(list)/2]
	}
	return medians, nil
}

// add adds a row of figures that are not times. A ratio of 0 is none.
func (b *bench) add(what, own, rival string, ratio float64) {
	r := row{what: what, ctx: own, rival: rival, of: ratio}
	if ratio > 0 {
		r.ratio = fmt.Sprintf("%.2f", ratio)
	}
	b.rows = append(b.rows, r)
}

// addRate adds a row of how much is done in a second.
func (b *bench) addRate(what, format string, rate float64) {
	b.rows = append(b.rows, row{what: what, ctx: fmt.Sprintf(format, rate), rate: rate})
}

// beside adds a row with the time and the peak memory of ctx and, in m[1], of a rival.
func (b *bench) beside(what string, m ...took) {
	r := row{what: what, ctx: millis(m[0].wall), memory: peakOf(m[0]), wall: m[0].wall,
		peak: m[0].memory}
	if len(m) > 1 {
		r.rival, r.rivalMemory = millis(m[1].wall), peakOf(m[1])
		r.of = float64(m[0].wall) / float64(m[1].wall)
		r.ratio = fmt.Sprintf("%.2f", r.of)
	}
	b.rows = append(b.rows, r)
}

// peakOf returns the peak memory of a process. A process begins as a copy of this one, so no peak
// is told that is below its own.
func peakOf(t took) string {
	switch own := ownPeak(); {
	case t.memory > own:
		return size(t.memory)
	case t.memory > 0:
		return "at most " + size(own)
	}
	return ""
}

func millis(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d)/1e6)
}

func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f KB", float64(n)/1e3)
}

// bytesBelow adds up the sizes of the files below a directory.
func bytesBelow(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
