package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// usual is how long a run is where nobody says it.
const usual = 4 * time.Second

func TestOracle(t *testing.T) {
	worlds, seed, until := 0, thirds.Commit()%1_000_000, time.Now().Add(usual)
	if v := os.Getenv("CTX_ORACLE"); v != "" {
		d, notTime := time.ParseDuration(v)
		n, notNumber := strconv.Atoi(v)
		if notTime != nil && notNumber != nil {
			t.Fatalf("CTX_ORACLE=%q is neither a time nor a number", v)
		}
		worlds, until = n, time.Now().Add(d)
	}
	if v := os.Getenv("CTX_ORACLE_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	inMemory(t)
	ctx := built(t)
	all := tally{verbs: map[string]int{}}
	begun, n := time.Now(), uint64(0)
	defer func() {
		t.Logf("seeds %d to %d, %.0f s: %v", seed, seed+max(n, 1)-1, time.Since(begun).Seconds(),
			&all)
	}()
	for n == 0 || int(n) < worlds || worlds == 0 && time.Now().Before(until) {
		w := newWorld(t, ctx, seed+n)
		n++
		w.run(&all)
		if t.Failed() {
			break
		}
		if err := os.RemoveAll(w.dir); err != nil {
			t.Fatal(err)
		}
	}
}

// inMemory has the stores in memory, where there is such a place: most of the time would go into
// syncs.
func inMemory(t *testing.T) {
	const memory = "/dev/shm"
	if info, err := os.Stat(memory); err != nil || !info.IsDir() || os.Getenv("TMPDIR") != "" {
		return
	}
	if dir, err := os.MkdirTemp(memory, "ctx-oracle-"); err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		t.Setenv("TMPDIR", dir)
	}
}

// tally counts what happened.
type tally struct {
	commands, stops, kills, beside, forgotten int
	repairs, pulls, pushes                    int // pulls and pushes that succeeded
	verbs                                     map[string]int
}

func (c *tally) add(o *tally) {
	c.commands, c.stops, c.kills = c.commands+o.commands, c.stops+o.stops, c.kills+o.kills
	c.beside, c.forgotten = c.beside+o.beside, c.forgotten+o.forgotten
	c.repairs, c.pulls, c.pushes = c.repairs+o.repairs, c.pulls+o.pulls, c.pushes+o.pushes
	for verb, n := range o.verbs {
		c.verbs[verb] += n
	}
}

func (c *tally) String() string {
	var verbs []string
	for verb, n := range c.verbs {
		verbs = append(verbs, fmt.Sprintf("%s %d", verb, n))
	}
	slices.Sort(verbs)
	return fmt.Sprintf("%d commands, %d stopped at a step, %d killed by a signal, %d beside another, "+
		"%d messages forgotten, %d repairs, %d pulls, %d pushes; %s", c.commands, c.stops, c.kills,
		c.beside, c.forgotten, c.repairs, c.pulls, c.pushes, strings.Join(verbs, ", "))
}

// slug is the name of the folder in which Claude Code keeps the sessions of a directory.
func slug(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, dir)
}
