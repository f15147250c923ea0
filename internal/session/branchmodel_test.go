package session_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// Branches in every order of append, fork, join, rewind, undo, redo, compact, graduate, observe and
// mask, held after every step against a model in which a branch is a list of messages. The seeds
// are fixed, and a failure is named after its own; CTX_HISTORIES=20000 runs that many.
func TestBranchHistories(t *testing.T) {
	seen := &tally{count: map[string]int{}}
	t.Cleanup(func() { t.Log(seen) })
	found := []int{77, 111, 193, 561} // each has found a fault
	for _, seed := range histories(t, 20, 8) {
		if !slices.Contains(found, seed) {
			found = append(found, seed)
		}
	}
	for _, seed := range found {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			w := newForked(t, uint64(seed), seen)
			for range 40 {
				w.step()
				w.check()
			}
			w.audit()
		})
	}
}

// lineModel is a branch: its messages, and of the forks in its history how many messages stood
// before each. One that a fork started, and that is not joined, is a child of that fork; the forks
// that it was born with are those of others.
type lineModel struct {
	log   []format.ID
	forks map[int]int
	fork  int
	born  map[int]int
	told  []toldAt
	masks []maskAt
}

// toldAt is what the model of a branch was told on the branch itself, when so many messages were
// before it; maskAt, which message is shown shortened since then.
type toldAt struct {
	before int
	now    told
}

type maskAt struct {
	before int
	of     format.ID
}

// believes is what the model was last told; nil for nothing ever.
func (l lineModel) believes() told {
	if len(l.told) == 0 {
		return nil
	}
	return l.told[len(l.told)-1].now
}

// saga is a session: its branches by name. It is not changed once it is there.
type saga map[string]lineModel

type forked struct {
	*testing.T
	r       *rand.Rand
	looks   *rand.Rand // for what a check looks at
	s       *session.Store
	sagas   map[string]saga
	past    map[string][]saga
	ahead   map[string][]saga
	invoked map[format.ID]string
	calls   map[string]format.ID    // who made a call
	answers map[format.ID]format.ID // of a result, who made the call
	said    map[string][]format.ID  // of a session, in order, whatever became of it
	serial  int
	log     []string
	tally   *tally
	// restless histories go back and forth a lot: what one operation takes for granted, the one
	// before it may just have taken away.
	restless bool
}

func newForked(t *testing.T, seed uint64, seen *tally) *forked {
	w := &forked{
		T: t, r: rand.New(rand.NewPCG(seed, 17)),
		looks: rand.New(rand.NewPCG(seed, 18)), tally: seen, restless: seed%2 == 1,
		invoked: map[format.ID]string{}, said: map[string][]format.ID{},
		calls: map[string]format.ID{}, answers: map[format.ID]format.ID{},
		sagas: map[string]saga{}, past: map[string][]saga{}, ahead: map[string][]saga{},
	}
	other := &world{T: t, seed: seed}
	dir := durabletest.TempDir(t)
	e := other.env(dir)
	_, _, err := repo.Init(e, dir)
	w.must(err)
	w.s = other.open(dir)
	return w
}

func (w *forked) must(err error) {
	w.Helper()
	if err != nil {
		w.fatal("%v", err)
	}
}

func (w *forked) fatal(format string, args ...any) {
	w.Helper()
	w.Fatalf("%s\nafter %s", fmt.Sprintf(format, args...), strings.Join(w.log, ", "))
}

func (w *forked) note(verb, format string, args ...any) {
	w.log = append(w.log, verb+fmt.Sprintf(format, args...))
	w.tally.add("step: "+verb, 1)
}

func (w *forked) view() *refs.View {
	v, err := w.s.Refs.Read()
	w.must(err)
	return v
}

// names are branches of a session, in order.
func (g saga) names() []string { return slices.Sorted(maps.Keys(g)) }

// children are the open children of a branch: those whose fork is its own, or came to it with a
// join.
func (g saga) children(branch string) []string {
	var list []string
	for _, name := range g.names() {
		fork := g[name].fork
		_, has := g[branch].forks[fork]
		_, others := g[branch].born[fork]
		if fork != 0 && has && !others {
			list = append(list, name)
		}
	}
	return list
}

