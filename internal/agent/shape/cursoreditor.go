package shape

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the composers of Cursor's editor: one JSON object with the members "composer" and
// "bubbles", which are records of the editor's database. docs/agents/cursor.md lists what becomes
// of a bubble.

// CursorEditor is the Form of a composer. Its marks are those of the package that has them.
func CursorEditor() *Form { return &Form{Head: "composerId", Unfold: cursorUnfold} }

// cursorUnfold makes records of the bubbles, which are named by their ids.
func cursorUnfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	composer := doc.Object("composer")
	bubbles, ok := doc.Array("bubbles")
	if older, _ := composer.Array("conversation"); len(bubbles) == 0 {
		bubbles = older
	}
	if composer == nil || !ok && bubbles == nil {
		return nil
	}
	stats.Session = cmp.Or(composer.Text("composerId"), stats.Session)
	stats.Parent = transcript.Fit(composer.Object("subagentInfo").Text("parentComposerId"))
	headers, _ := composer.Array("fullConversationHeadersOnly")
	stats.PassN("bubble that is gone", len(headers)-len(bubbles))
	list := []jsonvalue.Object{jsonvalue.NewObject("composerId", composer.Text("composerId"),
		"title", composer.Text("name"))}
	b := cursorBubble{at: composer["createdAt"], stats: stats}
	for i, raw := range bubbles {
		b.Object = jsonvalue.AsObject(raw)
		b.id = cmp.Or(b.Text("bubbleId"), "bubble-"+strconv.Itoa(i))
		list = append(list, b.records()...)
	}
	return list
}

// cursorBubble is what a person typed, or one thing that the model said, thought or did.
type cursorBubble struct {
	jsonvalue.Object
	id    string
	stats *transcript.Stats
	// Of the bubbles before it, where it does not tell them
	at    json.RawMessage
	model string
}

func (b *cursorBubble) records() (list []jsonvalue.Object) {
	for _, when := range []json.RawMessage{b.Object.Object("timingInfo")["clientStartTime"],
		b.Object["createdAt"]} {
		if t, _ := transcript.TimeOf(when); t.Year() > 2000 {
			b.at = when
		}
	}
	if model := b.Object.Object("modelInfo").Text("modelName"); model != "default" {
		b.model = cmp.Or(model, b.model)
	}
	var content, results []json.RawMessage
	if think := textIn(b.Object["thinking"]); think != "" {
		content = append(content, thought(think))
	}
	if words := b.Text("text"); words != "" {
		content = append(content, jsonvalue.Encode(words))
	}
	if call := b.Object.Object("toolFormerData"); call.Has("name") || call.Has("tool") {
		id := cmp.Or(call.Text("toolCallId"), b.id)
		content = append(content, jsonvalue.Encode(jsonvalue.NewObject("type", "tool_use",
			"id", id, "name", cmp.Or(call.Text("name"), "tool "+string(call["tool"])),
			"input", cursorInput(call))))
		if text, failed, ended := cursorOutput(call); ended {
			results = append(results, result(id, text, failed))
		}
	}
	add := func(of, role string, content any) jsonvalue.Object {
		o := jsonvalue.NewObject("id", b.id+of, "role", role, "content", content, "ts", b.at)
		list = append(list, o)
		return o
	}
	kind := string(b.Object["type"])
	switch {
	case kind == "1":
		said := add("", "user", content)
		for _, member := range []string{"attachedCodeChunks", "context", "images"} {
			if raw := b.Object[member]; len(raw) > len("null") {
				said[member] = raw
			}
		}
	case kind != "2": // is counted
		add("", "bubble "+kind, content)
	case string(b.Object["capabilityType"]) == "22": // the client has summarized what was said
		add("", "system", content)
	case content != nil:
		add("", "assistant", content)["model"] = jsonvalue.Encode(b.model)
	}
	if results != nil {
		add(":result", "user", results)
	}
	if why := b.Object.Object("errorDetails").Object("error").Object("details"); why != nil {
		add(":error", "system", strings.TrimPrefix(why.Text("title")+": "+why.Text("detail"), ": "))
	}
	for _, member := range []string{"codeBlocks", "toolResults", "gitDiffs"} {
		if len(b.Object[member]) > len("null") { // copies, and what is for the editor
			b.stats.Pass(member)
		}
	}
	return list
}

// cursorJSON returns a member that is JSON, or a text with JSON, as a text. of is nil for anything
// but an object.
func cursorJSON(raw json.RawMessage) (text string, of jsonvalue.Object) {
	text, ok := jsonvalue.Text(raw)
	if !ok && len(raw) > len("null") {
		text = string(jsonvalue.Compact(raw))
	}
	of, _ = jsonvalue.ParseObject([]byte(text))
	return text, of
}

// cursorInput returns the arguments of a call: as the model made them, or else as the client has
// read them.
func cursorInput(call jsonvalue.Object) json.RawMessage {
	for _, member := range []string{"rawArgs", "params"} {
		if text, of := cursorJSON(call[member]); len(of) > 0 {
			return json.RawMessage(text)
		}
	}
	return arguments(call.Text("rawArgs"))
}

// cursorOutput returns the text of a result: the member that has it, or the value as it is. ended
// is false for a call that has none yet.
func cursorOutput(call jsonvalue.Object) (text string, failed, ended bool) {
	text, of := cursorJSON(call["result"])
	for _, member := range []string{"contents", "output", "markdown", "text", "content", "stdout",
		"result"} {
		if said, ok := jsonvalue.Text(of[member]); ok {
			text = said
			break
		}
	}
	wrong, why := cursorJSON(call["error"])
	wrong = cmp.Or(why.Text("modelVisibleErrorMessage"), why.Text("clientVisibleErrorMessage"),
		wrong)
	exit := cmp.Or(string(of["exitCodeV2"]), string(of["exitCode"]), "0")
	status := call.Text("status")
	switch {
	case call.Text("userDecision") == "rejected", of.True("rejected"),
		call.Object("additionalData").Text("userDecision") == "rejected":
		return "rejected by the user", true, true
	case status == "cancelled":
		return cmp.Or(text, status), true, true
	case wrong != "":
		return wrong, true, true
	}
	if failed = status == "error" || of.Has("error"); exit != "0" {
		text, failed = exited(text, "exit status: "+exit), true
	}
	return text, failed, text != "" || failed || status == "completed"
}
