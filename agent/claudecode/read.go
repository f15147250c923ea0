package claudecode

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/gemini-ctx/ctx/agent/transcript"
)

// Read reads a transcript, as transcript.Read says. A record that follows another one than what was said last is where the person went back: a rewind. What
// subagents said is in threads of its own.
func Read(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
	d := &reader{
		decoder: newDecoder(), stats: transcript.NewStats(), emit: emit, nodes: map[string]*node{}, alias: map[string]string{}, threads: map[string]*thread{},
		prompts: map[string]string{}, calls: map[string]bool{},
	}
	err := transcript.Lines(r, &d.stats, starts(), true, d.record)
	if n := len(d.before); n > 0 {
		d.stats.Passed["kept with what follows"] += n
	}
	if n := len(d.early); n > 0 {
		d.stats.Passed["of a session that is not there"] += n
	}
	return d.stats, err
}

type reader struct {
	*decoder
	stats   transcript.Stats
	emit    func(transcript.Step) error
	home    *transcript.Home
	nodes   map[string]*node
	alias   map[string]string   // records that say nothing: what they follow
	threads map[string]*thread  // by their names; "" is the main one
	before  []json.RawMessage   // records that wait for the message that they are kept with
	waiting int                 // their size
	now     string              // when the newest record says it was
	early   []transcript.Object // summaries that wait for the session's name
	prompts map[string]string   // what subagents were asked, and by which call
	calls   map[string]bool     // calls of the main thread and of others
}

// node is a record in the tree.
type node struct {
	parent  string
	thread  string
	digest  string
	origin  transcript.Origin
	answer  string // the id of the model's answer that it is a block of
	passive bool   // a note or a result: what comes after it need not follow it
}

// thread is a conversation as it is now.
type thread struct {
	order []string // ids, oldest first
	index map[string]int
	times int // how often messages have come back
}

// maxWaiting bounds what is kept with one message besides what was said.
const maxWaiting = 4 << 20

func (d *reader) record(o transcript.Object) error {
	kind, id := o.Text("type"), o.Text("uuid")
	hints := transcript.ReadHints(o[transcript.HintName])
	if hints != nil {
		if hints.Home != nil && d.home == nil {
			d.home = hints.Home
			d.stats.Home = d.home
		}
		if hints.Added || hints.Gone != "" {
			d.alias[id] = o.Text("parentUuid")
			d.stats.Pass("stand-in")
			return nil
		}
	}
	if when := o.Text("timestamp"); when != "" && !o.True("isSidechain") {
		d.now = when
	}
	if d.stats.Session == "" {
		d.stats.Session = o.Text("sessionId")
		if err := d.named(); err != nil {
			return err
		}
	}
	switch {
	case kind == "":
		d.stats.Skip(transcript.SkipUnknown, 1)
		return nil
	case kind == kindProgress:
		if id != "" {
			d.alias[id] = o.Text("parentUuid")
		}
		d.stats.Pass(kindProgress)
		return nil
	case kind == kindSummary && id == "":
		return d.summary(o)
	case id == "" || (kind == kindUser || kind == kindAssistant) && o.Object("message") == nil:
		d.wait(kind, o)
		return nil
	}
	return d.message(o, kind == kindUser || kind == kindAssistant)
}

// summary takes a record that says in a line what a session was about. It has no id, and no place in the tree, and may come before anything says which
// session it is.
func (d *reader) summary(o transcript.Object) error {
	if d.stats.Session == "" {
		if d.early = append(d.early, o); len(d.early) > maxEarly {
			d.stats.Skip(transcript.SkipUnknown, 1)
			d.early = d.early[1:]
		}
		return nil
	}
	o = withSummaryID(o, d.stats.Session)
	if o["timestamp"] == nil && d.now != "" {
		o.Set("timestamp", d.now)
	}
	if d.nodes[o.Text("uuid")] != nil {
		d.stats.Pass("repeated")
		return nil
	}
	m := d.decode(o, nil, nil)
	d.nodes[o.Text("uuid")] = &node{origin: m.Origin, passive: true}
	return d.emit(transcript.Step{Kind: transcript.KindMessage, Message: m, Session: d.stats.Session, Home: d.home})
}

// maxEarly is how many summaries may come before the session says its name.
const maxEarly = 4096

// named takes the summaries that came before the session said its name.
func (d *reader) named() error {
	if d.stats.Session == "" {
		return nil
	}
	early := d.early
	d.early = nil
	for _, o := range early {
		if err := d.summary(o); err != nil {
			return err
		}
	}
	return nil
}

