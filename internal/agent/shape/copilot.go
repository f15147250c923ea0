// GitHub Copilot CLI writes JSON lines, each an event with a type, its data, and the id of the
// event before it. Words, calls and results become parts in the shape of the Gemini API. Events
// that say nothing stay with the message after them, as docs/agents/copilot.md lists.

package shape

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

// Agent is the agent in the source of a message that Copilot CLI wrote, and the member of a part
// with the fields that only Copilot CLI has.
const CopilotAgent = "copilot"

func copilotStarts() []string { return []string{`{"type":"`, `{"id":"`, `{"data":`, `{"timestamp":"`} }

// isBookkeeping reports whether a type of event is known to say nothing.
func isBookkeeping(kind string) bool {
	return slices.Contains([]string{"session.start", "session.resume", "session.shutdown",
		"session.usage_record", "session.idle", "session.model_change", "session.mode_changed",
		"session.title_changed", "session.context_changed", "session.truncation",
		"session.usage_info", "session.compaction_start", "session.workspace_file_changed",
		"session.plan_changed", "session.tools_updated", "session.task_complete",
		"session.custom_agents_updated", "session.snapshot_rewind", "session.handoff",
		"session.remote_steerable_changed", "session.schedule_created",
		"session.permissions_changed", "session.skills_loaded", "session.mcp_servers_loaded",
		"assistant.turn_start", "assistant.turn_end", "assistant.usage", "assistant.intent",
		"assistant.reasoning", "tool.execution_start", "tool.execution_progress",
		"tool.execution_partial_result", "tool.user_requested", "subagent.started",
		"subagent.completed", "subagent.failed", "subagent.selected", "subagent.deselected",
		"hook.start", "hook.end", "hook.progress", "skill.invoked", "pending_messages.modified",
		"system.message", "permission.requested", "permission.completed", "user_input.requested",
		"user_input.completed", "elicitation.requested", "elicitation.completed", "abort",
		"command.queued", "command.execute", "command.completed", "exit_plan_mode.requested",
		"exit_plan_mode.completed", "external_tool.requested", "external_tool.completed"}, kind)
}

// noteMember returns the member of the data that is the text of an event about the conversation; ok
// is false for any other event.
func noteMember(kind string) (member string, ok bool) {
	switch kind {
	case "session.error", "session.warning", "session.info":
		return "message", true
	case "session.compaction_complete":
		return "summaryContent", true
	case "system.notification":
		return "content", true
	}
	return "", false
}

// Read reads a transcript, as transcript.Read says. name is the session that the directory of the
// file is named for, or ""; it counts if no event names the session.
func ReadCopilot(
	name string, r io.Reader, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	d := &copilotReader{Flat: transcript.NewFlat(CopilotAgent, emit), tools: map[string]string{},
		asks: map[string]string{}}
	d.Copies.Members = []string{"detailedContent", "partialOutput", "prompt", "initialPrompt",
		"toolArgs", "toolResult", "arguments"}
	d.Stats.Session = transcript.NameOfFile(name)
	err := d.Read(r, copilotStarts(), d.record)
	return d.Stats, err
}

type copilotReader struct {
	*transcript.Flat
	begun bool
	tools map[string]string // of the calls, by their ids
	asks  map[string]string // what the calls ask a subagent, until its conversation begins
}

func (d *copilotReader) record(o jsonvalue.Object) error {
	kind, data, id := o.Text("type"), o.Object("data"), o.Text("id")
	if kind == "" || data == nil {
		d.Stats.Skip(transcript.SkipUnknown, 1)
		return nil
	}
	if kind == "session.start" && !d.begun {
		d.begun = true
		d.Stats.Session = cmp.Or(data.Text("sessionId"), d.Stats.Session)
	}
	d.Stats.Version = cmp.Or(data.Text("copilotVersion"), d.Stats.Version)
	if err := d.Follow(id, o.Text("parentId"), o); err != nil {
		return err
	}
	d.Thread = ""
	if call := transcript.Fit(data.Text("parentToolCallId")); call != "" {
		d.thread(call)
		if err := d.ask(kind, call); err != nil {
			return err
		}
	}
	switch member, isNote := noteMember(kind); {
	case kind == "user.message", kind == "assistant.message", kind == "tool.execution_complete":
		return d.say(o, kind, data)
	case isNote && data.Text("infoType") == "authentication": // it says who is signed in
		d.Stats.Pass(transcript.PassedAccount)
		return nil
	case isNote:
		return d.note(o, data, member)
	case isBookkeeping(kind):
		d.Wait(o)
	default:
		d.Unknown(kind, o)
	}
	return nil
}