// join is g after a branch has taken up what children said, and these are gone unless they stay.
func (g saga) join(branch string, children []string, stay bool) saga {
	g = maps.Clone(g)
	into := g[branch]
	into.log, into.forks = slices.Clone(into.log), maps.Clone(into.forks)
	for _, c := range children {
		for i := 0; i <= len(g[c].log); i++ {
			for fork, before := range g[c].forks {
				if _, ok := into.forks[fork]; !ok && before == i {
					into.forks[fork] = len(into.log)
				}
			}
			if i < len(g[c].log) && !slices.Contains(into.log, g[c].log[i]) {
				into.log = append(into.log, g[c].log[i])
			}
		}
		if !stay {
			delete(g, c)
		}
	}
	g[branch] = into
	return g
}

// do makes a session what it is after something new.
func (w *forked) do(name string, g saga) {
	w.past[name] = append(w.past[name], w.sagas[name])
	w.sagas[name], w.ahead[name] = g, nil
}

func (w *forked) step() {
	name := fmt.Sprint("s", w.r.IntN(2))
	g := w.sagas[name]
	if g == nil {
		if len(w.past[name]) > 0 && w.r.IntN(2) == 0 {
			w.turn(name, w.r.IntN(2) == 0)
			return
		}
		w.append(name, history.MainBranch)
		return
	}
	names := g.names()
	branch := names[w.r.IntN(len(names))]
	n := w.r.IntN(100)
	if w.restless && w.r.IntN(4) == 0 {
		w.backAndForth(name)
		return
	}
	switch {
	case n < 38:
		w.append(name, branch)
	case n < 50:
		w.fork(name, branch)
	case n < 62:
		names = slices.DeleteFunc(names, func(b string) bool { return len(g.children(b)) == 0 })
		if len(names) > 0 {
			w.join(name, names[w.r.IntN(len(names))])
		}
	case n < 70:
		w.rewind(name, branch)
	case n < 78:
		w.turn(name, n%2 == 0)
	case n < 82:
		w.line(name, branch)
	case n < 88:
		w.observe(name, branch)
	case n < 92:
		w.mask(name, branch)
	case n < 96:
		w.note("graduate", " %s/%s", name, branch)
		_, err := w.s.Conversation.Graduate(bg, name, branch)
		w.must(err)
	default:
		w.note("compact", " %s/%s", name, branch)
		_, err := w.s.Compaction.Compact(bg,
			compaction.CompactOptions{Branches: []history.BranchName{{Session: name,
				Branch: branch}}})
		w.must(err)
	}
}

// backAndForth takes a few operations back, rewinds, and takes that back too.
func (w *forked) backAndForth(name string) {
	for range 1 + w.r.IntN(3) {
		w.turn(name, true)
		w.check()
	}
	if g := w.sagas[name]; g != nil {
		w.rewind(name, history.MainBranch)
		w.check()
		w.turn(name, true)
	}
}

// append says a few things, in an invocation that is named or not. Where it is another one than
// that of the branch's tip, the branch takes up first what its children have said. A prompt that
// names none opens one, unless a fork is open.
func (w *forked) append(name, branch string) {
	g := maps.Clone(w.sagas[name])
	if g == nil {
		g = saga{}
	}
	now, invocation := "", ""
	tip := w.view().Get(history.RefName(name, branch))
	if tip.Exists() {
		now = w.invocation(tip.ID)
	}
	if w.r.IntN(4) > 0 {
		invocation = fmt.Sprint("i", w.r.IntN(4)/2)
	}
	open := len(g.children(branch)) > 0
	if tip.Exists() && invocation != "" && invocation != now {
		w.tally.add("append: another invocation", 1)
		if open {
			w.tally.add("append: another invocation, with open children", 1)
		}
		g = g.join(branch, g.children(branch), true)
	}
	batch := w.batch(invocation, w.sagas[name][branch].log)
	w.note("append", " %d to %s/%s in %q", len(batch), name, branch, invocation)
	done, _, err := w.s.Conversation.Append(bg, name, branch, batch,
		conversation.AppendOptions{NoGraduation: w.r.IntN(5) == 0})
	w.must(err)
	line := g[branch]
	line.log = slices.Clone(line.log)
	for i, a := range done {
		line.log = append(line.log, a.ID)
		switch {
		case invocation != "":
			now = invocation
		case batch[i].Role == "user" && !open && line.fork == 0:
			now = a.ID.String()
		}
		w.invoked[a.ID] = now
		w.said[name] = append(w.said[name], a.ID)
		for _, c := range batch[i].Calls {
			w.calls[c.ID] = a.ID
		}
		for _, c := range batch[i].Results {
			w.answers[a.ID] = w.calls[c]
		}
	}
	g[branch] = line
	w.do(name, g)
}

