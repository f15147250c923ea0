package session_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// histories returns the seeds of the random histories that a test makes: CTX_HISTORIES says how
// many. Otherwise they are a third of the usual number, and the first ones with -short.
func histories(t *testing.T, usual, short int) []int {
	t.Helper()
	if given, err := strconv.Atoi(os.Getenv("CTX_HISTORIES")); err == nil {
		return seeds(given)
	}
	if testing.Short() {
		return seeds(short)
	}
	return thirds.Of(t, seeds(usual))
}

// seeds returns the first n seeds.
func seeds(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Compaction in all of its forms against everything else that changes a store, in every order:
// random histories, held against a simple model after every step. The seeds are fixed, and a
// failure is named after its own; CTX_HISTORIES=20000 runs that many.
func TestCompactionHistories(t *testing.T) {
	seen := &tally{count: map[string]int{}}
	t.Cleanup(func() { t.Log(seen) })
	for _, seed := range histories(t, 40, 8) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, uint64(seed))
			w.tally = seen
			for range 30 {
				w.step()
				w.check()
			}
			w.audit()
		})
	}
}

// tally counts what the histories went through: a test that never gets somewhere tests nothing
// there.
type tally struct {
	mu    sync.Mutex
	count map[string]int
}

func (c *tally) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count[what] += n
}

func (c *tally) outcome(by string, d summaries.Compaction) {
	c.add(by+": settled", d.Settled)
	c.add(by+": carried", d.Carried)
	c.add(by+": known", d.Known)
	c.add(by+": evicted", d.Evicted)
	for _, r := range d.Reasons {
		c.add(by+": "+r.Outcome+": "+r.Kind, r.Count)
	}
}

func (c *tally) String() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(c.count)) {
		fmt.Fprintf(&b, "%8d %s\n", c.count[what], what)
	}
	return "\n" + b.String()
}

// world is a store, what it should hold, and who works on it.
type world struct {
	*testing.T
	seed    uint64
	r       *rand.Rand
	s       *session.Store
	flat    bool // the strategy flat is tried
	serial  int
	texts   map[string][]string // of a session; nil for one that is not there
	past    map[string][][]string
	ahead   map[string][][]string
	workers [2]worker
	told    map[string]words    // what an answer, by its words, was made of
	made    map[format.ID]words // what a summary was made of
	settled map[string]bool     // members under real summaries after the step before, by forest
	loses   bool                // the step may take summaries away
	log     []string
	tally   *tally

	// What never changes is read once.
	entries   map[format.ID]string
	shown     map[format.ID]string // of a message, the newest text
	summaries map[format.ID]sealed
	runs      map[format.ID][]format.ID
}

type sealed struct {
	*format.Summary
	body []byte
}

// words are what entries said when they were read.
type words map[format.ID]string

// worker takes claims and answers them in its own time.
type worker struct {
	open []compaction.Claim
	sent []summaries.Answer
}

var bg = context.Background()

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		T: t, seed: seed, r: rand.New(rand.NewPCG(seed, 11)), flat: seed%3 == 0,
		texts: map[string][]string{}, past: map[string][][]string{}, ahead: map[string][][]string{},
		told: map[string]words{}, made: map[format.ID]words{}, settled: map[string]bool{},
		entries: map[format.ID]string{}, shown: map[format.ID]string{},
		summaries: map[format.ID]sealed{}, runs: map[format.ID][]format.ID{},
	}
	dir := durabletest.TempDir(w)
	e := w.env(dir)
	_, _, err := repo.Init(e, dir)
	w.must(err)
	w.s = w.open(dir)
	return w
}

// env is the environment of the world's store, in which every message is a cluster, all of them are
// one, or the score decides.
func (w *world) env(dir string) repo.Env {
	threshold := []string{"1", "0", "0.5", "0.5"}[w.seed%4]
	return storetest.Env(dir, nil, "window.graduate_at=2", "window.evict_at=4",
		"forest.max_cold_clusters=2",
		"lock.timeout=5m", "forest.merge_threshold="+threshold)
}

func (w *world) open(dir string) *session.Store {
	r, err := repo.Open(w.env(dir))
	w.must(err)
	w.Cleanup(func() { w.must(r.Close()) })
	s := session.New(r)
	s.History.Warn = func(text string) { w.Error("warning:", text) }
	return s
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.fatal("%v", err)
	}
}

