package claudecode

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// class says what is done with a record.
type class byte

const (
	classNone    class = iota // not a record
	classAlias                // says nothing; records that follow it follow its parent
	classWait                 // kept with the message after it
	classBeside               // the same; records that follow it follow its parent
	classSaid                 // a message or a note with an id
	classSummary              // a note without an id
	classQueued               // a prompt that was typed while the agent worked: see plan.queue
)

// classOf classifies a record by its own members.
func classOf(o jsonvalue.Object, hints *transcript.Hints) class {
	kind, id := o.Text("type"), o.Text("uuid")
	switch {
	case hints != nil && (hints.Added || hints.Gone != ""), kind == kindProgress, isCopyKind(o):
		return classAlias
	case kind == "":
		return classNone
	case kind == kindSummary && id == "":
		return classSummary
	case kind == kindQueue && id == "" && o.Text("operation") == "enqueue" && o.Has("content"),
		id == "" && isPromptAttachment(o):
		return classQueued
	case id == "" || (kind == kindUser || kind == kindAssistant) && !isObject(o["message"]):
		return classWait
	case hints == nil && saysNothing(o):
		return classBeside
	}
	return classSaid
}

// saysNothing reports whether a record with an id is of the client alone, and has no words: how
// long a turn took, which hooks ran, which tools there are.
func saysNothing(o jsonvalue.Object) bool {
	switch {
	case o.True("isSidechain") || o.Has("message") || o.Has("logicalParentUuid"):
		return false
	case o.Text("type") == kindAttachment:
		return isBookkeeping(o.Object(kindAttachment).Text("type"))
	}
	return o.Text("type") == kindSystem && o.Text("content") == "" && o.Text("summary") == ""
}

// isObject reports whether a member of a record is an object.
func isObject(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }

// none is the index of no record.
const none = int32(-1)

// entry is what the plan keeps of a record.
type entry struct {
	class   class
	id, up  string // its name in the plan, and its parentUuid
	kind    string
	agent   string   // of a subagent
	of      string   // the session that it is of
	version string   // of the program that wrote it; "" if no record has said so yet
	answer  string   // the id of the model's answer that it is a block of
	calls   []string // that it makes
	results []string // the calls that it answers

	sidechain bool
	chained   bool  // for the model, too, it follows the record that it names
	opens     bool  // if it has no parent, it begins the conversation anew
	passive   bool  // the entry that comes after it need not follow it
	compacts  bool  // the client begins its context anew with it
	unnamed   bool  // it has no uuid: no record follows it
	again     bool  // a record with this id came before
	twice     bool  // a record with this id comes again
	until     int32 // of an entry on a line that was left: the last record with its id; else none
	sent      bool  // a queued prompt that was said to the model
	timed     bool  // it has a time that can be read
	line      int64 // where its line ends

	position
}

// plan is the order in which the messages of a transcript are said. The records make a tree; its
// lines come one after the other, and the line that the transcript is on at its end comes last.
type plan struct {
	list     []entry // a record each, in the order of the bytes
	index    map[string]int32
	heard    map[uint64]struct{} // digests of what messages say: see copies
	words    map[string]int32    // by record, the entry of the words that stand beside its results
	threads  map[string]*thread
	calls    map[string]bool  // that were made
	answers  map[string]int32 // by call, the entry with its result
	ends     []int32          // by path: its last entry
	orphans  int              // entries whose parent is not in the transcript
	queue    []queued
	waiting  []int              // of queue, those that have not left it
	newestOf string             // the session that a record named last
	newest   string             // the version that a record named last
	farthest int32              // the newest record that an answer of the model begins after
	answered string             // the id of the newest answer; its blocks are records of their own
	texts    map[string][]int32 // the entries of prompts, by text, to find those of the queue
	session  string             // of the records, the newest
	first    string             // the first timestamp
	// unsettled says that later records may say more of a prompt of the queue.
	unsettled bool
	seen      transcript.Stats // of the first reading
}

func newPlan() *plan {
	return &plan{
		heard: map[uint64]struct{}{},
		index: map[string]int32{}, words: map[string]int32{}, threads: map[string]*thread{},
		calls:   map[string]bool{},
		answers: map[string]int32{}, texts: map[string][]int32{},
		seen: transcript.NewStats(),
	}
}