// batch makes up some messages. Some make a call, which is answered at once, later, or never.
func (w *forked) batch(invocation string, log []format.ID) (batch []conversation.Message) {
	waiting := ""
	for id, by := range w.calls {
		if slices.Contains(log, by) && !w.answered(log, by) && (waiting == "" || id < waiting) {
			waiting = id
		}
	}
	for range 1 + w.r.IntN(3) {
		w.serial++
		m := conversation.Message{
			Role: []string{"user", "model"}[w.r.IntN(2)],
			Text: fmt.Sprintf(subjects[w.r.IntN(len(subjects))], w.serial), Invocation: invocation,
		}
		switch w.r.IntN(8) {
		case 0, 1:
			if waiting == "" {
				waiting = fmt.Sprint("call", w.serial)
				m.Role, m.Calls = "model", []format.Call{{ID: waiting, Tool: "ls"}}
			}
		case 2, 3, 4, 5:
			if waiting != "" {
				m.Role, m.Results, waiting = "tool", []string{waiting}, ""
				m.Text += strings.Repeat(" and what the tool printed besides", 60)
			}
		}
		batch = append(batch, m)
	}
	return batch
}

// answered reports whether a call has its result in a history.
func (w *forked) answered(log []format.ID, call format.ID) bool {
	return slices.ContainsFunc(log, func(id format.ID) bool { return w.answers[id] == call })
}

// whole is where a history is cut that is to be cut at: before every call whose result leaves.
func (w *forked) whole(log []format.ID, at int) int {
	for i := len(log) - 1; i >= at; i-- {
		if call, ok := w.answers[log[i]]; ok {
			if j := slices.Index(log, call); j >= 0 {
				at = min(at, j)
			}
		}
	}
	return at
}

// invocation is that of an entry: the one it names, or that it opens, or of what it follows.
func (w *forked) invocation(id format.ID) string {
	for !id.IsZero() {
		e := w.entry(id)
		switch {
		case e.Invocation != "" || len(e.Parents) == 0 && e.Role != "user":
			return e.Invocation
		case e.Kind == format.KindMessage && e.Role == "user":
			return id.String()
		}
		id = e.Parents[0]
	}
	return ""
}

func (w *forked) entry(id format.ID) *format.Entry {
	header, err := w.s.Objects.Header(id)
	w.must(err)
	e, err := format.DecodeEntry(header)
	w.must(err)
	return e
}

// fresh are names that no branch of a session has.
func (w *forked) fresh(g saga, n int) []string {
	var list []string
	for _, name := range w.r.Perm(6) {
		if c := string(rune('a' + name)); len(list) < n && g[c].log == nil {
			list = append(list, c)
		}
	}
	return list
}

func (w *forked) fork(name, branch string) {
	g := maps.Clone(w.sagas[name])
	children := w.fresh(g, 1+w.r.IntN(3))
	if len(children) == 0 {
		return
	}
	w.note("fork", " %s/%s into %v", name, branch, children)
	_, err := w.s.Conversation.Fork(bg, name, branch, children, conversation.ForkOptions{})
	w.must(err)
	w.serial++
	line := g[branch]
	line.forks = maps.Clone(line.forks)
	if line.forks == nil {
		line.forks = map[int]int{}
	}
	line.forks[w.serial] = len(line.log)
	g[branch] = line
	for _, c := range children {
		g[c] = lineModel{log: line.log, forks: line.forks, fork: w.serial, born: line.forks,
			told: line.told, masks: line.masks}
	}
	w.do(name, g)
}

func (w *forked) join(name, branch string) {
	g := w.sagas[name]
	children := g.children(branch)
	w.r.Shuffle(len(children),
		func(a, b int) { children[a], children[b] = children[b], children[a] })
	children = children[:1+w.r.IntN(len(children))]
	w.note("join", " %v to %s/%s", children, name, branch)
	_, err := w.s.Conversation.Join(bg, name, branch, children, conversation.JoinOptions{})
	w.must(err)
	w.do(name, g.join(branch, children, false))
}

