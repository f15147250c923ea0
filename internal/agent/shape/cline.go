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
		for _, raw := range said.Content {
			list = append(list, clineSpoken(raw)...)
		}
		said.Content = list
		return said
	}
	for i := 0; i < len(said.Content); i++ {
		raw := said.Content[i]
		text := clineText(raw)
		tool, output, ok := clineResult(text)
		at := clineCall(open, tool)
		if !ok || at < 0 {
			list = append(list, raw)
			continue
		}
		head := text[:len(text)-len(output)]
		if output == "" && i+1 < len(said.Content) { // some versions write it in a block of its own
			if next := clineText(said.Content[i+1]); next != "" && !strings.HasPrefix(next, "<") &&
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
			for line := range strings.Lines(clineText(block)) {
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

func clineText(raw json.RawMessage) string {
	if s, ok := jsonvalue.Text(raw); ok {
		return s
	}
	return jsonvalue.AsObject(raw).Text("text")
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
	switch tool {
	case "ask_followup_question", "attempt_completion", "plan_mode_respond", "act_mode_respond",
		"new_task", "condense", "report_bug":
		return true
	}
	return false
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