// records adds the records that the next record of the file stands for.
func (p *plan) records(list []jsonvalue.Object, name string) {
	for n, o := range list {
		p.record(o, name)
		if last := int32(len(p.list)) - 1; n > 0 && !p.list[last].again {
			p.words[p.list[last].up] = last
		}
	}
}

// record adds the next record. name is the session that the file is named for.
func (p *plan) record(o jsonvalue.Object, name string) {
	hints := transcript.ReadHints(o[transcript.HintName])
	p.seen.ReadHome(hints)
	e := entry{class: classOf(o, hints), id: o.Text("uuid"), up: o.Text("parentUuid"),
		kind: o.Text("type"), sidechain: o.True("isSidechain")}
	if s := o.Text("sessionId"); s != "" &&
		(p.session == "" || p.session != name && e.class == classSaid) {
		p.session = s
	}
	if e.of = o.Text("sessionId"); e.of == p.newestOf {
		e.of = p.newestOf // one string for all
	}
	p.newestOf = e.of
	if when := o.Text("timestamp"); p.first == "" && when != "" && !e.sidechain {
		p.first = when
	}
	if v := o.Text("version"); v != "" && v != p.newest {
		p.newest = v
	}
	e.version = p.newest
	e.timed = timed(o)
	e.until = none
	e.position = position{group: none, pred: none, jump: none, active: none, run: none, named: none,
		cut: none, child: none, next: none, last: none}
	switch e.class {
	case classSaid:
		p.said(o, hints, &e)
	case classSummary, classQueued:
		e.id, e.unnamed, e.passive = unnamedID(o), true, true
		e.up = ""
	case classWait:
		p.waits(o)
	}
	i := int32(len(p.list))
	switch {
	case e.class == classQueued && e.kind == kindAttachment: // some versions give it no id
		e.sent = true
		p.prompt(o, nil, &e)
	case e.class == classQueued:
		e.sent = hints != nil // an export says so
		p.waiting = append(p.waiting, len(p.queue))
		p.queue = append(p.queue, queued{at: i, text: strings.TrimSpace(promptText(o["content"]))})
	}
	p.list = append(p.list, e)
	if e.id == "" || e.class == classNone || e.class == classWait {
		return
	}
	if first, known := p.index[e.id]; known {
		p.list[i].again, p.list[first].twice = true, true
		if e.class == classSaid {
			p.list[first].until = i
		}
		return
	}
	p.index[e.id] = i
}

// said reads the members of a record with an id that its position depends on.
func (p *plan) said(o jsonvalue.Object, hints *transcript.Hints, e *entry) {
	inner := o.Object("message")
	chat := e.kind == kindUser || e.kind == kindAssistant
	list, _ := inner.Array("content")
	if text, ok := jsonvalue.Text(inner["content"]); ok {
		p.hear(text)
	}
	for _, raw := range list {
		b := jsonvalue.AsObject(raw)
		p.hear(b.Text("text"))
		p.hear(b.Text("content"))
		switch b.Text("type") {
		case "tool_use":
			e.calls = append(e.calls, b.Text("id"))
		case "tool_result":
			if id := b.Text("tool_use_id"); id != "" {
				e.results = append(e.results, id)
			}
		}
	}
	e.agent, e.answer = transcript.Fit(o.Text("agentId")), inner.Text("id")
	if e.answer == "" && e.kind == kindAssistant {
		e.answer = o.Text("requestId")
	}
	note := !chat || o.True("isMeta") || o.True("isCompactSummary") ||
		o.True("isApiErrorMessage") || inner.Text("model") == "<synthetic>"
	role := ""
	if hints != nil {
		if hints.Note != nil {
			note = *hints.Note
		}
		if hints.Role != nil {
			role = *hints.Role
		}
	}
	e.passive = note || len(e.results) > 0 && e.kind == kindUser || role == transcript.RoleTool
	e.compacts = o.Text("subtype") == compactBoundary || o.True("isCompactSummary")
	if e.kind == kindUser && isOfCommand(promptText(inner["content"])) {
		e.passive = true
	}
	e.chained = chat && o["parentUuid"] != nil && !o.True("isMeta")
	e.opens = e.kind == kindUser && !o.True("isCompactSummary") && !o.Has("logicalParentUuid") &&
		len(e.results) == 0 &&
		!isPlan(o, promptText(inner["content"])) // what led to the plan was said
	if !e.sidechain {
		p.prompt(o, inner, e)
	}
	if e.kind == kindAssistant && !e.sidechain {
		up, ok := p.index[e.up]
		if ok && (e.answer == "" || e.answer != p.answered) {
			p.farthest = max(p.farthest, up)
		}
		p.answered = e.answer
	}
}

