package transcripts

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// object is a JSON object. Its members are written in the order of their names.
type object map[string]any

// claude writes a script as Claude Code does.
type claude struct {
	*recorder
	last    string   // the record that the next one follows
	prompts []string // of the user so far
	touched []string // files that were edited or written so far
}

func writeClaude(s *script) []byte {
	c := &claude{recorder: newRecorder(s)}
	for _, st := range s.steps {
		c.step(st)
	}
	return c.out.Bytes()
}

func (c *claude) step(st step) {
	switch st.kind {
	case stepUser, stepQueue:
		c.prompts = append(c.prompts, st.body)
	case stepEdit, stepWrite:
		if !slices.Contains(c.touched, st.arg) {
			c.touched = append(c.touched, st.arg)
		}
	}
	switch st.kind {
	case stepUser:
		c.chained("user", object{"message": object{"role": "user", "content": st.body}})
	case stepQueue:
		c.queue("enqueue", object{"content": st.body})
		c.queue("remove", object{})
	case stepSay:
		c.answer(object{"type": "text", "text": st.body})
	case stepThink:
		c.answer(object{"type": "thinking", "thinking": st.body, "signature": "c2lnbmVk"})
	case stepSummary:
		c.compacted(st.body)
	default:
		c.call(st)
	}
}

// chained writes a record that follows the last one.
func (c *claude) chained(kind string, o object) {
	o["type"], o["parentUuid"], o["uuid"], o["timestamp"] = kind, nil, c.uuid(), c.time()
	if c.last != "" && o["logicalParentUuid"] == nil {
		o["parentUuid"] = c.last
	}
	c.last = o["uuid"].(string)
	o["isSidechain"], o["userType"], o["version"] = false, "external", "2.1.30"
	o["cwd"], o["sessionId"], o["gitBranch"] = c.dir, c.id, c.branch
	c.record(o)
}

// queue writes what happens to a prompt that is typed while the agent works.
func (c *claude) queue(operation string, o object) {
	o["type"], o["operation"], o["timestamp"], o["sessionId"] = "queue-operation", operation,
		c.time(), c.id
	c.record(o)
}

func (c *claude) answer(block object) {
	c.chained("assistant", object{"requestId": "req_" + c.sum()[:20], "message": object{
		"model": "claude-sonnet-4-5", "id": "msg_" + c.sum()[:20], "type": "message",
		"role":    "assistant",
		"content": []object{block}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": 12, "output_tokens": len(fmt.Sprint(block)) / 4},
	}})
}

// compacted writes that the client went on with a summary, which ends with all prompts and with
// the files that were changed.
func (c *claude) compacted(summary string) {
	c.chained("system", object{
		"subtype": "compact_boundary", "content": "Conversation compacted", "level": "info",
		"logicalParentUuid": c.last,
		"compactMetadata":   object{"trigger": "auto", "preTokens": 151000},
	})
	summary += "\n\nWhat the user wrote, in order:\n- " + strings.Join(c.prompts, "\n- ")
	summary += "\n\nFiles changed:\n- " + strings.Join(c.touched, "\n- ")
	c.chained("user", object{
		"isCompactSummary": true, "isVisibleInTranscriptOnly": true,
		"message": object{"role": "user", "content": summary},
	})
}

// call writes a call and its result.
func (c *claude) call(st step) {
	tool, input, output := c.tool(st)
	id := "toolu_" + c.sum()[:24]
	c.answer(object{"type": "tool_use", "id": id, "name": tool, "input": input})
	result := object{"type": "tool_result", "tool_use_id": id, "content": output}
	if st.kind == stepFail {
		result["is_error"] = true
	}
	c.chained("user", object{
		"message":       object{"role": "user", "content": []object{result}},
		"toolUseResult": object{"interrupted": false},
	})
}

// tool is the call of a step, and what came of it.
func (c *claude) tool(st step) (tool string, input object, output any) {
	file := path.Join(c.dir, st.arg)
	switch st.kind {
	case stepRead:
		name, from, count := span(st.arg)
		input = object{"file_path": path.Join(c.dir, name)}
		if from > 0 {
			input["offset"], input["limit"] = from+1, count
		}
		return "Read", input, c.disk.numbered(name, from, count)
	case stepSearch:
		pattern, in := search(st.arg)
		input = object{
			"pattern": pattern, "path": path.Join(c.dir, in), "output_mode": "content", "-n": true,
			"head_limit": 40,
		}
		return "Grep", input, st.body
	case stepEdit:
		before, after := hunk(st.body)
		at := c.disk.edit(st.arg, before, after)
		input = object{
			"file_path": file, "replace_all": false,
			"old_string": strings.Join(before, "\n"), "new_string": strings.Join(after, "\n"),
		}
		shown := c.disk.numbered(st.arg, at-4, len(after)+8)
		return "Edit", input, "The file " + file + " has been updated. The changed lines:\n" + shown
	case stepWrite:
		c.disk.write(st.arg, st.body)
		input = object{"file_path": file, "content": st.body}
		return "Write", input, "File created successfully at: " + file
	case stepPlan:
		var list []object
		for _, t := range todos(st.body) {
			list = append(list, object{"content": t.text, "status": t.state, "activeForm": t.text})
		}
		return "TodoWrite", object{"todos": list}, "The todo list was updated."
	case stepHelper:
		prompt, answer, _ := strings.Cut(st.body, "\n---\n")
		input = object{"description": st.arg, "prompt": prompt, "subagent_type": "Explore"}
		return "Task", input, []object{{"type": "text", "text": answer}}
	}
	input = object{"command": st.arg, "description": "Run a command", "timeout": 120000}
	if st.kind == stepFail {
		return "Bash", input, "Exit code 1\n" + st.body
	}
	return "Bash", input, st.body
}
