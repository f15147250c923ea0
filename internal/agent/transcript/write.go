package transcript

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Writer writes the transcript of one agent, oldest message first. The same messages give the same
// bytes. Close ends the transcript and returns the first error that writing met.
type Writer interface {
	Add(Item) error
	Close() (Written, error)
}

// Codec makes the records of one agent. It writes them to the Output that it was made with.
type Codec interface {
	// Begin writes what comes before the messages. first is nil if there are none.
	Begin(first *Item)
	// Message writes a message, or holds it back until End. It returns false if the message is not
	// to be counted: the codec leaves it out, which it counts in Written.Left, or counts it itself.
	Message(it *Item) bool
	// End writes what was held back, and what comes after the messages.
	End()
}

// Answerer is a Codec whose agent takes no call without a result. Answer writes an error as the
// result of calls that nobody answers.
type Answerer interface {
	Answer(open []format.Call)
}

// Output takes the records of a Codec.
type Output struct {
	WriteOptions
	Report Written
	When   string // the time of the message, as Stamp prints it
	out    *bufio.Writer
}

// writer is the Writer of every agent: a codec, and what all of them have in common.
type writer struct {
	*Output
	codec Codec
	begun bool
	open  []format.Call // of an Answerer: calls that nobody answers, before Answer
}

// NewWriter begins a transcript whose records a codec makes.
func NewWriter(w io.Writer, o WriteOptions, codec func(*Output) Codec) Writer {
	out := &Output{WriteOptions: o,
		Report: Written{Changed: map[string]int{}, Left: map[string]int{}},
		out:    bufio.NewWriterSize(w, 64<<10)}
	return &writer{Output: out, codec: codec(out)}
}

// Add adds the next message.
func (w *writer) Add(it Item) error {
	m := &it.Message
	if IsBeside(m.Origin.Message) && !w.Beside {
		return nil
	}
	if len(m.Results) == 0 {
		w.answer() // before a note, too: an API wants results right behind their calls
	}
	w.When = Stamp(m.Time)
	if !w.begun {
		w.begun = true
		w.codec.Begin(&it)
	}
	if w.codec.Message(&it) {
		if m.Note {
			w.Report.Notes++
		} else {
			w.Report.Messages++
		}
	}
	if _, ok := w.codec.(Answerer); ok {
		for _, c := range m.Calls {
			if slices.Contains(it.Open, c.ID) {
				w.open = append(w.open, c)
			}
		}
	}
	return nil
}

// answer has the codec write a result for each open call.
func (w *writer) answer() {
	if len(w.open) == 0 {
		return
	}
	w.codec.(Answerer).Answer(w.open)
	w.Report.Changed[ChangedCalls] += len(w.open)
	w.open = nil
}

// Close ends the transcript.
func (w *writer) Close() (Written, error) {
	w.answer()
	if !w.begun {
		w.codec.Begin(nil)
	}
	w.codec.End()
	return w.Report, w.out.Flush()
}

// Begin is that of a Codec with nothing to write before the messages.
func (o *Output) Begin(*Item) {}

// End is that of a Codec that holds nothing back.
func (o *Output) End() {}

// Print writes bytes that are not a record.
func (o *Output) Print(s string, raw json.RawMessage) {
	_, _ = o.out.WriteString(s)
	_, _ = o.out.Write(raw) // the first error is kept, and Close returns it
}

// Line writes a line that is not counted as a record.
func (o *Output) Line(raw json.RawMessage) {
	o.Print("", raw)
	o.Print("\n", nil)
}

// Record writes a record as a line.
func (o *Output) Record(raw json.RawMessage) {
	o.Line(raw)
	o.Report.Records++
}

// Native returns the parts of a message that an agent said itself, and what it kept with them; ok
// is false for a message of another origin, and for one that the agent's codec has to make anew.
func Native(
	agent string, m *Message,
) (said []json.RawMessage, kept jsonvalue.Object, ok bool) {
	list, _ := jsonvalue.Elements(m.Parts)
	said, kept = CutKept(agent, list)
	return said, kept, m.Origin.Agent == agent && kept != nil && m.Gone == ""
}

// TakeHome returns Home the first time, and then nil.
func (o *Output) TakeHome() *Home {
	home := o.Home
	o.Home = nil
	return home
}

// Hint adds to a record the hints with which decode reads it as the message m. made says that the
// codec made the record, so its fields besides the message are not to be kept.
func (o *Output) Hint(
	rec jsonvalue.Object, m *Message, made bool, decode func(jsonvalue.Object) Message,
) {
	if made {
		rec.Set(HintName, Hints{V: 1, Alone: true})
	}
	got := decode(rec)
	hints := Diff(m, &got)
	hints.Alone, hints.Home = made, o.TakeHome()
	delete(rec, HintName)
	if !hints.Empty() {
		rec.Set(HintName, hints)
	}
}

