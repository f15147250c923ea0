package shape

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// This file reads the conversations that Kiro's command line keeps in a database, as it did when it
// was Amazon Q's: one JSON object with a list of turns.

// kiroMarks are what the client writes in the name of the user, or of the model.
func kiroMarks() *transcript.Voices {
	return &transcript.Voices{
		Whole: []string{
			"You took too long to respond - try to split up the work into smaller steps.",
			"In a few words, summarize our conversation so far.",
			"The conversation history has overflowed, clearing state", "Empty prompt",
			"I deny this tool request. Ask a follow up question clarifying the expected action",
			"The user interrupted the tool execution.", "Response was interrupted by the user",
			"Tool uses were interrupted, waiting for the next user prompt",
			"Response timed out - message took too long to generate"},
		Leads: []transcript.Lead{{Open: "[SYSTEM NOTE: This is an automated request"}}}
}

// kiroUnfold makes records of a conversation, or of what the editor writes. Those of a turn are
// named by its id, or by what they say.
func kiroUnfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	turns, ok := doc.Array("history")
	if !ok || !doc.Has("conversation_id") {
		return continueUnfold(doc, stats)
	}
	stats.Session = doc.Text("conversation_id")
	for _, member := range []string{"transcript", "next_message"} { // a copy; what is not sent
		if doc.Has(member) {
			stats.Pass(member)
		}
	}
	at := doc["created_at"]
	list := []jsonvalue.Object{}
	if summary, _ := doc.Array("latest_summary"); len(summary) > 0 {
		list = append(list, jsonvalue.NewObject("role", "system", "content", summary[:1], "ts", at))
	}
	for _, raw := range turns {
		turn := jsonvalue.AsObject(raw)
		if pair, err := jsonvalue.ElementsWithin(raw); err == nil && len(pair) > 1 { // older
			turn = jsonvalue.Object{"user": pair[0], "assistant": pair[1]}
		}
		user, meta := turn.Object("user"), turn.Object("request_metadata")
		_, content := only(user["content"]) // the names say of what kind it is
		_, model := only(turn["assistant"])
		said, answer := jsonvalue.AsObject(content), jsonvalue.AsObject(model)
		for _, when := range []json.RawMessage{meta["request_start_timestamp_ms"],
			user["timestamp"]} {
			if len(when) > len("null") {
				at = when
			}
		}
		asked := user.Without("content", "timestamp")
		asked["ts"] = at
		asked.Set("content", kiroContent(said, asked))
		if meta.Has("stream_end_timestamp_ms") {
			at = meta["stream_end_timestamp_ms"]
		}
		answered := answer.Without("message_id", "thinking", "tool_uses")
		answered["ts"] = at
		answered.Set("content", kiroContent(answer, nil))
		asked.Set("role", "user")
		answered.Set("role", "assistant")
		if kiroMarks().Client(answer.Text("content")) {
			answered.Set("role", "system")
		}
		if meta.Has("model_id") {
			answered["model"] = meta["model_id"]
		}
		if id := cmp.Or(answer.Text("message_id"), meta.Text("message_id")); id != "" {
			answered.Set("id", id)
			asked.Set("id", id+":user")
			if meta != nil && string(user["timestamp"]) == "null" && said.Has("prompt") {
				asked.Set("role", "system") // results of calls that are gone, as one text
				asked.Set("id", id+":told")
			}
		}
		if list = append(list, asked); answer != nil {
			list = append(list, answered)
		}
	}
	return list
}

// kiroContent makes blocks of what was said. Images of a person are taken out of a record; those of
// a tool stay there.
func kiroContent(said, record jsonvalue.Object) (content []json.RawMessage) {
	results, isTool := said.Array("tool_use_results")
	for _, raw := range results {
		r := jsonvalue.AsObject(raw)
		outputs, _ := r.Array("content")
		content = append(content, kiroResult(r.Without("status"), outputs,
			r.Text("status") != "Success"))
	}
	if think := said.Object("thinking"); think != nil {
		content = append(content, kiroBlock(jsonvalue.Encode(
			jsonvalue.NewObject("kind", "thinking", "data", think))))
	}
	if words := said.Text("prompt") + said.Text("content"); words != "" {
		content = append(content, jsonvalue.Encode(words))
	}
	uses, _ := said.Array("tool_uses")
	for _, raw := range uses {
		use := jsonvalue.AsObject(raw)
		block := use.Without("args", "orig_args", "orig_name") // as the model made it
		block.Set("type", "tool_use")
		block["input"] = use["args"]
		content = append(content, jsonvalue.Encode(block))
	}
	images, _ := record.Array("images")
	for _, raw := range images {
		var numbers []uint16 // its bytes
		b := jsonvalue.AsObject(raw)
		if isTool || json.Unmarshal(b.Object("source")["Bytes"], &numbers) != nil {
			return content
		}
		data := lists.Map(numbers, func(n uint16) byte { return byte(n) })
		content = append(content, image("image/"+strings.ToLower(b.Text("format")),
			base64.StdEncoding.EncodeToString(data)))
	}
	delete(record, "images")
	if content == nil && len(said) > 0 { // of a kind that is not known
		content = append(content, jsonvalue.Encode(said))
	}
	return content
}
