package shape

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the chat sessions of VS Code, which are mostly those of GitHub Copilot: one
// JSON object, or lines with changes of one. docs/agents/vscode.md lists what
// becomes of a request and its response.

// VSCode is the Form of a session: an object, or lines with changes of one.
func VSCode() *Form {
	return &Form{Head: "responderUsername", Unfold: vscodeUnfold, Hidden: vscodeHidden,
		Open: vscodeReplay}
}

// vscodeHidden reports whether a person has not typed a prompt.
func vscodeHidden(_, message jsonvalue.Object) bool {
	return message.True("isSystemInitiated") || message.True("hiddenFromTranscript")
}

func vscodeUnfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	requests, ok := doc.Array("requests")
	if !ok {
		return nil
	}
	stats.Session = cmp.Or(doc.Text("sessionId"), stats.Session)
	head := jsonvalue.NewObject("responderUsername", doc.Text("responderUsername"))
	for member, name := range map[string]string{"customTitle": "title",
		"initialLocation": "location", "version": "version"} {
		if doc.Has(member) {
			head[name] = doc[member]
		}
	}
	list := []jsonvalue.Object{head}
	for i, raw := range requests {
		q := &vscodeRequest{Object: jsonvalue.AsObject(raw), stats: stats}
		q.id = cmp.Or(q.Text("requestId"), "request-"+strconv.Itoa(i))
		list = append(list, q.prompt())
		q.answer()
		list = append(list, q.records...)
	}
	return list
}

// vscodeRequest is a prompt, with what was answered.
type vscodeRequest struct {
	jsonvalue.Object
	id      string
	stats   *transcript.Stats
	records []jsonvalue.Object
	// Of the message of the model that is being made
	content, results []json.RawMessage
	text             string
	arguments        strings.Builder // of all calls
}

func (q *vscodeRequest) prompt() jsonvalue.Object {
	o := jsonvalue.NewObject("id", q.id, "role", "user")
	if q.Has("timestamp") {
		o["ts"] = q.Object["timestamp"]
	}
	for _, member := range []string{"isSystemInitiated", "hiddenFromTranscript"} {
		if q.True(member) {
			o.Set(member, true)
		}
	}
	if list, _ := q.Object.Object("variableData").Array("variables"); len(list) > 0 {
		o["variables"] = jsonvalue.Array(list) // what came with the prompt
	}
	o.Set("content", textIn(q.Object["message"])) // a text in old versions
	return o
}

// answer makes messages of the response: what the model says after the results of calls is a
// message of its own.
func (q *vscodeRequest) answer() {
	metadata := q.Object.Object("result").Object("metadata")
	rounds, _ := metadata.Array("toolCallRounds")
	calls := map[string]jsonvalue.Object{} // as the model made them, by id
	for _, raw := range rounds {
		list, _ := jsonvalue.AsObject(raw).Array("toolCalls")
		for _, raw := range list {
			c := jsonvalue.AsObject(raw)
			calls[idOf(c.Text("id"))] = c
			q.arguments.WriteString(c.Text("arguments"))
		}
	}
	results := map[string]string{}
	for id, raw := range metadata.Object("toolCallResults") {
		results[idOf(id)] = outputOf(jsonvalue.AsObject(raw)["content"])
	}
	parts, _ := q.Array("response")
	said := false
	for _, raw := range parts {
		said = q.part(jsonvalue.AsObject(raw), calls, results) || said
	}
	for _, raw := range rounds { // nothing of a response was shown
		round := jsonvalue.AsObject(raw)
		if said {
			break
		}
		q.think(round.Object("thinking")["text"])
		q.say(round.Text("response"))
		list, _ := round.Array("toolCalls")
		for _, raw := range list {
			c := jsonvalue.AsObject(raw)
			q.call(c, jsonvalue.Object{}, results)
		}
	}
	q.flush()
	if words := q.Object.Object("result").Object("errorDetails").Text("message"); words != "" {
		q.records = append(q.records, jsonvalue.NewObject("id", q.id+":error", "role", "system",
			"content", words))
	}
}