func withSummaryID(o transcript.Object, session string) transcript.Object {
	o = o.Without("parentUuid", "sessionId")
	o.Set("uuid", summaryID+transcript.Derive(16, string(transcript.Canonical(transcript.Encode(o.Without(transcript.HintName, "timestamp"))))))
	o.Set("sessionId", session)
	return o
}

// wait keeps a record for the message that follows.
func (d *reader) wait(kind string, o transcript.Object) {
	if !isBookkeeping(kind) {
		d.stats.Kept[transcript.Fit(kind)]++
	}
	raw := transcript.Encode(o)
	if d.waiting+len(raw) > maxWaiting {
		d.stats.Skip(transcript.SkipLong, 1)
		return
	}
	d.before, d.waiting = append(d.before, raw), d.waiting+len(raw)
}

// message takes a record with an id to its place in the tree. chained says that it follows another one for a model, too.
func (d *reader) message(o transcript.Object, chained bool) error {
	id := o.Text("uuid")
	digest := transcript.Derive(16, string(transcript.Canonical(o["message"])), string(transcript.Canonical(o["content"])))
	known := d.nodes[id]
	if known != nil && known.digest == digest {
		d.stats.Pass("repeated")
		return nil
	}
	name := d.threadOf(o)
	th := d.threads[name]
	if th == nil {
		th = &thread{index: map[string]int{}}
		d.threads[name] = th
	}
	if known == nil {
		if err := d.follow(th, name, o, chained); err != nil {
			return err
		}
	}
	var before []json.RawMessage
	if name == "" {
		before, d.before, d.waiting = d.before, nil, 0
	}
	m := d.decode(o, d.parent(th, o, known != nil), before)
	if known == nil {
		known = &node{parent: d.resolve(o.Text("parentUuid")), thread: name}
		d.nodes[id] = known
		th.index[id] = len(th.order)
		th.order = append(th.order, id)
	}
	known.digest, known.origin, known.answer = digest, m.Origin, o.Object("message").Text("id")
	known.passive = m.Note || m.Role == transcript.RoleTool
	for _, c := range m.Calls {
		d.calls[c.ID] = true
	}
	d.spawns(name, o, &m)
	return d.emit(transcript.Step{Kind: transcript.KindMessage, Message: m, Session: d.stats.Session, Home: d.home, Thread: name})
}

// threadOf names the conversation that a record belongs to: by the subagent, or where it names none by the record with which the subagent began.
func (d *reader) threadOf(o transcript.Object) string {
	if !o.True("isSidechain") {
		return ""
	}
	if id := o.Text("agentId"); id != "" {
		return transcript.Fit(id)
	}
	if up := d.nodes[d.resolve(o.Text("parentUuid"))]; up != nil && up.thread != "" {
		return up.thread
	}
	return transcript.Fit(o.Text("uuid"))
}

// resolve returns the nearest record that says something, from id on upwards.
func (d *reader) resolve(id string) string {
	for range len(d.alias) + 1 {
		up, ok := d.alias[id]
		if !ok {
			return id
		}
		id = up
	}
	return ""
}

// parent is the member to keep that says what a record follows; nil where that is what was said last.
func (d *reader) parent(th *thread, o transcript.Object, again bool) json.RawMessage {
	if o["parentUuid"] == nil || again {
		return nil
	}
	up, last := d.resolve(o.Text("parentUuid")), ""
	if n := len(th.order); n > 0 {
		last = th.order[n-1]
	}
	if up == last {
		return nil
	}
	if up == "" {
		return json.RawMessage("null")
	}
	return transcript.Encode(up)
}

// follow takes messages out of a conversation, or back into it, so that a record can follow the one that it names.
func (d *reader) follow(th *thread, name string, o transcript.Object, chained bool) error {
	if !chained || len(th.order) == 0 || o["parentUuid"] == nil || o.True("isMeta") {
		return nil
	}
	up := d.resolve(o.Text("parentUuid"))
	if up == "" {
		if o.Text("type") == kindUser && !o.True("isCompactSummary") && !o.Has("logicalParentUuid") && !isResult(o) && !d.afterBoundary(th) {
			return d.rewind(th, name, o, 0)
		}
		return nil
	}
	if at, ok := th.index[up]; ok {
		if d.benign(th.order[at+1:], o) {
			return nil
		}
		return d.rewind(th, name, o, at+1)
	}
	if d.nodes[up] == nil {
		d.stats.Passed[transcript.SkipOrphan]++
		return nil
	}
	return d.back(th, name, o, up)
}