// thread makes the conversation of a subagent the one of the event. The call that began it names
// it.
func (d *copilotReader) thread(call string) {
	d.Thread = call
	spawn := transcript.Spawn{Call: call, Thread: call}
	if !slices.Contains(d.Stats.Spawned, spawn) {
		d.Stats.Spawned = append(d.Stats.Spawned, spawn)
	}
}

// ask emits what the call of a subagent asks as the first message of its conversation, if that
// begins with anything else.
func (d *copilotReader) ask(kind, call string) error {
	asked := d.asks[call]
	if isBookkeeping(kind) || asked == "" {
		return nil
	}
	delete(d.asks, call)
	if kind == "user.message" {
		return nil
	}
	name := jsonvalue.NewObject("id", call+":prompt", "content", asked)
	m := transcript.Message{Origin: d.Origin(transcript.Fit(call + ":prompt")),
		Role: transcript.RoleUser}
	return d.Say(name, m, []json.RawMessage{transcript.TextPart(asked, nil)}, jsonvalue.Object{})
}

// begin returns the message of an event, and the members of the event to keep.
func (d *copilotReader) begin(o jsonvalue.Object) (m transcript.Message, rest jsonvalue.Object) {
	name := o.Text("id")
	rest = o.Without("id", "data")
	if name == "" {
		name = d.DigestName(o)
	}
	m = transcript.Message{Origin: d.Origin(name)}
	var exact bool
	if m.Time, exact = transcript.TimeOf(o["timestamp"]); exact {
		delete(rest, "timestamp")
	}
	return m, rest
}

// note emits an event about the conversation.
func (d *copilotReader) note(o, data jsonvalue.Object, member string) error {
	m, rest := d.begin(o)
	m.Note, m.Role = true, transcript.RoleSystem
	var parts []json.RawMessage
	left := data.Without()
	if s := data.Text(member); s != "" {
		parts = append(parts, transcript.TextPart(s, nil))
		delete(left, member)
	}
	rest["data"] = jsonvalue.Encode(left)
	return d.Say(o, m, parts, rest)
}

// say emits an event with a message.
func (d *copilotReader) say(o jsonvalue.Object, kind string, data jsonvalue.Object) error {
	m, rest := d.begin(o)
	left := data.Without()
	var parts []json.RawMessage
	typed := ""
	switch kind {
	case "user.message":
		delete(rest, "type")
		m.Role = transcript.RoleUser
		parts = prompt(&m, data, left)
	case "assistant.message":
		delete(rest, "type")
		m.Role, m.Tokens = transcript.RoleModel, data.Number("outputTokens")
		if model := data.Text("model"); model != "" && transcript.Fit(model) == model {
			m.Author = model
			delete(left, "model")
		}
		parts = d.answer(data, left)
	default:
		m.Role = transcript.RoleTool
		parts, typed = d.result(data, left)
		if parts == nil {
			m.Note, m.Role = true, transcript.RoleSystem
		}
	}
	if len(left) > 0 {
		rest["data"] = jsonvalue.Encode(left)
	}
	if err := d.Say(o, m, parts, rest); err != nil || typed == "" {
		return err
	}
	m.Origin.Message, m.Role = transcript.Fit(m.Origin.Message+":words"), transcript.RoleUser
	return d.Say(o, m, []json.RawMessage{transcript.TextPart(typed, nil)}, jsonvalue.Object{})
}

// prompt reads what the user said. Some versions leave it empty and have only what the model was
// given, with elements that Copilot adds. What other sources than the user said is a note.
func prompt(m *transcript.Message, data, left jsonvalue.Object) (parts []json.RawMessage) {
	said, whole := data.Text("content"), data.Text("transformedContent")
	from := strings.Index(whole, said)
	to := from + len(said)
	if said == "" {
		from, to = bare(whole)
		said = whole[from:to]
	} else {
		delete(left, "content")
	}
	if said != "" {
		if from >= 0 && whole != "" {
			left.Set("around", []string{whole[:from], whole[to:]})
			delete(left, "transformedContent")
		}
		parts = append(parts, transcript.TextPart(said, nil))
	}
	list, _ := data.Array("attachments")
	for _, raw := range list {
		parts = append(parts, transcript.Hidden(CopilotAgent, jsonvalue.Object{"attachment": raw}))
	}
	delete(left, "attachments")
	source := data.Text("source")
	if source == "" || source == "user" {
		var note bool
		if parts, note = transcript.Divide(CopilotAgent, copilotMarks(), parts); note {
			m.Note, m.Role = true, transcript.RoleSystem
		}
	} else if data.Text("parentToolCallId") == "" {
		m.Note, m.Role = true, transcript.RoleSystem
	}
	return parts
}