// idOf returns the id that a call has everywhere.
func idOf(id string) string {
	id, _, _ = strings.Cut(id, "__vscode-")
	return id
}

// uiKinds are parts of a response that say nothing.
var uiKinds = []string{"mcpServersStarting", "autoModeResolution", "undoStop", "codeblockUri",
	"prepareToolInvocation", "progressTaskSerialized", "progressTask", "progressMessage"}

// part takes a part of the response, and reports whether the model said or did something in it.
func (q *vscodeRequest) part(p jsonvalue.Object, calls map[string]jsonvalue.Object,
	results map[string]string,
) bool {
	kind := p.Text("kind")
	switch {
	case kind == "" && p.Text("value") != "":
		q.say(p.Text("value"))
	case kind == "markdownContent":
		q.say(p.Object("content").Text("value"))
	case kind == "inlineReference":
		at := p.Object("inlineReference")
		file := cmp.Or(at.Text("path"), at.Object("uri").Text("path"),
			at.Object("location").Object("uri").Text("path"))
		q.say("`" + cmp.Or(p.Text("name"), at.Text("name"), file) + "`")
	case kind == "thinking":
		q.think(p["value"])
	case kind == "toolInvocationSerialized":
		id := cmp.Or(idOf(p.Text("toolCallId")), q.id+"-"+strconv.Itoa(len(q.content)))
		c := calls[id]
		if c == nil {
			c = jsonvalue.NewObject("id", id, "name", cmp.Or(p.Text("toolId"), "tool"))
		}
		q.call(c, p, results)
	case kind == "textEditGroup" && q.edit(p, results):
	case slices.Contains(uiKinds, kind):
		q.stats.Pass(kind)
		return false
	default:
		q.next()
		q.content = append(q.content, jsonvalue.Encode(p))
		return false
	}
	return true
}

// say adds words to the text that the model is saying: it comes in pieces.
func (q *vscodeRequest) say(words string) {
	if len(q.results) > 0 && words != "" {
		q.flush()
	}
	q.text += words
}

func (q *vscodeRequest) think(value json.RawMessage) {
	words, ok := jsonvalue.Text(value)
	if !ok {
		list, _ := jsonvalue.Elements(value)
		for _, raw := range list {
			piece, _ := jsonvalue.Text(raw)
			words += piece
		}
	}
	if words == "" {
		return
	}
	if len(q.results) > 0 {
		q.flush()
	}
	q.next()
	q.content = append(q.content, thought(words))
}

// next ends the text that the model was saying.
func (q *vscodeRequest) next() {
	if text := strings.TrimSpace(q.text); text != "" {
		q.content = append(q.content, jsonvalue.Encode(text))
	}
	q.text = ""
}

// call adds a call c of the model, and its result. shown is what the person saw of it.
func (q *vscodeRequest) call(c, shown jsonvalue.Object, results map[string]string) {
	q.next()
	id := idOf(c.Text("id"))
	input := json.RawMessage(c.Text("arguments"))
	data := shown.Object("toolSpecificData")
	if _, ok := jsonvalue.ParseObject(input); !ok {
		input = jsonvalue.Encode(inputOf(data, shown))
	}
	block := jsonvalue.NewObject("type", "tool_use", "id", id, "name", c.Text("name"),
		"input", input)
	if past := wordsOf(shown["pastTenseMessage"]); past != "" {
		block.Set("shown", past)
	}
	q.content = append(q.content, jsonvalue.Encode(block))
	details := shown.Object("resultDetails")
	output, ok := results[id]
	if no := string(jsonvalue.AsObject(shown["isConfirmed"])["type"]); !ok &&
		(no == "0" || string(shown["isConfirmed"]) == "false") {
		q.results = append(q.results, result(id, "The user rejected this tool call.", true))
		return
	}
	for _, said := range []string{outputOf(details["output"]), data.Text("result"),
		data.Object("terminalCommandOutput").Text("text")} {
		if !ok && said != "" {
			output, ok = said, true
		}
	}
	if !ok {
		return
	}
	exit := string(data.Object("terminalCommandState")["exitCode"])
	q.results = append(q.results,
		result(id, output, details.True("isError") || exit != "" && exit != "0"))
}

