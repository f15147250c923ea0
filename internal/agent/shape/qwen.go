// Qwen Code writes JSON lines, each a record with an id and its parent's, and a message in the form
// of the Gemini API. The parts of a message are taken as they are. The other members of a record
// stay with its message, in a part that no model is shown, so that an export writes the original
// record. Records that say nothing stay with the message after them. docs/agents/qwen.md lists the
// members.

package shape

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message that Qwen Code wrote, and the member of a part with
// the fields that only Qwen Code has.
const QwenAgent = "qwen"

// The types of a record.
const (
	typeUser      = "user"
	typeAssistant = "assistant"
	typeResult    = "tool_result"
	typeSystem    = "system"
)

// Subtypes of a system record with words.
const (
	subtypeCompression = "chat_compression"
	subtypeNote        = "ctx_note" // an export's own
)

func qwenStarts() []string {
	return []string{`{"uuid":"`, `{"parentUuid":`, `{"sessionId":"`, `{"type":"`}
}

// isQwenBookkeeping reports whether a subtype of system records is known to say nothing.
func isQwenBookkeeping(subtype string) bool {
	return slices.Contains([]string{"ui_telemetry", "attribution_snapshot", "slash_command",
		"at_command", "rewind", "custom_title", "notification", "cron", "file_history_snapshot",
		"session_artifact_snapshot", "session_artifact_event", "agent_bootstrap",
		"agent_launch_prompt", "mid_turn_user_message", "parent_session",
		"session_source"}, subtype)
}

// Read reads a transcript, as transcript.Read says. name is the session that the file is named for,
// or ""; it counts if no record names the session.
func ReadQwen(
	name string, r io.Reader, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	d := &qwenReader{Flat: transcript.NewFlat(QwenAgent, emit)}
	d.Stats.Session = transcript.NameOfFile(name)
	err := d.Read(r, qwenStarts(), d.record)
	return d.Stats, err
}

type qwenReader struct {
	*transcript.Flat
	begun bool
}

func (d *qwenReader) record(o jsonvalue.Object) error {
	kind, id := o.Text("type"), o.Text("uuid")
	if kind == "" {
		d.Stats.Skip(transcript.SkipUnknown, 1)
		return nil
	}
	if own := o.Text("sessionId"); own != "" && !d.begun {
		d.begun, d.Stats.Session = true, own
	}
	parent := o.Text("parentUuid")
	if string(o["parentUuid"]) == "null" {
		parent = transcript.Root
	}
	if err := d.Follow(id, parent, o); err != nil {
		return err
	}
	hints, over := d.Hints(o)
	if over {
		return nil
	}
	if v := o.Text("version"); v != "" && hints == nil {
		d.Stats.Version = v
	}
	switch subtype := o.Text("subtype"); {
	case kind == typeUser, kind == typeAssistant, kind == typeResult, hints != nil,
		kind == typeSystem && subtype == subtypeCompression:
		if id == "" {
			o = o.Without()
			o.Set("uuid", d.DigestName(o))
		}
		m, parts, rest := decode(o, d.Stats.Session)
		return d.Say(o, m, parts, rest)
	case kind == typeSystem && isQwenBookkeeping(subtype):
		d.Wait(bareQwen(o, d.Stats.Session))
	case kind == typeSystem:
		d.Unknown("system "+subtype, bareQwen(o, d.Stats.Session))
	default:
		d.Unknown(kind, bareQwen(o, d.Stats.Session))
	}
	return nil
}

// bareQwen returns a record that says nothing without what an export gives it anew: its parent, and
// its session.
func bareQwen(o jsonvalue.Object, session string) jsonvalue.Object {
	o = o.Without("parentUuid")
	if o.Text("sessionId") == session {
		delete(o, "sessionId")
	}
	return o
}