// thread is a conversation: the main one, or a subagent's.
type thread struct {
	name  string
	tip   int32 // the end of the line that the transcript is on
	first int32 // of the entries that follow nothing, the first and the last
	last  int32
	order []int32 // the entries as they are said
}

// settle finds the position of every record, and the order in which they are said.
func (p *plan) settle() {
	p.settleQueue()
	up := p.resolveAll()
	waiting := map[int32][]int32{}
	placed := make([]bool, len(p.list))
	put := func(i int32) {
		for todo := []int32{i}; len(todo) > 0; {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if placed[at] {
				continue
			}
			p.put(at, up[at])
			placed[at] = true
			next := waiting[at]
			delete(waiting, at)
			slices.Reverse(next)
			todo = append(todo, next...)
		}
	}
	var waited []int32
	for i := range int32(len(p.list)) {
		if !p.list[i].stands(p.session != "") {
			continue
		}
		if u := up[i]; u >= 0 && !placed[u] {
			waiting[u] = append(waiting[u], i)
			waited = append(waited, i)
			continue
		}
		put(i)
	}
	for _, i := range waited {
		if !placed[i] { // its parents lead back to it
			up[i] = orphan
			put(i)
		}
	}
	for _, th := range p.threads {
		p.walk(th)
	}
}

// stands reports whether an entry has a position in a conversation. named says that the transcript
// names a session, of which a record without an id takes its name.
func (e *entry) stands(named bool) bool {
	switch e.class {
	case classSaid, classSummary:
		return !e.again && (e.id != "" && !e.unnamed || named)
	case classQueued:
		return e.sent && !e.again && named
	}
	return false
}

// The values of resolveAll for an entry that follows no other one.
const (
	root   = int32(-1) // it has no parent
	orphan = int32(-2) // its parent is not in the transcript
)

// resolveAll returns for each entry the nearest one upwards that says something: an index, root or
// orphan.
func (p *plan) resolveAll() []int32 {
	up := make([]int32, len(p.list))
	direct := func(i int32) int32 {
		e := &p.list[i]
		if e.up == "" {
			return root
		}
		if u, ok := p.words[e.up]; ok && u != i {
			return u
		}
		if u, ok := p.index[e.up]; ok {
			return u
		}
		return orphan
	}
	const unknown, busy = int32(-3), int32(-4)
	// Of an alias: the value for entries that follow it
	beyond := slices.Repeat([]int32{unknown}, len(p.list))
	for i := range int32(len(p.list)) {
		var path []int32
		u := direct(i)
		for u >= 0 && !p.list[u].stands(p.session != "") {
			if beyond[u] == busy {
				u = root // a ring
				break
			}
			if beyond[u] != unknown {
				u = beyond[u]
				break
			}
			beyond[u] = busy
			path = append(path, u)
			u = direct(u)
		}
		for _, a := range path {
			beyond[a] = u
		}
		up[i] = u
		if u == i {
			up[i] = orphan
		}
	}
	return up
}

// kept returns the parentUuid to keep with an entry; nil if it is that of the message before it.
func (p *plan) kept(i int32) json.RawMessage {
	e := &p.list[i]
	up, before := "", ""
	if e.named != none {
		before = p.list[e.named].id
	}
	switch {
	case e.parent >= 0:
		up = p.list[e.parent].id
	case e.parent == orphan:
		up = p.missing(e.up)
	}
	switch up {
	case before:
		return nil
	case "":
		return json.RawMessage("null")
	}
	return jsonvalue.Encode(up)
}

// maxAliases bounds the search for a record that is missing.
const maxAliases = 1024

// missing returns the record that an orphan follows, past the aliases.
func (p *plan) missing(id string) string {
	for range maxAliases {
		at, ok := p.index[id]
		if !ok || p.list[at].class != classAlias && p.list[at].class != classBeside {
			return id
		}
		id = p.list[at].up
	}
	return id
}
