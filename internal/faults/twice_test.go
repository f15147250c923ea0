package faults

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/session"
)

// recoveries returns the commands that may follow a crash and may themselves be stopped: the next
// writer, which moves a torn record aside and makes caches again; gc, which removes temporary files
// and packs; and rebuild. After a command that makes or mends a store, it is the same command
// again.
func recoveries(v verb) []verb {
	if v.makes || v.needs {
		again := func(w *world) error {
			if s, err := w.open(); v.makes && err == nil {
				return s.Close() // the store was made before the crash
			}
			return v.do(w)
		}
		return []verb{{name: v.name, do: again, many: v.many, makes: v.makes, needs: v.needs}}
	}
	return []verb{
		{name: "append",
			do: on(func(s *session.Store) error {
				return say(s, "talk", main, "user", "are you there")
			})},
		{name: "gc", do: func(w *world) error {
			w.now = atLast
			return w.with(func(s *session.Store) error {
				_, err := gc.Run(bg, s.Opened, gc.Options{})
				return err
			})
		}},
		{name: "rebuild", do: on(func(s *session.Store) error {
			_, err := repair.Rebuild(bg, s.Opened, repair.RebuildOptions{})
			return err
		})},
	}
}

// TestStopInRecovery stops commands, and then the commands that follow.
func TestStopInRecovery(t *testing.T) {
	seed := seedOf(t)
	p := newPlace(t)
	images, looks := 0, 0
	for i, v := range verbs() {
		if v.ends || len(v.files) > 0 ||
			!everything() && (uint64(i)%10 != seed%10 || !mine(t, i/10)) {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			r := record(t, p, v, startOf(t, p, v))
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			var left []image
			x := &explorer{t: t, p: p, r: r, rand: random, seen: map[string]bool{}, random: 3,
				gc: 1 << 30, most: 1, deeper: func(m image) { left = append(left, m) }}
			if everything() {
				x.most = 8
			}
			x.explore()
			for n, m := range left {
				if !everything() && n > 0 {
					break
				}
				for _, next := range recoveries(v) {
					next.name = fmt.Sprintf("%s, after a crash of %s", next.name, v.name)
					again := &explorer{t: t, p: p, r: record(t, p, next, m), rand: random,
						seen: map[string]bool{}, random: 3, gc: 5, most: 2}
					if everything() {
						again.most = 12
					}
					again.explore()
					images, looks = images+1, looks+again.tally.checked
				}
			}
		})
	}
	t.Logf("%d recoveries were stopped, %d looks", images, looks)
}
