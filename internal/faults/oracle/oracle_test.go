package oracle

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/faults/program"
)

// settings make windows short, so that every few messages something graduates, is summarized and is
// evicted, and gc spares nothing for its age.
var settings = []string{"CTX_WINDOW_GRADUATE_AT=4", "CTX_WINDOW_EVICT_AT=8",
	"CTX_FOREST_MAX_COLD_CLUSTERS=1", "CTX_GC_GRACE=0s", "CTX_LOCK_TIMEOUT=2m"}

// The turns of a world: of the few that a usual run has, and of those of a long one, in which a
// store pushes more often than it joins its packs.
const (
	fewTurns  = 45
	manyTurns = 500
)

func TestOracle(t *testing.T) {
	worlds, seed, until := 2, uint64(1), time.Time{}
	if testing.Short() {
		worlds = 1
	}
	if v := os.Getenv("CTX_ORACLE"); v != "" {
		d, notTime := time.ParseDuration(v)
		n, notNumber := strconv.Atoi(v)
		if notTime != nil && notNumber != nil {
			t.Fatalf("CTX_ORACLE=%q is neither a time nor a number", v)
		}
		if worlds = n; d > 0 {
			until = time.Now().Add(d)
		}
	}
	if v := os.Getenv("CTX_ORACLE_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	path := program.Build(t)
	for n := 0; n < worlds || worlds == 0 && time.Now().Before(until); n++ {
		w := &world{T: t, seed: seed + uint64(n), turns: fewTurns, path: path,
			forgot: map[string]bool{}, secret: map[string]secret{}, count: map[string]int{}}
		if !until.IsZero() && w.seed%8 == 0 {
			w.turns = manyTurns
		}
		w.run()
		t.Logf("seed %d: %d turns, %d commands, %d killed, %d messages forgotten, commands %v",
			w.seed, w.turns, w.commands, w.kills, len(w.forgot), w.count)
		if t.Failed() {
			t.FailNow()
		}
	}
}

// secret is a message that its store has forgotten.
type secret struct {
	by, word string
}

// world is a few stores and a remote.
type world struct {
	*testing.T
	seed   uint64
	turns  int
	path   string // of ctx
	rng    *rand.Rand
	place  string // of the remote
	git    bool
	stores []*party

	said     int
	forgot   map[string]bool   // ids of messages, by whomever
	secret   map[string]secret // those of them that the one who said them has forgotten
	commands int
	kills    int
	count    map[string]int
	last     []string // commands
}

// party is a store.
type party struct {
	*world
	program.Program
	name string
	own  map[string]string   // what it has said itself: texts by ids
	now  map[string][]record // its own sessions after the last command
	file int                 // records of its transcript
	gone map[string]bool     // sessions of others that it has removed: they may stay away
}

func (w *world) run() {
	defer func() {
		if !w.Failed() {
			return
		}
		length := "1"
		if w.turns == manyTurns {
			length = "1m" // only a run of some time has worlds of so many turns
		}
		w.Logf("CTX_ORACLE=%s CTX_ORACLE_SEED=%d begins with the same commands. The last:\n%s",
			length, w.seed, strings.Join(w.last, "\n"))
	}()
	w.rng = rand.New(rand.NewPCG(w.seed, 1))
	dir := w.TempDir()
	w.git = w.seed%2 == 0
	w.place = "dir:" + filepath.Join(dir, "shared")
	if w.git {
		bare := filepath.Join(dir, "shared")
		init := exec.Command("git", "init", "-q", "--bare", bare)
		if out, err := init.CombinedOutput(); err != nil {
			w.Skipf("no git: %v: %s", err, out)
		}
		w.place = bare
	}
	for n := range 2 + w.rng.IntN(2) {
		p := &party{world: w, name: string(rune('a' + n)), own: map[string]string{},
			gone: map[string]bool{}}
		p.Program = program.Program{Path: w.path, Dir: filepath.Join(dir, p.name), Env: settings}
		if err := os.MkdirAll(p.Dir, 0o700); err != nil {
			w.Fatal(err)
		}
		p.must("init")
		p.must("config", "set", "remote.label", p.name)
		p.must("remote", "add", "--share", "all", "origin", w.place)
		w.stores = append(w.stores, p)
	}
	for step := 0; step < w.turns && !w.Failed(); step++ {
		w.stores[w.rng.IntN(len(w.stores))].turn()
	}
	if !w.Failed() {
		w.settle()
	}
}

// text is a message of which no other has the last word.
func (p *party) text() string {
	topics := []string{"the parcel depot and its route", "the oven, flour and a recipe",
		"the railway signal at the junction"}
	p.said++
	return fmt.Sprintf("%s %d asks about %s: xyl%s%dwombat", p.name, p.said,
		topics[p.rng.IntN(len(topics))], p.name, p.said)
}

// do runs a command, sometimes kills it, and looks whether the store still says what it has said.
// Killed commands have the exit code -1.
func (p *party) do(kill bool, args ...string) program.Result {
	after := time.Duration(-1)
	if kill && p.rng.IntN(4) == 0 {
		after = time.Duration(p.rng.IntN(40)) * time.Millisecond
	}
	r := p.RunKill(after, args...)
	p.judge(r)
	return r
}

// judge looks at the result of a command.
func (p *party) judge(r program.Result) {
	p.Helper()
	p.commands++
	p.count[r.Args[0]]++
	p.last = append(p.last, fmt.Sprintf("%s: %v", p.name, r))
	if len(p.last) > 40 {
		p.last = p.last[1:]
	}
	if r.Code == -1 {
		p.kills++
	}
	if r.Code == 13 || r.Code < -1 || strings.Contains(r.Err, "goroutine ") {
		p.Errorf("seed %d: %s: %v", p.seed, p.name, r)
	}
}

// must is do for a command that succeeds.
func (p *party) must(args ...string) string {
	p.Helper()
	r := p.do(false, args...)
	if !r.OK() {
		p.Fatalf("seed %d: %s: %v", p.seed, p.name, r)
	}
	return r.Out
}

// settle brings everything to everybody, and checks all of it.
func (w *world) settle() {
	for range 3 {
		for _, p := range w.stores {
			p.must("pull")
			p.must("push")
			p.keeps("pull, push")
		}
	}
	for _, p := range w.stores {
		p.must("gc")
		p.must("gc")
		p.keeps("gc")
		p.must("fsck")
	}
	w.agree()
	w.nowhere()
}
