// The Cursor CLI and the Cursor editor write JSON lines with a role and a message, without ids and
// times. What the editor keeps in its database, cursoreditor.go reads. docs/agents/cursor.md lists
// the other members of a record, which stay with its message.

package shape

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message that Cursor wrote, and the member of a part with
// the fields that only Cursor has.
const CursorAgent = "cursor"

// anthropic reads blocks.
const anthropic = transcript.Blocks(CursorAgent)

// query is the element that Cursor puts a prompt into.
const query = "user_query"

// aroundName keeps what stands around a prompt: the element, and a time.
const aroundName = "around"

func cursorStarts() []string { return []string{`{"role":"`, `{"type":"`, `{"message":`} }

// Read reads a transcript, as transcript.Read says. name is the session that the file is named for,
// or "": no line names it. A composer of the editor does.
func ReadCursor(
	name string, r io.Reader, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	d := &cursorReader{Flat: transcript.NewFlat(CursorAgent, emit), tools: map[string]string{}}
	d.Stats.Session = transcript.NameOfFile(name)
	head, r, err := transcript.Peek(r, 64)
	if err != nil {
		return d.Stats, &transcript.ReadError{Err: err}
	}
	first := bytes.TrimLeft(head, "{ \t\r\n")
	if bytes.HasPrefix(first, []byte(`"composer"`)) || bytes.HasPrefix(first, []byte(`"bubbles"`)) {
		f := CursorEditor()
		f.Marks = cursorMarks
		return f.Read(CursorAgent, name, r, emit)
	}
	if isCursorText(head) {
		if r, err = linesOfCursorText(r); err != nil {
			return d.Stats, &transcript.ReadError{Err: err}
		}
	}
	err = d.Read(r, cursorStarts(), d.record)
	return d.Stats, err
}

type cursorReader struct {
	*transcript.Flat
	tools map[string]string // of the calls, by their ids
	open  []string          // calls without an id of their own, oldest first: a result may follow
}

func (d *cursorReader) record(o jsonvalue.Object) error {
	role, kind := o.Text("role"), o.Text("type")
	if (role == "user" || role == "assistant") && (o.Object("message") != nil || o.Has("content")) {
		return d.say(o)
	}
	switch {
	case kind == "turn_ended":
		d.Wait(o)
	case role != "":
		d.Unknown("role "+role, o)
	case kind != "":
		d.Unknown(kind, o)
	default:
		d.Stats.Skip(transcript.SkipUnknown, 1)
	}
	return nil
}

// say emits a record with a message.
func (d *cursorReader) say(o jsonvalue.Object) error {
	name := "said:" + string(o[saidName])
	if !o.Has(saidName) {
		name = d.DigestName(o)
	}
	m := transcript.Message{Origin: d.Origin(name), Role: transcript.RoleUser}
	inner, rest := o.Object("message"), o.Without("role", "message")
	if inner == nil {
		inner = jsonvalue.Object{"content": o["content"]}
		rest = o.Without("role", "content")
		rest["bare"] = json.RawMessage("true")
	}
	if o.Text("role") == "assistant" {
		m.Role = transcript.RoleModel
		if model := inner.Text("model"); transcript.Fit(model) == model {
			m.Author = model
		}
	}
	left := inner.Without("content")
	var parts []json.RawMessage
	if s, ok := jsonvalue.Text(inner["content"]); ok {
		parts = append(parts, d.text(&m, s, jsonvalue.Object{"bare": json.RawMessage("true")}))
	} else if list, ok := inner.Array("content"); ok {
		for i, raw := range list {
			parts = append(parts, d.block(&m, i, raw))
		}
	} else if inner.Has("content") {
		left["content"] = inner["content"]
	}
	if len(left) > 0 {
		rest["message"] = jsonvalue.Encode(left)
	}
	if m.Role == transcript.RoleUser {
		var note bool
		if parts, note = transcript.Divide(CursorAgent, cursorMarks(), parts); note {
			m.Note, m.Role = true, transcript.RoleSystem
		}
	}
	return d.Say(o, m, parts, rest)
}

// clientMarks are what Cursor writes into messages of the user, beside the element of the prompt.
// docs/agents/cursor.md has the table.
func cursorMarks() *transcript.Voices {
	return &transcript.Voices{Elements: []string{
		"user_info", "system_reminder", "system-reminder", "system_notification", "additional_data",
		"open_and_recently_viewed_files", "attached_files", "image_files", "git_status",
		"agent_transcripts", "agent_skills", "mcp_file_system", "project_layout", "rules",
		"user_rules", "always_applied_workspace_rules", "timestamp",
	}}
}

// text makes a part of a text. A prompt is taken out of its element.
func (d *cursorReader) text(
	m *transcript.Message, s string, rest jsonvalue.Object,
) json.RawMessage {
	if said, around, ok := transcript.Unwrap(s, query); ok && m.Role == transcript.RoleUser {
		s = said
		rest.Set(aroundName, around[:])
		m.Time = cmp.Or(timeOfCursor(around[0]), m.Time)
	}
	return transcript.TextPart(s, transcript.Extra(CursorAgent, rest))
}

// timeOfCursor reads the time before a prompt, as in <timestamp>Tuesday, Feb 3, 2026, 8:00 AM
// (UTC+1)</timestamp>.
func timeOfCursor(around string) time.Time {
	_, at, _ := strings.Cut(around, "<timestamp>")
	at, _, _ = strings.Cut(at, "</timestamp>")
	at, zone, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(at), ")"), " (UTC")
	when, err := time.Parse("Monday, Jan 2, 2006, 3:04 PM", at)
	if err != nil {
		return time.Time{}
	}
	hours, minutes, _ := strings.Cut(zone, ":")
	h, _ := strconv.Atoi(hours)
	m, _ := strconv.Atoi(minutes)
	if strings.HasPrefix(hours, "-") {
		m = -m
	}
	return when.Add(-time.Duration(60*h+m) * time.Minute)
}

// block makes a part of a block of a message. A call gets an id if it has none, and so does the
// result that follows.
func (d *cursorReader) block(m *transcript.Message, at int, raw json.RawMessage) json.RawMessage {
	b := jsonvalue.AsObject(raw)
	switch b.Text("type") {
	case "text":
		if s, ok := jsonvalue.Text(b["text"]); ok {
			return d.text(m, s, b.Without("type", "text"))
		}
	case "tool_use":
		b = b.Without()
		if b.Text("id") == "" {
			id := "call:" +
				transcript.Derive(16, m.Origin.Session, m.Origin.Message, strconv.Itoa(at))
			b.Set("id", id)
			b.Set("unnamed", true)
			d.open = append(d.open, id)
		}
		d.tools[b.Text("id")] = b.Text("name")
		return anthropic.PartOf(jsonvalue.Encode(b), nil).Raw
	case "tool_result":
		b = b.Without()
		if b.Text("tool_use_id") == "" && len(d.open) > 0 {
			b.Set("tool_use_id", d.open[0])
			b.Set("unnamed", true)
			d.open = d.open[1:]
		}
		m.Role, m.Author = transcript.RoleTool, ""
		raw = jsonvalue.Encode(b)
	}
	return anthropic.PartOf(raw, func(id string) string { return d.tools[id] }).Raw
}
