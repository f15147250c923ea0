package adk

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// The keys of Stats.Skipped that only this reader has.
const (
	SkipNoEvent = "not an event"   // JSON that is no event
	SkipLong    = "event too long" // over MaxEvent
	SkipParts   = "too many parts"
	SkipMembers = "too much in the session" // besides its events
)

// The keys of Stats.Passed.
const (
	passedPartial = "partial"  // a piece of an event that was still to come whole: never a message
	passedStandIn = "stand-in" // for a result that never came, or for words that were forgotten
)

// Stats says what Read saw. Session is "" where nothing says one, Records counts whole events, and
// Unknown the rewinds to an invocation that is not there, which are kept as notes. Kept counts
// fields that no event is known to have, by name, and those of the session as session.NAME.
type Stats struct {
	transcript.Stats
	// App and User are whose session it is; "" where nothing says it. State are the keys of the
	// session's state with their values: those that the session has, or where it has none those
	// that its events have set, by name.
	App, User string
	State     []StateKey
	Odd       int // known fields and timestamps that cannot be read: kept as they are
}

// StateKey is a key of a session's state, with its prefix, and its value: JSON without white space
// between tokens.
type StateKey struct {
	Key   string
	Value json.RawMessage
}

// ReadOptions are for Read.
type ReadOptions struct {
	Unit    Unit   // of timestamps
	Session string // the id for a session that has none
}

// ErrForm says that an input cannot be read as a session at all.
var ErrForm = errors.New("not a session of ADK")

// MaxEvent is the most bytes of one event that are read, the same as for a message of a store. A
// longer one is counted and passed over without being kept in memory.
const MaxEvent = 16 << 20

// maxHeld is the most bytes of events that are held back until the session's id is known.
const maxHeld = 256 << 20

// maxDepth is the deepest nesting of an event. Package sanitize refuses more than 200 levels, and a
// message adds some.
const maxDepth = 190

// Read reads a session, or a list of events, and calls emit for each step, in order. The input is
// one JSON document (a session, a session under "session", a list) or an event a line. It returns
// when r ends, when r fails (a ReadError), or when emit returns an error, which it returns as
// it is; the Stats hold in each case for what was read.
//
// The same bytes give the same steps. Damage is counted in Stats.Skipped and read around. Memory
// grows with the longest event and the number of events, not with what they say.
func Read(r io.Reader, o ReadOptions, emit func(transcript.Step) error) (Stats, error) {
	d := newReader(o, emit)
	d.doc = &transcript.Document{Stats: &d.stats.Stats, List: "events", Within: "session",
		Is: decides, Most: MaxEvent, TooLong: SkipLong, Member: d.member, Record: d.event}
	rest, err := d.doc.Read(r)
	switch {
	case err != nil:
	case d.doc.Found:
		d.settle()
		for _, raw := range d.held {
			if err == nil {
				err = d.event(raw)
			}
		}
		if err == nil {
			err = d.finish()
		}
		d.doc.After()
	default:
		err = d.lines(rest)
	}
	d.settleState()
	return d.stats, err
}

// reader is the state of one reading.
type reader struct {
	doc      *transcript.Document
	delta    jsonvalue.Object // the state that events have set
	emit     func(transcript.Step) error
	unit     Unit
	fallback string
	stats    Stats
	named    bool // the session's id is known, or will not be
	held     []json.RawMessage
	size     int              // of held
	session  jsonvalue.Object // its members besides events
	kept     int              // bytes of it
	said     []said
	begun    map[string]int   // by invocation, the index of its first message in said
	derived  transcript.Names // events without an id, by what theirs is derived from
	newest   time.Time        // of the events
}

func newReader(o ReadOptions, emit func(transcript.Step) error) *reader {
	return &reader{
		emit: emit, unit: o.Unit, fallback: o.Session, stats: Stats{Stats: transcript.NewStats()},
		derived: transcript.Names{}, begun: map[string]int{}, session: jsonvalue.Object{},
		delta: jsonvalue.Object{},
	}
}

// said is a message of the conversation as it is now.
type said struct {
	origin     transcript.Origin
	invocation string
}

