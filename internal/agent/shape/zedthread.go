package shape

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the threads of Zed's agents: one JSON object with a list of messages.

// zedHidden reports whether a person does not see a message in the user's name.
func zedHidden(_, message jsonvalue.Object) bool { return message.True("is_hidden") }

// zedThread makes records of messages. A message is named by what it says, as blocks: a version of
// Zed that opens a thread of an older one gives new ids to the messages. None has a time: the first
// one has that of the beginning of the thread, the others that of its last change.
func zedThread(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	messages, ok := doc.Array("messages")
	if !ok || !doc.Has("updated_at") {
		return nil
	}
	stats.Session = cmp.Or(doc.Text("id"), stats.Session)
	stats.Parent = transcript.Fit(doc.Text("parent_id"))
	head := jsonvalue.NewObject("version", doc.Text("version"),
		"title", cmp.Or(doc.Text("title"), doc.Text("summary")))
	for _, member := range []string{"parent_id", "folder_paths", "created_at", "model"} {
		if doc.Has(member) {
			head[member] = doc[member]
		}
	}
	if head.Text("title") == "New Thread" { // nobody has named it yet
		delete(head, "title")
	}
	list := []jsonvalue.Object{head}
	for _, raw := range messages {
		at := doc["updated_at"]
		if len(list) == 1 && doc.Has("created_at") {
			at = doc["created_at"]
		}
		kind, value := only(raw)
		said := jsonvalue.AsObject(value)
		role := cmp.Or(map[string]string{"User": "user", "Agent": "assistant",
			"Compaction": "system"}[kind], kind) // one that is not known is counted
		if kind == "" { // of versions before 0.3.0
			said = jsonvalue.AsObject(raw)
			role = said.Text("role")
		}
		results := zedResults(said["tool_results"], stats)
		switch {
		case said == nil:
			stats.Pass(transcript.Fit(cmp.Or(role, "resume")))
		case role != "user" || results == nil: // words beside results are the client's
			said.Set("role", role)
			said.Set("content", zedContent(said))
			said["ts"] = at
			list = append(list, said.Without("id", "segments", "text", "Summary", "tool_uses",
				"tool_results"))
		}
		if results != nil {
			list = append(list,
				jsonvalue.NewObject("role", "user", "content", results, "ts", doc["updated_at"]))
		}
	}
	return list
}

// zedContent makes blocks of what a message says. What a person has mentioned has its name in the
// words; the text of it is hidden.
func zedContent(said jsonvalue.Object) (content []json.RawMessage) {
	words := said.Text("text") + said.Text("Summary")
	var mentions []json.RawMessage
	add := func(block json.RawMessage) { // behind the words before it
		if words != "" {
			content, words = append(content, jsonvalue.Encode(words)), ""
		}
		if block != nil {
			content = append(content, block)
		}
	}
	for _, member := range []string{"content", "segments", "tool_uses"} {
		blocks, _ := said.Array(member)
		for _, raw := range blocks {
			switch kind, b, text := zedKind(raw); kind {
			case "text":
				words += text
			case "mention":
				words += "@" + zedName(b["uri"])
				mentions = append(mentions, raw)
			case "thinking":
				add(jsonvalue.Encode(jsonvalue.NewObject("type", kind, kind, text,
					"signature", b.Text("signature"))))
			case "redactedthinking":
				add(jsonvalue.Encode(jsonvalue.NewObject("type", "redacted_thinking",
					"data", text+b.Text("data"))))
			case "image":
				add(image(cmp.Or(b.Text("mime_type"), "image/png"), b.Text("source")))
			case "tooluse":
				rest := b.Without("raw_input", "is_input_complete")
				rest.Set("type", "tool_use")
				rest["input"] = zedInput(b)
				add(jsonvalue.Encode(rest))
			default:
				add(raw)
			}
		}
	}
	add(nil)
	return append(content, mentions...)
}

// zedKind returns of what kind a block is, its members, and its text.
func zedKind(raw json.RawMessage) (kind string, b jsonvalue.Object, text string) {
	kind, value := only(raw)
	if kind == "" { // of versions before 0.3.0
		value = raw
	}
	b = jsonvalue.AsObject(value)
	text, _ = jsonvalue.Text(value)
	switch {
	case kind == "" && b.Has("name"):
		kind = "tooluse"
	case kind == "":
		kind = cmp.Or(b.Text("type"), "text")
	}
	return strings.ToLower(kind), b, text + b.Text("text")
}

// zedInput returns the arguments of a call. Newer versions write {"type":"json","value":{…}}.
func zedInput(use jsonvalue.Object) json.RawMessage {
	input := use.Object("input")
	switch {
	case input == nil:
		return arguments(use.Text("raw_input"))
	case len(input) == 2 && input.Text("type") == "json" && input.Object("value") != nil:
		return input["value"]
	}
	return use["input"]
}

// zedName returns what a mention calls a thing: its name, its file, or what kind of thing it is.
func zedName(uri json.RawMessage) string {
	name, _ := jsonvalue.Text(uri)
	kind, value := only(uri)
	of := jsonvalue.AsObject(value)
	path := of.Text("abs_path")
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	return cmp.Or(of.Text("name"), path, of.Text("url"), kind, name)
}

// zedResults makes blocks of results, which are a list or the members of an object. Not taken is
// what the editor shows of them.
func zedResults(answers json.RawMessage, stats *transcript.Stats) (list []json.RawMessage) {
	all, _ := jsonvalue.ElementsWithin(answers)
	members, _ := jsonvalue.MembersWithin(answers) // in order
	for _, m := range members {
		all = append(all, m.Value)
	}
	for _, raw := range all {
		of := jsonvalue.AsObject(raw)
		pieces, isList := of.Array("content")
		if !isList {
			pieces = []json.RawMessage{of["content"]}
		}
		for i, piece := range pieces {
			if kind, _, text := zedKind(piece); kind == "text" {
				pieces[i] = jsonvalue.Encode(jsonvalue.NewObject("type", kind, kind, text))
			}
		}
		if of.Has("output") {
			stats.Pass("output")
		}
		list = append(list, result(of.Text("tool_use_id"), pieces, of.True("is_error")))
	}
	return list
}