func (w *forked) rewind(name, branch string) {
	g := maps.Clone(w.sagas[name])
	line := g[branch]
	if len(line.log) == 0 {
		return
	}
	at := max(0, len(line.log)-1-w.r.IntN(8))
	w.note("rewind", " %s/%s to %d", name, branch, at)
	_, err := w.s.Conversation.Rewind(bg, name, branch, line.log[at], conversation.RewindOptions{})
	w.must(err)
	if cut := w.whole(line.log, at); cut < at {
		w.tally.add("rewind: to before a call", 1)
		at = cut
	}
	g[branch] = line.cut(at, at)
	w.do(name, g)
}

// cut is a line of which so many messages are left, and the forks with no more than so many
// messages before them.
func (l lineModel) cut(at, most int) lineModel {
	forks := map[int]int{}
	for fork, before := range l.forks {
		if before <= most {
			forks[fork] = before
		}
	}
	if _, ok := forks[l.fork]; !ok {
		l.fork, l.born = 0, nil // it is back behind where it began
	}
	l.log, l.forks = l.log[:at:at], forks
	for n := len(l.told); n > 0 && l.told[n-1].before > most; n-- {
		l.told = l.told[: n-1 : n-1]
	}
	for n := len(l.masks); n > 0 && l.masks[n-1].before > most; n-- {
		l.masks = l.masks[: n-1 : n-1]
	}
	return l
}

// line starts a line from the past.
func (w *forked) line(name, branch string) {
	g := maps.Clone(w.sagas[name])
	line, names := g[branch], w.fresh(g, 1)
	if len(line.log) == 0 || len(names) == 0 {
		return
	}
	at := w.r.IntN(len(line.log))
	w.note("line", " %s from %s/%s at %d", names[0], name, branch, at)
	_, err := w.s.Conversation.Fork(bg, name, branch, names,
		conversation.ForkOptions{At: line.log[at]})
	if fork := line.forks[line.fork]; line.fork != 0 && at >= fork {
		if !errors.Is(err, history.ErrStale) {
			w.fatal("a line from what an open child has alone: %v", err)
		}
		return
	}
	if errors.Is(err, history.ErrStale) {
		w.tally.add("line: not on the branch itself", 1)
		return
	}
	w.must(err)
	past := line.cut(at+1, at) // what follows the message, and be it a fork, is not in it
	if cut := w.whole(line.log, at+1); cut <= at {
		w.tally.add("line: from before a call", 1)
		past = line.cut(cut, cut)
	}
	if newest := line.believes(); newest != nil {
		// It begins with the newest that its parent was told
		past.told = append(past.told, toldAt{len(past.log), newest})
	}
	past.fork, past.born = 0, nil
	g[names[0]] = past
	w.do(name, g)
}

var toldKeys = []string{"k/a", "k/b"}

// observe tells the model of a branch what has changed. Nothing is told between a call and its
// result.
func (w *forked) observe(name, branch string) {
	g := maps.Clone(w.sagas[name])
	line := g[branch]
	now := told{}
	maps.Copy(now, line.believes())
	var lines []string
	for _, k := range toldKeys {
		if v := w.r.IntN(4); v == 3 {
			lines = append(lines, fmt.Sprintf(`{"key":%q,"removed":true}`, k))
			delete(now, k)
		} else {
			lines = append(lines,
				fmt.Sprintf(
					`{"key":%q,"value":%d,"first":"%s=%d","changed":"%s=%d","removed_text":"%s="}`,
					k, v, k, v, k, v, k))
			now[k] = fmt.Sprint(v)
		}
	}
	w.note("observe", " %v on %s/%s", now, name, branch)
	set, err := epoch.Read([]byte(strings.Join(lines, "\n")))
	w.must(err)
	waits := false
	tail := line.log[w.view().Get(history.RefName(name, branch)).Through:]
	for _, id := range tail {
		waits = waits || len(w.entry(id).Calls) > 0 && !w.answered(tail, id)
	}
	done, err := w.s.Epochs.Observe(bg, name, branch, set, epochs.ObserveOptions{})
	if waits != errors.Is(err, history.ErrRefused) {
		w.fatal("a call waits: %v, and %v", waits, err)
	}
	if waits {
		w.tally.add("observe: a call waits", 1)
		return
	}
	w.must(err)
	before := line.believes()
	if changed := before == nil ||
		!maps.Equal(before, now); changed == (done.Result == epoch.Unchanged) {
		w.fatal("changed %v: %+v", changed, done)
	} else if changed {
		line.told = append(slices.Clone(line.told), toldAt{len(line.log), now})
		g[branch] = line
		w.do(name, g)
	}
}

