package claudecode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// ReadAs reads a transcript, as transcript.Read says, with one exception: a transcript that has
// grown may begin with other steps than before, because the parents of the records decide their
// order. The steps follow the tree of the records line by line. The line that the transcript is on
// at its end comes last, and a rewind leads from each line to the next. Each subagent has a thread
// of its own.
//
// name is the session that the file is named for, or "". If no record names that session, the
// newest record names it. Earlier records of other sessions are the history that this one began
// with.
//
// The records are kept in memory until they are emitted, unless there are too many of them: then r
// is read twice. If it cannot seek, all of it is kept in memory, at most MaxInput bytes.
func ReadAs(name string, r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
	return readWithin(maxKept, name, r, emit, func(*reader) error { return nil })
}

// readWithin is ReadAs that keeps at most room bytes of records. It calls planned before it emits,
// and returns its error.
func readWithin(
	room int, name string, r io.Reader, emit func(transcript.Step) error,
	planned func(*reader) error,
) (transcript.Stats, error) {
	p := newPlan()
	from, start, err := seekable(r)
	if err != nil {
		return p.seen, &transcript.ReadError{Err: err}
	}
	kept := &keptRecords{room: room}
	err = transcript.Lines(from, &p.seen, starts(), true, func(o jsonvalue.Object) error {
		list := divided(o)
		p.records(list, name)
		for n, o := range list {
			p.list[len(p.list)-len(list)+n].line = p.seen.Bytes
			kept.add(o, p.seen.Bytes)
		}
		return nil
	})
	if err != nil {
		return p.seen, err
	}
	p.settle()
	d := &reader{
		decoder: newDecoder(), plan: p, stats: transcript.NewStats(), emit: emit,
		held: map[int32]held{}, digests: map[int32]string{},
		prompts: map[string]string{}, told: map[*thread]*telling{},
	}
	d.stats.Session, d.stats.Home = p.session, p.seen.Home
	if err := planned(d); err != nil {
		return p.seen, err
	}
	d.tree = &transcript.Tree{Agent: Agent, Number: d.numberOf, Follows: d.follows}
	if kept.all() {
		d.stats = p.seen
		d.stats.Session = p.session
		err = kept.each(d.record)
	} else {
		again, failed := rewound(from, start)
		if failed != nil {
			return p.seen, &transcript.ReadError{Err: failed}
		}
		err = transcript.Lines(again, &d.stats, starts(), true, func(o jsonvalue.Object) error {
			for _, o := range divided(o) {
				if err := d.record(o); err != nil {
					return err
				}
			}
			return nil
		})
	}
	d.before.End(&d.stats)
	if p.orphans > 0 {
		d.stats.Passed[transcript.SkipOrphan] += p.orphans
	}
	return d.stats, err
}

// keptRecords are the records of the first reading, if they are not too many.
type keptRecords struct {
	list []jsonvalue.Object
	room int   // bytes of memory that they may still take
	read int64 // bytes of the input up to the last record
}

// maxKept is the most bytes of memory that records take until they are emitted, each with its line,
// and memberSize what a member takes beside that.
const (
	maxKept    = 64 << 20
	memberSize = 128
)

// add keeps a record whose line ends at that byte of the input.
func (k *keptRecords) add(o jsonvalue.Object, end int64) {
	if !k.all() {
		return
	}
	k.room -= int(end-k.read) + memberSize*len(o)
	k.read = end
	k.list = append(k.list, o)
	if !k.all() {
		k.list = nil
	}
}

// all reports whether every record is kept.
func (k *keptRecords) all() bool { return k.room >= 0 }

// each calls record for each record, and lets go of it.
func (k *keptRecords) each(record func(jsonvalue.Object) error) error {
	for i, o := range k.list {
		k.list[i] = nil
		if err := record(o); err != nil {
			return err
		}
	}
	return nil
}

// MaxInput is the most bytes of a transcript that are read from an input that cannot seek.
const MaxInput = 512 << 20

// seekable returns an input that can be read again, and where it starts.
func seekable(r io.Reader) (from io.ReadSeeker, start int64, err error) {
	if s, ok := r.(io.ReadSeeker); ok {
		if start, err = s.Seek(0, io.SeekCurrent); err == nil {
			return s, start, nil
		}
	}
	b, err := io.ReadAll(io.LimitReader(r, MaxInput+1))
	if err == nil && len(b) > MaxInput {
		err = fmt.Errorf("more than %d bytes that cannot be read twice: import it from a file",
			MaxInput)
	}
	return bytes.NewReader(b), 0, err
}