func (w *world) fatal(format string, args ...any) {
	w.Helper()
	w.Fatalf("%s\nafter %s", fmt.Sprintf(format, args...), strings.Join(w.log, ", "))
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
	verb, _, _ := strings.Cut(format, " %")
	w.tally.add("step: "+verb, 1)
}

func (w *world) view() *refs.View {
	v, err := w.s.Refs.Read()
	w.must(err)
	return v
}

// step does something.
func (w *world) step() {
	w.loses = false
	name := fmt.Sprint("s", w.r.IntN(2))
	switch n := w.r.IntN(100); {
	case n < 44:
		w.change(name, n)
	case n < 54:
		w.compact(name, nil)
	case n < 64:
		w.compact(name, w.summarizer())
	case n < 76:
		w.claim(w.r.IntN(2))
	case n < 88:
		w.commit(w.r.IntN(2))
	case n < 92:
		w.repair("redo", w.s.Compaction.RedoSummary)
	case n < 96:
		w.repair("revert", w.s.Compaction.RevertSummary)
	default:
		w.evict()
	}
}

// change does something that is no compaction.
func (w *world) change(name string, n int) {
	switch exists := w.texts[name] != nil; {
	case n < 22 || !exists && n < 26:
		w.append(name, 1+w.r.IntN(4), false)
	case n < 26:
		w.append(name, 6+w.r.IntN(12), true)
	case n < 30:
		w.amend(name)
	case n < 32 && exists:
		w.note("graduate %s", name)
		_, err := w.s.Conversation.Graduate(bg, name, history.MainBranch)
		w.must(err)
	case n < 36 && exists:
		w.rewind(name)
	case n < 40:
		w.turn("undo", name, w.s.Conversation.Undo, w.past, w.ahead)
	case n < 42:
		w.turn("redo", name, w.s.Conversation.Redo, w.ahead, w.past)
	case n < 43 && exists:
		w.note("rm %s", name)
		w.loses = true
		_, err := w.s.Conversation.RemoveSession(bg, name)
		w.must(err)
		w.do(name, nil)
	default:
		w.note("reopen")
		w.s = w.open(w.s.Dir)
	}
}

// do makes a session what it is after something new.
func (w *world) do(name string, texts []string) {
	w.past[name] = append(w.past[name], w.texts[name])
	w.texts[name], w.ahead[name] = texts, nil
}

var subjects = []string{
	"postgres migration schema port %d table index and what follows from that for the replica",
	"parser lexer token line %d nil pointer panic with the empty file that was given to it",
	"deploy rollback release server %d traffic canary until the dashboards were green again",
}

func (w *world) text() string {
	w.serial++
	return fmt.Sprintf(subjects[w.r.IntN(len(subjects))], w.serial)
}

func (w *world) append(name string, n int, bulk bool) {
	w.note("append %d to %s", n, name)
	texts := slices.Clone(w.texts[name])
	var batch []conversation.Message
	for range n {
		m := conversation.Message{Role: []string{"user", "model"}[w.r.IntN(2)], Text: w.text()}
		if w.r.IntN(2) == 0 {
			m.Source = &conversation.Source{Agent: "test", Session: name,
				Message: fmt.Sprint("m", w.serial)}
		}
		batch = append(batch, m)
		texts = append(texts, m.Text)
	}
	_, _, err := w.s.Conversation.Append(bg, name, history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: bulk})
	w.must(err)
	w.do(name, texts)
}

func (w *world) messages(name string) []*history.Shown {
	v := w.view().Get(history.RefName(name, history.MainBranch))
	if !v.Exists() {
		return nil
	}
	list, err := w.s.Recall.Log(v.ID, recall.LogOptions{})
	w.must(err)
	return list
}

// amend says a message anew, under the source that it has.
func (w *world) amend(name string) {
	for i, shown := range w.messages(name) {
		if src := shown.Entry.Source; src != nil && w.r.IntN(3) == 0 {
			w.note("amend %s %d", name, i)
			w.loses = true
			m := conversation.Message{Role: shown.Entry.Role, Text: w.text(),
				Source: &conversation.Source{Agent: src.Agent, Session: src.Session,
					Message: src.Message}}
			_, _, err := w.s.Conversation.Append(bg, name, history.MainBranch,
				[]conversation.Message{m}, conversation.AppendOptions{})
			w.must(err)
			texts := slices.Clone(w.texts[name])
			texts[i] = m.Text
			w.do(name, texts)
			return
		}
	}
}