// decode returns the message of a record without its parts, the parts, and the members to keep.
func decode(
	o jsonvalue.Object, session string,
) (m transcript.Message, parts []json.RawMessage, rest jsonvalue.Object) {
	m = transcript.Message{Origin: transcript.Origin{Agent: QwenAgent,
		Session: transcript.Fit(session),
		Message: transcript.Fit(o.Text("uuid"))}}
	rest = bareQwen(o, session).Without("uuid", "type", "message", transcript.HintName)
	var exact bool
	if m.Time, exact = transcript.TimeOf(o["timestamp"]); exact {
		delete(rest, "timestamp")
	}
	role := typeUser
	switch o.Text("type") {
	case typeUser:
		m.Role = transcript.RoleUser
		if isInjected(o) {
			m.Note, m.Role = true, transcript.RoleSystem
			rest["type"] = o["type"]
		}
	case typeAssistant:
		m.Role, role = transcript.RoleModel, "model"
		if model := o.Text("model"); model != "" && transcript.Fit(model) == model {
			m.Author = model
			delete(rest, "model")
		}
		m.Tokens = o.Object("usageMetadata").Number("candidatesTokenCount")
	case typeResult:
		m.Role = transcript.RoleTool
		display(o, rest)
	default:
		m.Note, m.Role = true, transcript.RoleSystem
		rest["type"] = o["type"]
		if o.Has("message") {
			rest["message"] = o["message"]
		}
		if s := noteText(o); s != "" {
			parts = append(parts, transcript.TextPart(s, nil))
		}
		return m, parts, rest
	}
	inner := o.Object("message")
	left := inner.Without("role", "parts")
	list, ok := inner.Array("parts")
	if !ok {
		left["parts"] = json.RawMessage("null")
		if inner["parts"] != nil {
			left["parts"] = inner["parts"]
		}
	}
	if inner.Text("role") != role {
		left["role"] = json.RawMessage("null")
		if inner["role"] != nil {
			left["role"] = inner["role"]
		}
	}
	if inner == nil {
		left = jsonvalue.Object{"none": json.RawMessage("true")}
	}
	if len(left) > 0 {
		rest["message"] = jsonvalue.Encode(left)
	}
	list = transcript.CompactAll(list)
	if m.Role != transcript.RoleUser {
		return m, append(parts, list...), rest
	}
	for i, raw := range list {
		if i > 0 && isBrief(raw) {
			list[i] = transcript.Hide(QwenAgent, raw)
		}
	}
	list, note := transcript.Divide(QwenAgent, qwenMarks(), list)
	if note {
		m.Note, m.Role = true, transcript.RoleSystem
		rest["type"] = o["type"]
	}
	return m, append(parts, list...), rest
}

// clientMarks are what Qwen Code writes into messages of the user: reminders, the files that a
// prompt names, and the output of a command that a person ran beside the talk.
// docs/agents/qwen.md has the table.
func qwenMarks() *transcript.Voices {
	return &transcript.Voices{
		Elements: []string{"system-reminder", "task-notification", "hook_context"},
		Leads: []transcript.Lead{
			{Open: "I ran the following shell command:\n```sh\n"},
			{Open: "[Request interrupted by user", Close: "]"},
			{Open: "System: Please continue."},
			{Open: "System: Potential loop detected."},
			{Open: "This is the Qwen Code. We are setting up the context for our chat."},
			{Open: "Here is the user's editor context as a JSON object."},
			{Open: "Here is a summary of changes in the user's editor context"},
			{Open: "Base directory for this skill: "},
		},
		Whole: []string{"Please continue."},
		Spans: []transcript.Lead{
			{Open: "--- Content from referenced files ---", Close: "--- End of content ---"}},
	}
}

// isBrief reports whether a part behind a prompt is what our hook gave to the model.
func isBrief(part json.RawMessage) bool {
	s := strings.TrimSpace(jsonvalue.AsObject(part).Text("text"))
	return strings.HasPrefix(s, transcript.BriefOfOthers) ||
		strings.HasPrefix(s, transcript.BriefOfOwn)
}

// isInjected reports whether a record in the user's name is what the agent itself told the model.
func isInjected(o jsonvalue.Object) bool {
	switch o.Text("subtype") {
	case "notification", "cron", "agent_bootstrap", "goal_runtime":
		return true
	}
	from := cmp.Or(o.Text("provenance"), o.Object("provenance").Text("kind"))
	return from != "" && from != "real_user"
}

// display leaves out of the members to keep what the client shows of a result, if the result has
// it: an export gives that back.
func display(o, rest jsonvalue.Object) {
	call := o.Object("toolCallResult")
	s := call.Text("resultDisplay")
	output := qwenOutputOf(o.Object("message")["parts"])
	if s != "" && strings.Contains(output, s) {
		call = call.Without()
		call["resultDisplay"] = json.RawMessage("true")
		rest["toolCallResult"] = jsonvalue.Encode(call)
	}
}

// qwenOutputOf returns the words of the result in the parts of a message; "" for none.
func qwenOutputOf(parts json.RawMessage) string {
	list, _ := jsonvalue.Elements(parts)
	for _, raw := range list {
		response := jsonvalue.AsObject(raw).Object("functionResponse").Object("response")
		for _, name := range []string{"output", "error"} {
			if s := response.Text(name); s != "" {
				return s
			}
		}
	}
	return ""
}

// noteText returns the words of a system record.
func noteText(o jsonvalue.Object) string {
	payload := o.Object("systemPayload")
	if o.Text("subtype") != subtypeCompression {
		return payload.Text("text")
	}
	list, _ := payload.Array("compressedHistory")
	for _, raw := range list {
		parts, _ := jsonvalue.AsObject(raw).Array("parts")
		for _, part := range parts {
			if s := jsonvalue.AsObject(part).Text("text"); s != "" {
				return s
			}
		}
	}
	return ""
}
