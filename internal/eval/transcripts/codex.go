package transcripts

import (
	"encoding/json"
	"fmt"
	"strings"
)

// codex writes a script as Codex CLI does.
type codex struct{ *recorder }

func writeCodex(s *script) []byte {
	c := &codex{newRecorder(s)}
	c.line("session_meta", object{
		"id": c.id, "timestamp": c.time(), "cwd": c.dir, "originator": "codex_cli_rs",
		"cli_version": "0.98.0", "source": "cli",
		"git": object{"branch": c.branch},
	})
	c.item(object{"type": "message", "role": "user", "content": []object{{
		"type": "input_text",
		"text": "<environment_context>\n  <cwd>" + c.dir + "</cwd>\n</environment_context>",
	}}})
	for _, st := range s.steps {
		c.step(st)
	}
	return c.out.Bytes()
}

func (c *codex) line(kind string, payload object) {
	c.record(object{"timestamp": c.time(), "type": kind, "payload": payload})
}

func (c *codex) item(payload object) { c.line("response_item", payload) }

func (c *codex) step(st step) {
	switch st.kind {
	case stepUser, stepQueue:
		c.line("turn_context", object{
			"cwd": c.dir, "approval_policy": "on-request", "model": "gpt-5.2-codex",
			"effort": "medium",
		})
		c.item(object{
			"type": "message", "role": "user",
			"content": []object{{"type": "input_text", "text": st.body}},
		})
		c.line("event_msg",
			object{"type": "user_message", "message": st.body, "images": []string{}})
	case stepSay:
		c.line("event_msg", object{"type": "agent_message", "message": st.body})
		c.item(object{
			"type": "message", "role": "assistant",
			"content": []object{{"type": "output_text", "text": st.body}},
		})
	case stepThink:
		c.item(object{
			"type": "reasoning", "summary": []object{{"type": "summary_text", "text": st.body}},
			"content": nil, "encrypted_content": "c2VhbGVk",
		})
	case stepSummary:
		c.line("compacted", object{"message": st.body, "replacement_history": []object{}})
	case stepEdit, stepWrite:
		c.patch(st)
	default:
		c.call(st)
	}
}

// patch writes an edit as apply_patch takes it.
func (c *codex) patch(st step) {
	verb, body := "Update", "@@\n"+st.body
	if st.kind == stepWrite {
		verb, body = "Add", "+"+strings.ReplaceAll(st.body, "\n", "\n+")
		c.disk.write(st.arg, st.body)
	} else {
		before, after := hunk(st.body)
		c.disk.edit(st.arg, before, after)
	}
	id := "call_" + c.sum()[:24]
	input := fmt.Sprintf("*** Begin Patch\n*** %s File: %s\n%s\n*** End Patch\n",
		verb, st.arg, body)
	c.item(object{
		"type": "custom_tool_call", "status": "completed", "call_id": id, "name": "apply_patch",
		"input": input,
	})
	done := "Success. Updated the following files:\n" + verb[:1] + " " + st.arg + "\n"
	c.output("custom_tool_call_output", id, done, 0)
}

// output writes what came of a call.
func (c *codex) output(kind, id, text string, exit int) {
	c.item(object{"type": kind, "call_id": id, "output": encoded(object{
		"output": text, "metadata": object{"exit_code": exit, "duration_seconds": 0.4},
	})})
}

// call writes the call of a tool, and its output.
func (c *codex) call(st step) {
	id := "call_" + c.sum()[:24]
	if st.kind == stepPlan {
		var list []object
		for _, t := range todos(st.body) {
			list = append(list, object{"step": t.text, "status": t.state})
		}
		c.item(object{
			"type": "function_call", "name": "update_plan",
			"arguments": encoded(object{"plan": list}),
			"call_id":   id,
		})
		c.item(object{"type": "function_call_output", "call_id": id, "output": "Plan updated"})
		return
	}
	command, text, exit := c.shell(st)
	arguments := encoded(
		object{"command": []string{"bash", "-lc", command}, "workdir": c.dir, "timeout_ms": 60000},
	)
	c.item(object{"type": "function_call", "name": "shell", "arguments": arguments, "call_id": id})
	c.output("function_call_output", id, text, exit)
}

// shell is a step as a command, with what it prints.
func (c *codex) shell(st step) (command, text string, exit int) {
	switch st.kind {
	case stepRead:
		name, from, count := span(st.arg)
		count = min(count, 260)
		shown := strings.ReplaceAll(c.disk.numbered(name, from, count), "→", "\t")
		return fmt.Sprintf("nl -ba %s | sed -n '%d,%dp'", name, from+1, from+count), shown, 0
	case stepSearch:
		pattern, in := search(st.arg)
		return fmt.Sprintf("rg -n %q %s", pattern, in), st.body, 0
	case stepFail:
		return st.arg, st.body, 1
	}
	return st.arg, st.body, 0
}

// encoded is a value as JSON in a string.
func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("transcripts: " + err.Error()) // strings and maps can be encoded
	}
	return string(b)
}
