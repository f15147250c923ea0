package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// The features that meet in pairs, and what they do to a store.
var pairFeatures = map[string]func(*pairWorld){
	"rewind":  (*pairWorld).rewind,
	"mask":    (*pairWorld).mask,
	"join":    (*pairWorld).forkOrJoin,
	"replace": (*pairWorld).replace,
	"epoch":   (*pairWorld).observe,
	"forget":  (*pairWorld).forget,
	"import":  (*pairWorld).importOn,
}

// always is what happens in every history between the features of the pair.
func (w *pairWorld) always() {
	switch n := w.r.IntN(20); {
	case n < 9:
		w.say()
	case n < 12:
		w.runTool()
	case n < 15:
		w.turn("undo", w.s.Conversation.Undo, &w.past, &w.ahead)
	case n < 17:
		w.turn("redo", w.s.Conversation.Redo, &w.ahead, &w.past)
	case n == 17:
		w.note("compact", "")
		_, err := w.s.Compaction.Compact(bg,
			compaction.CompactOptions{Branches: []history.BranchName{{Session: pairSession,
				Branch: w.branch()}}})
		w.must(err)
	case n == 18:
		w.note("gc", "")
		_, err := gc.Run(bg, w.s.Opened, gc.Options{Grace: -1})
		w.must(err)
	default:
		w.note("new process", "")
		w.must(os.RemoveAll(filepath.Join(w.s.Dir, "cache")))
		w.reopen(w.s.Dir)
	}
}

// append appends messages to a branch.
func (w *pairWorld) append(branch string, list []*utterance, batch []conversation.Message) {
	for i := range batch {
		batch[i].Invocation = "run"
	}
	done, _, err := w.s.Conversation.Append(bg, pairSession, branch, batch,
		conversation.AppendOptions{})
	w.must(err)
	for i, u := range list {
		u.id = done[i].ID
	}
	w.did(w.now.with(branch, w.now.lines[branch].say(list...)))
}

func (w *pairWorld) say() { w.sayOn(w.anyBranch()) }

// sayOn says a few things on a branch.
func (w *pairWorld) sayOn(branch string) {
	var list []*utterance
	var batch []conversation.Message
	for range 1 + w.r.IntN(3) {
		u := w.utter()
		list = append(list, u)
		text := fmt.Sprintf(subjects[w.r.IntN(len(subjects))], w.serial) + " " + u.word
		batch = append(batch,
			conversation.Message{Role: []string{"user", "model"}[w.r.IntN(2)], Text: text})
	}
	w.note("say", "%d from %s on %s", len(list), list[0].word, branch)
	w.append(branch, list, batch)
}

func (w *pairWorld) runTool() { w.runToolOn(w.anyBranch()) }

// runToolOn has the model call a tool, which answers at once and at length.
func (w *pairWorld) runToolOn(branch string) {
	call, result := w.utter(), w.utter()
	result.tool, result.call = true, call
	var out strings.Builder
	for i := range 60 {
		fmt.Fprintf(&out, "line %d of what was printed\n", i)
	}
	id := fmt.Sprint("call-", w.serial)
	list := []conversation.Message{
		{Role: "model",
			Parts: fmt.Appendf(nil, `[{"functionCall":{"id":%q,"name":"cat","args":{"file":%q}}}]`,
				id, call.word)},
		{Role: "user",
			Parts: fmt.Appendf(nil,
				`[{"functionResponse":{"id":%q,"name":"cat","response":{"output":%q}}}]`,
				id, result.word+" "+out.String())},
	}
	w.note("tool", "%s %s on %s", call.word, result.word, branch)
	w.append(branch, []*utterance{call, result}, list)
}

func (w *pairWorld) rewind() {
	if len(w.now.lines) == 0 {
		return
	}
	branch := w.branch()
	line := w.now.lines[branch]
	if len(line.said) == line.born {
		return
	}
	i := max(line.born, len(line.said)-1-w.r.IntN(6))
	if line.fork > 0 && line.said[i].call != nil && i-1 < line.born {
		return
	}
	w.rewindTo(branch, i)
}

