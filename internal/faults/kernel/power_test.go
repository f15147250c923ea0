//go:build linux && faults

package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/faults"
)

// disk is a file system in a file, with a project in it.
type disk struct {
	t       *testing.T
	image   string
	at      string // the mount point
	program faults.Program
}

// newDisk makes and mounts a file system of size MiB.
func newDisk(t *testing.T, bin string, size int, options ...string) *disk {
	t.Helper()
	needs(t, "mkfs.ext4", "mount", "umount")
	dir := memory(t)
	d := &disk{t: t, image: filepath.Join(dir, "image"), at: filepath.Join(dir, "mounted")}
	if err := os.Mkdir(d.at, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(d.image)
	if err == nil {
		err = errors.Join(f.Truncate(int64(size)<<20), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	do(t, "mkfs.ext4", append(append([]string{"-q", "-F", "-b", "1024"}, options...), d.image)...)
	d.mount()
	d.program = faults.Program{Path: bin, Dir: filepath.Join(d.at, "project"), Env: settings}
	if err := os.Mkdir(d.program.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *disk) mount() {
	d.t.Helper()
	do(d.t, "mount", "-o", "loop", d.image, d.at)
	d.t.Cleanup(d.unmount)
}

func (d *disk) unmount() {
	for os.Remove(d.at) != nil { // until nothing is mounted there, and the directory is empty
		do(d.t, "umount", d.at)
	}
	if err := os.MkdirAll(d.at, 0o700); err != nil {
		d.t.Error(err)
	}
}

// cut returns what a power cut leaves on the disk now, without the caches of the file system. A
// disk loses power at one moment, so cut copies until two copies in a row are equal.
func (d *disk) cut() *disk {
	d.t.Helper()
	var last []byte
	for range 100 {
		b, err := os.ReadFile(d.image)
		if err != nil {
			d.t.Fatal(err)
		}
		if bytes.Equal(b, last) {
			break
		}
		last = b
	}
	dir := memory(d.t)
	c := &disk{t: d.t, image: filepath.Join(dir, "image"), at: filepath.Join(dir, "mounted"),
		program: d.program}
	if err := os.Mkdir(c.at, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(c.image, last, 0o600); err != nil {
		d.t.Fatal(err)
	}
	c.mount()
	c.program.Dir = filepath.Join(c.at, "project")
	return c
}

// stopped returns the number of tries of a test: many if everything is tested, else few.
func stopped(few, many int) int {
	if all {
		return many
	}
	return few
}

// After a command has reported success, a power cut does not lose its work.
func TestPowerCutAfterEachCommand(t *testing.T) {
	needsMounts(t)
	d := newDisk(t, faults.Build(t), 12, "-N", "2000")
	build(t, d.program)
	var done [][]string
	for round := range stopped(1, 8) {
		for n := range 3 {
			done = append(done,
				[]string{"append", "-s", "talk", "--role", "user", "-m", message(100*round + n)})
		}
		name := fmt.Sprintf("new%d", round)
		done = append(done, []string{"append", "-s", "talk", "--jsonl", "lines"},
			[]string{"rewind", "-s", "talk", "@~2"}, []string{"undo", "-s", "talk"},
			[]string{"branch", "fork", "-s", "other", "main", name},
			[]string{"append", "-s", "other", "-b", name, "--role", "model", "-m", "there"},
			[]string{"branch", "join", "-s", "other", "main", name},
			[]string{"session", "state", "set", "-s", "other", fmt.Sprintf("step=%d", round)},
			[]string{"compact", "--all"}, []string{"gc"},
			[]string{"append", "-s", name, "--role", "user", "-m", "a session"},
			[]string{"session", "rm", name, "--force"},
			[]string{"import", "jsonl", "-s", "chat" + name, "chat.jsonl"})
	}
	for _, args := range done {
		d.program.Must(t, args...)
		c := d.cut()
		want, err := stateOf(d.program)
		if err != nil {
			t.Fatal(err)
		}
		got, err := checkStore(c.program, true)
		if err != nil {
			t.Errorf("%v: %v", args, err)
		} else if !same(want, got) {
			t.Errorf("%v: the power went after it was done, and %v are not as they were", args,
				differences(want, got))
		}
		c.unmount()
	}
	t.Logf("%d power cuts, each right after a command", len(done))
}

// After a power cut during a command, the command has happened or it has not.
func TestPowerCutWithinCommands(t *testing.T) {
	needsMounts(t)
	bin := faults.Build(t)
	d := newDisk(t, bin, 12, "-N", "2000")
	build(t, d.program)
	before, err := stateOf(d.program)
	if err != nil {
		t.Fatal(err)
	}
	do(t, "sync", "-f", d.at)
	template := d.image + ".template"
	copyFile(t, d.image, template)
	rng := rand.New(rand.NewPCG(seed, 1))
	cut, ended := 0, 0
	for _, c := range commands {
		restart := func() {
			d.unmount()
			copyFile(t, template, d.image)
			d.mount()
		}
		restart()
		r := d.program.Run(c.args...)
		if !r.OK() {
			t.Fatal(r)
		}
		took := r.End.Sub(r.Start)
		after, err := stateOf(d.program)
		if err != nil {
			t.Fatal(err)
		}
		for range stopped(1, 25) {
			restart()
			r := d.program.RunKill(time.Duration((0.3+rng.Float64()*0.8)*float64(took)), c.args...)
			left := d.cut()
			got, err := checkStore(left.program, true)
			if err == nil {
				err = c.between(before, after, got)
			}
			if err == nil && r.OK() && !same(got, after) {
				err = fmt.Errorf("it said that it was done")
			}
			if err != nil {
				t.Errorf("%s: %v; %v", c.name, err, r)
			}
			if cut++; r.OK() {
				ended++
			}
			left.unmount()
		}
	}
	t.Logf("%d power cuts within commands, %d of which had come to their end", cut, ended)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