func (w *world) rewind(name string) {
	list := w.messages(name)
	if len(list) == 0 {
		return
	}
	at := max(0, len(list)-1-w.r.IntN(8))
	w.note("rewind %s to %d", name, at)
	w.loses = true
	_, err := w.s.Conversation.Rewind(bg, name, history.MainBranch, list[at].ID,
		conversation.RewindOptions{})
	w.must(err)
	// What was amended after the place that is rewound to says again what it said then.
	texts := []string{}
	for _, shown := range w.messages(name) {
		texts = append(texts, shown.Text)
	}
	if len(texts) != at {
		w.fatal("%d messages left, want %d", len(texts), at)
	}
	w.do(name, texts)
}

func (w *world) turn(
	verb, name string, do func(context.Context, string) (conversation.Undone, error),
	from, to map[string][][]string,
) {
	w.note(verb+" %s", name)
	w.loses = true
	_, err := do(bg, name)
	n := len(from[name])
	if n == 0 {
		if err == nil {
			w.fatal("there was nothing to %s", verb)
		}
		return
	}
	w.must(err)
	to[name] = append(to[name], w.texts[name])
	w.texts[name], from[name] = from[name][n-1], from[name][:n-1]
}

// tokens are what a session renders.
func (w *world) tokens(name string) int {
	in, err := w.s.Recall.RenderInput(w.view(), name, history.MainBranch, view.Options{})
	w.must(err)
	out, err := view.Render(in, view.Options{})
	w.must(err)
	return out.Tokens
}

// pinned is the forest that a session renders; "" before its first leave.
func (w *world) pinned(name string) string {
	pin := w.view().Get(history.RefName(name, history.MainBranch)).Pin
	if pin.IsZero() {
		return ""
	}
	header, err := w.s.Objects.Header(pin)
	w.must(err)
	f, err := format.DecodeForest(header)
	w.must(err)
	return f.Name
}

func (w *world) compact(name string, by summarize.Summarizer) {
	if w.texts[name] == nil {
		return
	}
	o := compaction.CompactOptions{
		Branches: []history.BranchName{{Session: name, Branch: history.MainBranch}}, Summarizer: by,
	}
	if w.flat && w.r.IntN(3) == 0 {
		o.Strategy = clusters.Flat
	}
	w.note("compact %s %s %v", name, o.Strategy, by != nil)
	before, pinned := w.tokens(name), w.pinned(name)
	loses := w.loses
	stood := w.worded()
	done, err := w.s.Compaction.Compact(bg, o)
	if by != nil && errors.Is(err, history.ErrNotFound) {
		return // it was removed meanwhile
	}
	w.must(err)
	w.tally.outcome("compact", done)
	if by == nil {
		w.checkBuiltIn(done, stood)
	}
	if loses || w.loses || by != nil {
		return // others did something meanwhile
	}
	now := w.pinned(name)
	if after := w.tokens(name); after > before && now == pinned {
		w.fatal("%d tokens became %d", before, after)
	}
}

// worded are the summaries that are not the built-in summarizer's, with the number of their
// cluster, by forest.
func (w *world) worded() map[string]map[format.ID]uint64 {
	out := map[string]map[format.ID]uint64{}
	for _, name := range []string{history.MainForest, history.FlatForest} {
		out[name] = map[format.ID]uint64{}
		for _, c := range w.live(name) {
			for _, v := range c.Covers {
				if sum, _ := w.summary(v.Summary); sum.Summarizer != "extractive" {
					out[name][v.Summary] = c.Number
				}
			}
		}
	}
	return out
}

// live are the live clusters of a forest, none where there is no such forest.
func (w *world) live(name string) []*forest.Cluster {
	v, err := w.s.Refs.Read()
	w.must(err)
	st, err := w.s.History.ForestOf(v, name)
	w.must(err)
	return st.Live()
}

