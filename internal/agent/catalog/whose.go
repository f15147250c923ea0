package catalog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/markdown"
	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file tells whose transcript a file is, by the members of its records.

// mark is what only the records of one agent have. Of several marks that a record has, the first
// counts.
type mark struct {
	agent string
	has   func(o jsonvalue.Object) bool
}

var marks = [...]mark{
	{"codex", func(o jsonvalue.Object) bool {
		return o.Has("payload") && o.Has("type") && o.Has("timestamp")
	}},
	{"copilot", func(o jsonvalue.Object) bool {
		return o.Object("data") != nil && o.Has("type") && o.Has("id") && in(o, "parentId")
	}},
	{"antigravity", func(o jsonvalue.Object) bool {
		return o.Has("step_index") && o.Has("source")
	}},
	{"qwen", func(o jsonvalue.Object) bool {
		return in(o, "uuid") && in(o, "parentUuid") &&
			(o.Object("message").Has("parts") || o.Has("systemPayload"))
	}},
	{"claude-code", func(o jsonvalue.Object) bool {
		return in(o, "parentUuid") && in(o, "uuid") || o.Has("leafUuid") ||
			o.Has("sessionId") && o.Has("type") && !o.Has("id") && !o.Has("traceSchema") ||
			o.Text("type") == "file-history-snapshot" && o.Has("snapshot")
	}},
	{"droid", func(o jsonvalue.Object) bool {
		return o.Text("type") == "session_start" && o.Has("id")
	}},
	{"pi", func(o jsonvalue.Object) bool {
		return o.Text("type") == "session" && o.Has("id") && in(o, "cwd")
	}},
	{"gemini-cli", func(o jsonvalue.Object) bool {
		kind := o.Text("type")
		return o.Has("sessionId") && (o.Has("startTime") || o.Has("projectHash")) || in(o, "$set") ||
			o.Has("id") && o.Has("content") && (kind == "gemini" || kind == "user")
	}},
	{"opencode", func(o jsonvalue.Object) bool {
		return o.Object("info").Has("id") && o.Has("messages") ||
			o.Has("projectID") && o.Has("directory") // in its storage
	}},
	{"vscode", func(o jsonvalue.Object) bool {
		if string(o["kind"]) == "0" { // the first of several lines
			o = o.Object("v")
		}
		list, ok := o.Array("requests")
		if !ok || o.Has("responderUsername") || o.Has("sessionId") || len(list) == 0 {
			return ok && (o.Has("responderUsername") || o.Has("sessionId"))
		}
		first := jsonvalue.AsObject(list[0])
		return first.Has("message") && first.Has("response")
	}},
	{"goose", func(o jsonvalue.Object) bool {
		return o.Has("working_dir") && (in(o, "description") || o.Has("conversation"))
	}},
	{"zed", func(o jsonvalue.Object) bool {
		return o.Text("zed") == "context" || in(o, "messages") && o.Has("updated_at") &&
			(in(o, "folder_paths") || in(o, "initial_project_snapshot"))
	}},
	{"crush", func(o jsonvalue.Object) bool {
		list, _ := o.Array("messages")
		return o.Has("title") && slices.ContainsFunc(list, func(raw json.RawMessage) bool {
			m := jsonvalue.AsObject(raw)
			return m.Has("parts") && m.Has("is_summary_message")
		})
	}},
	{"amp", func(o jsonvalue.Object) bool {
		return strings.HasPrefix(o.Text("id"), "T-") && o.Has("created") && in(o, "messages")
	}},
	{"kiro", func(o jsonvalue.Object) bool {
		list, _ := o.Array("history")
		if o.Has("kind") && o.Object("data").Has("message_id") ||
			list != nil && o.Has("conversation_id") {
			return true
		}
		return o.Has("workspaceDirectory") && slices.ContainsFunc(list,
			func(raw json.RawMessage) bool { return jsonvalue.AsObject(raw).Has("executionId") })
	}},
	{"continue", func(o jsonvalue.Object) bool {
		return o.Has("workspaceDirectory") && o.Has("history")
	}},
	{"cursor", func(o jsonvalue.Object) bool {
		return o.Object("composer").Has("composerId") ||
			o.Has("role") && o.Object("message").Has("content") && !in(o, "uuid")
	}},
	{ADKForm, func(o jsonvalue.Object) bool {
		return o.Has("appName") && o.Has("events") || o.Has("invocationId") && o.Has("author")
	}},
	{shape.JSONLAgent, func(o jsonvalue.Object) bool {
		return o.Has("role") && (o.Has("content") || o.Has("text") || o.Has("parts"))
	}},
}

// Marked reports whether an agent's own records have a mark, which JSON lines of any program lack.
func Marked(agent string) bool {
	return agent != shape.JSONLAgent &&
		slices.ContainsFunc(marks[:], func(m mark) bool { return m.agent == agent })
}