// Added returns the hints of a record that nobody said.
func Added() Hints { return Hints{V: 1, Added: true} }

// AddedHere returns Added, with the session of the store if no record before has it.
func (o *Output) AddedHere() Hints {
	h := Added()
	h.Home = o.TakeHome()
	return h
}

// Plain returns a part without the fields of the records of other agents.
func (o *Output) Plain(part jsonvalue.Object) jsonvalue.Object {
	out := part.Without()
	for name := range part {
		if o.Keeps != nil && o.Keeps(name) {
			delete(out, name)
		}
	}
	return out
}

// RecordID returns the id of a record of an agent, which names its records by UUIDs.
func RecordID(agent string, o Origin) string {
	if o.Agent == agent && format.IsUUID(o.Message) {
		return o.Message
	}
	return UUID(agent, o.Agent, o.Session, o.Message)
}

// StandIn returns the text that is written for a message whose words are gone, or for results
// without a call; ok is false for any other message. It counts the message as changed.
func (o *Output) StandIn(it *Item) (text string, ok bool) {
	switch {
	case it.Gone != "":
		o.Report.Changed[ChangedForgotten]++
	case it.Orphan:
		o.Report.Changed[ChangedOrphans]++
	default:
		return "", false
	}
	return WordsOr(&it.Message), true
}

// Lose counts a part that the agent has no form for. Fields of another agent are not counted.
func (o *Output) Lose(p Part) {
	switch {
	case p.Kind == PartOther:
		o.Report.Changed[ChangedParts]++
	case p.Body.Has("text"):
		o.Report.Changed[ChangedThoughts]++
	}
}

// The keys of Written.Changed that several agents have.
const (
	ChangedCalls     = "calls answered with an error"
	ChangedForgotten = "forgotten"
	ChangedOrphans   = "results without a call"
	ChangedParts     = "parts without a form"
	ChangedThoughts  = "thoughts of other models"
)

// Item is a message as a writer takes it.
type Item struct {
	Message
	// The id of the message's entry in the store, in hexadecimal; "" if it is not known
	Entry  string
	Open   []string // its calls that nobody answers
	Orphan bool     // it answers calls that nobody made

	// The place in the conversation, for agents that write it down.
	Number int      // of the message, from 0
	Caller int      // the Number of the message whose calls it answers; negative for none
	Turn   string   // the invocation that it belongs to, whether it names one or not
	Path   []string // the branches of the forks around it, the outer one first
	Set    []uint64 // the token set of its branch, where it is asked for
}

// Written reports what a Writer wrote.
type Written struct {
	Records  int
	Messages int
	Notes    int
	// Messages, parts and calls in another form than they were said, by reason
	Changed map[string]int
	Left    map[string]int // messages that were left out, by reason
}

// WriteOptions say what a transcript is for.
type WriteOptions struct {
	Session string    // the id that the agent is to know it by
	Home    *Home     // where it comes from; nil says nothing of it
	Dir     string    // the project's directory
	Move    bool      // the session is to be of that directory, wherever it was before
	Title   string    // a line that names it, for agents that show one
	Now     time.Time // of the newest message: when the session was last changed
	// Before is a summary of the conversation before the first message, for agents that take one;
	// "" for none.
	Before string
	// Model is the model, as provider/model, that the agent can ask; "" if that is not known.
	Model string
	// Beside also writes what agents keep beside their transcripts.
	Beside bool
	// Keeps reports whether parts have fields of an agent's record under a name; nil for no name.
	Keeps func(name string) bool
}

// BeforeName is the member of Kept with the records that stood before the one of a message and say
// nothing.
const BeforeName = "before"

// maxBefore is the most bytes of records that are kept with one message.
const maxBefore = 4 << 20

// Before has the records that say nothing, until the message comes that they are kept with.
type Before struct {
	list []json.RawMessage
	size int
}

// Add adds a record. One that is too much is counted in stats.
func (b *Before) Add(o jsonvalue.Object, stats *Stats) {
	raw := jsonvalue.Encode(o)
	if b.size+len(raw) > maxBefore {
		stats.Skip(SkipLong, 1)
		return
	}
	b.list, b.size = append(b.list, raw), b.size+len(raw)
}

// Empty reports whether no record waits.
func (b *Before) Empty() bool { return len(b.list) == 0 }

// Take returns the records, and has none afterwards.
func (b *Before) Take() []json.RawMessage {
	list := b.list
	*b = Before{}
	return list
}

// End counts the records that no message follows yet.
func (b *Before) End(stats *Stats) {
	stats.PassN("kept with what follows", len(b.list))
	stats.After = b.list
}

// BesideID begins the names of notes with what an agent keeps beside the records of messages: the
// title of the session after its last message, a long output in a file of its own. Only an export
// that is no agent's has these notes.
const BesideID = "beside:"

// IsBeside reports whether a name is that of such a note.
func IsBeside(message string) bool { return strings.HasPrefix(message, BesideID) }
