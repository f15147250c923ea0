// The Antigravity CLI and the Antigravity editor write JSON lines, each a step with a number, a
// source and a type. Words, calls and results become parts in the shape of the Gemini API.
// docs/agents/antigravity.md lists the other members of a step, which stay with its message.

package shape

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message that Antigravity wrote, and the member of a part
// with the fields that only Antigravity has.
const AntigravityAgent = "antigravity"

// request is the element that Antigravity puts a prompt into.
const request = "USER_REQUEST"

func antigravityStarts() []string { return []string{`{"step_index":`, `{"source":"`, `{"type":"`} }

// isKnown reports whether a type of step is no drift.
func isKnown(kind string) bool {
	return slices.Contains([]string{"CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE",
		"KNOWLEDGE_ARTIFACTS", "USER_SETTINGS", "ERROR_MESSAGE", "CHECKPOINT", "SYSTEM_MESSAGE",
		"GENERIC", "TOOL_RESPONSE", "RUN_COMMAND", "COMMAND_STATUS", "SEND_COMMAND_INPUT",
		"LIST_DIRECTORY", "VIEW_FILE", "VIEW_FILE_OUTLINE", "VIEW_CODE_ITEM", "VIEW_CONTENT_CHUNK",
		"CODE_ACTION", "GREP_SEARCH", "FIND", "SEARCH_WEB", "READ_URL_CONTENT", "MCP_TOOL",
		"TASK_BOUNDARY", "NOTIFY_USER", "GENERATE_IMAGE", "BROWSER_SUBAGENT", "ASK_QUESTION",
		"INVOKE_SUBAGENT", "PROPOSE_CODE"}, kind)
}

// Read reads a transcript, as transcript.Read says. name is the conversation that the directory of
// the file is named for, or "": no step names it.
func ReadAntigravity(
	name string, r io.Reader, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	d := &antigravityReader{Flat: transcript.NewFlat(AntigravityAgent, emit),
		answers: map[string]call{},
		done:    map[string]bool{}}
	d.Stats.Session = transcript.NameOfFile(name)
	err := d.Read(r, antigravityStarts(), d.record)
	return d.Stats, err
}

type antigravityReader struct {
	*transcript.Flat
	model   string          // that the user has chosen
	open    []call          // calls without a result, oldest first
	done    map[string]bool // the ids of calls with a result
	answers map[string]call // by the name of the step that answers
}

type call struct{ id, tool string }

func (d *antigravityReader) record(o jsonvalue.Object) error {
	source, kind := o.Text("source"), o.Text("type")
	if kind == "" {
		d.Stats.Skip(transcript.SkipUnknown, 1)
		return nil
	}
	name := ""
	if index := string(o["step_index"]); len(index) > 0 && len(index) < 20 && index[0] != '"' &&
		index != "null" {
		name = "step:" + index
	} else {
		name = d.DigestName(o)
	}
	name = transcript.Fit(name)
	_, answers := d.answers[name]
	switch {
	case kind == "USER_INPUT":
		return d.say(o, name, d.prompt)
	case kind == "PLANNER_RESPONSE":
		return d.say(o, name, d.answer)
	case answers, len(d.open) > 0 &&
		(source == "MODEL" || kind == "TOOL_RESPONSE" || kind == "ERROR_MESSAGE"):
		return d.say(o, name, d.result)
	case source == "MODEL", kind == "ERROR_MESSAGE", kind == "CHECKPOINT", kind == "SYSTEM_MESSAGE":
		if !isKnown(kind) {
			d.Stats.Kept[transcript.Fit(kind)]++
		}
		return d.say(o, name, d.note)
	case isKnown(kind):
		d.Wait(o)
	default:
		d.Unknown(kind, o)
	}
	return nil
}

// say emits a step. fill makes its parts, and takes the members out of rest that are in them.
func (d *antigravityReader) say(
	o jsonvalue.Object, name string, fill func(m *transcript.Message,
		o, rest jsonvalue.Object) []json.RawMessage,
) error {
	m := transcript.Message{Origin: d.Origin(name)}
	m.Time, _ = transcript.TimeOf(o["created_at"])
	rest := o.Without("step_index")
	parts := fill(&m, o, rest)
	return d.Say(o, m, parts, rest)
}

