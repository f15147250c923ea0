package codex

import (
	"encoding/json"
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// decoder makes messages of records. Its fields come from earlier records.
type decoder struct {
	session string
	model   string            // of the newest turn
	tools   map[string]string // the tool of each call
	names   transcript.Names
	events  []json.RawMessage // before the record
}

func newDecoder() *decoder {
	return &decoder{tools: map[string]string{}, names: transcript.Names{}}
}

// see reads the model from a record that says nothing.
func (d *decoder) see(o jsonvalue.Object) {
	if o.Text("type") == typeContext {
		if name := o.Object("payload").Text("model"); name != "" && transcript.Fit(name) == name {
			d.model = name
		}
	}
}

// decode makes a message of a record. before are the records that are kept with it.
func (d *decoder) decode(o jsonvalue.Object, before []json.RawMessage) transcript.Message {
	d.events = before
	hints := transcript.ReadHints(o[transcript.HintName])
	kind, payload := o.Text("type"), o.Object("payload")
	rest := o.Without("type", "payload", "timestamp", transcript.HintName)
	if !o.Has("payload") {
		payload, rest = o.Without("timestamp", transcript.HintName),
			jsonvalue.Object{"bare": json.RawMessage("true")}
		kind = typeItem
	}
	m := transcript.Message{Role: transcript.RoleSystem, Note: true}
	var exact bool
	if m.Time, exact = transcript.TimeOf(o["timestamp"]); !exact && o["timestamp"] != nil {
		rest["timestamp"] = o["timestamp"]
	}
	left := payload.Without()
	var parts []json.RawMessage
	name := ""
	switch kind {
	case typeItem:
		parts, name = d.readItem(&m, payload, left)
	case typeMeta:
		name = typeMeta
		delete(left, "id")
	case typeEvent:
		m.Note, m.Role = false, transcript.RoleUser
		parts, m.Note = transcript.Divide(Agent, &clientMarks,
			[]json.RawMessage{transcript.TextPart(payload.Text("message"), nil)})
		if m.Note {
			m.Role = transcript.RoleSystem
		}
		delete(left, "type")
		delete(left, "message")
	case typeCompacted:
		if s, ok := jsonvalue.Text(payload["message"]); ok && s != "" {
			parts = append(parts, transcript.TextPart(s, nil))
			delete(left, "message")
		}
		delete(left, "replacement_history")
	}
	if kind != typeItem {
		rest["type"] = jsonvalue.Encode(kind)
	}
	if name == "" {
		name = "derived:" +
			transcript.Derive(16, o.Text("timestamp"), kind,
				string(
					jsonvalue.Canonical(jsonvalue.Encode(payload.Without("replacement_history")))))
	}
	m.Origin = transcript.Origin{Agent: Agent, Session: transcript.Fit(d.session),
		Message: transcript.Fit(d.names.Next(name))}
	if len(left) > 0 {
		rest["payload"] = jsonvalue.Encode(left)
	}
	if len(before) > 0 {
		rest[transcript.BeforeName] = jsonvalue.Array(before)
	}
	if hints == nil || !hints.Alone {
		parts = append(parts, transcript.Kept(Agent, rest))
	}
	m.SetParts(parts)
	if hints != nil {
		hints.Apply(&m)
	}
	return m
}

// readItem reads a response item. It removes the members from left that follow from the parts.
func (d *decoder) readItem(
	m *transcript.Message, payload, left jsonvalue.Object,
) (parts []json.RawMessage, name string) {
	kind := payload.Text("type")
	if id := payload.Text("id"); id != "" {
		name = "id:" + id
	}
	switch kind {
	case itemMessage:
		delete(left, "type")
		parts = d.message(m, payload, left)
	case itemAgentMessage:
		parts = texts(payload, left)
	case itemWebSearch, itemToolSearch:
		of := searchIn(kind)
		action := payload.Object(of)
		name := searchedMember(action)
		if s := action.Text(name); s != "" {
			left[of] = jsonvalue.Encode(action.Without(name))
			parts = append(parts, transcript.TextPart(s,
				transcript.Extra(Agent, jsonvalue.NewObject("member", name))))
		}
	case itemReasoning:
		m.Note, m.Role, m.Author = false, transcript.RoleModel, d.model
		parts = thoughts(payload, left)
	case itemCall, itemCustom, itemLocalShell:
		id := payload.Text("call_id")
		if id == "" {
			break
		}
		m.Note, m.Role, m.Author, name = false, transcript.RoleModel, d.model, "call:"+id
		parts = append(parts, d.call(kind, id, payload, left))
	case itemOutput, itemCustomOut:
		id := payload.Text("call_id")
		if id == "" {
			break
		}
		m.Note, m.Role, name = false, transcript.RoleTool, "result:"+id
		parts = append(parts, d.output(kind, id, payload, left))
	}
	return parts, name
}

func (d *decoder) message(
	m *transcript.Message, payload, left jsonvalue.Object,
) (parts []json.RawMessage) {
	role := payload.Text("role")
	usual := "input_text"
	switch role {
	case "user":
		m.Note, m.Role = false, transcript.RoleUser
	case "assistant":
		m.Note, m.Role, m.Author, usual = false, transcript.RoleModel, d.model, "output_text"
	}
	list, ok := payload.Array("content")
	if !ok {
		return nil
	}
	if m.Role == transcript.RoleUser || m.Role == transcript.RoleModel {
		delete(left, "role")
	}
	delete(left, "content")
	for _, raw := range list {
		parts = append(parts, contentPart(raw, usual))
	}
	switch {
	case m.Role != transcript.RoleUser:
		return parts
	case isPlan(parts):
		m.Role = transcript.RoleModel
	default:
		if parts, m.Note = transcript.Divide(Agent, &clientMarks, parts); !m.Note {
			return parts
		}
		m.Role = transcript.RoleSystem
	}
	left["role"] = payload["role"]
	return parts
}

// texts makes parts of the content of what another agent said.
func texts(payload, left jsonvalue.Object) []json.RawMessage {
	list, ok := payload.Array("content")
	if !ok {
		return nil
	}
	delete(left, "content")
	return lists.Map(list, func(raw json.RawMessage) json.RawMessage {
		return contentPart(raw, "input_text")
	})
}

// contentPart makes a part of a piece of content. usual is the type of a text that is not kept.
func contentPart(raw json.RawMessage, usual string) json.RawMessage {
	b := jsonvalue.AsObject(raw)
	rest := b.Without("text")
	switch kind := b.Text("type"); kind {
	case "input_text", "output_text", "text":
		if s, ok := jsonvalue.Text(b["text"]); ok {
			if kind == usual {
				delete(rest, "type")
			}
			return transcript.TextPart(s, transcript.Extra(Agent, rest))
		}
	case "input_image":
		url := b.Text("image_url")
		rest = b.Without("type", "image_url")
		if mime, data, ok := transcript.DataURL(url); ok {
			return transcript.MediaPart(mime, data, "", transcript.Extra(Agent, rest))
		} else if url != "" {
			return transcript.MediaPart("", "", url, transcript.Extra(Agent, rest))
		}
	}
	return transcript.Hidden(Agent, jsonvalue.Object{"content": raw})
}

func thoughts(payload, left jsonvalue.Object) (parts []json.RawMessage) {
	list, ok := payload.Array("summary")
	if !ok {
		return nil
	}
	for _, raw := range list {
		s, isText := jsonvalue.Text(jsonvalue.AsObject(raw)["text"])
		if !isText || !jsonvalue.Same(raw, summaryText(s)) {
			return nil
		}
		parts = append(parts,
			transcript.ThoughtPart(s, jsonvalue.Object{Agent: json.RawMessage("{}")}))
	}
	delete(left, "summary")
	return parts
}

func summaryText(s string) json.RawMessage {
	return jsonvalue.Encode(map[string]string{"type": "summary_text", "text": s})
}

func (d *decoder) call(kind, id string, payload, left jsonvalue.Object) json.RawMessage {
	delete(left, "call_id")
	rest := jsonvalue.Object{}
	tool := payload.Text("name")
	var args json.RawMessage
	switch kind {
	case itemCall:
		delete(left, "type")
		args = argsOf(payload, left, rest)
	case itemCustom:
		args = jsonvalue.Encode(jsonvalue.Object{"input": jsonvalue.Encode(payload.Text("input"))})
		if _, ok := jsonvalue.Text(payload["input"]); ok {
			delete(left, "input")
		}
	case itemLocalShell:
		tool = "local_shell"
		if args = payload["action"]; jsonvalue.AsObject(args) == nil {
			args = json.RawMessage("{}")
		} else {
			delete(left, "action")
		}
	}
	if tool == "" {
		tool = "unknown"
	} else if kind != itemLocalShell {
		delete(left, "name")
	}
	d.tools[id] = tool
	return transcript.CallPart(id, tool, args, transcript.Extra(Agent, rest))
}

// argsOf reads arguments, which are JSON in a string.
func argsOf(payload, left, rest jsonvalue.Object) json.RawMessage {
	s, ok := jsonvalue.Text(payload["arguments"])
	if !ok {
		return json.RawMessage("{}")
	}
	delete(left, "arguments")
	args, ok := jsonvalue.ParseObject([]byte(s))
	if !ok {
		rest["arguments"] = jsonvalue.Encode(s)
		return jsonvalue.Encode(jsonvalue.Object{"input": jsonvalue.Encode(s)})
	}
	if string(jsonvalue.Encode(args)) != s {
		rest["arguments"] = jsonvalue.Encode(s)
	}
	return jsonvalue.Encode(args)
}

func (d *decoder) output(kind, id string, payload, left jsonvalue.Object) json.RawMessage {
	delete(left, "call_id")
	if kind == itemOutput {
		delete(left, "type")
	}
	said, member := "", "output"
	rest := jsonvalue.Object{}
	if s, ok := jsonvalue.Text(payload["output"]); ok {
		said = s
		delete(left, "output")
	} else if payload.Has("output") {
		rest["output"] = payload["output"]
		delete(left, "output")
		list, isList := payload.Array("output")
		inner := payload.Object("output")
		if !isList {
			said = inner.Text("content")
			list, _ = inner.Array("content")
			if string(inner["success"]) == "false" {
				member = "error"
			}
		}
		for _, raw := range list {
			if s := jsonvalue.AsObject(raw).Text("text"); s != "" && said != "" {
				said += "\n" + s
			} else {
				said += s
			}
		}
	}
	response := jsonvalue.NewObject(member, said)
	if tool := d.tools[id]; (tool == "exec" || tool == "wait") && rest.Has("output") {
		switch exits := exitsOf(d.events); {
		case len(exits) == 0:
		case len(exits) == 1 || slices.Max(exits) == 0:
			response.Set("exit_code", exits[0])
		default:
			response.Set("exit_codes", exits)
		}
	}
	return transcript.ResultPart(id, d.tools[id], jsonvalue.Encode(response),
		transcript.Extra(Agent, rest))
}

// exitsOf returns how the commands of a script ended, by the events before its output.
func exitsOf(events []json.RawMessage) (exits []uint64) {
	for _, raw := range events {
		item := jsonvalue.AsObject(raw).Object("payload").Object("item")
		if item.Text("type") == "CommandExecution" && item.Has("exit_code") {
			exits = append(exits, item.Number("exit_code"))
		}
	}
	return exits
}

// searchIn returns the member of a search that says what is searched.
func searchIn(kind string) string {
	if kind == itemToolSearch {
		return "arguments"
	}
	return "action"
}

// searchedMember returns the member of an action of a web search that has the words.
func searchedMember(action jsonvalue.Object) string {
	if action.Text("type") == "find_in_page" {
		return "pattern"
	}
	return "query"
}
