package rot

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
)

// denseSubject returns a copy of the store whose objects are in packs, and whose log is dense but
// for the newest segment.
func denseSubject(t *testing.T) *subject {
	t.Helper()
	b := theSubject(t).fork()
	s, err := Open(b.dir, nil, Later)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Config.Log.Keep = 10000 * 24 * time.Hour
	if _, err := gc.Run(context.Background(), s.Opened, gc.Options{LogFrom: 1,
		Grace: -1}); err != nil {
		t.Fatal(err)
	}
	if b.ids, err = IDs(s); err != nil {
		t.Fatal(err)
	}
	b.answers = []Answers{b.ask()}
	b.kinds = read(t, b.dir)
	if len(b.kinds["dense log"]) == 0 || len(b.kinds["log"]) == 0 {
		t.Fatal("no segment became dense, or all did")
	}
	return b
}

// same compares the answers of a store with the right ones, but for those that begin with a text.
func (b *subject) same(what string, but ...string) {
	b.t.Helper()
	got := b.ask()
	for _, q := range got.Questions() {
		if slices.ContainsFunc(but, func(text string) bool { return strings.HasPrefix(q, text) }) {
			continue
		}
		if want := b.answers[0][q]; got[q].Text != want.Text ||
			(got[q].Err == nil) != (want.Err == nil) {
			b.t.Errorf("%s: %s: said %.200q (%v), right is %.200q", what, q, got[q].Text,
				got[q].Err, want.Text)
		}
	}
}

// TestDenseLog flips bytes of dense segments. Readers say what is right or that it is damaged, fsck
// names the segment, and a repair loses nothing.
func TestDenseLog(t *testing.T) {
	b := denseSubject(t)
	n := 0
	for _, f := range b.kinds["dense log"] {
		step := max(1, len(f.good)/max(1, min(aKind(t), len(f.good))))
		for at := 0; at < len(f.good); at += step {
			if n++; !mine(t, n) {
				continue
			}
			d := f.flip(at, uint(at)%8)
			if err := d.do(); err != nil {
				t.Fatal(err)
			}
			out := b.within(d)
			for _, line := range b.wrong(d, out) {
				t.Errorf("%v: %s", d, line)
			}
			if !b.found(d, out) {
				t.Errorf("%v: fsck does not name it: %v", d, out.report.Faults)
			}
			c := b.fork()
			done, err := repaired(c.dir, repair.Options{})
			if err != nil || len(done.Lost)+len(done.Left) > 0 {
				t.Errorf("%v: repair: %+v, %v", d, done, err)
			}
			c.same(d.String())
			if err := os.RemoveAll(filepath.Dir(filepath.Dir(c.dir))); err != nil {
				t.Fatal(err)
			}
			b.mend(d)
		}
	}
	t.Logf("%d flips", n)
}

// TestDenseLogLost damages dense segments beyond what their parity restores, and the newest segment
// behind them. What is lost is the log up to the checkpoint; the refs and all objects stay.
func TestDenseLogLost(t *testing.T) {
	b := denseSubject(t)
	newest := b.kinds["log"][len(b.kinds["log"])-1]
	damages := []*damage{{file: newest, how: "deleted"}}
	for _, f := range b.kinds["dense log"] {
		bad := bytes.Clone(f.good)
		clear(bad[len(bad)/8 : len(bad)*7/8])
		damages = append(damages, &damage{file: f, how: "deleted"}, f.becomes("mostly zero", bad),
			f.becomes("cut", f.good[:len(f.good)/5]))
	}
	for i, d := range damages {
		if !mine(t, i) {
			continue
		}
		if d.do == nil {
			d.do = func() error { return os.Remove(d.path) }
		}
		c := b.fork()
		if err := d.at(b.dir, c.dir).do(); err != nil {
			t.Fatal(err)
		}
		out := c.within(d)
		if len(out.report.Faults) == 0 && out.openErr == nil {
			t.Errorf("%v: fsck finds nothing", d)
		}
		done, err := repaired(c.dir, repair.Options{})
		if err != nil || len(done.Left) > 0 {
			t.Errorf("%v: repair: %+v, %v", d, done, err)
			continue
		}
		if len(done.Lost) == 0 {
			t.Errorf("%v: nothing is said to be lost", d)
		}
		c.same(d.String(), "operations", "reflog", "undo", "checkpoint", "base", "forest",
			"visible", "tokens")
		s, err := Open(c.dir, nil, Later)
		if err != nil {
			t.Fatal(err)
		}
		if err := goOn(s, "work", "main"); err != nil {
			t.Errorf("%v: %v", d, err)
		}
		if left := faults(t, s); len(left) > 0 {
			t.Errorf("%v: after it has gone on: %v", d, left[0])
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Dir(filepath.Dir(c.dir))); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDenseLogWithoutPacks takes packs and their indexes away from a dense log, which reads without
// them. A lost index costs nothing; with a lost pack a repair says what is lost.
func TestDenseLogWithoutPacks(t *testing.T) {
	b := denseSubject(t)
	for _, kind := range []string{"idx", "pack"} {
		for _, f := range b.kinds[kind] {
			c := b.fork()
			what := fmt.Sprintf("without %s", f.name)
			if err := os.Remove(filepath.Join(c.dir, filepath.FromSlash(f.name))); err != nil {
				t.Fatal(err)
			}
			d := &damage{file: f, how: "deleted"}
			out := c.within(d)
			for _, line := range c.wrong(d, out) {
				if kind == "idx" {
					t.Errorf("%s: %s", what, line)
				}
			}
			done, err := repaired(c.dir, repair.Options{})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if kind == "idx" {
				if len(done.Lost)+len(done.Left) > 0 {
					t.Errorf("%s: %+v", what, done)
				}
				c.same(what)
			} else if len(done.Lost) == 0 {
				t.Errorf("%s: nothing is said to be lost", what)
			}
			if err := os.RemoveAll(filepath.Dir(filepath.Dir(c.dir))); err != nil {
				t.Fatal(err)
			}
		}
	}
}