// rewindTo takes message i of a branch and what follows out of it.
func (w *pairWorld) rewindTo(branch string, i int) {
	line := w.now.lines[branch]
	w.note("rewind", "%s to before %s", branch, line.said[i].word)
	_, err := w.s.Conversation.Rewind(bg, pairSession, branch, line.said[i].id,
		conversation.RewindOptions{})
	w.must(err)
	if line.said[i].call != nil {
		i-- // the call goes with its result
	}
	next := w.now.with(branch, line.cut(i))
	if branch == history.MainBranch {
		for _, u := range line.said[i:] {
			if u.record != "" {
				next.hand[u.record] = true
			}
		}
		for _, m := range line.marks {
			if m.kind == "amend" && m.at > i {
				next.hand[m.word] = true
			}
		}
	}
	w.did(next)
}

func (w *pairWorld) turn(
	verb string, do func(ctx, string) (conversation.Undone, error), from, to *[]pairState,
) {
	w.note(verb, "")
	_, err := do(bg, pairSession)
	switch n := len(*from); {
	case w.view().Number == w.forgot:
		if !errors.Is(err, history.ErrRefused) {
			w.fatal("%s right after forget: %v", verb, err)
		}
	case n == 0:
		if err == nil {
			w.fatal("there was nothing to %s", verb)
		}
	default:
		w.must(err)
		*to, w.now, *from = append(*to, w.now), (*from)[n-1], (*from)[:n-1]
	}
}

func (w *pairWorld) mask() {
	if len(w.now.lines) == 0 {
		return
	}
	branch := w.branch()
	line := w.now.lines[branch]
	d := w.display(line)
	var outputs []*utterance
	for _, u := range line.said {
		if u.tool && d.shows(u) == nil && !w.goneUtterance(u) {
			outputs = append(outputs, u)
		}
	}
	if len(outputs) == 0 {
		w.runTool()
		return
	}
	u := outputs[w.r.IntN(len(outputs))]
	w.note("mask", "%s on %s", d.word[u], branch)
	done, err := w.s.Edits.ApplyMasks(bg, pairSession, branch,
		[]edits.MaskTarget{{Entry: u.id, Part: format.WholeEntry}})
	w.must(err)
	if wrote := !done.Entry.IsZero(); wrote == d.masked[u] {
		w.fatal("%s was masked: %v, and a mask was written: %v", u.word, d.masked[u], wrote)
	}
	if !d.masked[u] {
		w.did(
			w.now.with(branch,
				line.mark(pairMark{kind: "mask", id: done.Entry, of: []*utterance{u}})))
	}
}

// forkOrJoin joins a child, or starts one.
func (w *pairWorld) forkOrJoin() {
	main, ok := w.now.lines[history.MainBranch]
	if !ok {
		return
	}
	var children []string
	for _, name := range w.branches() {
		if w.now.lines[name].fork > 0 {
			children = append(children, name)
		}
	}
	if len(children) == 0 || len(children) < 3 && w.r.IntN(2) == 0 {
		w.forks++
		name := fmt.Sprint("child", w.forks)
		w.note("fork", "%s", name)
		_, err := w.s.Conversation.Fork(bg, pairSession, history.MainBranch, []string{name},
			conversation.ForkOptions{Invocation: "run"})
		w.must(err)
		main = main.mark(pairMark{kind: "fork", fork: w.forks})
		next := w.now.with(history.MainBranch, main)
		main.born, main.fork = len(main.said), w.forks
		next.lines[name] = main
		w.did(next)
		return
	}
	w.joinChild(children[w.r.IntN(len(children))])
}