// edit adds a call that makes the edits of a file, unless a call of the response names the file.
func (q *vscodeRequest) edit(p jsonvalue.Object, results map[string]string) bool {
	file := p.Object("uri").Text("path")
	if file == "" || strings.Contains(q.arguments.String(), path.Base(file)) {
		return false
	}
	edits := []jsonvalue.Object{}
	groups, _ := p.Array("edits")
	for _, group := range groups {
		list, _ := jsonvalue.Elements(group)
		for _, raw := range list {
			edit := jsonvalue.AsObject(raw).Without("text")
			edit["newText"] = jsonvalue.AsObject(raw)["text"]
			edits = append(edits, edit)
		}
	}
	id := q.id + "-" + strconv.Itoa(len(q.records)) + "-" + strconv.Itoa(len(q.content))
	if p.True("done") {
		results[id] = "done"
	}
	input := p.Without("uri", "done")
	input.Set("filePath", file)
	input.Set("edits", edits)
	q.call(jsonvalue.NewObject("id", id, "name", "edit",
		"arguments", string(jsonvalue.Encode(input))), jsonvalue.Object{}, results)
	return true
}

// inputOf makes arguments of what the person saw of a call.
func inputOf(data, shown jsonvalue.Object) jsonvalue.Object {
	input := data.Object("rawInput").Without() // of a server's tool
	for name, value := range map[string]string{
		"command":     cmp.Or(data.Object("commandLine").Text("original"), data.Text("command")),
		"prompt":      data.Text("prompt"),
		"description": data.Text("description"),
	} {
		if value != "" {
			input.Set(name, value)
		}
	}
	if words := wordsOf(shown["invocationMessage"]); len(input) == 0 && words != "" {
		input.Set("message", words)
	}
	return input
}

// wordsOf returns the words of a message of the editor, which is a text or Markdown.
func wordsOf(raw json.RawMessage) string {
	words, ok := jsonvalue.Text(raw)
	if !ok {
		words = jsonvalue.AsObject(raw).Text("value")
	}
	return words
}

// outputOf returns the text of the content of a result: of pieces, each with a text, or with a tree
// of texts.
func outputOf(content json.RawMessage) string {
	var b strings.Builder
	list, _ := jsonvalue.Elements(content)
	for _, raw := range list {
		o := jsonvalue.AsObject(raw)
		if text, ok := jsonvalue.Text(o["value"]); ok {
			b.WriteString(text)
		} else {
			treeText(&b, o.Object("value").Object("node"))
		}
	}
	return b.String()
}

func treeText(b *strings.Builder, node jsonvalue.Object) {
	if text := node.Text("text"); text != "" {
		if node.True("lineBreakBefore") && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	children, _ := node.Array("children")
	for _, raw := range children {
		treeText(b, jsonvalue.AsObject(raw))
	}
}

// flush makes records of the message, and of the results of its calls.
func (q *vscodeRequest) flush() {
	q.next()
	n := strconv.Itoa(len(q.records))
	add := func(role, id string, content []json.RawMessage) {
		o := jsonvalue.NewObject("id", id, "role", role, "content", content)
		for _, member := range []string{"timestamp", "responseTimestamp"} {
			if q.Has(member) {
				o["ts"] = q.Object[member]
			}
		}
		if role == "assistant" {
			resolved := q.Object.Object("result").Object("metadata").Text("resolvedModel")
			o.Set("model", cmp.Or(resolved, strings.TrimPrefix(q.Text("modelId"), "copilot/")))
		}
		q.records = append(q.records, o)
	}
	if q.content != nil {
		add("assistant", q.id+":"+n, q.content)
	}
	if q.results != nil {
		add("user", q.id+":"+n+":results", q.results)
	}
	q.content, q.results = nil, nil
}
