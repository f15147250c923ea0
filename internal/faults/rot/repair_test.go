package rot

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// repaired repairs the store in dir.
func repaired(dir string, o repair.Options) (repair.Report, error) {
	e := storetest.Env(dir, nil)
	e.Now = storetest.Clock(Later)
	return repair.Run(context.Background(), e, o)
}

// fork returns a copy of the store in another place.
func (b *subject) fork() *subject {
	b.t.Helper()
	project, err := os.MkdirTemp(filepath.Dir(filepath.Dir(b.dir)), "fork-")
	if err != nil {
		b.t.Fatal(err)
	}
	c := *b
	c.dir = filepath.Join(project, ".gemini", "context")
	if err := os.CopyFS(c.dir, os.DirFS(b.dir)); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chmod(c.dir, 0o700); err != nil {
		b.t.Fatal(err)
	}
	return &c
}

// at returns the same damage to the same file of a store in another place.
func (d *damage) at(from, to string) *damage {
	move := func(f *file) *file {
		if f == nil {
			return nil
		}
		g := *f
		g.path = filepath.Join(to, strings.TrimPrefix(f.path, from))
		return &g
	}
	e := &damage{file: move(d.file), how: d.how, bytes: d.bytes, other: move(d.other)}
	e.do = func() error {
		if e.other != nil {
			if err := os.WriteFile(e.other.path, d.good, 0o600); err != nil {
				return err
			}
		}
		if e.bytes != nil {
			return os.WriteFile(e.path, e.bytes, 0o600)
		}
		if err := os.Remove(e.path); err != nil {
			return err
		}
		return replacements()[d.how](e.path)
	}
	return e
}

// TestRepairOfEveryFile repairs a store after each kind of damage. Afterwards fsck finds only
// reported losses; readers get the right bytes, or the message that they are gone; derived data is
// as it was; and a second repair has nothing to do.
func TestRepairOfEveryFile(t *testing.T) {
	const seed = 12
	b, n := theSubject(t), aKind(t)
	if os.Getenv("CTX_FAULTS") == "" {
		n = 2
	}
	var kinds []string
	for kind := range b.kinds {
		if !cached(kind) && kind != "config.toml" {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	total, lost, left := 0, 0, 0
	for i, kind := range kinds {
		if !mine(t, i) {
			continue
		}
		r := rand.New(rand.NewPCG(seed, uint64(len(kind))))
		tried, bad := 0, 0
		for _, d := range choose(r, b.kinds[kind], n) {
			tried++
			c := b.fork()
			gone, faults := c.mendOne(d.at(b.dir, c.dir))
			if gone {
				lost++
			}
			if faults {
				left++
				bad++
			}
			if err := os.RemoveAll(filepath.Dir(filepath.Dir(c.dir))); err != nil {
				t.Fatal(err)
			}
		}
		total += tried
		t.Logf("%-16s %4d tried, %d with faults left", kind, tried, bad)
	}
	t.Logf("seed %d: %d repairs, something lost in %d, faults left in %d", seed, total, lost, left)
}

// unnamed reports whether a question is about an object that nothing names.
func (b *subject) unnamed(question string) bool {
	_, id, _ := strings.Cut(question, " ")
	object, err := format.ParseID(id)
	return err == nil && !b.named[object]
}

// mendOne damages and repairs a store. lost reports whether data was lost, left whether fsck still
// has a finding.
func (b *subject) mendOne(d *damage) (lost, left bool) {
	t := b.t
	t.Helper()
	if err := d.do(); err != nil {
		t.Fatal(d, err)
	}
	done, err := repaired(b.dir, repair.Options{})
	if err != nil {
		if d.kind == "format" && command.Explain(err).Code == command.NoStore {
			return false, true // it says that it is of another version
		}
		if d.kind == "absent" && command.Explain(err).Code == command.NoStore {
			return false, true
		}
		t.Errorf("%v: %v", d, err)
		return false, true
	}
	lost, left = len(done.Lost) > 0, len(done.Left) > 0
	if left && !lost && d.bytes != nil {
		t.Errorf("%v: nothing is said to be lost, and fsck says %v; mended %q", d,
			done.Left[0], done.Mended)
	}
	if !truth(d.kind) && lost {
		t.Errorf("%v: something that follows from the rest is lost: %q", d, done.Lost)
	}
	again, err := repaired(b.dir, repair.Options{})
	if err != nil {
		t.Errorf("%v: again: %v", d, err)
	}
	if again.Copy != "" || len(again.Mended) > 0 {
		t.Errorf("%v: a second repair did something: %+v; the first %+v", d, again, done)
	}
	out := b.look()
	if out.openErr != nil || out.readErr != nil {
		if d.kind != "key" {
			t.Errorf("%v: %v, %v", d, out.openErr, out.readErr)
		}
		return lost, left
	}
	for _, q := range out.answers.Questions() {
		got, want := out.answers[q], b.answers[0][q]
		isObject := strings.HasPrefix(q, "object ")
		switch {
		case d.kind == "log" || d.kind == "checkpoint":
			// A damaged record carries objects, and they go with it. A log that is cut looks like one
			// whose end has not happened, so nobody can say what is lost.
			said := lost || d.kind == "log" && strings.HasPrefix(d.how, "cut")
			if isObject && got.Text != want.Text && (!said || got.Err == nil) {
				t.Errorf("%v: %s: said %.200q (%v), was %.200q", d, q, got.Text, got.Err, want.Text)
			}
		case d.kind == "pack" && b.unnamed(q) && got.Err != nil:
			// Nothing names it, and nothing makes it again. The index of a pack does not know it either.
		case got.Text == want.Text && (got.Err == nil) == (want.Err == nil):
		case d.kind == "key" || d.kind == "format":
			t.Errorf("%v: %s: said %.200q (%v), was %.200q", d, q, got.Text, got.Err, want.Text)
		case !lost:
			t.Errorf("%v: %s: said %.200q (%v), was %.200q", d, q, got.Text, got.Err, want.Text)
		case isObject && got.Err == nil:
			t.Errorf("%v: %s: said %.200q, was %.200q", d, q, got.Text, want.Text)
		}
	}
	return lost, left
}