// joinChild joins a child to main. A child whose fork main has no more is refused.
func (w *pairWorld) joinChild(name string) {
	main, child := w.now.lines[history.MainBranch], w.now.lines[name]
	w.note("join", "%s", name)
	_, err := w.s.Conversation.Join(bg, pairSession, history.MainBranch, []string{name},
		conversation.JoinOptions{})
	if !main.hasFork(child.fork) {
		if !errors.Is(err, history.ErrStale) {
			w.fatal("%s has no parent any more, and a join says %v", name, err)
		}
		return
	}
	w.must(err)
	next := w.now.with(history.MainBranch,
		main.say(child.said[child.born:]...).mark(pairMark{kind: "join"}))
	delete(next.lines, name)
	w.did(next)
}

// openClaim is a claim that a worker has not answered yet.
type openClaim struct {
	id     string
	branch string
	of     []*utterance
	inner  []*replacement
	forms  []string // how each was shown
}

// replace takes a claim, or answers one.
func (w *pairWorld) replace() {
	if len(w.now.lines) == 0 {
		return
	}
	if len(w.claims) > 0 && w.r.IntN(3) > 0 {
		i := w.r.IntN(len(w.claims))
		w.answer(w.claims[i])
		w.claims = slices.Delete(w.claims, i, i+1)
		return
	}
	branch := w.branch()
	line := w.now.lines[branch]
	d := w.display(line)
	c := openClaim{branch: branch}
	var targets []format.Target
	for i := max(0, len(line.said)-6); i < len(line.said); i++ {
		u := line.said[i]
		if w.r.IntN(2) == 0 || w.goneUtterance(u) {
			continue
		}
		if r := d.shows(u); r != nil {
			if slices.Contains(c.inner, r) {
				continue
			}
			c.inner = append(c.inner, r)
			targets = append(targets, format.Target{Entry: r.id, Part: format.WholeEntry})
			continue
		}
		c.of = append(c.of, u)
		targets = append(targets, format.Target{Entry: u.id, Part: format.WholeEntry})
	}
	if len(targets) == 0 {
		return
	}
	v, err := w.s.Refs.Read()
	w.must(err)
	list, err := w.s.Edits.BeginReplace(v, pairSession, branch, targets, nil)
	if errors.Is(err, history.ErrRefused) {
		w.tally.add("claim parts a call from its result", 1)
		return
	}
	w.must(err)
	c.id, c.forms = list[0].ID, w.forms(d, c)
	w.note("claim", "%v on %s", c.forms, branch)
	w.claims = append(w.claims, c)
	if w.r.IntN(4) == 0 {
		w.answer(c)
		w.claims = w.claims[:len(w.claims)-1]
	}
}

// forms says how the targets of a claim are shown.
func (w *pairWorld) forms(d display, c openClaim) (list []string) {
	for _, u := range c.of {
		list = append(list, w.form(d, u))
	}
	for _, r := range c.inner {
		form := "in force"
		if d.inside[r] != nil {
			form = "replaced by " + d.inside[r].word
		} else if !slices.Contains(w.inForce(d), r) {
			form = "void"
		}
		list = append(list, r.word+" "+form)
	}
	return list
}

// inForce are the replacements that are shown.
func (w *pairWorld) inForce(d display) (list []*replacement) {
	for u := range d.hidden {
		for r := d.hidden[u]; r != nil; r = d.inside[r] {
			list = append(list, r)
		}
	}
	return list
}

