package session_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

const pairSession = "talk"

// utterance is a message. Its word stands in no other message.
type utterance struct {
	word   string
	id     format.ID
	record string     // the record of a transcript that it comes from; "" for none
	tool   bool       // a tool printed it
	call   *utterance // of what a tool printed, the call
}

// pairMark is something that a branch holds besides messages.
type pairMark struct {
	at      int    // how many messages stand before it
	kind    string // fork, mask, replace, amend or told
	id      format.ID
	word    string         // of a replacement, an amend or an update
	of      []*utterance   // what a mask, a replacement or an amend is about
	inner   []*replacement // replacements that a replacement stands for
	fork    int            // the number of a fork
	replace *replacement
}

// replacement is a text that stands for messages.
type replacement struct {
	id   format.ID
	word string
}

// pairLine is a branch: its messages, and its marks in the order in which they were made.
type pairLine struct {
	said  []*utterance
	marks []pairMark
	born  int // of a child, how many messages stand before its fork
	fork  int // of a child, the number of its fork; 0 for main
}

// pairState is a session: its branches by name. Nobody changes a state that is there.
type pairState struct {
	lines map[string]pairLine
	hand  map[string]bool // records of the transcript that a person rewound in the store
}

func (p pairState) clone() pairState {
	return pairState{lines: maps.Clone(p.lines), hand: maps.Clone(p.hand)}
}

// with is a state in which a branch is another one.
func (p pairState) with(branch string, line pairLine) pairState {
	p = p.clone()
	p.lines[branch] = line
	return p
}

// cut is a line without its message i and all that follows.
func (l pairLine) cut(i int) pairLine {
	l.said = l.said[:i:i]
	var kept []pairMark
	for _, m := range l.marks {
		if m.at <= i {
			kept = append(kept, m)
		}
	}
	l.marks = kept
	return l
}

func (l pairLine) mark(m pairMark) pairLine {
	m.at = len(l.said)
	l.marks = append(slices.Clone(l.marks), m)
	return l
}

func (l pairLine) say(list ...*utterance) pairLine {
	l.said = append(slices.Clone(l.said), list...)
	return l
}

func (l pairLine) has(u *utterance) bool { return slices.Contains(l.said, u) }

// hasFork reports whether a fork stands in a line.
func (l pairLine) hasFork(fork int) bool {
	return slices.ContainsFunc(l.marks,
		func(m pairMark) bool { return m.kind == "fork" && m.fork == fork })
}

// display is how a line shows its messages.
type display struct {
	masked map[*utterance]bool
	hidden map[*utterance]*replacement // what stands in the place of a message
	void   map[*replacement]bool
	inside map[*replacement]*replacement // what stands in the place of a replacement
	word   map[*utterance]string
}

// display works out how a line shows its messages, with what was forgotten.
func (w *pairWorld) display(l pairLine) display {
	d := display{map[*utterance]bool{}, map[*utterance]*replacement{}, map[*replacement]bool{},
		map[*replacement]*replacement{}, map[*utterance]string{}}
	for _, u := range l.said {
		d.word[u] = u.word
	}
	var live []pairMark
	for _, m := range l.marks {
		switch m.kind {
		case "amend":
			delete(d.masked, m.of[0])
			d.word[m.of[0]] = m.word
			void := map[*replacement]bool{}
			live = slices.DeleteFunc(live, func(r pairMark) bool {
				out := slices.Contains(r.of, m.of[0]) ||
					slices.ContainsFunc(r.inner, func(i *replacement) bool { return void[i] })
				void[r.replace] = out
				return out
			})
		case "mask":
			for _, u := range m.of {
				d.masked[u] = d.masked[u] || !w.gone[u.word]
			}
		case "replace":
			if !w.goneReplacement(m) {
				live = append(live, m)
			}
		}
	}
	for _, m := range live {
		for _, u := range m.of {
			if _, taken := d.hidden[u]; !taken {
				d.hidden[u] = m.replace
			}
		}
		for _, r := range m.inner {
			d.inside[r] = m.replace
		}
	}
	return d
}

// goneReplacement reports whether the text of a replacement was forgotten, or something that it is
// made of.
func (w *pairWorld) goneReplacement(m pairMark) bool {
	if w.gone[m.word] ||
		slices.ContainsFunc(m.of, func(u *utterance) bool { return w.goneUtterance(u) }) {
		return true
	}
	return slices.ContainsFunc(m.inner,
		func(r *replacement) bool { return w.goneReplacement(w.replaces[r]) })
}

