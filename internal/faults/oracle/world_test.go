package oracle

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// settings make windows short, so that every few messages something graduates, is summarized and is
// evicted. gc spares nothing for its age, and little of the log.
func settings() map[string]string {
	return map[string]string{
		"CTX_WINDOW_GRADUATE_AT": "4", "CTX_WINDOW_EVICT_AT": "6",
		"CTX_FOREST_MAX_COLD_CLUSTERS": "1", "CTX_GC_GRACE": "0s", "CTX_LOG_KEEP": "1d",
		"CTX_LOCK_TIMEOUT": "2m",
	}
}

// turns is how many things happen in a world, before all is brought to everybody and compared.
const turns = 60

// world is a few stores and a remote, or two. Its commands follow from its seed.
type world struct {
	*testing.T
	tally
	server *server
	seed   uint64
	rng    *rand.Rand
	now    time.Time // after all files of this machine, so that gc finds them old
	dir    string
	places []*place
	stores []*party

	said   int
	forgot map[string]bool   // ids of messages, by whomever
	secret map[string]secret // those of them that the one who said them has forgotten
	steps  map[string]int    // that the last command of a name took
	last   []string          // commands
}

// secret is a message that its store has forgotten.
type secret struct {
	by, word string
}

// place is a remote.
type place struct {
	name, url string
	root      string // its directory
	git       bool
}

// party is a store.
type party struct {
	*world
	name, dir, home string

	own      map[string]string   // what it has said itself: texts by ids
	now      map[string][]record // its own sessions after the last command
	logs     map[string]string   // all sessions now, as served has them; nil for not known
	records  []int               // of its transcripts
	gone     map[string]bool     // sessions of others that it has removed: they may stay away
	stayAway map[string]bool     // sessions of others that it has removed, and not seen again since
	removed  map[string]bool     // sessions of transcripts that it has removed
	shares   map[string]shared   // what it has put on a remote, by the name of the remote
}

// shared are sessions as a push that succeeded has put them on a remote; nil where a later push was
// stopped.
type shared map[string][]record

// newWorld returns a world whose commands a ctx serves in a process of its own.
func newWorld(t *testing.T, ctx string, seed uint64) *world {
	dir, err := os.MkdirTemp(t.TempDir(), "world")
	if err != nil {
		t.Fatal(err)
	}
	return &world{T: t, server: serverAt(t, ctx), seed: seed, rng: rand.New(rand.NewPCG(seed, 1)),
		now: time.Date(2100, 1, 1, 9, 0, 0, 0, time.UTC), dir: dir,
		tally: tally{verbs: map[string]int{}}, forgot: map[string]bool{},
		secret: map[string]secret{}, steps: map[string]int{}}
}

func (w *world) run(all *tally) {
	defer func() {
		all.add(&w.tally)
		if w.Failed() {
			w.Logf("CTX_ORACLE=1 CTX_ORACLE_SEED=%d begins with the same commands; here %d. The last:\n%s",
				w.seed, w.commands, strings.Join(w.last, "\n"))
			if dir := os.Getenv("CTX_ORACLE_KEEP"); dir != "" {
				_ = os.CopyFS(filepath.Join(dir, fmt.Sprint(w.seed)), os.DirFS(w.dir))
			}
		}
	}()
	defer w.server.end()
	w.begin()
	for _, p := range w.stores { // most of the first pushes go well later
		if p.rng.IntN(4) == 0 {
			p.storyOfStopping()
		}
	}
	mix := w.mix()
	for step := 0; step < turns && !w.Failed(); step++ {
		p := w.stores[w.rng.IntN(len(w.stores))]
		mix()(p)
	}
	if !w.Failed() {
		w.settle()
	}
}