func (w *pairWorld) answer(c openClaim) {
	r := &replacement{word: w.fresh("text")}
	line, there := w.now.lines[c.branch]
	good := there &&
		!slices.ContainsFunc(c.of,
			func(u *utterance) bool { return !line.has(u) || w.goneUtterance(u) })
	if good {
		good = slices.Equal(w.forms(w.display(line), c), c.forms)
	}
	w.note("answer", "%s for %v on %s", r.word, c.forms, c.branch)
	done, err := w.s.Edits.CommitReplace(bg,
		[]summaries.Answer{{Claim: c.id,
			Response: summarize.Response{Text: "in short: " + r.word, Summarizer: "worker",
				Version: "1"}}},
		edits.ReplaceOptions{})
	if !good {
		if !errors.Is(err, history.ErrStale) {
			w.fatal("the answer is late, and what comes of it is %+v, %v", done, err)
		}
		w.tally.add("answer that is late", 1)
		return
	}
	w.must(err)
	r.id = done.Entries[0]
	m := pairMark{kind: "replace", id: r.id, word: r.word, of: c.of, inner: c.inner, replace: r}
	w.replaces[r] = m
	w.did(w.now.with(c.branch, line.mark(m)))
}

func (w *pairWorld) observe() { w.observeOn(w.anyBranch()) }

// observeOn tells the model of a branch something that it was not told.
func (w *pairWorld) observeOn(branch string) {
	word := w.fresh("told")
	w.note("observe", "%s on %s", word, branch)
	set, err := epoch.Read(
		fmt.Appendf(nil, `{"key":"k/a","value":%q,"first":"a is %s","changed":"a is %s"}`,
			word, word, word))
	w.must(err)
	_, err = w.s.Epochs.Observe(bg, pairSession, branch, set, epochs.ObserveOptions{})
	w.must(err)
	w.told = append(w.told, word)
	w.did(w.now.with(branch, w.now.lines[branch].mark(pairMark{kind: "told", word: word})))
}

// forget takes out a message by its id or by its word, a replacement, or something that was told.
func (w *pairWorld) forget() {
	switch n := w.r.IntN(6); {
	case n == 0 && len(w.told) > 0:
		w.forgetText(w.told[w.r.IntN(len(w.told))])
	case n == 1 && len(w.replaces) > 0:
		newest := ""
		for _, m := range w.replaces {
			newest = max(newest, m.word)
		}
		w.forgetText(newest)
	case len(w.all) > 0:
		w.forgetUtterance(w.all[max(0, len(w.all)-1-w.r.IntN(12))], w.r.IntN(2) == 0)
	}
}

// forgetText takes out whatever has a word.
func (w *pairWorld) forgetText(word string) { w.forgetAs(forget.Options{Text: word}, word) }

// forgetUtterance takes out a message, by one of its words or by its id.
func (w *pairWorld) forgetUtterance(u *utterance, byText bool) {
	words := w.versions[u]
	if byText {
		w.forgetAs(forget.Options{Text: words[w.r.IntN(len(words))]}, words...)
	} else if !u.id.IsZero() {
		w.forgetAs(forget.Options{IDs: []format.ID{u.id}}, words...)
	}
}

func (w *pairWorld) forgetAs(o forget.Options, words ...string) {
	if w.gone[words[0]] {
		return
	}
	w.note("forget", "%q, and %v goes", o.Text, words)
	before := w.view().Number
	_, err := forget.Run(bg, w.s.Opened, o)
	w.must(err)
	if now := w.view().Number; now != before {
		w.forgot = now
	}
	for _, word := range words {
		w.gone[word] = true
	}
}

// agentLog is the transcript that an agent writes: a tree of records.
type agentLog struct {
	records []agentRecord
	chain   []int // the records of the conversation as it is now
}

type agentRecord struct {
	id     string
	parent string
	role   string
	u      *utterance
	word   string // its newest
}

// importOn has the agent go on with its conversation, now and then from an earlier record or with a
// record that says something else, and imports the transcript.
func (w *pairWorld) importOn() {
	n := len(w.agent.chain)
	switch {
	case n > 1 && w.r.IntN(3) == 0:
		w.agentGoesBack(1 + w.r.IntN(min(3, n-1)))
	case n > 0 && w.r.IntN(4) == 0:
		w.agentEdits(1 + w.r.IntN(min(3, n)))
	}
	w.agentSays(1 + w.r.IntN(3))
	w.importNow()
}