// mask has some output of a tool shown shortened on a branch.
func (w *forked) mask(name, branch string) {
	g := maps.Clone(w.sagas[name])
	line := g[branch]
	var outputs []format.ID
	for _, id := range line.log {
		if !w.answers[id].IsZero() {
			outputs = append(outputs, id)
		}
	}
	if len(outputs) == 0 {
		return
	}
	of := outputs[w.r.IntN(len(outputs))]
	w.note("mask", " %s on %s/%s", of.Short(6), name, branch)
	done, err := w.s.Edits.ApplyMasks(bg, name, branch,
		[]edits.MaskTarget{{Entry: of, Part: format.WholeEntry}})
	w.must(err)
	if is := line.masked(of); is != done.Entry.IsZero() {
		w.fatal("masked before: %v, and now %+v", is, done)
	} else if !is {
		line.masks = append(slices.Clone(line.masks), maskAt{len(line.log), of})
		g[branch] = line
		w.do(name, g)
	}
}

func (l lineModel) masked(id format.ID) bool {
	return slices.ContainsFunc(l.masks, func(m maskAt) bool { return m.of == id })
}

// checkTold holds that who reads what a branch renders believes what its model was told, and no
// more.
func (w *forked) checkTold(v *refs.View, name, branch string, line lineModel, rendered []byte) {
	got := told{}
	for text := range strings.Lines(string(rendered)) {
		if k, value, ok := strings.Cut(strings.TrimSuffix(text, "\n"), "="); ok &&
			slices.Contains(toldKeys, k) {
			got[k] = value
			if value == "" {
				delete(got, k)
			}
		}
	}
	want := line.believes()
	if !maps.Equal(got, want) {
		w.fatal("%s/%s was told %v, believes %v\n%s", name, branch, want, got, rendered)
	}
	if has := v.Get(epochs.EpochRef(name, branch)).Exists(); has != (want != nil) {
		w.fatal("%s/%s has an epoch: %v, was told %v", name, branch, has, want)
	}
}

func (w *forked) turn(name string, undo bool) {
	from, to, verb, do := w.past, w.ahead, "undo", w.s.Conversation.Undo
	if !undo {
		from, to, verb, do = w.ahead, w.past, "redo", w.s.Conversation.Redo
	}
	w.note(verb, " %s", name)
	_, err := do(bg, name)
	n := len(from[name])
	if n == 0 {
		if err == nil {
			w.fatal("there was nothing to %s", verb)
		}
		return
	}
	w.must(err)
	to[name] = append(to[name], w.sagas[name])
	w.sagas[name], from[name] = from[name][n-1], from[name][:n-1]
}

// check holds what must be so after every step.
func (w *forked) check() {
	v := w.view()
	cold := map[format.ID]bool{} // messages that some branch has graduated
	for _, name := range []string{"s0", "s1"} {
		g := w.sagas[name]
		if got := v.Names("sessions/" + name + "/"); len(got) != len(g) {
			w.fatal("session %s has %q, want %q", name, got, g.names())
		}
		for branch, line := range g {
			w.checkBranch(v, name, branch, line, cold)
		}
		if names := g.names(); len(names) > 0 {
			// Each in turn, more or less: a reader reads the whole session
			w.checkVisible(v, name, names[w.looks.IntN(len(names))])
		}
	}
	st, err := w.s.History.ForestOf(v, history.MainForest)
	w.must(err)
	count := map[format.ID]int{}
	w.count(st, count)
	for id, n := range count {
		if n != 1 || !cold[id] {
			w.fatal("message %v is a member %d times, graduated by a branch: %v", id, n, cold[id])
		}
	}
	if len(count) != len(cold) {
		w.fatal("%d members, %d messages that branches have graduated", len(count), len(cold))
	}
}

