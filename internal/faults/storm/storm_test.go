// Package storm runs many processes of the real binary on one store at once, kills some of them,
// and compares the result with what each process was told.
//
// A run is small by default. CTX_STORM=5m makes it 32 processes for five minutes, CTX_STORM=2000
// makes it 32 processes with 2,000 turns in total. CTX_STORM_SEED=n changes the seed, and
// CTX_STORM_RACE=1 builds ctx with the race detector. The commands of each worker follow from the
// seed and the worker's number; their order among workers does not.
package storm

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/faults"
)

// storm is a store and the workers on it.
type storm struct {
	t       *testing.T
	program faults.Program
	seed    uint64
	turns   int       // of each worker; 0 if the time decides
	until   time.Time // if turns is 0
	verbose bool
}

// settings make windows short, so that every few messages something graduates, leaves or is
// compacted.
var settings = []string{"CTX_LOCK_TIMEOUT=10m", "CTX_WINDOW_GRADUATE_AT=6",
	"CTX_WINDOW_EVICT_AT=14", "CTX_FOREST_MAX_COLD_CLUSTERS=3"}

func TestStorm(t *testing.T) {
	s := &storm{t: t, seed: 1, turns: 9}
	workers := 8
	if testing.Short() {
		workers, s.turns = 4, 6
	}
	if v := os.Getenv("CTX_STORM"); v != "" {
		workers, s.verbose = 32, true
		d, notTime := time.ParseDuration(v)
		n, notNumber := strconv.Atoi(v)
		if notTime != nil && notNumber != nil {
			t.Fatalf("CTX_STORM=%q is neither a time nor a number", v)
		}
		s.turns, s.until = (n+workers-1)/workers, time.Now().Add(d)
	}
	if v := os.Getenv("CTX_STORM_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		s.seed = n
	}
	var flags []string
	if os.Getenv("CTX_STORM_RACE") != "" {
		flags = []string{"-race"}
	}
	s.program = faults.Program{Path: faults.Build(t, flags...), Dir: t.TempDir(), Env: settings}
	s.program.Must(t, "init")
	events := s.run(workers)
	s.check(events)
	if t.Failed() {
		t.Logf("seed %d: CTX_STORM_SEED=%d has the same commands", s.seed, s.seed)
	}
}

// run lets the workers do their turns, and returns their commands.
func (s *storm) run(workers int) []*event {
	all := make([][]*event, workers)
	var group sync.WaitGroup
	for n := range workers {
		group.Go(func() {
			w := &worker{storm: s, n: n, rng: rand.New(rand.NewPCG(s.seed, uint64(n))),
				usual: map[string]time.Duration{}}
			for !s.t.Failed() && (w.step < s.turns || s.turns == 0 && time.Now().Before(s.until)) {
				w.turn()
				w.step++
			}
			all[n] = w.events
		})
	}
	group.Wait()
	var events []*event
	for _, list := range all {
		events = append(events, list...)
	}
	return events
}

// check compares the store with what the workers were told.
func (s *storm) check(events []*event) {
	t := s.t
	for _, args := range [][]string{
		{"append", "-c", "lock.timeout=0s", "-s", "after", "--role", "user", "-m",
			"nobody holds the lock"},
		{"fsck"}, {"gc"}, {"fsck"}, {"count-objects"}, {"compact", "--all"}, {"fsck"},
	} {
		if r := s.program.Run(args...); !r.OK() {
			t.Errorf("after the storm: %v\n%s", r, r.Out)
		}
	}
	h := readHistory(t, s.program)
	if t.Failed() {
		return
	}
	h.checkMoves()
	h.match(events)
	h.checkOrder()
	h.checkCodes()
	h.checkReaders()
	h.checkSaid()
	kinds, kills, messages := map[string]int{}, 0, 0
	for _, e := range events {
		kinds[e.verb]++
		messages += len(e.ids)
		if e.killed() {
			kills++
		}
	}
	t.Logf(
		"seed %d: %d commands, %d of them killed; %d messages acknowledged, %d operations, %d "+
			"torn records put aside", s.seed, len(events), kills, messages,
		len(h.ops), torn(t, s.program.Dir))
	if s.verbose {
		t.Logf("commands: %v", kinds)
	}
}

// torn counts the torn records that writers moved aside.
func torn(t *testing.T, dir string) (n int) {
	err := filepath.WalkDir(filepath.Join(dir, ".gemini", "context",
		"log"), func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err == nil && strings.HasPrefix(d.Name(), "torn-") {
			n++
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

func short(id string) string { return fmt.Sprintf("%.8s", id) }
