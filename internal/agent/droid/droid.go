// Package droid reads the transcripts of Factory Droid: JSON lines, first one about the session,
// then one for each message, in blocks of the Anthropic API. It is pure: bytes in, values out; no
// clock, no environment, no files.
//
// Words, calls and results become parts in the shape of the Gemini API. The other members of a
// record stay with its message, in a part that no model is shown. docs/agents/droid.md lists them.
package droid

import (
	"encoding/json"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/blocks"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/voice"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message that Droid wrote, and the member of a part with the
// fields that only Droid has.
const Agent = "droid"

// anthropic reads blocks.
const anthropic = blocks.Agent(Agent)

func starts() []string { return []string{`{"type":"`, `{"id":"`, `{"message":`} }

// Read reads a transcript, as transcript.Read says. name is the session that the file is named for,
// or ""; it counts if no record names the session.
func Read(name string, r io.Reader, emit func(transcript.Step) error) (transcript.Stats, error) {
	d := &reader{Flat: transcript.NewFlat(Agent, emit), tools: map[string]string{}}
	d.Stats.Session = transcript.NameOfFile(name)
	err := d.Read(r, starts(), d.record)
	return d.Stats, err
}

type reader struct {
	*transcript.Flat
	begun bool
	tools map[string]string // of the calls, by their ids
}

func (d *reader) record(o jsonvalue.Object) error {
	switch kind := o.Text("type"); kind {
	case "session_start":
		if id := o.Text("id"); id != "" && !d.begun {
			d.begun, d.Stats.Session = true, id
		}
		d.Wait(o)
	case "message":
		return d.say(o)
	case "compaction_state":
		return d.note(o, "summaryText", "summary")
	case "todo_state", "session_end":
		d.Wait(o)
	case "":
		d.Stats.Skip(transcript.SkipUnknown, 1)
	default:
		d.Unknown(kind, o)
	}
	return nil
}

// begin returns the message of a record without words, and the members of the record to keep.
func (d *reader) begin(
	o jsonvalue.Object,
) (m transcript.Message, rest jsonvalue.Object, err error) {
	id := o.Text("id")
	rest = o.Without("id")
	name := id
	if id == "" {
		name = d.DigestName(o)
	} else if err = d.Follow(id, o.Text("parentId"), o); err != nil {
		return m, rest, err
	}
	m = transcript.Message{Origin: d.Origin(name), Note: true, Role: transcript.RoleSystem}
	var exact bool
	if m.Time, exact = transcript.TimeOf(o["timestamp"]); exact {
		delete(rest, "timestamp")
	}
	return m, rest, nil
}

// note emits a record about the conversation. The text is that of the first of some members.
func (d *reader) note(o jsonvalue.Object, members ...string) error {
	m, rest, err := d.begin(o)
	if err != nil {
		return err
	}
	var parts []json.RawMessage
	for _, name := range members {
		if s := o.Text(name); s != "" {
			parts = append(parts, transcript.TextPart(s, nil))
			rest[name] = json.RawMessage("true")
			break
		}
	}
	return d.Say(o, m, parts, rest)
}

// say emits a record with a message.
func (d *reader) say(o jsonvalue.Object) error {
	m, rest, err := d.begin(o)
	if err != nil {
		return err
	}
	inner := o.Object("message")
	delete(rest, "type")
	delete(rest, "message")
	left := inner.Without("role", "content")
	var said []blocks.Part
	if s, ok := jsonvalue.Text(inner["content"]); ok {
		said = append(said,
			anthropic.TextPart(s, jsonvalue.Object{"bare": json.RawMessage("true")}))
	} else if list, ok := inner.Array("content"); ok {
		for _, raw := range list {
			p := anthropic.PartOf(raw, func(id string) string { return d.tools[id] })
			if p.Kind == transcript.PartCall {
				d.tools[p.ID] = p.Tool
			}
			said = append(said, p)
		}
	} else if inner.Has("content") {
		left["content"] = inner["content"]
	}
	switch role := inner.Text("role"); {
	case role == "user":
		m.Note, m.Role = false, transcript.RoleUser
	case role == "assistant":
		m.Note, m.Role = false, transcript.RoleModel
		if model := inner.Text("model"); model != "" && transcript.Fit(model) == model {
			m.Author = model
			delete(left, "model")
		}
	case inner.Has("role"):
		left["role"] = inner["role"]
		if role != "system" {
			d.Stats.Kept[transcript.Fit("role "+role)]++
		}
	}
	visible := o.Text("visibility")
	if visible == "" {
		visible = inner.Text("visibility")
	}
	parts := settle(&m, said, visible != "" && visible != "both")
	if m.Note && inner.Has("role") {
		left["role"] = inner["role"]
	}
	if len(left) > 0 {
		rest["message"] = jsonvalue.Encode(left)
	}
	return d.Say(o, m, parts, rest)
}

// clientMarks are what Droid writes into texts of the user. docs/agents/droid.md has the table.
var clientMarks = voice.Table{
	Elements: []string{"system-reminder", "system-notification", "task-notification"},
	Leads:    []voice.Lead{{Open: "[Request interrupted by user", Close: "]"}},
}

// settle gives a message of the user its role. Results come in the user's name, and so does what
// Droid itself tells the model or the person: a message of nothing else is a note, and beside a
// prompt that text is hidden. only says that the person and the model do not both see the message.
func settle(m *transcript.Message, said []blocks.Part, only bool) (parts []json.RawMessage) {
	prompts := 0
	for _, p := range said {
		if m.Role == transcript.RoleUser && p.Kind == transcript.PartResult {
			m.Role = transcript.RoleTool
		}
		if p.Kind == transcript.PartMedia || p.Kind == transcript.PartText && !isClient(p.Raw) {
			prompts++
		}
	}
	user := m.Role == transcript.RoleUser
	if user && (only || prompts == 0 && len(said) > 0) {
		m.Note, m.Role = true, transcript.RoleSystem
	}
	for _, p := range said {
		if !m.Note && m.Role != transcript.RoleModel && p.Kind == transcript.PartText {
			parts = append(parts, pieces(p.Raw)...)
			continue
		}
		parts = append(parts, p.Raw)
	}
	return parts
}

// isClient reports whether a part is a text that Droid put into the user's message.
func isClient(part json.RawMessage) bool {
	return clientMarks.Client(jsonvalue.AsObject(part).Text("text"))
}

// pieces returns a text as parts of which those of the client are hidden.
func pieces(part json.RawMessage) (parts []json.RawMessage) {
	list := clientMarks.Pieces(jsonvalue.AsObject(part).Text("text"))
	if len(list) == 1 && !list[0].Client {
		return []json.RawMessage{part}
	}
	for _, p := range list {
		raw := transcript.TextPart(p.Text, nil)
		if p.Client {
			raw = transcript.HiddenPart(
				jsonvalue.Object{Agent: jsonvalue.Encode(jsonvalue.Object{"reminder": raw})})
		}
		parts = append(parts, raw)
	}
	return parts
}