func (w *forked) count(st *forest.State, count map[format.ID]int) {
	run := func(node format.ID) {
		w.must(forest.Walk(w.s.History.Loader(), node, func(_ format.ID, entries []format.ID) {
			for _, id := range entries {
				count[id]++
			}
		}))
	}
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
		run(stone.Node)
	}
}

func (w *forked) checkBranch(
	v *refs.View, name, branch string, line lineModel, cold map[format.ID]bool,
) {
	value := v.Get(history.RefName(name, branch))
	list, err := w.s.Recall.Log(value.ID, recall.LogOptions{})
	w.must(err)
	var got []format.ID
	for i, shown := range list {
		got = append(got, shown.ID)
		if shown.Entry.Seq != uint64(i+1) {
			w.fatal("%s/%s: message %d has seq %d", name, branch, i+1, shown.Entry.Seq)
		}
	}
	if !slices.Equal(got, line.log) {
		w.fatal("%s/%s has %s\nwants %s", name, branch, w.short(got), w.short(line.log))
	}
	if value.Through > value.Frontier || value.Frontier > uint64(len(got)) {
		w.fatal("%s/%s: through %d, frontier %d, %d messages", name, branch, value.Through,
			value.Frontier, len(got))
	}
	if line.fork != 0 && value.Frontier > uint64(line.forks[line.fork]) {
		w.fatal("%s/%s: frontier %d is past the fork at %d", name, branch, value.Frontier,
			line.forks[line.fork])
	}
	for _, id := range got[:value.Frontier] {
		cold[id] = true
	}
	in, err := w.s.Recall.RenderInput(v, name, branch, view.Options{})
	w.must(err)
	out, err := view.Render(in, view.Options{})
	w.must(err)
	w.checkTold(v, name, branch, line, out.Bytes)
	var tail []format.ID
	for _, m := range tailOf(in) {
		if m.Update {
			continue
		}
		tail = append(tail, m.ID)
		if is := strings.Contains(m.Text+string(m.Parts),
			"tool_output_masked"); is != line.masked(m.ID) {
			w.fatal("%s/%s shows %s shortened: %v, want %v", name, branch, m.ID.Short(6), is, !is)
		}
	}
	if !slices.Equal(tail, line.log[value.Through:]) {
		w.fatal("%s/%s: the tail is %s\nwant %s", name, branch, w.short(tail),
			w.short(line.log[value.Through:]))
	}
}

// tailOf returns the messages after the pin: without the prompt that stands before them, where they
// begin within its turn.
func tailOf(in view.Input) []view.Message {
	if len(in.Tail) > 0 && !in.Tail[0].Update && in.Tail[0].Role == "user" &&
		in.Tail[0].Seq <= in.Through {
		return in.Tail[1:]
	}
	return in.Tail
}

func (w *forked) short(ids []format.ID) string {
	var list []string
	for _, id := range ids {
		list = append(list, id.Short(6))
	}
	return fmt.Sprint(len(list), list)
}

// checkVisible holds the rule, in the order in which it was said: a reader sees what is in the
// reader's branch, and what other invocations said anywhere in the session. What was said before
// anybody asked is of none.
func (w *forked) checkVisible(v *refs.View, name, branch string) {
	g := w.sagas[name]
	mine := w.invocation(v.Get(history.RefName(name, branch)).ID)
	var want []format.ID
	for _, id := range w.said[name] {
		held := false
		for _, line := range g {
			held = held || slices.Contains(line.log, id)
		}
		if slices.Contains(g[branch].log, id) ||
			held && mine != "" && w.invoked[id] != "" && w.invoked[id] != mine {
			want = append(want, id)
		}
	}
	r, err := w.s.Clusters.NewViewer(v, name, branch)
	w.must(err)
	var got []format.ID
	w.must(w.s.Clusters.Each(r, false, func(shown *history.Shown) error {
		got = append(got, shown.ID)
		return nil
	}))
	if !slices.Equal(got, want) {
		w.fatal("%s/%s sees %s\nshould see %s", name, branch, w.short(got), w.short(want))
	}
	w.tally.add("visible by ancestry", len(g[branch].log))
	w.tally.add("visible by invocation", len(want)-len(g[branch].log))
	w.tally.add("hidden", len(w.said[name])-len(want))
}

// audit holds the whole store against itself.
func (w *forked) audit() {
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
