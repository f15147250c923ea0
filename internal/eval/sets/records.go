package sets

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/codex"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Transcript is the file that an agent wrote of one session: JSON lines.
type Transcript struct {
	Name  string // unique within its set
	Agent string // claudecode.Agent or codex.Agent, as AgentOf says
	Data  []byte
}

// Record is a line of a transcript with a message, a call or the output of a tool. Records are read
// without the importers of ctx, so that the measures also find faults of an importer.
type Record struct {
	Start   int    // the offset of the line in the file, in bytes
	Said    string // words of a prompt or an answer
	Called  string // the values of the arguments of tool calls
	Output  string // what tools printed
	Prompt  bool   // the user said it
	Time    string // when, as the agent writes it
	Summary bool   // said is the client's own summary of everything before
}

// recognized is the number of lines that AgentOf reads.
const recognized = 50

// AgentOf returns the agent that wrote a transcript, or "" if data is not a transcript that can be
// measured.
func AgentOf(data []byte) string {
	n := 0
	for line := range bytes.Lines(data) {
		if n++; n > recognized {
			break
		}
		var r struct {
			Type    string          `json:"type"`
			Session string          `json:"sessionId"`
			Message json.RawMessage `json:"message"`
			Payload json.RawMessage `json:"payload"`
		}
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		switch {
		case (r.Type == "user" || r.Type == "assistant") && r.Session != "" && r.Message != nil:
			return claudecode.Agent
		case (r.Type == "session_meta" || r.Type == "response_item") && r.Payload != nil:
			return codex.Agent
		}
	}
	return ""
}

// Records reads the transcript. It skips lines that are damaged, that are of other kinds, or that
// belong to a subagent.
func (t Transcript) Records() []Record {
	read := claudeRecord
	if t.Agent == codex.Agent {
		read = codexRecord
	}
	var list []Record
	queued := map[string]bool{}
	at := 0
	for line := range bytes.Lines(t.Data) {
		r, queue, ok := read(line)
		r.Start = at
		at += len(line)
		text := strings.TrimSpace(r.Said)
		switch {
		case !ok, text == "" && strings.TrimSpace(r.Called+r.Output) == "":
			continue
		case queue:
			queued[text] = true
		case r.Prompt && queued[text]:
			delete(queued, text) // typed while the agent worked; it counts where it was typed
			continue
		}
		list = append(list, r)
	}
	return list
}

// block is an element of a message's content in the API of Anthropic.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
}

// claudeRecord reads a line of Claude Code. queue is set for a prompt that the user typed while the
// agent worked.
func claudeRecord(line []byte) (r Record, queue, ok bool) {
	var in struct {
		Type      string          `json:"type"`
		Time      string          `json:"timestamp"`
		Meta      bool            `json:"isMeta"`
		Summary   bool            `json:"isCompactSummary"`
		Sidechain bool            `json:"isSidechain"`
		Operation string          `json:"operation"`
		Content   json.RawMessage `json:"content"`
		Message   struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &in) != nil || in.Meta || in.Sidechain {
		return r, false, false
	}
	switch {
	case in.Type == "queue-operation" && in.Operation == "enqueue":
		text := textOf(in.Content)
		command := strings.HasPrefix(text, "<") || strings.HasPrefix(text, "/")
		return Record{Said: text, Prompt: true, Time: in.Time}, true, !command
	case in.Type != "user" && in.Type != "assistant":
		return r, false, false
	}
	r.Time = in.Time
	r.Prompt, r.Summary = in.Type == "user" && !in.Summary, in.Summary
	var text string
	if json.Unmarshal(in.Message.Content, &text) == nil {
		r.Said = text
		return r, false, true
	}
	var blocks []block
	_ = json.Unmarshal(in.Message.Content, &blocks) // content of another form says nothing
	for _, b := range blocks {
		switch b.Type {
		case "text":
			r.Said = joinLines(r.Said, b.Text)
		case "tool_use":
			r.Called = joinLines(r.Called, strings.Join(values(b.Input), "\n"))
		case "tool_result":
			r.Output = joinLines(r.Output, textOf(b.Content))
		}
	}
	r.Prompt = r.Prompt && r.Said != ""
	return r, false, true
}

// codexRecord reads a line of Codex. queue is never set.
func codexRecord(line []byte) (r Record, queue, ok bool) {
	var in struct {
		Type    string `json:"type"`
		Time    string `json:"timestamp"`
		Payload struct {
			Type      string          `json:"type"`
			Role      string          `json:"role"`
			Content   json.RawMessage `json:"content"`
			Arguments string          `json:"arguments"`
			Input     string          `json:"input"`
			Output    json.RawMessage `json:"output"`
			Message   string          `json:"message"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &in) != nil {
		return r, false, false
	}
	p := in.Payload
	r.Time = in.Time
	if in.Type == "compacted" {
		return Record{Said: p.Message, Summary: true}, false, p.Message != ""
	}
	if in.Type != "response_item" {
		return r, false, false
	}
	switch p.Type {
	case "message":
		r.Said, r.Prompt = textOf(p.Content), p.Role == "user"
		isContext := r.Prompt &&
			(strings.HasPrefix(r.Said, "<") || strings.HasPrefix(r.Said, "# AGENTS"))
		return r, false, (p.Role == "user" || p.Role == "assistant") && !isContext
	case "function_call":
		r.Called = p.Arguments
		if list := values([]byte(p.Arguments)); list != nil {
			r.Called = strings.Join(list, "\n")
		}
	case "custom_tool_call":
		r.Called = p.Input
	case "function_call_output", "custom_tool_call_output":
		r.Output = textOf(p.Output)
	}
	return r, false, true
}

// textOf returns the text of a JSON value: a string, or the texts of a list of blocks. Any other
// value is returned as it is.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []block
	if json.Unmarshal(raw, &blocks) != nil {
		return string(raw)
	}
	for _, b := range blocks {
		s = joinLines(s, b.Text)
	}
	return s
}

func joinLines(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// values returns the strings and numbers in a JSON value in order, without the names of members. It
// returns nil if raw is not JSON.
func values(raw []byte) []string {
	list := []string{}
	d := jsonvalue.NewDecoder(raw)
	defer jsonvalue.Free(d)
	for {
		token, err := d.ReadToken()
		if err == io.EOF {
			return list
		}
		if err != nil {
			return nil
		}
		parent, n := d.StackIndex(d.StackDepth())
		isName := parent == '{' && n%2 == 1 // names and values take turns
		if kind := token.Kind(); kind == '0' || kind == '"' && !isName {
			list = append(list, token.String())
		}
	}
}

// UpTo returns the transcript as it was when the file had end bytes.
func (t Transcript) UpTo(end int) Transcript {
	t.Data = t.Data[:end]
	return t
}