// checkBuiltIn holds that a compaction with the built-in summarizer left nothing without a summary,
// and every summary that somebody else worded.
func (w *world) checkBuiltIn(done summaries.Compaction, stood map[string]map[format.ID]uint64) {
	if done.Failed+done.Lost > 0 {
		w.fatal("the built-in summarizer left something: %+v", done)
	}
	name, dirty := history.MainForest, 0
	if done.Strategy == clusters.Flat {
		name = history.FlatForest
	}
	now := w.worded()[name]
	for _, c := range w.live(name) {
		for id, number := range stood[name] {
			if _, stands := now[id]; number == c.Number && !stands {
				w.fatal("cluster %d lost the summary %v, which somebody worded", c.Number, id)
			}
		}
		if !c.Dirty() {
			continue
		}
		dirty++
		words := false
		for _, v := range c.Covers {
			words = words || !v.Interim && now[v.Summary] == c.Number
		}
		if !c.Renderable() || !words ||
			slices.ContainsFunc(c.Covers, func(v format.Cover) bool { return v.Interim }) {
			w.fatal("the built-in summarizer left cluster %d with the summaries %+v of %d members",
				c.Number, c.Covers, c.Count())
		}
	}
	if dirty != done.Dirty {
		w.fatal("%d clusters are dirty, %d were told", dirty, done.Dirty)
	}
}

// fake words summaries, now and then badly. While it does others go on.
type fake struct {
	*world
	limit int
}

func (w *world) summarizer() *fake { return &fake{w, 60 + w.r.IntN(400)} }

func (f *fake) Limit() int { return f.limit }

func (f *fake) Summarize(_ context.Context, ask summarize.Request) (summarize.Response, error) {
	sum := 0
	for _, p := range ask.Inputs {
		sum += summarize.Tokens(p.Text)
	}
	if sum > f.limit {
		f.fatal("asked about %d tokens, %d is the limit", sum, f.limit)
	}
	switch f.r.IntN(12) {
	case 0:
		return summarize.Response{}, errors.New("out of quota")
	case 1:
		return summarize.Response{Text: " ", Summarizer: "fake", Version: "1"}, nil
	case 2:
		return summarize.Response{Text: strings.Repeat("more than it was ", 400),
			Summarizer: "fake", Version: "1"}, nil
	}
	told := f.answer("fake", ask.Inputs)
	for range f.r.IntN(3) {
		if f.r.IntN(3) == 0 {
			f.note("meanwhile")
			f.change(fmt.Sprint("s", f.r.IntN(2)), []int{26, f.r.IntN(44)}[f.r.IntN(2)])
		}
	}
	return told, nil
}

// answer words a summary that there is once, and remembers what it was made of.
func (w *world) answer(by string, inputs []summarize.Input) summarize.Response {
	w.serial++
	text := fmt.Sprint("sum ", w.serial)
	read := words{}
	for _, p := range inputs {
		if !p.Summary {
			read[p.ID] = p.Text
			continue
		}
		if w.made[p.ID] == nil {
			w.learn(p.ID)
		}
		maps.Copy(read, w.made[p.ID])
	}
	w.told[text] = read
	return summarize.Response{Text: text, Summarizer: by, Version: "1"}
}

func (w *world) claim(i int) {
	limit := []int{0, 60, 250}[w.r.IntN(3)]
	w.note("worker %d claims, limit %d", i, limit)
	w.workers[i].open = nil
	w.must(w.s.Compaction.Claims(bg, w.view(), limit, func(c compaction.Claim) error {
		w.workers[i].open = append(w.workers[i].open, c)
		return nil
	}))
}

func (w *world) commit(i int) {
	me := &w.workers[i]
	var batch []summaries.Answer
	w.r.Shuffle(len(me.open), func(a, b int) { me.open[a], me.open[b] = me.open[b], me.open[a] })
	for _, c := range me.open {
		told := w.answer(fmt.Sprint("worker", i), c.Inputs)
		switch w.r.IntN(10) {
		case 0:
			told.Text = "."
		case 1:
			continue
		}
		batch = append(batch, summaries.Answer{Claim: c.ID, Response: told})
	}
	me.open = nil
	for range w.r.IntN(3) {
		if len(me.sent) > 0 { // once more, late
			batch = append(batch, me.sent[w.r.IntN(len(me.sent))])
		}
	}
	if w.r.IntN(8) == 0 {
		batch = append(batch,
			summaries.Answer{Claim: format.Sum([]byte(fmt.Sprint(w.serial))).String(),
				Response: w.answer("stranger", nil)})
	}
	w.note("worker %d commits %d", i, len(batch))
	me.sent = append(me.sent, batch...)
	done, err := w.s.Compaction.Commit(bg, batch)
	w.must(err)
	w.tally.outcome("workers", done)
	if n := done.Settled + done.Carried + done.Lost + done.Known + done.Failed; n != len(batch) {
		w.fatal("%d answers, and %+v", len(batch), done)
	}
}

