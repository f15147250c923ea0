package codex

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Read reads a rollout, as transcript.Read says.
func Read(r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
	d := newReader(emit)
	err := transcript.Lines(r, &d.stats, starts(), true, d.record)
	d.close()
	return d.stats, err
}

// close counts what waits for a record that is not there yet.
func (d *reader) close() {
	if d.event != nil {
		d.before.Add(d.event, &d.stats)
	}
	d.before.End(&d.stats)
}

func newReader(emit func(transcript.Step) error) *reader {
	return &reader{decoder: newDecoder(), stats: transcript.NewStats(), emit: emit,
		seen: map[string]string{}, open: map[string]string{}}
}

type reader struct {
	*decoder
	stats  transcript.Stats
	emit   func(transcript.Step) error
	begins string // the session whose history this one may begin with
	before transcript.Before
	order  []said
	asked  []string          // the newest prompts in items, see noteAsked
	event  jsonvalue.Object  // a prompt that no item has so far
	alone  bool              // a prompt stood in an event alone
	seen   map[string]string // digests of calls and results, by type and id
	open   map[string]string // the tools of calls without a result

	// Of a reader that leaves a mark:
	met    transcript.Met
	on     bool  // it began at a mark
	back   bool  // a record depends on those before the mark
	shared bool  // two records stand on one line
	line   int64 // where the line of the newest record ends
	end    int64 // where the last record ends that is not kept with a message to come
}

// said is a message of the conversation as it is now.
type said struct {
	origin transcript.Origin
	prompt bool
}

func (d *reader) record(o jsonvalue.Object) error {
	delete(o, "ordinal") // the place of the line, which an export gives anew
	hints := transcript.ReadHints(o[transcript.HintName])
	kind := o.Text("type")
	if kind == typeMeta && d.stats.Session == "" {
		d.meta(o.Object("payload"))
	}
	d.stats.ReadHome(hints)
	d.noteAsked(o)
	if hints != nil && (hints.Added || hints.Gone != "") {
		d.stats.Pass("stand-in")
		return nil
	}
	if !o.Has("payload") {
		return d.old(o)
	}
	payload := o.Object("payload")
	if payload == nil {
		d.stats.Skip(transcript.SkipUnknown, 1)
		return nil
	}
	switch kind {
	case typeItem:
		return d.item(o, payload)
	case typeMeta:
		d.back = d.back || d.on
		if d.names[typeMeta] == 0 {
			return d.say(o, false)
		}
	case typeCompacted:
		if err := d.compacted(o, payload); err != nil {
			return err
		}
		return d.say(o, false)
	case typeEvent:
		switch payload.Text("type") {
		case "user_message":
			return d.askedInEvent(o, payload)
		case "agent_message", "agent_reasoning", "agent_reasoning_raw_content":
			d.stats.Pass("copy of a message")
			return nil
		case "item_completed":
			switch payload.Object("item").Text("type") {
			case "UserMessage", "AgentMessage", "Reasoning":
				d.stats.Pass("copy of a message")
				return nil
			}
		case "thread_rolled_back":
			return d.rollBack(o, int(min(payload.Number("num_turns"), 1<<30)))
		}
		o = o.Without()
		o["payload"] = copies().Without(o["payload"])
	case typeContext, "world_state", "token_usage_record", "inter_agent_communication",
		"realtime_item", "thread_settings_applied":
	case "":
		d.stats.Skip(transcript.SkipUnknown, 1)
		return nil
	default:
		d.stats.Kept[transcript.Fit(kind)]++
	}
	d.wait(o)
	return nil
}

// maxAsked is how many prompts in items are looked at for the copy of an event.
const maxAsked = 16

