package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/refs"
)

// everything reports whether to try everything instead of a sample.
func everything() bool { return os.Getenv("CTX_FAULTS") == "all" }

// mine reports whether a case is tried: it is in the third that runs, or everything is tried.
func mine(t testing.TB, i int) bool {
	t.Helper()
	return everything() || thirds.Mine(t, i)
}

// seedOf returns the seed of all random choices.
func seedOf(t testing.TB) uint64 {
	t.Helper()
	n := uint64(1)
	if text := os.Getenv("CTX_FAULTS_SEED"); text != "" {
		n = must[uint64](t)(strconv.ParseUint(text, 10, 64))
	}
	t.Logf("CTX_FAULTS_SEED=%d", n)
	return n
}

// run is a successful command with its calls.
type run struct {
	verb
	start  image
	events []event

	from, to      uint64 // number of the newest operation before and after
	before, after string // content of the store; "" for no store
	digests       map[uint64]format.ID
	says          map[uint64]string // content of the store after an operation
	// By number of calls: the newest operation that a power cut cannot take
	certain []uint64
	// By number of calls: the newest operation that another process reads
	there         []uint64
	files, became map[string][]byte // files beside the store, before and after
}

// startOf returns the image from which a command starts.
func startOf(t testing.TB, p *place, v verb) image {
	t.Helper()
	base, err := packed()
	switch {
	case v.spread:
		base, err = spreadOut()
	case v.carried:
		base, err = template()
	}
	if err != nil {
		t.Fatal(err)
	}
	if v.prep == nil {
		return base
	}
	p.put(t, base)
	p.all = true
	if err := v.prep(&world{root: p.root, now: written.AddDate(0, 0, 1), tick: 1e9}); err != nil {
		t.Fatalf("cannot prepare %s: %v", v.name, err)
	}
	return must[image](t)(readImage(p.root, written))
}