// rewound returns what was read of an input since start. What was written meanwhile is not there.
func rewound(from io.ReadSeeker, start int64) (io.Reader, error) {
	end, err := from.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = from.Seek(start, io.SeekStart)
	}
	return io.LimitReader(from, end-start), err
}

// reader emits the messages in the order of a plan.
type reader struct {
	*decoder
	*plan
	stats   transcript.Stats
	emit    func(transcript.Step) error
	tree    *transcript.Tree
	at      int32 // number of records read
	held    map[int32]held
	digests map[int32]string // of records that come again, by their first one
	before  transcript.Before
	now     string            // the newest timestamp
	prompts map[string]string // the calls that began subagents, by the digest of the prompt
	told    map[*thread]*telling
}

// held is a record that comes later in the order of the plan.
type held struct {
	o      jsonvalue.Object
	before []json.RawMessage
	when   string // for a record without a time
	more   []held // newer versions of it
}

// telling is the state of a thread whose messages are emitted.
type telling struct {
	n    int // of thread.order: the number of messages emitted
	said map[int32]transcript.Origin
	// child is, by entry, what was last said after it; none stands for the beginning.
	child map[int32]int32
}

func (d *reader) record(o jsonvalue.Object) error {
	i := d.at
	d.at++
	if int(i) >= len(d.list) {
		return errors.New("the transcript has changed while it was read")
	}
	e := &d.list[i]
	d.stats.Version = cmp.Or(o.Text("version"), d.stats.Version)
	if when := o.Text("timestamp"); when != "" && !e.sidechain {
		d.now = when
	}
	switch e.class {
	case classNone:
		d.stats.Skip(transcript.SkipUnknown, 1)
		return nil
	case classAlias:
		switch {
		case e.kind == kindProgress:
			d.stats.Pass(kindProgress)
		case isCopyKind(o):
			d.stats.Pass("copy of a message")
		default:
			d.stats.Pass("stand-in")
		}
		return nil
	case classWait:
		d.wait(e.kind, o)
		return nil
	case classBeside:
		d.beside(e, o)
		return nil
	case classQueued:
		if !e.sent {
			d.wait(e.kind, o)
			return nil
		}
	}
	if e.again {
		err := d.again(i, o)
		if th := d.list[d.index[e.id]].thread; err == nil && th != nil {
			err = d.tell(th)
		}
		return err
	}
	if e.thread == nil {
		d.stats.Pass("of a session that is not there")
		return nil
	}
	if !slices.Contains([]string{kindUser, kindAssistant, kindSystem, kindAttachment, kindSummary,
		kindQueue}, e.kind) {
		d.stats.Kept[transcript.Fit(e.kind)]++
	}
	h := held{o: o, when: d.now}
	h.when = cmp.Or(h.when, d.first)
	if e.thread.name == "" {
		h.before = bare(d.before.Take(), o)
	}
	if e.twice {
		d.digests[i] = digestOf(o)
	}
	d.held[i] = h
	return d.tell(e.thread)
}

// again takes a record whose id came before: a newer version, if it says something else.
func (d *reader) again(i int32, o jsonvalue.Object) error {
	first := d.index[d.list[i].id]
	e := &d.list[first]
	if e.thread == nil || e.unnamed || e.class != classSaid {
		d.stats.Pass("repeated")
		return nil
	}
	digest := digestOf(o)
	if d.digests[first] == digest {
		d.stats.Pass("repeated")
		return nil
	}
	d.digests[first] = digest
	next := held{o: o, when: d.now}
	if e.thread.name == "" {
		next.before = bare(d.before.Take(), o)
	}
	if h, waits := d.held[first]; waits {
		h.more = append(h.more, next)
		d.held[first] = h
		return nil
	}
	return d.say(first, next, true)
}

func digestOf(o jsonvalue.Object) string {
	return transcript.Derive(16, string(jsonvalue.Canonical(o["message"])),
		string(jsonvalue.Canonical(o["content"])))
}

// wait keeps a record for the message that follows.
func (d *reader) wait(kind string, o jsonvalue.Object) {
	if d.copies(o) {
		d.stats.Pass("copy of a message")
		return
	}
	o = anonymous(o)
	if !isBookkeeping(kind) {
		d.stats.Kept[transcript.Fit(kind)]++
	}
	d.before.Add(o, &d.stats)
}