// noteAsked notes the prompt of an item, so that the event with its copy is known as one. It stands
// behind it in rollouts of today.
func (d *reader) noteAsked(o jsonvalue.Object) {
	item := o
	if o.Has("payload") {
		item = o.Object("payload")
	}
	if item.Text("type") != itemMessage || item.Text("role") != "user" {
		return
	}
	if d.asked = append(d.asked, spaceless(wordsOf(item))); len(d.asked) > maxAsked {
		d.asked = d.asked[1:]
	}
	if d.event != nil && d.isCopy(d.event.Object("payload").Text("message")) {
		d.event = nil
		d.stats.Pass("copy of a message")
	}
}

func wordsOf(item jsonvalue.Object) (text string) {
	list, _ := item.Array("content")
	for _, raw := range list {
		text += jsonvalue.AsObject(raw).Text("text")
	}
	return text
}

func spaceless(text string) string { return strings.Join(strings.Fields(text), "") }

// isCopy reports whether an item has each line of a prompt, and forgets that item.
func (d *reader) isCopy(text string) bool {
	at := slices.IndexFunc(d.asked, func(item string) bool {
		for line := range strings.Lines(text) {
			if !strings.Contains(item, spaceless(line)) {
				return false
			}
		}
		return true
	})
	if at >= 0 {
		d.asked = slices.Delete(d.asked, at, at+1)
	}
	return at >= 0
}

// askedInEvent reads an event with a prompt. If no item has the prompt, the event is the message.
func (d *reader) askedInEvent(o, payload jsonvalue.Object) error {
	if err := d.sayEvent(); err != nil {
		return err
	}
	if text := payload.Text("message"); strings.TrimSpace(text) == "" || d.isCopy(text) {
		d.stats.Pass("copy of a message")
		return nil
	}
	d.back = d.back || d.on // its item may stand before the mark
	if d.event = o; d.alone {
		return d.sayEvent()
	}
	return nil
}

// sayEvent emits the prompt that no item had.
func (d *reader) sayEvent() error {
	o := d.event
	if o == nil {
		return nil
	}
	d.event, d.alone = nil, true
	return d.say(o, true)
}

// compacted reads what the model was given in the place of earlier messages: copies of what the
// person said. In a rollout that begins with it they are all that there is.
func (d *reader) compacted(o, payload jsonvalue.Object) error {
	list, _ := payload.Array("replacement_history")
	if d.on || d.begins != "" ||
		slices.ContainsFunc(d.order, func(s said) bool { return s.prompt }) {
		d.stats.PassN("copies in a compaction", len(list))
		return nil
	}
	for _, raw := range list {
		item := jsonvalue.AsObject(raw)
		if item.Text("type") != itemMessage || item.Text("role") != "user" {
			d.stats.Pass("copies in a compaction")
			continue
		}
		one := jsonvalue.Object{"timestamp": o["timestamp"], "type": jsonvalue.Encode(typeItem),
			"payload": raw}
		if err := d.item(one, item); err != nil {
			return err
		}
	}
	return nil
}

// copies are members of events that repeat the words of messages. Codex reads the events again.
func copies() *transcript.Copies {
	return &transcript.Copies{Members: []string{"last_agent_message", "stdout", "stderr",
		"aggregated_output", "formatted_output", "result"}}
}

// meta reads the session and its parent from the first record.
func (d *reader) meta(payload jsonvalue.Object) {
	d.session = payload.Text("id")
	d.stats.Session = d.session
	d.stats.Version = payload.Text("cli_version")
	d.begins = transcript.Fit(payload.Text("forked_from_id"))
	source := payload.Object("source")
	for _, name := range []string{"subagent", "sub_agent", "subAgent"} {
		if spawn := source.Object(name).Object("thread_spawn"); spawn != nil {
			d.stats.Parent = transcript.Fit(spawn.Text("parent_thread_id"))
			d.begins = cmp.Or(d.begins, d.stats.Parent)
		}
	}
}

// old reads a record of a rollout without envelopes.
func (d *reader) old(o jsonvalue.Object) error {
	switch {
	case isOld(o):
		return d.item(o, o)
	case o.Text("type") == "" && d.stats.Session == "" && o.Text("id") != "":
		d.session = o.Text("id")
		d.stats.Session = d.session
		d.wait(o)
	case o.Has("record_type"):
		d.stats.Pass("state")
	default:
		d.stats.Skip(transcript.SkipUnknown, 1)
	}
	return nil
}