// elements are those that Copilot puts around the words of the user.
var elements = [...]string{"current_datetime", "reminder", "system_reminder", "system-reminder",
	"sql_tables", "system_notification"}

// clientMarks are what Copilot writes into messages of the user. docs/agents/copilot.md has the
// table.
func copilotMarks() *transcript.Voices { return &transcript.Voices{Elements: elements[:]} }

// bare returns where the user's words begin and end among elements that Copilot puts around them.
func bare(s string) (from, to int) {
	to = len(s)
	for again := true; again; {
		again = false
		from += len(s[from:to]) - len(strings.TrimLeft(s[from:to], " \t\r\n"))
		to -= len(s[from:to]) - len(strings.TrimRight(s[from:to], " \t\r\n"))
		for _, element := range elements {
			open, end := "<"+element+">", "</"+element+">"
			inner := s[from:to]
			if strings.HasPrefix(inner, open) {
				if i := strings.Index(inner, end); i >= 0 {
					from, again = from+i+len(end), true
					break
				}
			}
			if strings.HasSuffix(inner, end) {
				if i := strings.LastIndex(inner, open); i >= 0 {
					to, again = from+i, true
					break
				}
			}
		}
	}
	return from, to
}

// thoughtAndText takes what the model thought and said out of what is left of a record.
func thoughtAndText(
	agent string, record, left jsonvalue.Object, thought string,
) (parts []json.RawMessage) {
	if s := record.Text(thought); s != "" {
		parts = append(parts,
			transcript.ThoughtPart(s, jsonvalue.Object{agent: json.RawMessage("{}")}))
		delete(left, thought)
	}
	if s := record.Text("content"); s != "" {
		parts = append(parts, transcript.TextPart(s, nil))
		delete(left, "content")
	}
	return parts
}

// answer reads what the model said and called.
func (d *copilotReader) answer(data, left jsonvalue.Object) (parts []json.RawMessage) {
	parts = thoughtAndText(CopilotAgent, data, left, "reasoningText")
	list, ok := data.Array("toolRequests")
	if !ok {
		return parts
	}
	delete(left, "toolRequests")
	for _, raw := range list {
		parts = append(parts, d.call(raw))
	}
	return parts
}

// call makes a part of a call. Its arguments are an object, or the text of one.
func (d *copilotReader) call(raw json.RawMessage) json.RawMessage {
	b := jsonvalue.AsObject(raw)
	id, tool := b.Text("toolCallId"), b.Text("name")
	if id == "" || tool == "" {
		return transcript.Hidden(CopilotAgent, jsonvalue.Object{"request": raw})
	}
	d.tools[id], d.asks[id] = tool, b.Object("arguments").Text("prompt")
	rest := b.Without("toolCallId", "name", "arguments")
	args := b.Object("arguments")
	if args == nil && b.Has("arguments") {
		rest["arguments"] = b["arguments"]
		s, isText := jsonvalue.Text(b["arguments"])
		if args, _ = jsonvalue.ParseObject([]byte(s)); args == nil {
			args = jsonvalue.Object{"input": b["arguments"]}
		} else if isText && string(jsonvalue.Encode(args)) == s {
			rest["arguments"] = json.RawMessage("true")
		}
	}
	if args == nil {
		args = jsonvalue.Object{}
	}
	return transcript.CallPart(id, tool, jsonvalue.Encode(args),
		transcript.Extra(CopilotAgent, rest))
}

// result reads the end of a call; nil if the event does not name the call. typed is what the person
// said when refusing it.
func (d *copilotReader) result(
	data, left jsonvalue.Object,
) (parts []json.RawMessage, typed string) {
	id := data.Text("toolCallId")
	if id == "" {
		return nil, ""
	}
	delete(left, "toolCallId")
	member, from, said := "output", "result", ""
	if failed := data.Object("error"); string(data["success"]) == "false" || failed != nil {
		member = "error"
		if failed != nil {
			from = "error"
		}
	}
	inner := data.Object(from)
	text := "content"
	if from == "error" {
		text = "message"
	}
	if s, ok := jsonvalue.Text(inner[text]); ok {
		said = s
		if kept := inner.Without(text); len(kept) > 0 {
			left[from] = jsonvalue.Encode(kept)
		} else {
			delete(left, from)
		}
	} else if s, ok := jsonvalue.Text(data[from]); ok {
		said = s
		left[from] = json.RawMessage("true")
	}
	tool := cmp.Or(d.tools[id], data.Text("toolName"))
	said, typed, around := message.Typed(said)
	if typed != "" {
		left.Set("around", around)
	}
	return append(parts, transcript.ResultPart(id, tool,
		jsonvalue.Encode(map[string]string{member: said}), nil)), typed
}
