// Package amp reads the threads of Amp: one JSON object with a list of messages. It is a
// shape.Form. docs/agents/amp.md lists what becomes of a message.
package amp

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message, and the member of a part with the fields that only
// this agent has.
const Agent = "amp"

// Read reads a thread, as shape.Form.Read says.
func Read(
	name string, r io.Reader, emit func(transcript.Step) error,
) (transcript.Stats, error) {
	f := &shape.Form{Agent: Agent, Head: "created", Unfold: unfold}
	return f.Read(name, r, emit)
}

// unfold makes a record of each message. A message is named by its place: it grows.
func unfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	messages, ok := doc.Array("messages")
	if !ok || !doc.Has("created") {
		return nil
	}
	if id := doc.Text("id"); id != "" {
		stats.Session = id
	}
	head := jsonvalue.Object{}
	for _, member := range []string{"created", "title", "v"} {
		if doc.Has(member) {
			head[member] = doc[member]
		}
	}
	list := []jsonvalue.Object{head}
	for i, raw := range messages {
		o := jsonvalue.AsObject(raw).Without("messageId")
		o.Set("id", "message-"+strconv.Itoa(i))
		blocks, _ := o.Array("content")
		for j, raw := range blocks {
			blocks[j] = block(raw)
		}
		if blocks != nil {
			o["content"] = jsonvalue.Array(blocks)
		}
		usage := o.Object("usage")
		if model := usage.Text("model"); model != "" {
			o.Set("model", model)
		}
		for _, at := range []json.RawMessage{doc["created"], o.Object("meta")["sentAt"],
			usage["timestamp"]} {
			if when, _ := transcript.TimeOf(at); !when.IsZero() {
				o["ts"] = at
			}
		}
		list = append(list, o)
	}
	return list
}

// block returns a block of content as Anthropic's API has it. A call that runs has no result yet.
func block(raw json.RawMessage) json.RawMessage {
	b := jsonvalue.AsObject(raw)
	run := b.Object("run")
	status := run.Text("status")
	if b.Text("type") != "tool_result" || b.Text("toolUseID") == "" || status == "in-progress" ||
		status == "queued" {
		return raw
	}
	rest := b.Without("toolUseID", "run")
	rest["tool_use_id"] = b["toolUseID"]
	rest.Set("content", output(run["result"]))
	if status != "done" {
		rest.Set("status", status)
		rest.Set("is_error", true)
		if words := run.Object("error").Text("message"); words != "" {
			rest.Set("content", words)
		}
	}
	return jsonvalue.Encode(rest)
}

// output returns what a tool has returned as a text: the member that has it, or the value as it is.
func output(result json.RawMessage) string {
	if text, ok := jsonvalue.Text(result); ok {
		return text
	}
	o := jsonvalue.AsObject(result)
	for _, member := range []string{"output", "content", "diff"} {
		if text := o.Text(member); text != "" {
			return text
		}
	}
	var lines []string
	list, err := jsonvalue.Elements(result)
	for _, raw := range list {
		line, ok := jsonvalue.Text(raw)
		if !ok {
			return string(result)
		}
		lines = append(lines, line)
	}
	if err == nil {
		return strings.Join(lines, "\n")
	}
	return string(result)
}

// Spent reads what a call of the model took, from what is kept of its message. Models of OpenAI
// have no writes to a cache: what is called so is input.
func Spent(of jsonvalue.Object) []transcript.Spent {
	u := of.Object("usage")
	if len(u) == 0 {
		return nil
	}
	s := transcript.Spent{Input: u.Number("inputTokens"), Output: u.Number("outputTokens"),
		CacheRead: u.Number("cacheReadInputTokens"), CacheWrite: u.Number("cacheCreationInputTokens")}
	if strings.HasPrefix(u.Text("model"), "gpt-") {
		s.Input, s.CacheWrite = s.Input+s.CacheWrite, 0
	}
	return []transcript.Spent{s}
}
