package main

import (
	"bytes"
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
type row struct{ what, ctx, rival, ratio, memory string }

// took is what one process needed.
type took struct {
	wall   time.Duration
	memory int64 // peak resident bytes; 0 where the system does not tell
	out    []byte
}

func (b *bench) has(tool string) bool { return !slices.Contains(b.missing, tool) }

// build builds a program of this tree as a release is built.
func (b *bench) build(to, pkg string) error {
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", to, pkg)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
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
func (b *bench) run(dir string, in io.Reader, args ...string) (took, error) {
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Stdin = dir, in
	c.Env = append(os.Environ(), "HOME="+b.dir, "CTX_DIR=", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	var out, problem bytes.Buffer
	c.Stdout, c.Stderr = &out, &problem
	start := time.Now()
	err := c.Run()
	t := took{wall: time.Since(start), memory: peak(c.ProcessState), out: out.Bytes()}
	if err != nil {
		return t, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, problem.Bytes())
	}
	return t, nil
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

func (b *bench) add(what, own, rival string, ratio float64, memory int64) {
	r := row{what: what, ctx: own, rival: rival}
	if ratio > 0 {
		r.ratio = fmt.Sprintf("%.2f", ratio)
	}
	// A process begins as a copy of this one, so no peak is told that is below its own.
	if own := ownPeak(); memory > own {
		r.memory = size(memory)
	} else if memory > 0 {
		r.memory = "at most " + size(own)
	}
	b.rows = append(b.rows, r)
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