// repair redoes or reverts the summary of some cluster.
func (w *world) repair(
	verb string,
	do func(context.Context, format.ID, compaction.CompactOptions) (summaries.Compaction, error),
) {
	list, err := w.s.Recall.Clusters(w.view())
	w.must(err)
	if len(list) == 0 {
		return
	}
	c := list[w.r.IntN(len(list))]
	id := c.ID
	if len(c.Covers) > 0 && w.r.IntN(2) == 0 {
		id = c.Covers[w.r.IntN(len(c.Covers))].Summary
	}
	if !c.Tombstone.IsZero() && w.r.IntN(2) == 0 {
		id = c.Tombstone
	}
	o := compaction.CompactOptions{}
	for name, texts := range w.texts {
		if texts != nil && name == "s0" {
			o.Branches = []history.BranchName{{Session: name, Branch: history.MainBranch}}
		}
	}
	if verb == "redo" && w.r.IntN(2) == 0 {
		o.Summarizer = w.summarizer()
	}
	w.note(verb+" of %d", c.Number)
	w.loses = true
	done, err := do(bg, id, o)
	if verb == "revert" && errors.Is(err, summaries.ErrNoEarlier) {
		w.tally.add("revert: nothing earlier", 1)
		return
	}
	w.must(err)
	w.tally.outcome(verb, done)
}

func (w *world) evict() {
	list, err := w.s.Recall.Clusters(w.view())
	w.must(err)
	if len(list) == 0 {
		return
	}
	c := list[w.r.IntN(len(list))]
	w.note("evict %d", c.Number)
	done, err := w.s.Summaries.Evict(bg, c.ID)
	if c.Dirty && errors.Is(err, history.ErrBlocked) {
		return
	}
	w.must(err)
	if done.Known != !c.Tombstone.IsZero() {
		w.fatal("evicted %+v, which was %+v", done, c)
	}
}

// check holds what must be so after every step.
func (w *world) check() {
	v := w.view()
	now := words{}
	cold := map[format.ID]bool{}
	for name, want := range w.texts {
		value := v.Get(history.RefName(name, history.MainBranch))
		var got []string
		list := w.history(value.ID)
		for i, id := range list {
			seq := uint64(i + 1)
			got = append(got, w.shown[id])
			now[id] = w.shown[id]
			cold[id] = seq <= value.Frontier
		}
		if !slices.Equal(got, want) {
			w.fatal("session %s\n has %q\nwants %q", name, got, want)
		}
		if value.Through > value.Frontier {
			w.fatal("session %s: through %d, frontier %d", name, value.Through, value.Frontier)
		}
		if !value.Pin.IsZero() {
			w.checkPin(value, list)
		}
	}
	settled := map[string]bool{}
	for _, name := range []string{history.MainForest, history.FlatForest} {
		if name == history.FlatForest && !v.Get("forests/flat").Exists() {
			continue
		}
		st, err := w.s.History.ForestOf(v, name)
		w.must(err)
		w.checkForest(name, st, cold, now, settled)
	}
	for key := range w.settled {
		if !w.loses && !settled[key] {
			w.fatal("%s had a summary, and has none any more", key)
		}
	}
	w.settled = settled
}

// checkPin holds that what a branch renders has every message once.
func (w *world) checkPin(value format.Value, list []format.ID) {
	count := map[format.ID]int{}
	header, err := w.s.Objects.Header(value.Pin)
	w.must(err)
	f, err := format.DecodeForest(header)
	w.must(err)
	w.count(forest.From(f, w.s.History.Loader()), count)
	for _, id := range list[:value.Through] {
		if count[id] != 1 {
			w.fatal("message %q is rendered %d times by the pin, through is %d", w.shown[id],
				count[id], value.Through)
		}
	}
}