// prompt reads what the user said, and the model that the user has chosen since.
func (d *antigravityReader) prompt(
	m *transcript.Message, o, rest jsonvalue.Object,
) (parts []json.RawMessage) {
	m.Role = transcript.RoleUser
	d.open = nil
	s, ok := jsonvalue.Text(o["content"])
	if !ok {
		return nil
	}
	d.model = cmp.Or(chosen(s), d.model)
	delete(rest, "content")
	extra := jsonvalue.Object{}
	if said, around, ok := transcript.Unwrap(s, request); ok {
		s = said
		extra.Set("around", around[:])
	}
	parts = append(parts, transcript.TextPart(s, transcript.Extra(AntigravityAgent, extra)))
	parts, note := transcript.Divide(AntigravityAgent, antigravityMarks(), parts)
	if source := o.Text("source"); note || source == "SYSTEM" || source == "MODEL" {
		m.Note, m.Role = true, transcript.RoleSystem
	}
	return parts
}

// clientMarks are what Antigravity writes beside the element of a prompt.
// docs/agents/antigravity.md has the table.
func antigravityMarks() *transcript.Voices {
	return &transcript.Voices{Elements: []string{"ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE",
		"EPHEMERAL_MESSAGE", "SYSTEM_MESSAGE", "CONVERSATION_SUMMARIES"}}
}

// chosen returns the model in the note about a change of settings that stands behind a prompt; ""
// for none.
func chosen(s string) string {
	_, rest, ok := strings.Cut(s, "setting `Model Selection` from ")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "\n")
	_, rest, _ = strings.Cut(rest, " to ")
	name, _, ok := strings.Cut(rest, ". ")
	if !ok {
		name = strings.TrimSuffix(rest, ".")
	}
	if transcript.Fit(name) != name {
		return ""
	}
	return name
}

// answer reads what the model thought, said and called.
func (d *antigravityReader) answer(
	m *transcript.Message, o, rest jsonvalue.Object,
) (parts []json.RawMessage) {
	m.Role, m.Author = transcript.RoleModel, d.model
	delete(rest, "type")
	delete(rest, "source")
	parts = thoughtAndText(AntigravityAgent, o, rest, "thinking")
	list, ok := o.Array("tool_calls")
	if !ok {
		return parts
	}
	delete(rest, "tool_calls")
	d.open = nil // nobody will answer the earlier ones now
	for i, raw := range list {
		c, part := callPart(m.Origin.Message+":"+strconv.Itoa(i), raw)
		if c.id != "" && !d.done[c.id] {
			d.open = append(d.open, c)
		}
		parts = append(parts, part)
	}
	return parts
}

// callPart makes a part of a call, which has no id of its own.
func callPart(id string, raw json.RawMessage) (call, json.RawMessage) {
	b := jsonvalue.AsObject(raw)
	tool, args := b.Text("name"), b.Object("args")
	if tool == "" || args == nil && b.Has("args") {
		return call{}, transcript.Hidden(AntigravityAgent, jsonvalue.Object{"call": raw})
	}
	if args == nil {
		args = jsonvalue.Object{}
	}
	rest := b.Without("name", "args")
	if plain, exact, ok := transcript.Decoded(args); ok {
		if args = plain; exact {
			rest.Set("encoded", true)
		} else {
			rest["args"] = b["args"]
		}
	}
	return call{id, tool},
		transcript.CallPart(id, tool, jsonvalue.Encode(args),
			transcript.Extra(AntigravityAgent, rest))
}

// result reads the answer to the oldest open call.
func (d *antigravityReader) result(
	m *transcript.Message, o, rest jsonvalue.Object,
) (parts []json.RawMessage) {
	c, again := d.answers[m.Origin.Message]
	if !again {
		c, d.open = d.open[0], d.open[1:]
		d.answers[m.Origin.Message], d.done[c.id] = c, true
	}
	m.Role = transcript.RoleTool
	member := "output"
	if o.Text("status") == "ERROR" || o.Text("type") == "ERROR_MESSAGE" {
		member = "error"
	}
	said := o.Text("content")
	if said != "" {
		delete(rest, "content")
	}
	return append(parts,
		transcript.ResultPart(c.id, c.tool, jsonvalue.Encode(map[string]string{member: said}), nil))
}

// note reads a step about the conversation.
func (d *antigravityReader) note(
	m *transcript.Message, o, rest jsonvalue.Object,
) (parts []json.RawMessage) {
	m.Note, m.Role = true, transcript.RoleSystem
	if s := o.Text("content"); s != "" {
		parts = append(parts, transcript.TextPart(s, nil))
		delete(rest, "content")
	}
	return parts
}
