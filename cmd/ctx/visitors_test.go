package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// record is a record of an agent, or a part of one.
type record = map[string]any

// visitor imitates what an agent does with a session that it is handed, and with one of its own.
// The files are those that real versions write (internal/e2e has these).
type visitor struct {
	name string
	turn string // the event of its hooks at the end of a turn
	// open begins with a session: handed is the file that ctx wrote, nil for a session of its own.
	// It returns the file that the agent goes on to write.
	open func(v *visit, handed []byte) (file string)
	// grow adds a turn to the file.
	grow func(v *visit, list []turnPart)
}

// visit is an agent at work on a session.
type visit struct {
	*testing.T
	visitor
	home, dir string
	id        string // that the agent has for the session
	file      string
	n         int             // records so far, for ids and times
	number    int             // of the visit
	keeps     bool            // the agent keeps members that it does not know
	database  map[string]bool // messages that opencode has, of all visits
}

// turnPart is a piece of a turn: a prompt, an answer, or a call with its result.
type turnPart struct {
	kind string // "prompt", "answer", "call", "open"
	text string
	call string
}

func visitors() []visitor {
	return []visitor{
		{"claude-code", "Stop", openClaude, growClaude}, {"codex", "Stop", openCodex, growCodex},
		{"gemini-cli", "AfterAgent", openGemini, growGemini},
		{"opencode", "session.idle", openOpencode, growOpencode},
	}
}

// next returns an id of the form that agents have, and a time.
func (v *visit) next() (id, when string) {
	v.n++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", v.number, v.n), v.at(v.n)
}

func (v *visit) at(n int) string {
	when := scriptStart().Add(time.Duration(v.number)*time.Hour + time.Duration(n)*time.Second)
	return transcript.Stamp(when)
}

func (v *visit) own() string { return fmt.Sprintf("%08x-aaaa-4000-8000-%012x", v.number, 1) }

func (v *visit) write(path string, b []byte) {
	v.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		v.Fatal(err)
	}
}

// add appends records as lines.
func (v *visit) add(records ...record) {
	v.Helper()
	was, err := os.ReadFile(v.file)
	if err != nil && !os.IsNotExist(err) {
		v.Fatal(err)
	}
	v.write(v.file, append(was, linesOf(records)...))
}

func linesOf(records []record) (b []byte) {
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		b = append(append(b, line...), '\n')
	}
	return b
}

