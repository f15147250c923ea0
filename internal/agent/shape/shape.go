// Package shape reads transcripts of the common shape: records that are messages as a whole, with
// content in blocks, one on each line or in one JSON list. A Form says where in a record an agent
// puts what, so that a new agent of this shape is a Form and fixtures. Agents with few records of
// another shape have a file each. The package is pure: bytes in, values out; no clock, no
// environment, no files.
//
// What no part of a message has stays in the part of transcript.Kept. Begin with Form.
package shape

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/message"
)

// Form is where an agent of this shape puts what. A field that does not apply is zero.
type Form struct {
	// Starts are how a line can begin, where damage has joined two. It is nil for transcripts that
	// are one JSON list of messages.
	Starts []string
	// Kinds say what a record is, by its member "type". nil: each record is a message.
	Kinds []Kind
	// Tree says that a message whose parentId is null begins the conversation anew.
	Tree bool
	// Head is a member of the record about the session, where Kinds is nil; "" for no such record.
	Head string
	// Time is the member with the time of a message that has none in "timestamp" and "ts".
	Time string
	// Unfold makes records of a transcript that is one JSON object, and sets the session in the
	// statistics. It returns nil for an object of anybody else. nil: the object is not unfolded.
	Unfold func(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object
	// Open, where a transcript has one of several forms, looks at it and sets the form to its own.
	// It returns what is to be read, and counts what it has left out. nil: there is one form.
	Open func(f *Form, r io.Reader) (in io.Reader, skipped map[string]int, err error)
	// Recast returns a record as this reader takes it, where Kinds is nil. nil: as it is.
	Recast func(record jsonvalue.Object) jsonvalue.Object
	// Dated says that the session is named for the time in milliseconds at which it began. It
	// stands for that of messages which have none.
	Dated bool

	// Adapt returns what a message says, where Plain does not do. open are the calls that have no
	// result yet, in order. nil: Plain.
	Adapt func(message jsonvalue.Object, open []Call) Message
	// Block returns a block of content as Anthropic's API has it. nil: as it is.
	Block func(block json.RawMessage) json.RawMessage
	// Marks are what the client writes in the name of the user; nil for nothing.
	Marks func() *transcript.Voices
	// Hidden reports whether the person and the model do not both see a message of the user.
	Hidden func(record, message jsonvalue.Object) bool
}

// Call is a call of a tool.
type Call struct{ ID, Tool string }

// Message is what a message of an agent says.
type Message struct {
	Role    string            // of the transcript package; "" for a note
	Model   string            // of a message of the model; "" if that is not told
	Content []json.RawMessage // blocks as transcript.Blocks.PartOf takes them
	Taken   []string          // the members of the message that these hold
	Unknown bool              // the message has a role that the form does not know
}

// Kind is what records of a type are.
type Kind struct {
	Type string
	Does Does
	Text []string // for Tells: the members that may have the text; the first counts
}

// Does is what a record is for.
type Does uint8

// The uses of records.
const (
	Heads Does = iota // the session: its id
	Says              // a message, in the member "message"
	Tells             // a note of the agent about the conversation
	Waits             // nothing that is said: kept with the next message
)

// Read reads a transcript, as transcript.Read says. agent is that in the source of a message, and
// of the member of a part with the fields that only this agent has. name is the session that the
// file is named for, or ""; it counts if no record names the session.
func (f *Form) Read(
	agent, name string, r io.Reader, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	d := &reader{Flat: transcript.NewFlat(agent, emit), f: f, tools: map[string]string{},
		blocks: transcript.Blocks(agent)}
	d.Stats.Session = transcript.NameOfFile(name)
	if f.Open != nil {
		in, skipped, err := f.Open(f, r)
		if err != nil {
			return d.Stats, &transcript.ReadError{Err: err}
		}
		for reason, n := range skipped {
			d.Stats.Skip(reason, n)
		}
		r = in
	}
	if f.Dated {
		if ms, err := strconv.ParseInt(name, 10, 64); err == nil && ms > 0 {
			d.begun = time.UnixMilli(ms).UTC()
		}
	}
	if f.Unfold != nil {
		return d.Stats, d.ReadDocument(r, f.Unfold, d.record)
	}
	if f.Starts == nil {
		return d.Stats, d.ReadList(r, d.record)
	}
	err := d.Read(r, f.Starts, d.record)
	return d.Stats, err
}

type reader struct {
	*transcript.Flat
	f      *Form
	blocks transcript.Blocks
	headed bool
	begun  time.Time         // by the name of the session
	tools  map[string]string // of the calls, by their ids
	open   []Call            // without a result
}

func (d *reader) record(o jsonvalue.Object) error {
	if d.f.Kinds == nil {
		if d.f.Recast != nil {
			o = d.f.Recast(o)
		}
		switch {
		case o.Has("role"):
			return d.say(o, o)
		case d.f.Head != "" && o.Has(d.f.Head):
			d.Wait(o)
		default:
			d.Stats.Skip(transcript.SkipUnknown, 1)
		}
		return nil
	}
	kind := o.Text("type")
	for _, k := range d.f.Kinds {
		if k.Type != kind {
			continue
		}
		switch k.Does {
		case Heads:
			if id := o.Text("id"); id != "" && !d.headed {
				d.headed, d.Stats.Session, d.Begins = true, id, PiForkOf(o)
			}
			if o.Has("owner") { // the name of the person's account
				d.Stats.Pass(transcript.PassedAccount)
			}
			d.Wait(o.Without("owner"))
		case Says:
			return d.say(o, o.Object("message"))
		case Tells:
			return d.tell(o, k.Text)
		case Waits:
			if err := d.Follow(o.Text("id"), o.Text("parentId"), o); err != nil {
				return err
			}
			d.Wait(o)
		}
		return nil
	}
	if kind == "" {
		d.Stats.Skip(transcript.SkipUnknown, 1)
		return nil
	}
	d.Unknown(kind, o)
	return nil
}

// begin returns the message of a record without words, and the members of the record to keep.
func (d *reader) begin(
	o, inner jsonvalue.Object,
) (m transcript.Message, rest jsonvalue.Object, err error) {
	id := o.Text("id")
	rest = o.Without("id")
	name := id
	switch {
	case id != "" && d.f.Tree && string(o["parentId"]) == "null":
		err = d.Follow(id, transcript.Root, o)
	case id != "":
		err = d.Follow(id, o.Text("parentId"), o)
	case d.f.Kinds == nil: // what an agent adds later, such as what a call cost, is no new message
		name = d.DigestName(jsonvalue.Object{"role": o["role"], "content": o["content"]})
	default:
		name = d.DigestName(o)
	}
	m = transcript.Message{Origin: d.Origin(name), Note: true, Role: transcript.RoleSystem}
	for _, in := range []jsonvalue.Object{o, inner} {
		for _, member := range []string{"timestamp", "ts", d.f.Time} {
			when, exact := transcript.TimeOf(in[member])
			if m.Time.IsZero() && !when.IsZero() {
				if m.Time = when; exact {
					delete(rest, member)
				}
			}
		}
	}
	if m.Time.IsZero() {
		m.Time = d.begun
	}
	return m, rest, err
}

// tell emits a record about the conversation.
func (d *reader) tell(o jsonvalue.Object, members []string) error {
	m, rest, err := d.begin(o, nil)
	if err != nil {
		return err
	}
	var parts []json.RawMessage
	for _, member := range members {
		if s := o.Text(member); s != "" {
			parts = append(parts, transcript.TextPart(s, nil))
			rest[member] = json.RawMessage("true")
			break
		}
	}
	return d.Say(o, m, parts, rest)
}

// Plain reads a message with the roles and members that most agents have.
func Plain(o jsonvalue.Object) Message {
	said := Message{Content: blocksOf(o), Taken: []string{"content"}}
	switch o.Text("role") {
	case "user", "human":
		said.Role = transcript.RoleUser
	case "assistant", "ai":
		said.Role = transcript.RoleModel
		if model := o.Text("model"); transcript.Fit(model) == model {
			said.Model, said.Taken = model, append(said.Taken, "model")
		}
	default:
		said.Unknown = o.Has("role") && o.Text("role") != "system"
	}
	if said.Content == nil && o.Has("content") {
		said.Taken = nil
	}
	return said
}

// blocksOf returns the blocks of a message's content; nil if it is neither a text nor a list.
func blocksOf(o jsonvalue.Object) []json.RawMessage {
	if list, ok := o.Array("content"); ok {
		return list
	}
	if _, ok := jsonvalue.Text(o["content"]); ok {
		return []json.RawMessage{o["content"]}
	}
	return nil
}

// say emits a record with a message. Words that a person typed beside results follow in a message
// of their own.
func (d *reader) say(o, inner jsonvalue.Object) error {
	m, rest, err := d.begin(o, inner)
	if err != nil {
		return err
	}
	said := d.adapt(inner)
	if said.Unknown {
		d.Stats.Kept[transcript.Fit("role "+inner.Text("role"))]++
	}
	if m.Author = said.Model; said.Role == transcript.RoleModel {
		d.open = nil // results follow the message with their calls
	}
	if said.Role != "" {
		m.Note, m.Role = false, said.Role
	}
	parts, words, feedback := d.parts(said)
	switch {
	case said.Role != transcript.RoleUser:
	case d.f.Hidden != nil && d.f.Hidden(o, inner):
		m.Note, m.Role = true, transcript.RoleSystem
	default:
		m.Role, parts = d.whose(parts)
		m.Note = m.Role == transcript.RoleSystem
	}
	left := inner.Without(said.Taken...)
	if said.Role != "" && !m.Note {
		delete(left, "role")
	}
	if d.f.Kinds == nil {
		rest = left.Without("ts", "id", d.f.Time)
	} else if rest = rest.Without("type", "message"); len(left) > 0 {
		rest["message"] = jsonvalue.Encode(left)
	}
	if err := d.Say(o, m, parts, rest); err != nil || words == nil && feedback == nil {
		return err
	}
	m.Origin.Message, m.Role = transcript.Fit(m.Origin.Message+":words"), transcript.RoleUser
	if words != nil {
		_, words = d.whose(words)
	}
	return d.Say(o, m, append(feedback, words...), jsonvalue.Object{})
}

func (d *reader) adapt(inner jsonvalue.Object) Message {
	if d.f.Adapt != nil {
		return d.f.Adapt(inner, d.open)
	}
	return Plain(inner)
}

// parts makes parts of the content of a message. Of a message with results, words are the parts
// that a person added, and feedback what a person typed about a call; nil for none.
func (d *reader) parts(said Message) (parts, words, feedback []json.RawMessage) {
	var persons []bool
	results := false
	for _, raw := range said.Content {
		if d.f.Block != nil {
			raw = d.f.Block(raw)
		}
		raw, typed := withoutFeedback(raw)
		if typed != "" {
			feedback = append(feedback, transcript.TextPart(typed, nil))
		}
		p := d.blocks.PartOf(raw, func(id string) string { return d.tools[id] })
		switch p.Kind {
		case transcript.PartCall:
			d.tools[p.ID], d.open = p.Tool, append(d.open, Call{p.ID, p.Tool})
		case transcript.PartResult:
			d.open = slices.DeleteFunc(d.open, func(c Call) bool { return c.ID == p.ID })
			results = true
		}
		text := jsonvalue.AsObject(p.Raw).Text("text")
		parts = append(parts, p.Raw)
		persons = append(persons, p.Kind == transcript.PartMedia || p.Kind == transcript.PartText &&
			strings.TrimSpace(text) != "" && !d.marks().Client(text))
	}
	if !results || said.Role != transcript.RoleUser {
		return parts, nil, feedback
	}
	all := parts
	parts = nil
	for i, raw := range all {
		if persons[i] {
			words = append(words, raw)
		} else {
			parts = append(parts, raw)
		}
	}
	return parts, words, feedback
}

// withoutFeedback cuts what a person typed about a call out of a block with its result.
func withoutFeedback(raw json.RawMessage) (block json.RawMessage, typed string) {
	b := jsonvalue.AsObject(raw)
	if b.Text("type") != "tool_result" {
		return raw, ""
	}
	list, isList := b.Array("content")
	text := b["content"]
	if isList && len(list) == 1 {
		text = jsonvalue.AsObject(list[0])["text"]
	}
	output, _ := jsonvalue.Text(text)
	head, typed, around := message.Typed(output)
	if typed == "" {
		return raw, ""
	}
	b = b.Without()
	b.Set("content", head)
	b.Set("around", around)
	return jsonvalue.Encode(b), typed
}

func (d *reader) marks() *transcript.Voices {
	if d.f.Marks == nil {
		return &transcript.Voices{}
	}
	return d.f.Marks()
}

// whose returns the role of a message in the user's name, and its parts: what the client tells is
// hidden beside words of the person, and beside results.
func (d *reader) whose(list []json.RawMessage) (role string, parts []json.RawMessage) {
	kinds := lists.Map(list, func(raw json.RawMessage) transcript.PartKind {
		return transcript.ReadPart(raw).Kind
	})
	if slices.Contains(kinds, transcript.PartResult) {
		for i, raw := range list {
			if kinds[i] == transcript.PartText {
				raw = transcript.Hide(string(d.blocks), raw)
			}
			parts = append(parts, raw)
		}
		return transcript.RoleTool, parts
	}
	parts, note := transcript.Divide(string(d.blocks), d.marks(), list)
	if note {
		return transcript.RoleSystem, parts
	}
	return transcript.RoleUser, parts
}

// inlineImage returns an image whose bytes stand in a block as Anthropic's API has it.
func inlineImage(b jsonvalue.Object) json.RawMessage {
	image := b.Without("data", "mimeType")
	image.Set("source", imageSource(b.Text("mimeType"), b.Text("data")))
	return jsonvalue.Encode(image)
}

// image returns a block with an image.
func image(mime, data string) json.RawMessage {
	return jsonvalue.Encode(jsonvalue.NewObject("type", "image", "source", imageSource(mime, data)))
}

func imageSource(mime, data string) jsonvalue.Object {
	return jsonvalue.NewObject("type", "base64", "media_type", mime, "data", data)
}

// only returns the name and the value of an object's only member, which says of what kind the
// object is; "" for anything else.
func only(raw json.RawMessage) (kind string, value json.RawMessage) {
	if list, _ := jsonvalue.MembersWithin(raw); len(list) == 1 {
		kind, value = list[0].Name, list[0].Value
	}
	return kind, value
}

// arguments returns what a call is given, of a text that is JSON. It need not be whole.
func arguments(text string) json.RawMessage {
	switch _, ok := jsonvalue.ParseObject([]byte(text)); {
	case ok:
		return json.RawMessage(text)
	case text == "", text == "null":
		return json.RawMessage("{}")
	}
	return jsonvalue.Encode(jsonvalue.NewObject("arguments", text))
}

// exited returns what a command has printed, with how it ended.
func exited(output, how string) string {
	return strings.TrimPrefix(strings.TrimSuffix(output, "\n")+"\n"+how, "\n")
}

// textIn returns the text that a piece of content is or has; "" for none.
func textIn(raw json.RawMessage) string {
	if s, ok := jsonvalue.Text(raw); ok {
		return s
	}
	return jsonvalue.AsObject(raw).Text("text")
}

func thought(text string) json.RawMessage {
	return jsonvalue.Encode(jsonvalue.NewObject("type", "thinking", "thinking", text))
}

// result returns a block with the result of a call.
func result(id string, content any, failed bool) json.RawMessage {
	o := jsonvalue.NewObject("type", "tool_result", "tool_use_id", id, "content", content)
	if failed {
		o.Set("is_error", true)
	}
	return jsonvalue.Encode(o)
}