// begin makes the remotes and the stores.
func (w *world) begin() {
	w.place("origin", w.seed%3 == 0)
	if w.rng.IntN(4) == 0 {
		w.place("second", w.rng.IntN(4) == 0)
	}
	for n := range 2 + w.rng.IntN(2) {
		name := string(rune('a' + n))
		p := &party{world: w, name: name, dir: filepath.Join(w.dir, name),
			home: filepath.Join(w.dir, "home-"+name), own: map[string]string{},
			records: make([]int, 2), gone: map[string]bool{}, stayAway: map[string]bool{},
			removed: map[string]bool{},
			shares:  map[string]shared{}}
		for _, dir := range []string{p.dir, p.home} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				w.Fatal(err)
			}
		}
		w.stores = append(w.stores, p)
		p.must("init")
		p.must("config", "set", "remote.label", p.name)
		for _, at := range w.places {
			p.must("remote", "add", "--share", "all", at.name, at.url)
		}
	}
}

func (w *world) place(name string, git bool) {
	root := filepath.Join(w.dir, name)
	p := &place{name: name, url: "dir:" + root, root: root, git: git}
	if git {
		init := exec.Command("git", "init", "-q", "--bare", root)
		if out, err := init.CombinedOutput(); err != nil {
			w.Skipf("no git: %v: %s", err, out)
		}
		p.url = root
	}
	w.places = append(w.places, p)
}

// anywhere is one of the remotes.
func (w *world) anywhere() *place { return w.places[w.rng.IntN(len(w.places))] }

// command is a command of the store.
func (p *party) command(args ...string) command {
	return command{Dir: p.dir, Home: p.home, Args: args, Env: settings(), Now: p.world.now,
		Seed: p.rng.Uint64()}
}

// do runs a command. If it may be stopped, it sometimes is: at a step, or by a signal.
func (p *party) do(stop bool, args ...string) *served {
	p.Helper()
	p.world.now = p.world.now.Add(time.Duration(1+p.rng.IntN(300)) * time.Second)
	c := p.command(args...)
	c.Look = true
	var r *served
	switch n := p.rng.IntN(60); {
	case stop && n == 0:
		r = p.server.runKill(p, time.Duration(p.rng.IntN(30))*time.Millisecond, &c)
		if r.Code == -1 {
			p.kills++
		}
	case stop && n < 12:
		r = p.stopAt(&c)
	default:
		if r = p.server.run(p, &c); stop {
			p.steps[args[0]] = r.Steps
		}
	}
	p.logs = r.Logs
	p.judge(r, args)
	return r
}

// stopAt runs a command that is to stop at one of its steps.
func (p *party) stopAt(c *command) *served {
	c.Stop, c.Keep = 1+p.rng.IntN(p.steps[c.Args[0]]+2), p.rng.IntN(5)
	r := p.server.run(p, c)
	if r.Code == -1 {
		p.stops++
	}
	return r
}

// judge looks at the result of a command.
func (p *party) judge(r *served, args []string) {
	p.Helper()
	p.commands++
	p.verbs[args[0]]++
	if args[0] != "log" || r.Code != 0 {
		p.note("%s: ctx %s: %d %s", p.name, strings.Join(args, " "), r.Code, r.Err)
	}
	if r.Code == 13 || r.Code < -1 || strings.Contains(r.Err, "goroutine ") {
		p.fails("ctx %s: exit code %d: %s", strings.Join(args, " "), r.Code, r.Err)
	}
}

func (w *world) note(form string, args ...any) {
	w.last = append(w.last, strings.TrimSpace(fmt.Sprintf(form, args...)))
	if len(w.last) > 300 {
		w.last = w.last[1:]
	}
}

func (p *party) fails(form string, args ...any) {
	p.Helper()
	p.Errorf("seed %d, command %d: %s: %s", p.seed, p.commands, p.name, fmt.Sprintf(form, args...))
}

// must is do for a command that succeeds.
func (p *party) must(args ...string) string {
	p.Helper()
	r := p.do(false, args...)
	if r.Code != 0 {
		p.fails("ctx %s: exit code %d: %s", strings.Join(args, " "), r.Code, r.Err)
		p.FailNow()
	}
	return r.Out
}