// tell emits the next entries of a thread, as far as their records were read.
func (d *reader) tell(th *thread) error {
	t := d.told[th]
	if t == nil {
		t = &telling{said: map[int32]transcript.Origin{}, child: map[int32]int32{}}
		d.told[th] = t
	}
	for t.n < len(th.order) {
		i := th.order[t.n]
		h, ok := d.held[i]
		if !ok || d.list[i].until >= d.at {
			return nil // on a line that was left, no version can come later
		}
		delete(d.held, i)
		if err := d.turn(t, i, h.o); err != nil {
			return err
		}
		t.n++
		if err := d.say(i, h, false); err != nil {
			return err
		}
		for _, m := range h.more {
			if err := d.say(i, m, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn emits a rewind if an entry is on another line than the one before it.
func (d *reader) turn(t *telling, i int32, o jsonvalue.Object) error {
	e := &d.list[i]
	if !d.parts(e) {
		return nil
	}
	sibling, branched := t.child[e.pred]
	t.child[e.pred] = i
	if !branched {
		return nil
	}
	when, _ := transcript.TimeOf(o["timestamp"])
	st := d.stats.Rewind(Agent, "rewind:"+e.id, when, t.said[sibling])
	st.Thread, st.Tree = e.thread.name, d.tree
	st.Message.Origin.Session = transcript.Fit(o.Text("sessionId"))
	return d.emit(st)
}

// parts reports whether several entries follow the one that an entry follows.
func (p *plan) parts(e *entry) bool {
	if e.pred == none {
		return e.thread.first != e.thread.last
	}
	return p.list[e.pred].child != p.list[e.pred].last
}

// say emits a record as a message: one that is new, or a newer version.
func (d *reader) say(i int32, h held, newer bool) error {
	e := &d.list[i]
	o := h.o
	if e.unnamed {
		o = withID(o, e.id, d.stats.Session)
	}
	var parent json.RawMessage
	if o["parentUuid"] != nil && !newer {
		parent = d.kept(i)
	}
	m := d.decode(o, parent, h.before)
	if e.unnamed && m.Time.IsZero() {
		m.Time, _ = transcript.ParseTime(h.when)
	}
	t := d.told[e.thread]
	if d.parts(e) {
		t.said[i] = m.Origin
	}
	d.spawns(e.thread.name, t.n == 1 && !newer, o, &m)
	return d.emit(transcript.Step{
		Kind: transcript.KindMessage, Message: m, Session: d.stats.Session, Home: d.stats.Home,
		Thread: e.thread.name, Tree: d.tree,
		Number: int(e.number), Loose: e.parent < 0,
	})
}

// numberOf returns the number of a message's step in its thread.
func (d *reader) numberOf(of transcript.Origin) (int, bool) {
	i, ok := d.index[of.Message]
	if !ok || of.Agent != Agent || d.list[i].thread == nil {
		return 0, false
	}
	return int(d.list[i].number), true
}

// follows reports whether a message is said after another one on the same line.
func (d *reader) follows(late, early transcript.Origin) bool {
	a, known := d.index[early.Message]
	b, ok := d.index[late.Message]
	if !known || !ok || late.Agent != Agent || early.Agent != Agent {
		return false
	}
	above, below := &d.list[a], &d.list[b]
	return a != b && above.thread != nil && above.thread == below.thread && d.isAbove(a, b)
}

// spawns notes which call began which subagent. opens says that the message is the first of its
// thread.
func (d *reader) spawns(name string, opens bool, o jsonvalue.Object, m *transcript.Message) {
	if answer := o["toolUseResult"]; len(m.Results) > 0 && mayName(answer, "agentId") {
		if id := jsonvalue.AsObject(answer).Text("agentId"); id != "" {
			d.spawn(m.Results[0], transcript.Fit(id))
		}
	}
	opens = opens && name != ""
	begins := func(c format.Call) bool { return c.Tool == "Task" || c.Tool == "Agent" }
	if !opens && o[transcript.HintName] == nil && !slices.ContainsFunc(m.Calls, begins) {
		return // the calls are those of the parts
	}
	for _, p := range transcript.PartsOf(m) {
		if p.Kind != transcript.PartCall {
			continue
		}
		args, _ := jsonvalue.ParseObject(p.Args)
		if prompt := args.Text("prompt"); prompt != "" && (p.Tool == "Task" || p.Tool == "Agent") {
			d.prompts[transcript.Derive(32, prompt)] = transcript.Fit(p.ID)
		}
	}
	if !opens {
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

// mayName reports whether a value may have a member of a name, which may be written with escapes.
func mayName(value json.RawMessage, name string) bool {
	return bytes.Contains(value, []byte(name)) || bytes.Contains(value, []byte(`\u`))
}

func (d *reader) spawn(call, thread string) {
	if !slices.ContainsFunc(d.stats.Spawned,
		func(s transcript.Spawn) bool { return s.Thread == thread }) {
		d.stats.Spawned = append(d.stats.Spawned, transcript.Spawn{Call: call, Thread: thread})
	}
}
