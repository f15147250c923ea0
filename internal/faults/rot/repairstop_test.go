package rot

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// TestRepairStopped stops repairs at their durable calls. A second repair must end like an
// undisturbed one: with the same files and the same answers.
func TestRepairStopped(t *testing.T) {
	const seed = 13
	b, all := theSubject(t), os.Getenv("CTX_FAULTS") != ""
	r := rand.New(rand.NewPCG(seed, 1))
	named := func(kind string) *file {
		files := b.kinds[kind]
		return files[len(files)/2]
	}
	log := b.kinds["log"][1]
	damages := []*damage{
		log.blot(log.borders()[5] + 60),
		named("pack").flip(len(named("pack").good)/2, 1),
		named("pack").becomes("cut", named("pack").good[:200]),
		b.kinds["checkpoint"][1].flip(40, 1),
		named("idx").flip(20, 1),
		named("format").becomes("cut", []byte{}),
	}
	tried := 0
	for i, d := range damages {
		if !mine(t, i) {
			continue
		}
		clean := b.fork()
		e := d.at(b.dir, clean.dir)
		if err := e.do(); err != nil {
			t.Fatal(err)
		}
		// A copy of the copy, whose repair is not disturbed
		points := durabletest.Stops(func(fsys *durable.FS) {
			again := clean.fork()
			if _, err := repairWith(again.dir, fsys); err != nil {
				t.Fatal(d, err)
			}
		})
		want, err := repaired(clean.dir, repair.Options{})
		if err != nil {
			t.Fatal(d, err)
		}
		right, err := ReadObjects(clean.dir, b.ids)
		if err != nil {
			t.Fatal(d, err)
		}
		if !all {
			r.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
			points = points[:min(len(points), 4)]
		}
		for _, p := range points {
			tried++
			c := b.fork()
			if err := d.at(b.dir, c.dir).do(); err != nil {
				t.Fatal(err)
			}
			if _, err := repairWith(c.dir, p.FS()); err == nil ||
				!errors.Is(err, durable.ErrStopped) {
				t.Errorf("%v, stopped at %+v: %v", d, p, err)
			}
			after, err := repaired(c.dir, repair.Options{})
			if err != nil {
				t.Errorf("%v, stopped at %+v: the next one: %v", d, p, err)
				continue
			}
			if len(after.Left) != len(want.Left) {
				if _, err := repaired(c.dir, repair.Options{}); err != nil || after.Copy != "" {
					t.Errorf("%v, stopped at %+v: left are %v, and not %v", d, p,
						after.Left, want.Left)
				}
			}
			got, err := ReadObjects(c.dir, b.ids)
			if err != nil {
				t.Errorf("%v, stopped at %+v: %v", d, p, err)
				continue
			}
			for _, q := range right.Questions() {
				if q == "operations" {
					continue // its digest includes the time of the repair
				}
				if got[q].Text != right[q].Text ||
					fmt.Sprint(got[q].Err) != fmt.Sprint(right[q].Err) &&
						!strings.Contains(fmt.Sprint(got[q].Err), "/") {
					t.Errorf("%v, stopped at %+v: %s: %.200q (%v), and not %.200q (%v)", d, p, q,
						got[q].Text, got[q].Err, right[q].Text, right[q].Err)
					break
				}
			}
			if err := os.RemoveAll(filepath.Dir(filepath.Dir(c.dir))); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("seed %d: %d repairs stopped", seed, tried)
}

func repairWith(dir string, fsys *durable.FS) (repair.Report, error) {
	e := storetest.Env(dir, fsys)
	e.Now = storetest.Clock(Later)
	return repair.Run(context.Background(), e, repair.Options{})
}
