package shape

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

// This file reads the tasks of Cline, and of Roo Code and Kilo Code, which are made of it: one
// JSON list of messages in blocks of the Anthropic API. docs/agents/cline.md
// lists what becomes of a message.

// Cline is the Form of a task of one of the agents.
func Cline() *Form { return &Form{Dated: true, Adapt: clineAdapt, Marks: clineMarks} }

// clineMarks tell where a person speaks: Cline puts the words into elements, and writes all else
// that stands in the user's name.
func clineMarks() *transcript.Voices {
	return &transcript.Voices{Wraps: []string{"task", "feedback", "answer", "user_message"}}
}

// clineAdapt makes results of the texts in which Cline writes them, and reads the model.
func clineAdapt(o jsonvalue.Object, open []Call) Message {
	said := Plain(o)
	if model := o.Object("modelInfo").Text("modelId"); said.Role == transcript.RoleModel &&
		transcript.Fit(model) == model {
		said.Model = model
	}
	var list []json.RawMessage
	if said.Role != transcript.RoleUser {
		written := !slices.ContainsFunc(said.Content, func(raw json.RawMessage) bool {
			return jsonvalue.AsObject(raw).Text("type") == "tool_use"
		})
		for _, raw := range said.Content {
			blocks := []json.RawMessage{raw}
			if written {
				blocks = clineWritten(raw)
			}
			for _, block := range blocks {
				list = append(list, clineSpoken(block)...)
			}
		}
		said.Content = list
		return said
	}
	for i := 0; i < len(said.Content); i++ {
		raw := said.Content[i]
		text := textIn(raw)
		tool, output, ok := clineResult(text)
		at := clineCall(open, tool)
		if !ok || at < 0 {
			list = append(list, raw)
			continue
		}
		head := text[:len(text)-len(output)]
		if output == "" && i+1 < len(said.Content) { // some versions write it in a block of its own
			if next := textIn(said.Content[i+1]); next != "" && !strings.HasPrefix(next, "<") &&
				!strings.HasPrefix(next, "[") {
				i, output = i+1, next
			}
		}
		list = append(list, jsonvalue.Encode(jsonvalue.NewObject("type", "tool_result",
			"tool_use_id", open[at].ID, "content", output, "head", head)))
		open = append(open[:at:at], open[at+1:]...)
	}
	said.Content = list
	return said
}

// clineTools are the tools that models of older versions call by elements in their text.
var clineTools = []string{"execute_command", "read_file", "write_to_file", "replace_in_file",
	"apply_diff", "insert_content", "search_and_replace", "search_files", "list_files",
	"list_code_definition_names", "codebase_search", "browser_action", "use_mcp_tool",
	"access_mcp_resource", "load_mcp_documentation", "web_fetch", "ask_followup_question",
	"attempt_completion", "plan_mode_respond", "new_task", "switch_mode", "condense",
	"update_todo_list", "fetch_instructions", "new_rule"}

// clineWritten returns the blocks that a text stands for in which a model thinks and calls tools by
// elements, as in <read_file><path>a.go</path></read_file>. Any other block is returned as it is.
func clineWritten(raw json.RawMessage) (list []json.RawMessage) {
	text := textIn(raw)
	words := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			list = append(list, jsonvalue.Encode(s))
		}
	}
	rest := text
	if thought, after, ok := clineElement(rest, "thinking", 0); ok {
		list = append(list, jsonvalue.Encode(jsonvalue.NewObject("type", "thinking", "thinking",
			strings.TrimSpace(thought))))
		rest = after
	}
	for {
		first, tool := len(rest), ""
		for _, name := range clineTools {
			at := strings.Index(rest, "<"+name+">\n")
			if at >= 0 && at < first && (at == 0 || rest[at-1] == '\n' || rest[at-1] == '>') {
				first, tool = at, name
			}
		}
		inside, after, ok := clineElement(rest, tool, first)
		if tool == "" || !ok {
			break
		}
		words(rest[:first])
		call := jsonvalue.NewObject("type", "tool_use", "id",
			"text_"+transcript.Derive(16, text, rest[first:]), "name", tool)
		call["input"] = jsonvalue.Encode(clineArguments(inside))
		list = append(list, jsonvalue.Encode(call))
		rest = after
	}
	if rest == text {
		return []json.RawMessage{raw}
	}
	words(rest)
	return list
}

