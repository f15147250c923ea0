package homes

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// agents are those that a home has sessions of.
var agents = []struct {
	name   string
	shapes []Shape
	write  func(h *Home, s *Session, more []*Session) error
}{
	{"claude-code", []Shape{Plain, Torn, Compacted, Twice, Rewritten, Rewound, Forked, WithAgent,
		Running, Interrupted, Beside, OldClock}, writeClaude},
	{"claude-code", []Shape{Plain}, writeClaude}, // the most common agent
	{"codex", []Shape{Plain, Torn, Packed, HalfPacked, OldClock}, writeCodex},
	{"gemini-cli", []Shape{Plain, Torn}, writeGemini},
	{"qwen", []Shape{Plain, Torn}, writeQwen},
	{"opencode", []Shape{Plain}, writeOpencode},
	{"copilot", []Shape{Plain, Torn}, writeCopilot},
	{"droid", []Shape{Plain, Torn}, writeDroid},
	{"pi", []Shape{Plain, Torn}, writePi},
	{"cline", []Shape{Plain}, writeCline},
	{"goose", []Shape{Plain, Torn}, writeGoose},
	{"amp", []Shape{Plain}, writeAmp},
	{"vscode", []Shape{Plain}, writeVSCode},
}

// finish writes records, torn if the session is: then the last one, which says the last text, is
// not whole.
func finish(s *Session, file string, records []object) error {
	b := lines(records)
	if s.Shape == Torn {
		s.Said[len(s.Said)-1].Gone = true
		b = b[:len(b)-20]
	}
	return s.store(file, b)
}

func writeCodex(h *Home, s *Session, _ []*Session) error {
	records := []object{{"timestamp": s.at(0), "type": "session_meta", "payload": object{"id": s.ID,
		"timestamp": s.at(0), "cwd": s.Cwd, "originator": "codex_cli_rs", "cli_version": "0.169.0",
		"source": "cli"}}}
	item := func(payload object) {
		records = append(records, object{"timestamp": s.at(len(records)), "type": "response_item",
			"payload": payload})
	}
	item(object{"type": "message", "role": "user", "content": []object{{"type": "input_text",
		"text": "<environment_context>\n  <cwd>" + s.Cwd + "</cwd>\n</environment_context>"}}})
	for _, said := range s.Said {
		switch said.Who {
		case Person:
			item(object{"type": "message", "role": "user",
				"content": []object{{"type": "input_text", "text": said.Text}}})
		case Tool:
			item(object{"type": "function_call", "name": "shell", "call_id": said.id,
				"arguments": `{"command":["count"]}`})
			item(object{"type": "function_call_output", "call_id": said.id, "output": said.Text})
		case Model:
			item(object{"type": "message", "role": "assistant",
				"content": []object{{"type": "output_text", "text": said.Text}}})
		}
	}
	day := s.start.Format("2006/01/02")
	file := filepath.Join(h.Dir, ".codex", "sessions", filepath.FromSlash(day),
		"rollout-"+s.start.Format("2006-01-02T15-04-05")+"-"+s.ID+".jsonl")
	if s.Shape != Packed && s.Shape != HalfPacked {
		return finish(s, file, records)
	}
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		return err
	}
	if s.Shape == HalfPacked { // all but the last record are in blocks that are whole
		_, err = z.Write(lines(records[:len(records)-1]))
		if err == nil {
			err = z.Flush()
		}
		whole := out.Len()
		if err == nil {
			_, err = z.Write(lines(records[len(records)-1:]))
		}
		if err == nil {
			err = z.Close()
		}
		s.Said[len(s.Said)-1].Gone = true
		out.Truncate(whole + (out.Len()-whole)/2)
	} else {
		if _, err = z.Write(lines(records)); err == nil {
			err = z.Close()
		}
	}
	if err != nil {
		return err
	}
	return s.store(file+".zst", out.Bytes())
}