// in reports whether a record has a member, which may be null.
func in(o jsonvalue.Object, name string) bool {
	_, ok := o[name]
	return ok
}

// PageForm and ADKForm are the forms of files that ctx writes for no agent.
const (
	PageForm = "html"
	ADKForm  = "adk-events"
)

// mostLooked is how many bytes of a file are looked at, and whoseRecords how many of its records:
// the first may be about anything. Most files tell in their first bytes. Where they say nothing, as
// much is looked at as the largest record may have: a transcript that is one record tells whose it
// is at its end.
const (
	firstLooked  = 256 << 10
	mostLooked   = 4 << 20
	whoseRecords = 32
)

// beginnings are what a line of a transcript that is no JSON begins with, by agent.
var beginnings = [...]struct{ agent, begin string }{
	{markdown.AiderAgent, "\n" + markdown.AiderBegins},
	{shape.CursorAgent, "\nuser:\n<user_query>"},
	{markdown.SpecStoryAgent, "\n" + markdown.SpecStoryBegins},
}

// Whose returns the form of a transcript, by its first records; "" if they are of no agent that is
// known.
func Whose(r io.Reader) (agent string) {
	var head []byte
	for _, size := range [...]int{firstLooked, mostLooked, maxHead} {
		more, _ := io.ReadAll(io.LimitReader(r, int64(size-len(head))))
		head = append(head, more...)
		agent = whoseIs(head)
		known := agent != "" && (agent != shape.JSONLAgent || size > firstLooked)
		if known || len(head) < size {
			break
		}
	}
	if what, _ := Other(bytes.NewReader(head)); what != "" && agent == shape.JSONLAgent {
		return ""
	}
	return agent
}

// Other says what a file is that is no transcript, and what to do instead; "" for any other file.
func Other(r io.Reader) (what, instead string) {
	head, _ := io.ReadAll(io.LimitReader(r, firstLooked))
	if bytes.HasPrefix(head, []byte("version https://git-lfs.github.com/spec/")) {
		return "a pointer of Git LFS", "`git lfs pull` brings the file"
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	switch o := jsonvalue.AsObject(line); {
	case o.Text("type") == "system" && o.Has("subtype") && o.Has("session_id"):
		return "what Claude Code printed", "`ctx import claude-code -s NAME FILE` reads it"
	case o.Text("type") == "thread.started":
		return "what Codex CLI printed", "`ctx import --all` reads the transcript that it kept"
	case o.Text("type") == "init" && o.Has("session_id") && o.Has("model"):
		return "what Gemini CLI printed", "`ctx import --all` reads the transcript that it kept"
	}
	return "", ""
}

func whoseIs(head []byte) string {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if bytes.HasPrefix(head, []byte("<!DOCTYPE html>")) &&
		bytes.Contains(head, []byte("<meta name=generator content=ctx>")) {
		return PageForm
	}
	first, agent := len(head), "" // a transcript may quote another one
	for _, b := range beginnings {
		at := bytes.Index(head, []byte(b.begin))
		if bytes.HasPrefix(head, []byte(b.begin[1:])) {
			at = 0
		}
		if at >= 0 && at < first {
			first, agent = at, b.agent
		}
	}
	if agent != "" {
		return agent
	}
	noise, _ := transcript.Noise(head)
	text := bytes.TrimSpace(head[noise:])
	if o, ok := jsonvalue.ParseObject(text); ok {
		return formOf(o)
	}
	if list := text; bytes.HasPrefix(list, []byte("[")) {
		dec := json.NewDecoder(bytes.NewReader(list[1:]))
		var first json.RawMessage
		if dec.Decode(&first) == nil && isTask(jsonvalue.AsObject(first)) {
			return shape.ClineAgent
		}
	}
	stats, found, n := transcript.NewStats(), "", 0
	errFound := errors.New("found")
	_ = transcript.Lines(bufio.NewReader(bytes.NewReader(head)), &stats, nil, true,
		func(o jsonvalue.Object) error {
			n++
			if of := formOf(o); found == "" || of != "" {
				found = of
			}
			if found != "" && found != shape.JSONLAgent || n == whoseRecords {
				return errFound // a record of Cursor may look like one of any program
			}
			return nil
		})
	return found
}

// isTask reports whether a message is one that the lists of Cline have.
func isTask(o jsonvalue.Object) bool {
	_, blocks := o.Array("content")
	return o.Text("role") == "user" && blocks
}

// formOf returns the agent whose mark a record has; "" for none.
func formOf(o jsonvalue.Object) string {
	i := slices.IndexFunc(marks[:], func(m mark) bool { return m.has(o) })
	if i < 0 {
		return ""
	}
	return marks[i].agent
}