// clineElement returns what stands in the element of a name that begins at a place of a text, and
// behind it.
func clineElement(text, name string, at int) (inside, after string, ok bool) {
	inside, ok = strings.CutPrefix(text[at:], "<"+name+">")
	if !ok {
		return "", text, false
	}
	return strings.Cut(inside, "</"+name+">")
}

// clineArguments reads the elements of a call. The text of one may have any others.
func clineArguments(text string) jsonvalue.Object {
	input := jsonvalue.Object{}
	for {
		_, rest, ok := strings.Cut(text, "<")
		name, rest, named := strings.Cut(rest, ">")
		end := strings.Index(rest, "</"+name+">")
		if name == "content" || name == "diff" || name == "result" { // which may have elements
			end = strings.LastIndex(rest, "</"+name+">")
		}
		if !ok || !named || end < 0 || strings.ContainsAny(name, " \n</") {
			return input
		}
		input.Set(name, strings.Trim(rest[:end], "\n"))
		text = rest[end+len("</"+name+">"):]
	}
}

// clineSpoken takes out of a call what the model says with it to the person: in Cline an answer or
// a question is the argument of a call.
func clineSpoken(raw json.RawMessage) []json.RawMessage {
	call := jsonvalue.AsObject(raw)
	member := ""
	switch call.Text("name") {
	case "attempt_completion":
		member = "result"
	case "plan_mode_respond":
		member = "response"
	case "ask_followup_question":
		member = "question"
	}
	input := call.Object("input")
	words := input.Text(member)
	if call.Text("type") != "tool_use" || words == "" {
		return []json.RawMessage{raw}
	}
	input.Set(member, true)
	call["input"] = jsonvalue.Encode(input)
	return []json.RawMessage{jsonvalue.Encode(words), jsonvalue.Encode(call)}
}

// TaskDir returns the directory that the client tells the model in the first messages of a task; ""
// for none.
func TaskDir(task []byte) string {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimSpace(task)))
	_, _ = dec.Token() // anything but a list has no messages
	for range 8 {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			break
		}
		for _, block := range Plain(jsonvalue.AsObject(raw)).Content {
			for line := range strings.Lines(textIn(block)) {
				for _, word := range []string{"Working", "Workspace"} {
					rest, ok := strings.CutPrefix(line, "# Current "+word+" Directory (")
					if end := strings.LastIndex(rest, ") Files"); ok && end > 0 {
						return rest[:end]
					}
				}
			}
		}
	}
	return ""
}

// clineCall returns which of the open calls a result of a tool is of: the first one of that tool,
// or else the first one, since some tools have two names; -1 if no call is open.
func clineCall(open []Call, tool string) int {
	i := slices.IndexFunc(open, func(c Call) bool { return c.Tool == tool })
	return max(i, min(0, len(open)-1))
}

// clineResult reads a text such as "[read_file for 'a.go'] Result:\npackage a". ok is false for any
// other text, and for an answer of the person: that stands in one of the elements of marks. What a
// person typed about a call is in its result.
func clineResult(text string) (tool, output string, ok bool) {
	head, output, ok := strings.Cut(text, "] Result:")
	if !ok || !strings.HasPrefix(head, "[") {
		return "", "", false
	}
	tool, _, _ = strings.Cut(head[1:], " ")
	output = strings.TrimLeft(output, " \n")
	_, _, about := message.Feedback(output)
	if clineAsks(tool) || strings.HasPrefix(output, "The user ") && !about {
		table := clineMarks()
		ok = table.Client(text)
	}
	return tool, output, ok
}

// clineAsks reports whether the result of a tool is what the person answers.
func clineAsks(tool string) bool {
	return slices.Contains([]string{"ask_followup_question", "attempt_completion",
		"plan_mode_respond", "act_mode_respond", "new_task", "condense", "report_bug"}, tool)
}

// ClineSpent reads what a call of the model took, from what is kept of its message.
func ClineSpent(of jsonvalue.Object) []transcript.Spent {
	u := of.Object("metrics").Object("tokens")
	if len(u) == 0 {
		return nil
	}
	return []transcript.Spent{{Input: u.Number("prompt"), Output: u.Number("completion"),
		CacheRead: u.Number("cached")}}
}