// lines reads an event a line.
func (d *reader) lines(r *bufio.Reader) error {
	d.settle()
	return transcript.NewLineReader(r, MaxEvent, 0).Each(func(l transcript.Line) error {
		d.stats.Skip(transcript.SkipNULRun, l.NULs)
		text := bytes.TrimSpace(l.Text)
		switch {
		case l.TooLong:
			d.stats.Skip(SkipLong, 1)
		case len(text) == 0:
		case json.Valid(text):
			return d.event(bytes.ToValidUTF8(text, []byte("\uFFFD")))
		case l.Complete:
			d.stats.Skip(transcript.SkipBadJSON, 1)
		default:
			d.stats.Skip(transcript.SkipTornTail, 1)
		}
		return nil
	})
}

// settle ends the search for the session's id.
func (d *reader) settle() {
	d.named = true
	d.stats.Session = cmp.Or(d.stats.Session, d.fallback)
}

// event applies one event, or holds it back.
func (d *reader) event(raw json.RawMessage) error {
	if d.doc.Alone {
		d.settle()
	}
	if !d.named {
		if d.size += len(raw); d.size > maxHeld {
			return fmt.Errorf("%w: more than %d bytes of events before the session's id",
				ErrForm, maxHeld)
		}
		d.held = append(d.held, raw)
		return nil
	}
	switch {
	case len(raw) > MaxEvent:
		d.stats.Skip(SkipLong, 1)
		return nil
	case jsonvalue.Depth(raw) > maxDepth:
		d.stats.Skip(transcript.SkipDeep, 1)
		return nil
	}
	o, ok := jsonvalue.ParseObject(jsonvalue.Compact(raw))
	if !ok || !isEvent(o) {
		d.stats.Skip(SkipNoEvent, 1)
		return nil
	}
	return d.apply(o)
}

// isEvent reports whether an object is an event: it has an author, content or actions.
func isEvent(o jsonvalue.Object) bool {
	return o.Text("author") != "" || o.Object("content") != nil || o.Object("actions") != nil
}

// maxParts is the most parts of an event. Pairing compares each call with each result.
const maxParts = 10000

// changes keeps the values that an event sets in the session's state.
func (d *reader) changes(o jsonvalue.Object) {
	for name, value := range o.Object("actions").Object("stateDelta") {
		if len(d.delta) < maxMembers || d.delta[name] != nil {
			d.delta[name] = value
		}
	}
}

// settleState sets App, User and State.
func (d *reader) settleState() {
	d.stats.App, d.stats.User = d.session.Text("appName"), d.session.Text("userId")
	state := d.session.Object("state")
	if len(state) == 0 {
		state = d.delta
	}
	for _, name := range slices.Sorted(maps.Keys(state)) {
		d.stats.State = append(d.stats.State, StateKey{name, jsonvalue.Compact(state[name])})
	}
}

// apply turns an event into steps.
func (d *reader) apply(o jsonvalue.Object) error {
	if list, _ := o.Object("content").Array("parts"); len(list) > maxParts {
		d.stats.Skip(SkipParts, 1)
		return nil
	}
	d.stats.Records++
	if o.True("partial") {
		d.stats.Pass(passedPartial)
		return nil
	}
	if t, _, ok := parseStamp(get(o, "timestamp"), d.unit); ok && t.After(d.newest) {
		d.newest = t
	}
	d.changes(o)
	e := d.decode(o)
	if e.rewind != "" {
		if err := d.rewind(&e); err != nil {
			return err
		}
	}
	for _, m := range e.messages {
		if _, ok := d.begun[e.invocation]; !ok {
			d.begun[e.invocation] = len(d.said)
		}
		d.said = append(d.said, said{m.Origin, e.invocation})
		if err := d.emit(d.step(m)); err != nil {
			return err
		}
	}
	return nil
}

func (d *reader) step(m transcript.Message) transcript.Step {
	return transcript.Step{Kind: transcript.KindMessage, Message: m,
		Owner: OwnerOf(d.session.Text("appName"), d.session.Text("userId"))}
}

// rewind emits a rewind to the first message of an invocation.
func (d *reader) rewind(e *event) error {
	at := d.begun[e.rewind]
	first := d.said[at]
	for _, s := range d.said[at:] {
		if d.begun[s.invocation] >= at {
			delete(d.begun, s.invocation)
		}
	}
	d.said = d.said[:at]
	mark := transcript.Message{Origin: e.origin, Time: e.time}
	mark.Origin.Message = transcript.Fit("rewind:" + e.origin.Message)
	return d.emit(transcript.Step{Kind: transcript.KindRewind, Message: mark,
		RewindTo: first.origin})
}
