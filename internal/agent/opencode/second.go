package opencode

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// opencode 2.x exports messages of another shape: a type in the place of the role, the text of a
// user, and the content of an answer as a list. They are read as messages of the first shape, in
// which they are written, too; secondName keeps in the message and in its parts what that has no
// place for.
const secondName = "v2"

// The types of a message of the second shape.
const (
	secondUser       = "user"
	secondAssistant  = "assistant"
	secondCompaction = "compaction"
	secondShell      = "shell"
)

// isSecond reports whether a message has the second shape.
func isSecond(o jsonvalue.Object) bool { return !o.Has("info") && o.Text("type") != "" }

// isNoted reports whether a message of the second shape is about the conversation, not in it.
func isNoted(info jsonvalue.Object) bool {
	return slices.Contains([]string{"synthetic", "system",
		secondShell}, info.Object(secondName).Text("type"))
}

// second reads a message of the second shape; ok is false for one that says nothing, or is of a
// type that nobody knows: known tells which.
func second(o jsonvalue.Object) (info jsonvalue.Object, parts []jsonvalue.Object, ok, known bool) {
	id, kind := o.Text("id"), o.Text("type")
	rest := o.Without("id", "time")
	info = jsonvalue.Object{"id": o["id"], "role": jsonvalue.Encode("user")}
	if o.Has("time") {
		info["time"] = o["time"]
	}
	said := func(members ...string) {
		for _, name := range members {
			if s, isText := jsonvalue.Text(rest[name]); isText && s != "" {
				parts = append(parts,
					jsonvalue.NewObject("id", id+"/"+name, "type", "text", "text", s))
				delete(rest, name)
			}
		}
	}
	switch kind {
	case secondUser:
		said("text")
		list, _ := rest.Array("files")
		delete(rest, "files")
		for i, raw := range list {
			parts = append(parts, secondFile(id+"/file"+strconv.Itoa(i), jsonvalue.AsObject(raw)))
		}
	case secondAssistant:
		parts = secondAnswer(id, info, rest)
	case secondCompaction:
		info.Set("role", secondAssistant)
		info.Set("summary", true)
		said("summary", "text")
	case "synthetic", "system":
		said("text")
	case secondShell:
		said("command", "output", "error")
	case "model-switched", "agent-switched", "location-switched":
		return nil, nil, false, true
	default:
		return nil, nil, false, false
	}
	info[secondName] = jsonvalue.Encode(rest)
	return info, parts, true, true
}

// secondFile makes a part of a file of the second shape.
func secondFile(id string, o jsonvalue.Object) jsonvalue.Object {
	part := o.Without("uri", "name")
	part.Set("id", id)
	part.Set("type", "file")
	if o.Has("uri") {
		part["url"] = o["uri"]
	}
	if o.Has("name") {
		part["filename"] = o["name"]
	}
	return part
}

// secondAnswer makes parts of the content of an answer. It takes out of rest what goes into info.
func secondAnswer(id string, info, rest jsonvalue.Object) (parts []jsonvalue.Object) {
	info.Set("role", secondAssistant)
	for _, name := range []string{"agent", "cost", "tokens", "finish", "error"} {
		if rest.Has(name) {
			info[name] = rest[name]
			delete(rest, name)
		}
	}
	if model := rest.Object("model"); model.Text("id") != "" {
		info["modelID"] = model["id"]
		if model.Has("providerID") {
			info["providerID"] = model["providerID"]
		}
		if left := model.Without("id", "providerID"); len(left) > 0 {
			rest["model"] = jsonvalue.Encode(left)
		} else {
			delete(rest, "model")
		}
	}
	list, ok := rest.Array("content")
	if !ok {
		return nil
	}
	delete(rest, "content")
	for i, raw := range list {
		item := jsonvalue.AsObject(raw)
		if item == nil {
			item = jsonvalue.Object{"type": jsonvalue.Encode("unknown"), "value": raw}
		}
		if item.Text("type") == "tool" {
			item = secondTool(item)
		} else {
			item = item.Without()
		}
		if item.Text("id") == "" || item.Text("type") == "tool" {
			item.Set("id", id+"/"+strconv.Itoa(i))
		}
		parts = append(parts, item)
	}
	return parts
}

// secondTool makes a tool's part of one of the second shape.
func secondTool(item jsonvalue.Object) jsonvalue.Object {
	part := item.Without("id", "name", "state")
	part["callID"], part["tool"] = item["id"], item["name"]
	state := item.Object("state").Without()
	if state.Object("input") == nil {
		if state.Has("input") {
			state["rawInput"] = state["input"] // it is still being written
		}
		state["input"] = json.RawMessage("{}")
	}
	if list, ok := state.Array("content"); ok && !state.Has("output") {
		var said []string
		for _, raw := range list {
			if s, isText := jsonvalue.Text(jsonvalue.AsObject(raw)["text"]); isText {
				said = append(said, s)
			}
		}
		state.Set("output", strings.Join(said, "\n"))
		if len(list) == 1 && len(said) == 1 && len(jsonvalue.AsObject(list[0])) == 2 {
			delete(state, "content")
		}
	}
	if failure := state.Object("error"); failure != nil {
		state.Set("failure", failure.Without("message"))
		state.Set("error", failure.Text("message"))
	}
	part["state"] = jsonvalue.Encode(state)
	return part
}

// second reads the next message of the document, of the second shape. One that says nothing is kept
// with the message after it.
func (d *reader) second(o jsonvalue.Object) {
	info, parts, ok, known := second(o)
	if !ok {
		if !known {
			d.stats.Kept[transcript.Fit("message "+o.Text("type"))]++
		}
		d.before.Add(o, &d.stats)
		return
	}
	if before := d.before.Take(); len(before) > 0 {
		info[transcript.BeforeName] = jsonvalue.Array(before)
	}
	d.message(info, parts)
}