func (w *world) count(st *forest.State, count map[format.ID]int) {
	for _, c := range st.Live() {
		members, err := st.Members(c)
		w.must(err)
		for _, id := range members {
			count[id]++
		}
	}
	evicted, err := st.Evicted()
	w.must(err)
	for _, e := range evicted {
		stone, err := w.s.History.Loader().Tombstone(e.Tombstone)
		w.must(err)
		for _, id := range w.run(stone.Node) {
			count[id]++
		}
	}
}

func (w *world) run(node format.ID) []format.ID {
	if w.runs[node] == nil {
		w.must(forest.Walk(w.s.History.Loader(), node,
			func(_ format.ID, entries []format.ID) {
				w.runs[node] = append(w.runs[node], entries...)
			}))
	}
	return w.runs[node]
}

// entryText is what one entry says, whatever amends it.
func (w *world) entryText(id format.ID) string {
	text, ok := w.entries[id]
	if !ok {
		shown, err := w.s.History.Entry(id)
		w.must(err)
		text = shown.Text
		w.entries[id] = text
	}
	return text
}

// history are the messages of a branch, oldest first; what they say now is in w.shown.
func (w *world) history(tip format.ID) (list []format.ID) {
	newest := map[format.ID]format.ID{}
	for !tip.IsZero() {
		header, err := w.s.Objects.Header(tip)
		w.must(err)
		e, err := format.DecodeEntry(header)
		w.must(err)
		if _, newer := newest[e.Amends]; e.Kind == format.KindAmend && !newer {
			newest[e.Amends] = tip
		}
		if e.Kind == format.KindMessage {
			list = append(list, tip)
			version := tip
			if v, ok := newest[tip]; ok {
				version = v
			}
			w.shown[tip] = w.entryText(version)
		}
		if len(e.Parents) == 0 {
			break
		}
		tip = e.Parents[0]
	}
	slices.Reverse(list)
	return list
}

func (w *world) checkForest(
	name string, st *forest.State, cold map[format.ID]bool, now words, settled map[string]bool,
) {
	count := map[format.ID]int{}
	w.count(st, count)
	for id, is := range cold {
		want := 0
		if is {
			want = 1
		}
		if count[id] != want {
			w.fatal("forest %s: message %v (%q) is a member %d times, cold: %v", name, id, now[id],
				count[id], is)
		}
		delete(count, id)
	}
	if len(count) > 0 {
		w.fatal("forest %s: %d members that no session has", name, len(count))
	}
	for _, c := range st.Live() {
		members, err := st.Members(c)
		w.must(err)
		w.checkCovers(name, c.Covers, members, now, settled)
	}
	evicted, err := st.Evicted()
	w.must(err)
	for _, e := range evicted {
		stone, err := w.s.History.Loader().Tombstone(e.Tombstone)
		w.must(err)
		w.checkCovers(name, []format.Cover{{Summary: stone.Summary, Count: stone.Count}},
			w.run(stone.Node), now, settled)
	}
}

func (w *world) checkCovers(
	name string, covers []format.Cover, members []format.ID, now words, settled map[string]bool,
) {
	end := uint64(0)
	for _, v := range covers {
		if v.Count == 0 || v.Offset < end || v.Offset+v.Count > uint64(len(members)) {
			w.fatal("forest %s: covers %+v of %d members", name, covers, len(members))
		}
		end = v.Offset + v.Count
		run := members[v.Offset:end]
		sum, body := w.summary(v.Summary)
		if node, err := format.NodeOf(run); err != nil || node != sum.Node ||
			sum.Interim != v.Interim {
			w.fatal("forest %s: cover %+v is not of its run", name, v)
		}
		if sum.Body.Media == format.MediaExtract {
			w.checkExtract(body, run, now)
		} else {
			w.learn(v.Summary)
			read := w.made[v.Summary]
			for _, id := range run {
				if got, ok := read[id]; !ok || got != now[id] {
					w.fatal("forest %s: summary %q was made of %q (%v), and stands for %q", name,
						body, got, ok, now[id])
				}
			}
			if len(read) != len(run) {
				w.fatal("forest %s: summary %q was made of %d entries and stands for %d", name,
					body, len(read), len(run))
			}
		}
		if v.Interim {
			continue
		}
		w.checkGeneration(sum)
		for _, id := range run {
			settled[name+" "+id.String()] = true
		}
	}
}