// record runs a command from an image.
func record(t testing.TB, p *place, v verb, start image) *run {
	t.Helper()
	r := &run{verb: v, start: start, digests: map[uint64]format.ID{}, says: map[uint64]string{}}
	p.put(t, start)
	r.from, r.before = number(t, p, v.makes || v.needs)
	fsys, events := recorder(p.root)
	if err := v.do(&world{root: p.root, now: today, fs: p.watch(fsys)}); err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
	r.events = *events
	r.to, r.after = number(t, p, v.ends)
	if v.ends {
		r.to, r.after = r.from, r.before
	}
	if v.makes {
		r.from = r.to // it exists completely or not at all
	}
	r.says[r.from], r.says[r.to] = r.before, r.after
	if v.needs || v.makes {
		r.says[r.from] = r.after
	}
	if !v.ends {
		w := &world{root: p.root, now: later}
		err := w.with(func(s *session.Store) error {
			return s.Refs.Forward(func(c refs.Record) bool {
				r.digests[c.Op.Number] = c.Digest
				return true
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r.files, r.became = filesOf(start, v.files), map[string][]byte{}
	for _, name := range v.files {
		b, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
		if err == nil {
			r.became[name] = b
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	certain, there := r.from, r.from
	r.certain, r.there = []uint64{certain}, []uint64{there}
	for _, e := range r.events {
		if strings.HasPrefix(filepath.Base(e.file), "log-") &&
			filepath.Base(filepath.Dir(e.file)) == "refs" {
			switch e.Op {
			case durable.OpAppend:
				there++
			case durable.OpSync:
				certain = there
			}
		}
		r.certain, r.there = append(r.certain, certain), append(r.there, there)
	}
	if there != r.to && !v.makes {
		t.Fatalf("%s records %d operations, and appends %d", v.name, r.to-r.from, there-r.from)
	}
	if ops := r.to - r.from; !v.many && ops > 2 {
		t.Errorf("%s records %d operations", v.name, ops)
	}
	return r
}

// number returns the number of the newest operation in the place, and the content of the store.
func number(t testing.TB, p *place, none bool) (n uint64, says string) {
	t.Helper()
	w := &world{root: p.root, now: later}
	err := w.view(func(s *session.Store, v *refs.View) (err error) {
		n = v.Number
		says, err = contents(s)
		return err
	})
	if err != nil && !none {
		t.Fatal(err)
	}
	return n, says
}

func filesOf(m image, names []string) map[string][]byte {
	files := map[string][]byte{}
	for _, name := range names {
		if f, ok := m[name]; ok {
			files[name] = f.data
		}
	}
	return files
}

// tally counts the tries.
type tally struct {
	verb                              string
	calls, stops, torn, cuts, checked int
}

// explorer examines what crashes of a run leave.
type explorer struct {
	t     *testing.T
	p     *place
	r     *run
	rand  *rand.Rand
	seen  map[string]bool
	tally tally

	random int // number of random power cuts at each call
	gc     int // one look in this many is followed by gc
	// most is the number of calls to stop at, each in one way, besides the last one; 0 for all
	// calls in every way.
	most   int
	found  int         // number of faults
	deeper func(image) // gets what is left, if not nil
}

// remains is a disk as a crash leaves it.
type remains struct {
	image image
	power bool
	how   string
}

// explore stops the run at every call, and cuts the power there.
func (x *explorer) explore() {
	d := newDisk(x.r.start)
	last := len(x.r.events)
	for n := 0; ; n++ {
		if n == last || x.most == 0 && !x.r.amidst(n) || x.most > 0 && x.rand.IntN(last) < x.most {
			x.stopAt(d, n)
		}
		if n == last || x.found > 3 {
			break
		}
		d.run(x.r.events[n], len(x.r.events[n].Data))
	}
	for _, e := range x.r.events {
		if e.N > 0 {
			x.tally.calls++
		}
	}
}

// amidst reports whether a point is skipped because it is inside a long sequence of similar calls,
// for example one that makes 256 directories. The first two and the last two calls of a sequence
// are kept, and every sixteenth.
func (r *run) amidst(n int) bool {
	if n < 3 || n+3 > len(r.events) || n%16 == 0 {
		return false
	}
	for _, e := range r.events[n-3 : n+3] {
		if e.Op != r.events[n].Op || filepath.Ext(e.path) != filepath.Ext(r.events[n].path) {
			return false
		}
	}
	return true
}

// stopAt examines what is left after n calls.
func (x *explorer) stopAt(d *disk, n int) {
	var list []remains
	add := func(m image, power bool, how string, args ...any) {
		list = append(list, remains{m, power, fmt.Sprintf(how, args...)})
	}
	for i, m := range d.cutsOf(x.rand, x.random) {
		add(m, true, "power cut %d after", i)
	}
	cuts := len(list)
	add(d.now(), false, "stopped after")
	if n < len(x.r.events) && x.r.events[n].writes() {
		// The next call writes, and the crash leaves only a part of its data.
		e := x.r.events[n]
		size := len(e.Data)
		for _, part := range slices.Compact([]int{0, min(1, size), size / 2, max(size-1, 0)}) {
			torn := d.clone()
			torn.run(e, part)
			add(torn.now(), false, "torn at %d of %d bytes in the call after", part, size)
		}
	}
	if x.most > 0 {
		pick := x.rand.IntN(len(list))
		if n == len(x.r.events) {
			pick = 0 // everything that does not certainly survive is lost
		}
		list = list[pick : pick+1]
	} else {
		x.tally.cuts += cuts
		x.tally.stops++
		x.tally.torn += len(list) - cuts - 1
	}
	for _, left := range list {
		x.look(n, left)
	}
}

// clone returns an independent copy of a disk.
func (d *disk) clone() *disk {
	copies := map[*node]*node{}
	var of func(*node) *node
	of = func(n *node) *node {
		if n == nil {
			return nil
		}
		if c := copies[n]; c != nil {
			return c
		}
		c := *n
		copies[n] = &c
		for _, names := range []*map[string]*node{&c.names, &c.kept} {
			was := *names
			if was != nil {
				*names = map[string]*node{}
			}
			for name, below := range was {
				(*names)[name] = of(below)
			}
		}
		return &c
	}
	out := &disk{root: of(d.root)}
	for _, c := range d.pending {
		nodes := make([]*node, len(c.nodes))
		for i, n := range c.nodes {
			nodes[i] = of(n)
		}
		out.pending = append(out.pending, change{of(c.dir), c.names, nodes})
	}
	return out
}

// look opens what is left, as the next process does.
func (x *explorer) look(n int, left remains) {
	m, how, low := left.image, left.how, x.r.there[n]
	if left.power {
		low = x.r.certain[n]
	}
	key := fmt.Sprint(m.sum(), low, n == len(x.r.events))
	if x.seen[key] {
		return
	}
	x.seen[key] = true
	x.tally.checked++
	done := n == len(x.r.events)
	if err := x.check(m, low, done, x.tally.checked%x.gc == 0); err != nil {
		x.found++
		at := "the start"
		if n > 0 {
			at = fmt.Sprintf("call %d of %d, %v", n, len(x.r.events), x.r.events[n-1])
		}
		next := ""
		if n < len(x.r.events) {
			next = fmt.Sprintf(" (before %v)", x.r.events[n])
		}
		x.t.Errorf("%s: %s %s%s: %v", x.r.name, how, at, next, err)
		return
	}
	if x.deeper != nil {
		x.deeper(m)
	}
}

// check compares an image with all promises: its newest operation is low or a later one of the run,
// and if the run was done, its last one.
func (x *explorer) check(m image, low uint64, done, gc bool) error {
	r := x.r
	if err := r.checkFiles(m, done); err != nil {
		return err
	}
	x.p.put(x.t, m)
	w := &world{root: x.p.root, now: later, tick: 1e9, fs: x.p.watch(&durable.FS{})}
	s, err := w.open()
	missing := errors.Is(err, repo.ErrNoStore) || errors.Is(err, repo.ErrHalf)
	switch {
	case missing && r.makes && !done, missing && r.needs:
		if err := r.do(&world{root: x.p.root, now: today, fs: w.fs}); err != nil {
			return fmt.Errorf("done again: %w", err)
		}
		s, err = w.open()
	case missing && r.ends:
		var made *repo.Repo
		if made, _, err = repo.Init(w.env(), w.project()); err == nil {
			s = session.New(made)
		}
	case err == nil && r.ends && done:
		err = errors.New("the store is still there")
	}
	if err != nil {
		return err
	}
	if r.needs && !done {
		again := &world{root: x.p.root, now: today, fs: w.fs}
		if err := errors.Join(s.Close(), r.do(again)); err != nil {
			return fmt.Errorf("done again: %w", err)
		}
		if s, err = w.open(); err != nil {
			return err
		}
	}
	if !missing {
		// The next lock holder finishes a forget, so the store has one content.
		if err = clean(s); err == nil {
			err = errors.Join(s.Store.FinishForget(bg), r.checkSays(s, low, done))
		}
	}
	return errors.Join(err, s.Close(),
		onlyIf(err == nil, func() error { return x.goOn(w, gc || missing) }))
}

// goOn is the function goOn. If needed, it first removes the temporary files beside the store: gc
// does so inside the project, a second run of the command elsewhere.
func (x *explorer) goOn(w *world, gc bool) error {
	if gc && x.r.sweeps {
		if err := x.r.do(&world{root: w.root, now: atLast, fs: w.fs}); err != nil &&
			!errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("done again: %w", err)
		}
	}
	return goOn(w, gc, x.p, x.t)
}

func onlyIf(ok bool, do func() error) error {
	if !ok {
		return nil
	}
	return do()
}

// checkFiles checks that each file beside the store has its old or its new content.
func (r *run) checkFiles(m image, done bool) error {
	if r.hint {
		return nil
	}
	now := filesOf(m, r.verb.files)
	for _, name := range r.verb.files {
		isOld, isNew := sameFile(now, r.files, name), sameFile(now, r.became, name)
		if !isNew && (done || !isOld) {
			return fmt.Errorf("%s is neither what it was nor what it was to be (done: %v): %.100q",
				name, done, now[name])
		}
	}
	return nil
}

func sameFile(a, b map[string][]byte, name string) bool {
	one, ok := a[name]
	other, too := b[name]
	return ok == too && bytes.Equal(one, other)
}

// checkSays checks that the store has the content that it had after one of the operations of the
// run.
func (r *run) checkSays(s *session.Store, low uint64, done bool) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	if v.Number < low || v.Number > r.to {
		return fmt.Errorf("operation %d is the newest, at least %d was there", v.Number, low)
	}
	if want, ok := r.digests[v.Number]; ok && v.Digest != want {
		return fmt.Errorf("operation %d is another one", v.Number)
	}
	if err := clean(s); err != nil {
		return err
	}
	now, err := contents(s)
	if err != nil {
		return err
	}
	if want, ok := r.says[v.Number]; !ok {
		r.says[v.Number] = now
	} else if now != want {
		return fmt.Errorf("after operation %d of %d..%d the store says something else: %s",
			v.Number, r.from, r.to, difference(want, now))
	}
	if done && v.Number != r.to {
		return fmt.Errorf("operation %d is the newest, %d was acknowledged", v.Number, r.to)
	}
	return nil
}

func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("want %.300q, got %.300q", a[i], b[i])
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(a), len(b))
}

func clean(s *session.Store) error {
	report, err := fsck.Run(bg, s.Opened, fsck.Options{})
	if err == nil && len(report.Faults) > 0 {
		err = fmt.Errorf("fsck finds %d faults: %v", len(report.Faults), report.Faults[0])
	}
	return err
}

// count returns how often a session has a message.
func count(s *session.Store, name, text string) (n int, err error) {
	v, err := s.Refs.Read()
	if err != nil {
		return 0, err
	}
	list, err := s.Recall.Log(v.Get(history.RefName(name, main)).ID, recall.LogOptions{})
	for _, e := range list {
		if e.Text == text {
			n++
		}
	}
	return n, err
}

const afterwards = "said after the crash"

// goOn checks that the store can still be used: an append works and is there once. With collect it
// also runs a gc, late enough for all files to be old, and checks that no temporary file is left.
func goOn(w *world, collect bool, p *place, t testing.TB) error {
	if err := w.with(func(s *session.Store) error {
		return say(s, "late", main, "user", afterwards)
	}); err != nil {
		return fmt.Errorf("the next append: %w", err)
	}
	next := func(all bool) error {
		return w.with(func(s *session.Store) error {
			n, err := count(s, "late", afterwards)
			if err == nil && n != 1 {
				err = fmt.Errorf("what the next append said is there %d times", n)
			}
			if err == nil && all {
				err = clean(s)
			}
			return err
		})
	}
	if err := next(collect); err != nil {
		return fmt.Errorf("after the next append: %w", err)
	}
	if !collect {
		return nil
	}
	w.now = atLast
	if err := w.with(func(s *session.Store) error {
		_, err := gc.Run(bg, s.Opened, gc.Options{})
		return err
	}); err != nil {
		return fmt.Errorf("gc: %w", err)
	}
	if left := p.temporaries(t); len(left) > 0 {
		return fmt.Errorf("after gc there is still %q", left[0])
	}
	if err := next(true); err != nil {
		return fmt.Errorf("after gc: %w", err)
	}
	return nil
}

// TestStopEveryCall stops every command before and after every durable call and in the middle of
// its writes, with and without a power cut. The next process must find all recorded operations
// completely, nothing of unrecorded ones, and be able to continue.
func TestStopEveryCall(t *testing.T) {
	seed := seedOf(t)
	var all []tally
	p := newPlace(t)
	for i, v := range verbs() {
		if !mine(t, i) {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			r := record(t, p, v, startOf(t, p, v))
			x := &explorer{t: t, p: p, r: r, rand: rand.New(rand.NewPCG(seed, uint64(i))),
				seen: map[string]bool{}, random: 2, gc: 4, most: 2}
			if everything() {
				x.random, x.gc, x.most = 3, 5, 0
			}
			x.explore()
			x.tally.verb = v.name
			all = append(all, x.tally)
		})
	}
	sum := tally{verb: "all"}
	t.Logf("%-32s %6s %6s %6s %6s %6s", "command", "calls", "stops", "torn", "cuts", "looks")
	for _, c := range all {
		t.Logf("%-32s %6d %6d %6d %6d %6d", c.verb, c.calls, c.stops, c.torn, c.cuts, c.checked)
		sum.calls, sum.stops, sum.torn, sum.cuts, sum.checked = sum.calls+c.calls,
			sum.stops+c.stops, sum.torn+c.torn, sum.cuts+c.cuts, sum.checked+c.checked
	}
	t.Logf("%-32s %6d %6d %6d %6d %6d", sum.verb, sum.calls, sum.stops, sum.torn,
		sum.cuts, sum.checked)
}