// wait keeps a record for the message that follows.
func (d *reader) wait(o jsonvalue.Object) {
	d.see(o)
	d.before.Add(o, &d.stats)
}

// item reads a response item. A call or a result that comes again unchanged says nothing new.
func (d *reader) item(o, payload jsonvalue.Object) error {
	// Between an event and its item stands only what the client says
	switch payload.Text("role") {
	case "developer":
	case "user":
		if d.event == nil || clientMarks.Client(wordsOf(payload)) {
			break
		}
		fallthrough
	default:
		if err := d.sayEvent(); err != nil {
			return err
		}
	}
	if id := payload.Text("call_id"); id != "" && !o.Has(transcript.HintName) {
		key := transcript.Derive(32, payload.Text("type"), id)
		if d.met != nil {
			d.met.Add(metSeen, key)
		}
		digest := transcript.Derive(16, string(jsonvalue.Encode(payload)))
		if d.seen[key] == digest {
			d.stats.Pass("repeated")
			return nil
		}
		d.seen[key] = digest
	}
	return d.say(o, true)
}

func (d *reader) say(o jsonvalue.Object, item bool) error {
	m := d.decode(o, d.before.Take())
	d.meet(&m)
	d.order = append(d.order, said{m.Origin, item && m.Role == transcript.RoleUser && !m.Note})
	if len(m.Results) > 0 && d.tools[m.Results[0]] == "spawn_agent" {
		d.spawned(&m)
	}
	return d.emit(transcript.Step{Message: m, Session: d.stats.Session, Home: d.stats.Home,
		Begins: d.begins, Given: d.stats.Parent != ""})
}

// meet notes what a message has to do with others.
func (d *reader) meet(m *transcript.Message) {
	for _, call := range m.Calls {
		d.open[call.ID] = d.tools[call.ID]
	}
	for _, id := range m.Results {
		_, asked := d.open[id]
		d.back = d.back || d.on && !asked
		delete(d.open, id)
	}
	if d.met != nil {
		d.met.Add(metName, m.Origin.Message)
	}
}

// spawned notes the session that a call began, by the result of the call.
func (d *reader) spawned(m *transcript.Message) {
	for _, p := range transcript.PartsOf(m) {
		if p.Kind != transcript.PartResult {
			continue
		}
		text, _ := p.Said()
		answer, _ := jsonvalue.ParseObject([]byte(text))
		for _, name := range []string{"agent_id", "thread_id"} {
			if id := answer.Text(name); id != "" {
				d.stats.Spawned = append(d.stats.Spawned,
					transcript.Spawn{Call: m.Results[0], Thread: transcript.Fit(id)})
				return
			}
		}
	}
}

// rollBack emits a rewind over the newest turns.
func (d *reader) rollBack(o jsonvalue.Object, turns int) error {
	if err := d.sayEvent(); err != nil {
		return err
	}
	d.wait(o)
	at := len(d.order)
	for turns > 0 && at > 0 {
		at--
		if d.order[at].prompt {
			turns--
		}
	}
	d.back = d.back || d.on && turns > 0
	if turns > 0 {
		at = slices.IndexFunc(d.order, func(s said) bool { return s.prompt })
	}
	if at < 0 || at >= len(d.order) {
		return nil
	}
	when, _ := transcript.TimeOf(o["timestamp"])
	name := d.names.Next("rewind:" + transcript.Derive(16, string(jsonvalue.Encode(o))))
	st := d.stats.Rewind(Agent, name, when, d.order[at].origin)
	if d.met != nil {
		d.met.Add(metName, st.Message.Origin.Message)
	}
	d.order = d.order[:at]
	d.seen = map[string]string{}
	return d.emit(st)
}
