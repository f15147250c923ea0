package shape

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the sessions of Kiro: JSON lines of its command line, in a Form, and
// what its editor writes, which is made of Continue. kirocli.go reads what older versions of the
// command line write. docs/agents/kiro.md lists what becomes of a record.

// kiroBegins is how each line of the command line begins.
const kiroBegins = `{"version":"`

// Kiro is the Form of a session: lines, a conversation, or what Continue writes.
func Kiro() *Form {
	return &Form{Open: func(f *Form, r io.Reader) (io.Reader, map[string]int, error) {
		head, r, err := transcript.Peek(r, 4<<10)
		*f = Form{Head: "workspaceDirectory", Unfold: kiroUnfold, Marks: kiroMarks}
		if bytes.Contains(bytes.Join(bytes.Fields(head), nil), []byte(kiroBegins)) {
			*f = Form{Starts: []string{kiroBegins}, Recast: kiroRecast}
		}
		return r, nil, err
	}}
}

// kiroRecast makes a message of a record.
func kiroRecast(o jsonvalue.Object) jsonvalue.Object {
	data := o.Object("data")
	kind := o.Text("kind")
	if kind == "" || !data.Has("content") {
		return o
	}
	rest := data.Without("message_id", "meta", "results") // these say what the content says
	rest["id"] = data["message_id"]
	if at := data.Object("meta"); at.Has("timestamp") {
		rest["ts"] = at["timestamp"]
	}
	role := kind // one that is not known is counted
	switch kind {
	case "Prompt", "ToolResults":
		role = "user"
	case "AssistantMessage":
		role = "assistant"
	}
	rest.Set("role", role)
	blocks, _ := data.Array("content")
	for i, raw := range blocks {
		blocks[i] = kiroBlock(raw)
	}
	rest["content"] = jsonvalue.Array(blocks)
	return rest
}

// kiroBlock returns a block of content as Anthropic's API has it.
func kiroBlock(raw json.RawMessage) json.RawMessage {
	b := jsonvalue.AsObject(raw)
	data := b.Object("data")
	switch b.Text("kind") {
	case "text":
		return jsonvalue.Encode(jsonvalue.NewObject("type", "text", "text", b.Text("data")))
	case "thinking":
		rest := data.Without("text")
		rest.Set("type", "thinking")
		rest.Set("thinking", data.Text("text"))
		return jsonvalue.Encode(rest)
	case "toolUse":
		rest := data.Without("toolUseId")
		rest.Set("type", "tool_use")
		rest["id"] = data["toolUseId"]
		return jsonvalue.Encode(rest)
	case "toolResult":
		rest := data.Without("toolUseId", "content", "status")
		rest["tool_use_id"] = data["toolUseId"]
		outputs, _ := data.Array("content")
		return kiroResult(rest, outputs, data.Text("status") != "success")
	}
	return raw
}

// kiroResult completes a block with a result, whose outputs are pieces.
func kiroResult(
	rest jsonvalue.Object, outputs []json.RawMessage, failed bool,
) json.RawMessage {
	var texts []string
	for _, raw := range outputs {
		piece := jsonvalue.AsObject(raw)
		text, ended := kiroOutput(json.RawMessage(cmp.Or(string(piece["data"]),
			string(piece["Text"]), string(piece["Json"]))))
		texts, failed = append(texts, text), failed || ended
	}
	rest.Set("type", "tool_result")
	rest.Set("content", strings.Join(texts, "\n"))
	if failed {
		rest.Set("is_error", true)
	}
	return jsonvalue.Encode(rest)
}

// kiroOutput returns a piece of an output as a text: what a command has printed, with how it ended
// if it failed, or the value as it is.
func kiroOutput(piece json.RawMessage) (text string, failed bool) {
	if text, ok := jsonvalue.Text(piece); ok {
		return text, false
	}
	o := jsonvalue.AsObject(piece)
	if !o.Has("stdout") && !o.Has("stderr") {
		return string(piece), false
	}
	text = o.Text("stdout") + o.Text("stderr")
	exit := strings.TrimPrefix(o.Text("exit_status"), "exit status: ")
	if exit == "" || exit == "0" {
		return text, false
	}
	if _, err := strconv.Atoi(exit); err == nil {
		exit = "exit status: " + exit
	}
	return exited(text, exit), true
}
