package shape

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the threads of Amp: one JSON object with a list of messages. docs/agents/amp.md
// lists what becomes of a message.

// Amp is the Form of a thread.
func Amp() *Form { return &Form{Head: "created", Unfold: ampUnfold, Block: ampBlock} }

// ampUnfold makes a record of each message. A message that has no name is named by its place: it
// grows.
func ampUnfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	messages, ok := doc.Array("messages")
	if !ok || !doc.Has("created") {
		return nil
	}
	stats.Session = cmp.Or(doc.Text("id"), stats.Session)
	head := jsonvalue.Object{}
	for _, member := range []string{"created", "title"} {
		if doc.Has(member) {
			head[member] = doc[member]
		}
	}
	list := []jsonvalue.Object{head}
	last := doc["created"]
	for i, raw := range messages {
		o := jsonvalue.AsObject(raw)
		o.Set("id", cmp.Or(o.Text("protocolMessageID"), "message-"+strconv.Itoa(i)))
		o = o.Without("messageId", "protocolMessageID")
		usage := o.Object("usage")
		if model := usage.Text("model"); model != "" {
			o.Set("model", model)
		}
		for _, at := range []json.RawMessage{o.Object("meta")["sentAt"], usage["timestamp"]} {
			if when, _ := transcript.TimeOf(at); !when.IsZero() {
				last = at
			}
		}
		o["ts"] = last // results have no time: that of their calls
		list = append(list, o)
	}
	return list
}

// ampBlock returns a block of content as Anthropic's API has it. A call that runs has no result
// yet.
func ampBlock(raw json.RawMessage) json.RawMessage {
	b := jsonvalue.AsObject(raw)
	if sealed := b.Object("openAIReasoning"); b.Has("signature") &&
		jsonvalue.Same(sealed["encryptedContent"], b["signature"]) {
		b.Set("openAIReasoning", sealed.Without("encryptedContent"))
		return jsonvalue.Encode(b)
	}
	run := b.Object("run")
	status := run.Text("status")
	if b.Text("type") != "tool_result" || b.Text("toolUseID") == "" || status == "in-progress" ||
		status == "queued" {
		return raw
	}
	rest := b.Without("toolUseID", "run")
	rest["tool_use_id"] = b["toolUseID"]
	result := run.Object("result")
	if _, ok := result.Array("content"); ok {
		rest["content"] = result["content"]
	} else {
		rest.Set("content", ampOutput(run["result"]))
	}
	if exit := string(result["exitCode"]); exit != "" && exit != "0" && exit != "null" {
		rest["exitCode"] = result["exitCode"]
		rest.Set("is_error", true)
	}
	if status != "done" {
		rest.Set("status", status)
		rest.Set("is_error", true)
		words := run.Object("error").Text("message")
		if strings.HasPrefix(status, "rejected") { // by the user
			words = strings.TrimSuffix("The user rejected this tool call, and the user said:\n"+
				run.Text("reason"), ", and the user said:\n")
		}
		if words != "" {
			rest.Set("content", words)
		}
	}
	return jsonvalue.Encode(rest)
}

// ampOutput returns what a tool has returned as a text: the member that has it, the texts or the
// differences of files in a list, or the value as it is.
func ampOutput(result json.RawMessage) string {
	if text, ok := jsonvalue.Text(result); ok {
		return text
	}
	o := jsonvalue.AsObject(result)
	for _, member := range []string{"output", "content", "diff"} {
		if text, ok := jsonvalue.Text(o[member]); ok {
			return text
		}
	}
	list, err := jsonvalue.Elements(result)
	if err != nil {
		list, _ = o.Array("files")
	}
	if err != nil && len(list) == 0 {
		return string(jsonvalue.Compact(result))
	}
	var lines []string
	if summary := o.Text("summary"); summary != "" {
		lines = append(lines, summary)
	}
	for _, raw := range list {
		line, ok := jsonvalue.Text(raw)
		if !ok {
			line = jsonvalue.AsObject(raw).Text("diff")
		}
		if !ok && line == "" {
			return string(jsonvalue.Compact(result))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// AmpSpent reads what a call of the model took, from what is kept of its message. Models of OpenAI
// have no writes to a cache: what is called so is input.
func AmpSpent(of jsonvalue.Object) []transcript.Spent {
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