func writeGemini(h *Home, s *Session, _ []*Session) error {
	sum := sha256.Sum256([]byte(s.Cwd))
	hash := hex.EncodeToString(sum[:])
	folder, err := h.geminiFolder(s.Cwd)
	if err != nil {
		return err
	}
	records := []object{{"sessionId": s.ID, "projectHash": hash, "startTime": s.at(0),
		"lastUpdated": s.at(0), "kind": "main"}}
	add := func(o object) {
		o["timestamp"] = s.at(len(records))
		records = append(records, o)
	}
	for _, said := range s.Said {
		switch said.Who {
		case Person:
			add(object{"id": said.id, "type": "user", "content": []object{{"text": said.Text}}})
		case Tool:
			add(object{"id": "g-" + said.id, "type": "gemini", "content": "", "model": "gemini-3-pro",
				"toolCalls": []object{{"id": "c-" + said.id, "name": "run_shell_command",
					"args": object{"command": "count"}, "status": "success",
					"result": []object{{"functionResponse": object{"id": "c-" + said.id,
						"name": "run_shell_command", "response": object{"output": said.Text}}}}}}})
		case Model:
			add(object{"id": said.id, "type": "gemini", "content": said.Text,
				"model": "gemini-3-pro"})
		}
	}
	return finish(s, filepath.Join(folder, "chats",
		"session-"+s.start.Format("2006-01-02T15-04")+"-"+s.ID[:8]+".jsonl"), records)
}

// geminiFolder returns the folder that Gemini CLI has for a directory, and makes it: its name is
// short and free, and projects.json tells whose it is.
func (h *Home) geminiFolder(cwd string) (string, error) {
	if h.gemini == nil {
		h.gemini = map[string]string{}
	}
	tmp := filepath.Join(h.Dir, ".gemini", "tmp")
	if name := h.gemini[cwd]; name != "" {
		return filepath.Join(tmp, name), nil
	}
	name := strings.ToLower(strings.Trim(slug(filepath.Base(cwd)), "-"))
	for taken := true; taken; {
		taken = name == ""
		for _, other := range h.gemini {
			taken = taken || other == name
		}
		if taken {
			name = strings.TrimLeft(fmt.Sprintf("%s-%d", name, len(h.gemini)), "-")
		}
	}
	h.gemini[cwd] = name
	b, err := json.Marshal(object{"projects": h.gemini})
	if err != nil {
		return "", err
	}
	dir := filepath.Join(tmp, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, errors.Join(os.WriteFile(filepath.Join(dir, ".project_root"), []byte(cwd), 0o600),
		os.WriteFile(filepath.Join(h.Dir, ".gemini", "projects.json"), b, 0o600))
}

func writeQwen(h *Home, s *Session, _ []*Session) error {
	var records []object
	var last any
	add := func(id, kind, role string, parts ...object) {
		records = append(records, object{"uuid": id, "parentUuid": last, "sessionId": s.ID,
			"timestamp": s.at(len(records)), "type": kind, "cwd": s.Cwd, "version": "0.24.4",
			"message": object{"role": role, "parts": parts}})
		last = id
	}
	for _, said := range s.Said {
		switch said.Who {
		case Person:
			add(said.id, "user", "user", object{"text": said.Text})
		case Tool:
			add(beside(said.id, 'a'), "assistant", "model", object{"functionCall": object{
				"id": "c" + said.id, "name": "run_shell_command",
				"args": object{"command": "count"}}})
			add(said.id, "tool_result", "user", object{"functionResponse": object{
				"id": "c" + said.id, "name": "run_shell_command",
				"response": object{"output": said.Text}}})
		case Model:
			add(said.id, "assistant", "model", object{"text": said.Text})
		}
	}
	return finish(s, filepath.Join(h.Dir, ".qwen", "projects", slug(s.Cwd), "chats",
		s.ID+".jsonl"), records)
}

// writeOpencode writes the files that opencode keeps without a database.
func writeOpencode(h *Home, s *Session, _ []*Session) error {
	id := "ses_" + strings.ReplaceAll(s.ID, "-", "")
	root := filepath.Join(h.Dir, ".local", "share", "opencode", "storage")
	ms := func(i int) int64 { return s.start.UnixMilli() + int64(i)*7000 }
	write := func(name string, o object) error {
		b, err := json.Marshal(o)
		if err != nil {
			return err
		}
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, b, 0o600)
	}
	for i, said := range s.Said {
		message := fmt.Sprintf("msg_%s%04d", s.ID[:8], i)
		role := map[Who]string{Person: "user", Model: "assistant", Tool: "assistant"}[said.Who]
		if err := write("message/"+id+"/"+message+".json", object{"id": message, "sessionID": id,
			"role": role, "time": object{"created": ms(i), "completed": ms(i) + 1}}); err != nil {
			return err
		}
		part := object{"id": "prt_" + message[4:], "sessionID": id, "messageID": message,
			"type": "text", "text": said.Text}
		if said.Who == Tool {
			part = object{"id": part["id"], "sessionID": id, "messageID": message, "type": "tool",
				"callID": "call_" + message, "tool": "bash", "state": object{"status": "completed",
					"input": object{"command": "count"}, "output": said.Text, "title": "count",
					"time": object{"start": ms(i), "end": ms(i) + 1}}}
		}
		if err := write("part/"+message+"/prt_"+message[4:]+".json", part); err != nil {
			return err
		}
	}
	s.File = filepath.Join(root, "session", "p1", id+".json")
	return write("session/p1/"+id+".json", object{"id": id, "projectID": "p1", "directory": s.Cwd,
		"title": "Lamps", "version": "1.1.40",
		"time": object{"created": ms(0), "updated": ms(len(s.Said))}})
}