// afterBoundary reports whether the conversation ends with notes: of a compaction, or of how the session began.
func (d *reader) afterBoundary(th *thread) bool {
	last := d.nodes[th.order[len(th.order)-1]]
	return last.passive
}

func isResult(o transcript.Object) bool {
	list, _ := o.Object("message").Array("content")
	return slices.ContainsFunc(list, func(raw json.RawMessage) bool { return object(raw).Text("type") == "tool_result" })
}

// benign reports whether a record may follow an earlier one although others were said after that: results of calls made at once, blocks of one answer.
func (d *reader) benign(after []string, o transcript.Object) bool {
	list, _ := o.Object("message").Array("content")
	for _, raw := range list {
		if b := object(raw); b.Text("type") == "tool_result" && d.calls[b.Text("tool_use_id")] {
			return true
		}
	}
	answer := o.Object("message").Text("id")
	for _, id := range after {
		n := d.nodes[id]
		if !n.passive && (answer == "" || n.answer != answer) {
			return false
		}
	}
	return true
}

// rewind has everything from at on leave.
func (d *reader) rewind(th *thread, name string, o transcript.Object, at int) error {
	if at >= len(th.order) {
		return nil
	}
	when, _ := transcript.ParseTime(o.Text("timestamp"))
	st := transcript.Step{
		Kind: transcript.KindRewind, Session: d.stats.Session, Home: d.home, Thread: name, RewindTo: d.nodes[th.order[at]].origin,
		Message: transcript.Message{Time: when, Origin: transcript.Origin{
			Agent: Agent, Session: transcript.Fit(o.Text("sessionId")), Message: transcript.Fit("rewind:" + o.Text("uuid")),
		}},
	}
	for _, id := range th.order[at:] {
		delete(th.index, id)
	}
	th.order = th.order[:at]
	return d.emit(st)
}

// back returns to a place that had left the conversation.
func (d *reader) back(th *thread, name string, o transcript.Object, up string) error {
	var path []string
	seen := map[string]bool{}
	at := -1
	for id := up; id != "" && !seen[id]; id = d.nodes[id].parent {
		seen[id] = true
		if i, ok := th.index[id]; ok {
			at = i
			break
		}
		if d.nodes[id] == nil {
			break
		}
		path = append(path, id)
		if d.nodes[id].thread != name {
			return nil // it follows something of another conversation
		}
		if next := d.nodes[id].parent; d.nodes[next] == nil {
			break
		}
	}
	slices.Reverse(path)
	if err := d.rewind(th, name, o, at+1); err != nil {
		return err
	}
	th.times++
	st := transcript.Step{Kind: transcript.KindReturn, Session: d.stats.Session, Home: d.home, Thread: name}
	for _, id := range path {
		n := d.nodes[id]
		as := n.origin
		as.Message = transcript.Fit(id + "#" + o.Text("uuid"))
		if as.Agent != Agent {
			as = transcript.Origin{Agent: Agent, Session: transcript.Fit(o.Text("sessionId")), Message: as.Message}
		}
		st.Back = append(st.Back, transcript.Again{What: n.origin, As: as})
		n.origin = as
		th.index[id] = len(th.order)
		th.order = append(th.order, id)
	}
	return d.emit(st)
}

// spawns notes which call began which subagent.
func (d *reader) spawns(name string, o transcript.Object, m *transcript.Message) {
	if id := o.Object("toolUseResult").Text("agentId"); id != "" && len(m.Results) > 0 {
		d.spawn(m.Results[0], transcript.Fit(id))
	}
	for _, p := range transcript.PartsOf(m) {
		if p.Kind != transcript.PartCall {
			continue
		}
		args, _ := transcript.ParseObject(p.Args)
		if prompt := args.Text("prompt"); prompt != "" && (p.Tool == "Task" || p.Tool == "Agent") {
			d.prompts[transcript.Derive(32, prompt)] = transcript.Fit(p.ID)
		}
	}
	if name == "" || len(d.threads[name].order) != 1 {
		return
	}
	words := m.Text
	for _, p := range transcript.PartsOf(m) {
		if p.Kind == transcript.PartText && words == "" {
			words = p.Text
		}
	}
	if call := d.prompts[transcript.Derive(32, words)]; call != "" {
		d.spawn(call, name)
	}
}

func (d *reader) spawn(call, thread string) {
	if !slices.ContainsFunc(d.stats.Spawned, func(s transcript.Spawn) bool { return s.Thread == thread }) {
		d.stats.Spawned = append(d.stats.Spawned, transcript.Spawn{Call: call, Thread: thread})
	}
}
