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

// zedThread makes records of messages. A message is named by what it says: a version of Zed that
// opens a thread of an older one gives new ids to the messages. None has a time: the first one has
// that of the beginning of the thread, the others that of its last change.
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
		said := jsonvalue.AsObject(raw)
		role := said.Text("role")                                    // of versions before 0.3.0
		if only, _ := jsonvalue.MembersWithin(raw); len(only) == 1 { // one not known is counted
			role = cmp.Or(map[string]string{"User": "user", "Agent": "assistant",
				"Compaction": "system"}[only[0].Name], only[0].Name)
			said = jsonvalue.AsObject(only[0].Value)
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
	flush := func() {
		if words != "" {
			content, words = append(content, jsonvalue.Encode(words)), ""
		}
	}
	for _, member := range []string{"content", "segments", "tool_uses"} {
		blocks, _ := said.Array(member)
		for _, raw := range blocks {
			b := jsonvalue.AsObject(raw)
			if text, ok := zedText(raw, b); ok {
				words += text
			} else if b.Has("Mention") {
				words += "@" + zedName(b.Object("Mention")["uri"])
				mentions = append(mentions, raw)
			} else {
				flush()
				content = append(content, zedBlock(raw, b))
			}
		}
	}
	flush()
	return append(content, mentions...)
}

func zedText(raw json.RawMessage, b jsonvalue.Object) (text string, ok bool) {
	for _, value := range []json.RawMessage{raw, b["Text"], b["text"]} {
		if text, ok = jsonvalue.Text(value); ok {
			break
		}
	}
	return text, ok && b.Text("type") != "thinking"
}

// zedName returns what a mention calls a thing: its name, its file, or what kind of thing it is.
func zedName(uri json.RawMessage) string {
	name, _ := jsonvalue.Text(uri)
	members, _ := jsonvalue.MembersWithin(uri)
	for _, m := range members {
		of := jsonvalue.AsObject(m.Value)
		path := of.Text("abs_path")
		path = path[strings.LastIndexAny(path, `/\`)+1:]
		name = cmp.Or(of.Text("name"), path, of.Text("url"), m.Name)
	}
	return name
}

// zedBlock returns a block of content as Anthropic's API has it.
func zedBlock(raw json.RawMessage, b jsonvalue.Object) json.RawMessage {
	use := b.Object("ToolUse")
	switch {
	case b.Has("Thinking"):
		return zedBlock(raw, b.Object("Thinking"))
	case b.Has("text"):
		return jsonvalue.Encode(jsonvalue.NewObject("type", "thinking", "thinking",
			b.Text("text"), "signature", b.Text("signature")))
	case b.Has("data"):
		return jsonvalue.Encode(jsonvalue.Object{"RedactedThinking": b["data"]})
	case b.Has("Image"):
		source := b.Object("Image")
		return image(cmp.Or(source.Text("mime_type"), "image/png"), source.Text("source"))
	case b.Has("name"): // a call of versions before 0.3.0
		use = b
	case use == nil:
		return raw
	}
	rest := use.Without("raw_input", "is_input_complete") // has the input again
	rest.Set("type", "tool_use")
	if use.Object("input") == nil { // it is not whole, or none
		rest.Set("input", jsonvalue.Object{})
		if !use.True("is_input_complete") && use.Has("raw_input") {
			rest.Set("input", jsonvalue.Object{"arguments": use["raw_input"]})
		}
	}
	return jsonvalue.Encode(rest)
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
			if text, ok := zedText(piece, jsonvalue.AsObject(piece)); ok {
				pieces[i] = jsonvalue.Encode(jsonvalue.NewObject("type", "text", "text", text))
			}
		}
		if of.Has("output") {
			stats.Pass("output")
		}
		list = append(list, result(of.Text("tool_use_id"), pieces, of.True("is_error")))
	}
	return list
}