// agentGoesBack has the agent drop the newest n records of its conversation.
func (w *pairWorld) agentGoesBack(n int) {
	w.note("agent goes back", "%d", n)
	w.agent.chain = slices.Clone(w.agent.chain[:len(w.agent.chain)-n])
}

// agentEdits has the nth newest record say something else.
func (w *pairWorld) agentEdits(n int) {
	r := &w.agent.records[w.agent.chain[len(w.agent.chain)-n]]
	before := r.word
	r.word = w.fresh("word")
	w.note("agent edits", "%s to %s", before, r.word)
	w.versions[r.u] = append(w.versions[r.u], r.word)
	if w.goneUtterance(r.u) {
		w.gone[r.word] = true
	}
}

// agentSays has the agent's conversation go on by n records.
func (w *pairWorld) agentSays(n int) {
	a := w.agent
	for range n {
		u := w.utter()
		u.record = fmt.Sprintf("rec-%04d", len(a.records))
		parent := ""
		if n := len(a.chain); n > 0 {
			parent = a.records[a.chain[n-1]].id
		}
		a.chain = append(a.chain, len(a.records))
		a.records = append(a.records,
			agentRecord{u.record, parent, []string{"user", "assistant"}[w.r.IntN(2)], u, u.word})
	}
}

// importNow imports the transcript as it is.
func (w *pairWorld) importNow() {
	w.note("import", "up to %s", w.agent.records[len(w.agent.records)-1].word)
	w.importAll()
	w.imported()
}

func (w *pairWorld) importAll() importer.ImportedTranscript {
	var b bytes.Buffer
	for i, r := range w.agent.records {
		text := r.word + " is what was said"
		message := map[string]any{"role": r.role,
			"content": []any{map[string]any{"type": "text", "text": text}}}
		record := map[string]any{"uuid": r.id, "parentUuid": nil, "type": r.role,
			"sessionId": pairSession, "message": message,
			"timestamp": fmt.Sprintf("2026-03-01T09:%02d:%02d.000Z", i/60%60, i%60)}
		if r.parent != "" {
			record["parentUuid"] = r.parent
		}
		w.must(json.NewEncoder(&b).Encode(record))
	}
	read := func(emit func(transcript.Step) error) (transcript.Stats, error) {
		return claudecode.ReadAs("", &b, emit)
	}
	done, err := w.s.Importer.ImportTranscript(bg, read, pairSession)
	w.must(err)
	return done
}

// imported works out what the session is after an import: what the transcript left leaves the
// branch, with all that was said after it. What a person rewound in the store stays away.
func (w *pairWorld) imported() {
	main := w.now.lines[history.MainBranch]
	next := w.now.clone()
	newest := map[*utterance]string{}
	for _, i := range w.agent.chain {
		newest[w.agent.records[i].u] = w.agent.records[i].word
	}
	for i, u := range main.said {
		if u.record != "" && newest[u] == "" {
			main = main.cut(i)
			break
		}
	}
	for _, i := range w.agent.chain {
		r := w.agent.records[i]
		if main.has(r.u) && w.display(main).word[r.u] != r.word && !w.goneUtterance(r.u) &&
			!next.hand[r.word] {
			main = main.mark(pairMark{kind: "amend", of: []*utterance{r.u}, word: r.word})
		}
		if !main.has(r.u) && !next.hand[r.id] {
			main = main.say(r.u)
			if r.word != r.u.word {
				// It is said as it is now
				main = main.mark(pairMark{kind: "amend", of: []*utterance{r.u}, word: r.word})
			}
		}
	}
	next.lines[history.MainBranch] = main
	w.did(next)
	list, err := w.s.Recall.Log(w.tip(history.MainBranch).ID, recall.LogOptions{})
	w.must(err)
	for _, shown := range list {
		for _, u := range main.said {
			if src := shown.Entry.Source; src != nil && u.record != "" && src.Message == u.record {
				u.id = shown.ID
			}
		}
	}
}