func writeCopilot(h *Home, s *Session, _ []*Session) error {
	records := []object{{"type": "session.start", "id": "e0", "timestamp": s.at(0),
		"parentId": nil, "data": object{"sessionId": s.ID, "version": 1, "startTime": s.at(0),
			"context": object{"cwd": s.Cwd}}}}
	add := func(kind string, data object) {
		n := len(records)
		records = append(records, object{"type": kind, "data": data, "id": fmt.Sprintf("e%d", n),
			"timestamp": s.at(n), "parentId": fmt.Sprintf("e%d", n-1)})
	}
	for _, said := range s.Said {
		switch said.Who {
		case Person:
			add("user.message", object{"content": said.Text, "attachments": []any{}})
		case Tool:
			add("assistant.message", object{"messageId": "a" + said.id, "content": "",
				"toolRequests": []object{{"toolCallId": said.id, "name": "bash",
					"arguments": object{"command": "count"}}}})
			add("tool.execution_complete", object{"toolCallId": said.id, "success": true,
				"result": object{"content": said.Text}})
		case Model:
			add("assistant.message", object{"messageId": said.id, "content": said.Text,
				"toolRequests": []any{}})
		}
	}
	return finish(s, filepath.Join(h.Dir, ".copilot", "session-state", s.ID, "events.jsonl"),
		records)
}

func writeDroid(h *Home, s *Session, _ []*Session) error {
	records := []object{{"type": "session_start", "id": s.ID, "title": "Lamps", "version": 2,
		"cwd": s.Cwd}}
	var last any
	add := func(id, role string, content ...object) {
		records = append(records, object{"type": "message", "id": id, "parentId": last,
			"timestamp": s.at(len(records)), "message": object{"role": role, "content": content}})
		last = id
	}
	for _, said := range s.Said {
		switch said.Who {
		case Person:
			add(said.id, "user", object{"type": "text", "text": said.Text})
		case Tool:
			add(beside(said.id, 'a'), "assistant", object{"type": "tool_use", "id": "t" + said.id,
				"name": "Execute", "input": object{"command": "count"}})
			add(said.id, "user", object{"type": "tool_result", "tool_use_id": "t" + said.id,
				"content": said.Text})
		case Model:
			add(said.id, "assistant", object{"type": "text", "text": said.Text})
		}
	}
	return finish(s, filepath.Join(h.Dir, ".factory", "sessions", slug(s.Cwd), s.ID+".jsonl"),
		records)
}

func writePi(h *Home, s *Session, _ []*Session) error {
	records := []object{{"type": "session", "version": 3, "id": s.ID, "timestamp": s.at(0),
		"cwd": s.Cwd}}
	var last any
	add := func(id string, message object) {
		records = append(records, object{"type": "message", "id": id, "parentId": last,
			"timestamp": s.at(len(records)), "message": message})
		last = id
	}
	text := func(s string) []object { return []object{{"type": "text", "text": s}} }
	for _, said := range s.Said {
		switch said.Who {
		case Person:
			add(said.id, object{"role": "user", "content": said.Text})
		case Tool:
			add(beside(said.id, 'a'), object{"role": "assistant", "content": []object{{
				"type": "toolCall", "id": "t" + said.id, "name": "bash",
				"arguments": object{"command": "count"}}}})
			add(said.id, object{"role": "toolResult", "toolCallId": "t" + said.id,
				"toolName": "bash", "content": text(said.Text), "isError": false})
		case Model:
			add(said.id, object{"role": "assistant", "content": text(said.Text)})
		}
	}
	return finish(s, filepath.Join(h.Dir, ".pi", "agent", "sessions", "-"+slug(s.Cwd)+"--",
		s.start.Format("2006-01-02T15-04-05")+"_"+s.ID+".jsonl"), records)
}