func (w *world) checkGeneration(sum *format.Summary) {
	want := uint64(1)
	for _, in := range sum.Inputs {
		if in.Summary {
			from, _ := w.summary(in.ID)
			want = max(want, from.Generation+1)
		}
	}
	if sum.Generation != want || sum.Generation > summaries.MaxGeneration {
		w.fatal("generation %d, of inputs that make it %d", sum.Generation, want)
	}
}

// checkExtract holds that every sentence is said by its entry, now.
func (w *world) checkExtract(body []byte, run []format.ID, now words) {
	list, err := summarize.Decode(body)
	w.must(err)
	for _, s := range list {
		if !slices.Contains(run, s.Entry) || !strings.Contains(now[s.Entry], s.Text) {
			w.fatal("an extract has %q of an entry that says %q", s.Text, now[s.Entry])
		}
	}
}

func (w *world) summary(id format.ID) (*format.Summary, []byte) {
	if known, ok := w.summaries[id]; ok {
		return known.Summary, known.body
	}
	raw, err := w.s.Objects.Get(id)
	w.must(err)
	sum, err := format.DecodeSummary(raw.Header)
	w.must(err)
	w.summaries[id] = sealed{sum, raw.Body[format.NonceLen:]}
	w.tally.add(fmt.Sprintf("summary: %s, generation %d, interim %v", sum.Body.Media,
		sum.Generation, sum.Interim), 1)
	return sum, raw.Body[format.NonceLen:]
}

// learn finds out what a summary was made of: what its words were answered to, or, where nobody was
// asked, what it says.
func (w *world) learn(id format.ID) {
	if w.made[id] != nil {
		return
	}
	sum, body := w.summary(id)
	if sum.Summarizer == "joined" {
		w.made[id] = w.joined(sum, string(body))
		return
	}
	if read := w.told[string(body)]; read != nil {
		w.made[id] = read
		return
	}
	if sum.Summarizer != "extractive" {
		w.fatal("nobody said %q", body)
	}
	read, rest := words{}, string(body)
	for _, e := range w.run(sum.Node) {
		shown, err := w.s.History.Entry(e)
		w.must(err)
		read[e] = shown.Text
		if sum.Generation == 1 && !strings.Contains(rest, shown.Text) {
			// An amended message: what was read is the line that is left over.
			read[e] = ""
		}
	}
	lines := strings.Split(rest, "\n")
	for _, text := range read {
		lines = slices.DeleteFunc(lines, func(l string) bool { return l == text })
	}
	for e, text := range read {
		if text == "" && len(lines) > 0 {
			read[e], lines = lines[0], lines[1:]
		}
	}
	w.made[id] = read
}

// joined is what a summary was made of that joins others: their texts are in it as they are, and of
// extracts some sentences.
func (w *world) joined(sum *format.Summary, rest string) words {
	read := words{}
	for _, in := range sum.Inputs {
		from, body := w.summary(in.ID)
		if from.Body.Media == format.MediaText {
			w.learn(in.ID)
			maps.Copy(read, w.made[in.ID])
			after, ok := strings.CutPrefix(strings.TrimPrefix(rest, "\n"), string(body))
			if !ok {
				w.fatal("joined summaries have %q where %q belongs", rest, body)
			}
			rest = after
			continue
		}
		for _, e := range w.run(from.Node) {
			text, ok := w.shown[e]
			if !ok {
				text = w.entryText(e)
			}
			read[e] = text
		}
		w.checkExtract(body, w.run(from.Node), read)
		list, err := summarize.Decode(body)
		w.must(err)
		for _, s := range summarize.Order(list) {
			rest = strings.TrimPrefix(strings.TrimLeft(rest, "\n"), s.Text)
		}
	}
	if strings.TrimSpace(rest) != "" {
		w.fatal("joined summaries have %q, which none of them says", rest)
	}
	return read
}

// audit holds the whole store against itself.
func (w *world) audit() {
	report, err := fsck.Run(bg, w.s.Opened, fsck.Options{})
	w.must(err)
	if len(report.Faults) > 0 {
		w.fatal("fsck: %v", report.Faults)
	}
	before := w.view()
	rebuilt, err := repair.Rebuild(bg, w.s.Opened, repair.RebuildOptions{})
	w.must(err)
	if !rebuilt.Same || rebuilt.Forest != before.Get("forests/main").ID {
		w.fatal("rebuilt: %+v", rebuilt)
	}
	w.check()
}