// recordsOf reads lines.
func (v *visit) recordsOf(b []byte) (list []record) {
	v.Helper()
	for line := range bytes.Lines(b) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			v.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func openClaude(v *visit, handed []byte) string {
	if handed != nil {
		return v.file
	}
	return filepath.Join(v.home, ".claude", "projects", "p", v.id+".jsonl")
}

func growClaude(v *visit, list []turnPart) {
	var last any
	if b, err := os.ReadFile(v.file); err == nil {
		for _, r := range v.recordsOf(b) {
			if r["uuid"] != nil {
				last = r["uuid"]
			}
		}
	}
	add := func(kind string, message record) {
		id, when := v.next()
		v.add(record{"parentUuid": last, "isSidechain": false, "userType": "external",
			"cwd": v.dir, "sessionId": v.id, "version": "2.1.332", "type": kind,
			"message": message, "uuid": id, "timestamp": when})
		last = id
	}
	said := func(block record) {
		add("assistant", record{"id": fmt.Sprint("msg_", v.number, "_", v.n), "type": "message",
			"role": "assistant", "model": "m", "content": []record{block}, "stop_reason": nil,
			"usage": record{"input_tokens": 1, "output_tokens": 1}})
	}
	for _, p := range list {
		switch p.kind {
		case "prompt":
			add("user", record{"role": "user", "content": p.text})
		case "answer":
			said(record{"type": "text", "text": p.text})
		default:
			said(record{"type": "tool_use", "id": p.call, "name": "Bash",
				"input": record{"command": "make " + p.call}})
			if p.kind == "call" {
				add("user", record{"role": "user", "content": []record{{"type": "tool_result",
					"tool_use_id": p.call, "content": p.text}}})
			}
		}
	}
}

func openCodex(v *visit, handed []byte) string {
	if handed != nil {
		return v.file
	}
	v.file = filepath.Join(v.home, ".codex", "sessions", "2026", "01", "02",
		"rollout-2026-01-02T03-00-00-"+v.id+".jsonl")
	v.add(record{"timestamp": v.at(0), "type": "session_meta", "payload": record{"id": v.id,
		"timestamp": v.at(0), "cwd": v.dir, "originator": "codex_cli_rs",
		"cli_version": "0.169.0", "source": "cli"}})
	return v.file
}

func growCodex(v *visit, list []turnPart) {
	add := func(kind string, payload record) {
		_, when := v.next()
		v.add(record{"timestamp": when, "type": kind, "payload": payload})
	}
	message := func(role, kind, text string) {
		add("response_item", record{"type": "message", "role": role,
			"content": []record{{"type": kind, "text": text}}})
	}
	add("turn_context", record{"cwd": v.dir, "approval_policy": "never", "model": "m"})
	message("user", "input_text", "<environment_context>\n<cwd>"+v.dir+"</cwd>\n</environment_context>")
	for _, p := range list {
		switch p.kind {
		case "prompt":
			message("user", "input_text", p.text)
			add("event_msg", record{"type": "user_message", "message": p.text})
		case "answer":
			message("assistant", "output_text", p.text)
			add("event_msg", record{"type": "agent_message", "message": p.text})
		default:
			add("response_item", record{"type": "function_call", "name": "shell",
				"arguments": `{"command":"make ` + p.call + `"}`, "call_id": p.call})
			if p.kind == "call" {
				add("response_item", record{"type": "function_call_output", "call_id": p.call,
					"output": p.text})
			}
		}
	}
}

// openGemini gives the session another id, and names the messages as they were named. Version 0.61
// keeps members of messages that it does not know, and none of the header.
func openGemini(v *visit, handed []byte) string {
	v.id = v.own()
	v.file = filepath.Join(v.home, ".gemini", "tmp", "p", "chats",
		fmt.Sprintf("session-2026-01-02T03-00-%08x.jsonl", v.number))
	head := record{"sessionId": v.id, "projectHash": "h", "startTime": v.at(0),
		"lastUpdated": v.at(0), "kind": "main"}
	if handed == nil {
		v.add(head)
		return v.file
	}
	v.add(head, record{"id": "import-1795722588245", "timestamp": v.at(0), "type": "info",
		"content": "Imported session from " + v.file})
	for _, r := range v.recordsOf(handed)[1:] {
		if !v.keeps {
			delete(r, "ctx")
			calls, _ := r["toolCalls"].([]any)
			for _, c := range calls {
				delete(c.(record), "ctx")
			}
		}
		v.add(r)
	}
	return v.file
}

func growGemini(v *visit, list []turnPart) {
	for _, p := range list {
		id, when := v.next()
		r := record{"id": id, "timestamp": when, "type": "gemini", "model": "m", "content": p.text}
		switch p.kind {
		case "prompt":
			r = record{"id": id, "timestamp": when, "type": "user",
				"content": []record{{"text": p.text}}}
		case "call", "open":
			call := record{"id": p.call, "name": "run_shell_command", "status": "executing",
				"args": record{"command": "make " + p.call}, "timestamp": when}
			r["content"], r["toolCalls"] = "", []record{call}
			if p.kind == "call" {
				call["status"] = "success"
				call["result"] = []record{{"functionResponse": record{"id": p.call,
					"name": "run_shell_command", "response": record{"output": p.text}}}}
			}
		}
		v.add(r, record{"$set": record{"lastUpdated": when}})
	}
}

// openOpencode takes the document into the database, and keeps of the members that it does not know
// only those in the metadata of parts.
func openOpencode(v *visit, handed []byte) string {
	v.file = filepath.Join(v.home, fmt.Sprintf("opencode-%d.json", v.number))
	doc := record{"info": record{"id": v.id, "slug": "s", "projectID": "p", "directory": v.dir,
		"title": "Lamps", "version": "1.18.33", "time": record{"created": 1, "updated": 2}},
		"messages": []any{}}
	if handed != nil {
		if err := json.Unmarshal(handed, &doc); err != nil {
			v.Fatal(err)
		}
		delete(doc, "ctx")
		delete(doc["info"].(record), "ctx")
		doc["messages"] = slices.DeleteFunc(doc["messages"].([]any), func(m any) bool {
			return v.database[m.(record)["info"].(record)["id"].(string)] // another session's
		})
	}
	for _, m := range doc["messages"].([]any) {
		v.database[m.(record)["info"].(record)["id"].(string)] = true
	}
	v.write(v.file, linesOf([]record{doc}))
	return v.file
}

func growOpencode(v *visit, list []turnPart) {
	b, err := os.ReadFile(v.file)
	if err != nil {
		v.Fatal(err)
	}
	doc := v.recordsOf(b)[0]
	messages := doc["messages"].([]any)
	for _, p := range list {
		v.n++
		id := fmt.Sprintf("msg_%06x%08x", v.number, v.n)
		v.database[id] = true
		ms := scriptStart().UnixMilli() + int64(v.number)*3600_000 + int64(v.n)*1000
		part := record{"id": "prt_" + id[4:], "sessionID": v.id, "messageID": id, "type": "text",
			"text": p.text}
		info := record{"id": id, "sessionID": v.id, "role": "assistant", "mode": "build",
			"modelID": "m", "providerID": "p", "time": record{"created": ms, "completed": ms}}
		switch p.kind {
		case "prompt":
			info = record{"id": id, "sessionID": v.id, "role": "user",
				"time": record{"created": ms}}
		case "call", "open":
			state := record{"status": "running", "input": record{"command": "make " + p.call},
				"time": record{"start": ms}}
			if p.kind == "call" {
				state = record{"status": "completed", "input": state["input"], "output": p.text,
					"title": "make", "metadata": record{}, "time": record{"start": ms, "end": ms}}
			}
			delete(part, "text")
			part["type"], part["callID"] = "tool", p.call
			part["tool"], part["state"] = "bash", state
		}
		messages = append(messages, record{"info": info, "parts": []record{part}})
	}
	doc["messages"] = messages
	v.write(v.file, linesOf([]record{doc}))
}