func writeCline(h *Home, s *Session, _ []*Session) error {
	var list []object
	add := func(role string, blocks ...object) {
		if role == "user" {
			blocks = append(blocks, object{"type": "text", "text": "<environment_details>\n" +
				"# Current Working Directory (" + s.Cwd + ") Files\nlamps.txt\n</environment_details>"})
		}
		list = append(list, object{"role": role, "content": blocks,
			"ts": s.start.UnixMilli() + int64(len(list))*7000})
	}
	for _, said := range s.Said {
		switch said.Who {
		case Person:
			add("user", object{"type": "text", "text": "<task>\n" + said.Text + "\n</task>"})
		case Tool:
			add("assistant", object{"type": "tool_use", "id": "t" + said.id,
				"name": "execute_command", "input": object{"command": "count"}})
			add("user", object{"type": "text",
				"text": "[execute_command for 'count'] Result:\n" + said.Text})
		case Model:
			add("assistant", object{"type": "text", "text": said.Text})
		}
	}
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return s.store(filepath.Join(h.Dir, ".config", "Code", "User", "globalStorage",
		"saoudrizwan.claude-dev", "tasks", s.ID, "api_conversation_history.json"), b)
}

func writeGoose(h *Home, s *Session, _ []*Session) error {
	records := []object{{"id": s.ID, "description": "", "working_dir": s.Cwd}}
	add := func(id, role string, block object) {
		records = append(records, object{"id": id, "role": role, "content": []object{block},
			"created": s.start.Unix() + int64(len(records))*7})
	}
	ok := func(value any) object { return object{"status": "success", "value": value} }
	for _, said := range s.Said {
		text := object{"type": "text", "text": said.Text}
		switch said.Who {
		case Person:
			add(said.id, "user", text)
		case Tool:
			call := object{"name": "shell", "arguments": object{"command": "count"}}
			add(beside(said.id, 'a'), "assistant",
				object{"type": "toolRequest", "id": "t" + said.id, "toolCall": ok(call)})
			add(said.id, "user", object{"type": "toolResponse", "id": "t" + said.id,
				"toolResult": ok([]object{text})})
		case Model:
			add(said.id, "assistant", text)
		}
	}
	return finish(s, filepath.Join(h.Dir, ".local", "share", "goose", "sessions", s.ID+".jsonl"),
		records)
}

func writeAmp(h *Home, s *Session, _ []*Session) error {
	var list []object
	add := func(role string, block object) {
		list = append(list, object{"role": role, "content": []object{block},
			"meta": object{"sentAt": s.start.UnixMilli() + int64(len(list))*7000}})
	}
	for _, said := range s.Said {
		text := object{"type": "text", "text": said.Text}
		switch said.Who {
		case Person:
			add("user", text)
		case Tool:
			add("assistant", object{"type": "tool_use", "id": "t" + said.id, "name": "Bash",
				"input": object{"cmd": "count"}})
			add("user", object{"type": "tool_result", "toolUseID": "t" + said.id,
				"run": object{"status": "done", "result": object{"output": said.Text}}})
		case Model:
			add("assistant", text)
		}
	}
	trees := []object{{"uri": "file://" + filepath.ToSlash(s.Cwd)}}
	return s.storeJSON(filepath.Join(h.Dir, ".local", "share", "amp", "threads", s.ID+".json"),
		object{"id": s.ID, "created": s.start.UnixMilli(), "messages": list,
			"env": object{"initial": object{"trees": trees}}})
}

// writeVSCode writes a session of a window of its own.
func writeVSCode(h *Home, s *Session, _ []*Session) error {
	var requests []object
	for _, said := range s.Said {
		last := len(requests) - 1
		part := object{"value": said.Text}
		switch said.Who {
		case Person:
			requests = append(requests, object{"requestId": said.id, "response": []object{},
				"message":   object{"text": said.Text},
				"timestamp": s.start.UnixMilli() + int64(len(requests))*7000})
			continue
		case Tool:
			part = object{"kind": "toolInvocationSerialized", "toolId": "run", "toolCallId": said.id,
				"resultDetails": object{"output": []object{{"value": said.Text}}}}
		}
		requests[last]["response"] = append(requests[last]["response"].([]object), part)
	}
	window := filepath.Join(h.Dir, ".config", "Code", "User", "workspaceStorage", s.ID)
	err := s.storeJSON(filepath.Join(window, "chatSessions", s.ID+".json"),
		object{"sessionId": s.ID, "requests": requests})
	if err != nil {
		return err
	}
	b, err := json.Marshal(object{"folder": "file://" + filepath.ToSlash(s.Cwd)})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(window, "workspace.json"), b, 0o600)
}

// storeJSON writes a transcript that is one object.
func (s *Session) storeJSON(file string, doc object) error {
	b, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return s.store(file, b)
}