// shows is the outermost text in the place of a message; nil where the message itself is shown.
func (d display) shows(u *utterance) *replacement {
	r := d.hidden[u]
	for r != nil && d.inside[r] != nil {
		r = d.inside[r]
	}
	return r
}

// form says in a word how a message is shown.
func (w *pairWorld) form(d display, u *utterance) string {
	switch r := d.shows(u); {
	case r != nil:
		return "replaced by " + r.word
	case w.goneUtterance(u):
		return "forgotten"
	case d.masked[u]:
		return "masked " + d.word[u]
	}
	return d.word[u]
}

// pairWorld is a store, and what it should hold.
type pairWorld struct {
	*testing.T
	r      *rand.Rand
	s      *session.Store
	now    pairState
	past   []pairState
	ahead  []pairState
	all    []*utterance
	told   []string // words of updates
	gone   map[string]bool
	serial int
	forks  int
	log    []string
	tally  *tally
	agent  *agentLog
	claims []openClaim
	forgot uint64 // the newest operation that forgot something

	replaces map[*replacement]pairMark
	versions map[*utterance][]string // all words that a message has had
}

func newPairWorld(t *testing.T, seed uint64, seen *tally) *pairWorld {
	w := &pairWorld{
		T: t, r: rand.New(rand.NewPCG(seed, 23)), tally: seen, gone: map[string]bool{},
		now: pairState{lines: map[string]pairLine{}, hand: map[string]bool{}}, agent: &agentLog{},
		replaces: map[*replacement]pairMark{}, versions: map[*utterance][]string{},
	}
	dir := durabletest.TempDir(t)
	e := w.env(dir)
	_, _, err := repo.Init(e, dir)
	w.must(err)
	w.reopen(dir)
	return w
}

func (w *pairWorld) env(dir string) repo.Env {
	e := (&world{T: w.T, seed: 2}).env(dir)
	e.Overrides = append(e.Overrides, "window.graduate_at=6", "window.evict_at=9",
		"forest.max_cold_clusters=3")
	return e
}

func (w *pairWorld) reopen(dir string) {
	r, err := repo.Open(w.env(dir))
	w.must(err)
	w.Cleanup(func() { w.must(r.Close()) })
	w.s = session.New(r)
}

func (w *pairWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.fatal("%v", err)
	}
}

func (w *pairWorld) fatal(format string, args ...any) {
	w.Helper()
	w.Fatalf("%s\nafter:\n  %s", fmt.Sprintf(format, args...), strings.Join(w.log, "\n  "))
}

func (w *pairWorld) note(verb, format string, args ...any) {
	w.log = append(w.log, verb+" "+fmt.Sprintf(format, args...))
	w.tally.add(verb, 1)
}

// did makes the session what it is after a new operation.
func (w *pairWorld) did(next pairState) {
	w.past, w.ahead, w.now = append(w.past, w.now), nil, next
}

// fresh is a word that nobody has said. No word is part of another one.
func (w *pairWorld) fresh(kind string) string {
	w.serial++
	return fmt.Sprintf("%s%04dx", kind, w.serial)
}

func (w *pairWorld) utter() *utterance {
	u := &utterance{word: w.fresh("word")}
	w.versions[u] = []string{u.word}
	w.all = append(w.all, u)
	return u
}

// goneUtterance reports whether a message was forgotten: with one version go all.
func (w *pairWorld) goneUtterance(u *utterance) bool {
	return slices.ContainsFunc(w.versions[u], func(word string) bool { return w.gone[word] })
}

// branches are the names of the branches, in order.
func (w *pairWorld) branches() []string { return slices.Sorted(maps.Keys(w.now.lines)) }

func (w *pairWorld) branch() string {
	names := w.branches()
	return names[w.r.IntN(len(names))]
}

// anyBranch is a branch that is there, or the first one of a session that is not.
func (w *pairWorld) anyBranch() string {
	if len(w.now.lines) == 0 {
		return history.MainBranch
	}
	return w.branch()
}

func (w *pairWorld) view() *refs.View {
	v, err := w.s.Refs.Read()
	w.must(err)
	return v
}

func (w *pairWorld) tip(branch string) format.Value {
	return w.view().Get(history.RefName(pairSession, branch))
}
