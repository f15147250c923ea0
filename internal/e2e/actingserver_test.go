package e2e

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// The words that an acting server reads and says.
const (
	runTool   = "RUNTOOL"  // in a prompt: the model asks for one shell command first
	runCheck  = "RUNCHECK" // in a prompt with runTool: the command is checkCall
	runShell  = "RUNSHELL" // in a prompt with runTool: the command is shellCall
	runWrite  = "RUNWRITE" // with runTool: writeFile is written in the directory after it
	holdTurn  = "HOLDTURN" // in a prompt: the last answer of the turn waits for release
	fullTurn  = "FULLTURN" // in a prompt: the model says that its window is full
	askOther  = "ASKOTHER" // in a prompt: the model has a subagent do its task first
	ownTask   = "OWNTASK"  // in a prompt: it is the task of a subagent
	looking   = "I will look at the file first."
	noteFile  = "note.txt"
	noteText  = "lighthouse-42" // only the file has it
	toolCall  = "cat " + noteFile
	checkCall = "./check.sh" // which clients of Anthropic's and OpenAI's language run
	shellCall = "sh " + checkCall
	writeFile = "/sluice.txt" // which a client of Anthropic's language writes
	tricky    = "é ✓ <b>&amp;</b> \"x\" \\ `y` 'z' $HOME %d\n\n  indented\tby two"
	saidTag   = "live-" // in a prompt: the server keeps its words
	inShort   = "In short: the pump was looked for."
)

// full is the number of tokens at which a client has to make its conversation shorter.
const full = 190_000

// actingServer is a model that asks for a shell command where a prompt has runTool, and answers
// everything else in words. It speaks the languages of four providers, and keeps what it was asked.
type actingServer struct {
	*httptest.Server
	holding  chan struct{} // has a value for each answer that waits
	released chan struct{} // is given a value for each answer that may go on

	mu     sync.Mutex
	asked  []string // bodies of requests
	main   []string // those of them that offer tools: no titles, for example
	said   int      // answers so far
	short  int      // requests for a shorter conversation
	record []words  // what was said where a model may call tools
	worked []words  // the same, of subagents
	filled bool     // the model has said that its window is full, once
	before int      // what was recorded before the newest request
	// heardTwice is what the next request says again.
	heardTwice []words
}

// toKeep is the number of requests for a shorter conversation that say what it must keep.
func (s *actingServer) toKeep() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range s.asked {
		if strings.Contains(body, "Keep these word for word in the summary") && shortens(body) {
			n++
		}
	}
	return n
}

// withdraw forgets the newest request: its client has ended, and asks again.
func (s *actingServer) withdraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record = s.record[:len(s.record)-1]
	s.heardTwice = slices.Clone(s.record[s.before:])
}

// words are what was said or done, exactly: of user, model and tool a text, of call the arguments.
type words struct{ who, text string }

func (w words) String() string { return fmt.Sprintf("%s: %q", w.who, w.text) }

// recorded returns what was said since the server had heard from words.
func (s *actingServer) recorded(from int) []words {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.record[from:])
}

// shortened is the number of requests for a shorter conversation.
func (s *actingServer) shortened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.short
}

func newActingServer(t *testing.T) *actingServer {
	t.Helper()
	s := &actingServer{holding: make(chan struct{}, 9), released: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// lastWith returns the newest request that holds a text, if there is one of a conversation with
// tools; "" if there is none.
func (s *actingServer) lastWith(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range [][]string{s.main, s.asked} {
		for _, body := range slices.Backward(list) {
			if strings.Contains(body, text) {
				return body
			}
		}
	}
	return ""
}

// turn is what the model answers: words, and a call where it asks for one.
type turn struct {
	number int
	call   bool
	// command is what the call runs; with dir it writes writeFile of that directory instead.
	command, dir string
	task         bool // the call is one of a subagent
	text         string
	hold         bool
	tokens       int // that the conversation has
}

// ServeHTTP implements http.Handler.
func (s *actingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"fake-model","object":"model"}],"models":[]}`)
		return
	}
	body, err := requestBody(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	path := r.URL.Path
	next := func(list, result, tool string) turn {
		t := s.next(body, list, result, tool)
		if t.hold {
			s.holding <- struct{}{}
			select {
			case <-s.released:
			case <-r.Context().Done():
				s.withdraw()
			}
		}
		return t
	}
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		fmt.Fprint(w, `{"input_tokens":100}`)
	case strings.Contains(path, "countTokens"):
		fmt.Fprint(w, `{"totalTokens":100}`)
	case strings.HasSuffix(path, "/messages"):
		s.anthropic(w, next("messages", `"tool_result"`, `"Bash"`), body)
	case strings.HasSuffix(path, "/responses"):
		s.responses(w, next("input", `"function_call_output"`, `"exec_command"`), body)
	case strings.HasSuffix(path, "/chat/completions"):
		s.chat(w, next("messages", `"role":"tool"`, `"bash"`), body)
	case strings.Contains(path, "enerateContent"):
		s.gemini(w, next("contents", `"functionResponse"`, `"run_shell_command"`))
	default:
		fmt.Fprint(w, "{}")
	}
}

func requestBody(r *http.Request) (string, error) {
	in := io.Reader(r.Body)
	switch r.Header.Get("Content-Encoding") {
	case "gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			return "", err
		}
		in = z
	case "zstd":
		z, err := zstd.NewReader(in)
		if err != nil {
			return "", err
		}
		defer z.Close()
		in = z
	}
	b, err := io.ReadAll(in)
	return string(b), err
}

// next keeps a request and decides on the answer. The model calls if the newest prompt among the
// items of the member list has runTool, the last item is no result, and the tool is offered.
func (s *actingServer) next(body, list, result, tool string) turn {
	var request map[string]json.RawMessage
	_ = json.Unmarshal([]byte(body), &request) // what is no JSON asks for nothing
	var items []json.RawMessage
	_ = json.Unmarshal(request[list], &items)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, body)
	s.said++
	t := turn{number: s.said, tokens: 1000}
	prompt, last, at := "", "", 0
	for i, raw := range items {
		var item struct{ Role, Type string }
		_ = json.Unmarshal(raw, &item)
		last = strings.ReplaceAll(string(raw), `": "`, `":"`)
		if item.Role == "user" && !strings.Contains(last, result) {
			prompt = last
		}
		if item.Role == "assistant" || item.Role == "model" || item.Type == "function_call" {
			at = i + 1
		}
	}
	offered := strings.Contains(body, tool)
	if shortens(prompt) {
		s.short++
		t.text = fmt.Sprintf("<summary>%s %d</summary>", inShort, s.short)
		return t
	}
	t.call = strings.Contains(prompt, runTool) && !strings.Contains(last, result) && offered
	t.command = toolCall
	if strings.Contains(prompt, runCheck) {
		t.command = checkCall
	}
	if strings.LastIndex(prompt, runShell) > strings.LastIndex(prompt, runCheck) { // a brief has it
		t.command = shellCall
	}
	if _, rest, ok := strings.Cut(prompt, runWrite+" "); ok {
		t.dir, _, _ = strings.Cut(rest, " ")
	}
	own := strings.Contains(prompt, ownTask)
	t.task = offered && !own && strings.Contains(prompt, askOther) &&
		!strings.Contains(last, result)
	t.call = t.call && !t.task // a brief may quote a prompt with runTool
	t.text = fmt.Sprintf("Answer %d: the note says %s. %s", t.number, noteText, tricky)
	if t.call || t.task {
		t.text = looking
	}
	t.hold = offered && !t.call && strings.Contains(prompt, holdTurn)
	if offered && !t.call && strings.Contains(prompt, fullTurn) && !s.filled {
		s.filled, t.tokens = true, full
	}
	if offered {
		to := &s.record
		if own {
			to = &s.worked
		}
		s.main = append(s.main, body)
		s.before = len(s.record)
		for _, n := range news(items[at:]) {
			// After a compaction, prompts stand together with new ones. Each prompt of a test is another.
			if !slices.Contains(s.heardTwice, n) && (n.who != "user" || !slices.Contains(*to, n)) {
				*to = append(*to, n)
			}
		}
		s.heardTwice = nil
		*to = append(*to, words{"model", t.text})
		if t.call {
			*to = append(*to, words{"call", toolCall})
		}
	}
	return t
}

// shortens reports whether a prompt of a client's own asks for a summary of the conversation.
func shortens(prompt string) bool {
	return slices.ContainsFunc([]string{"create a detailed summary of",
		"CONTEXT CHECKPOINT COMPACTION", "anchored summary", "continuing our conversation",
		"state_snapshot"},
		func(words string) bool { return strings.Contains(prompt, words) })
}

// news are the prompts and the results among items that no model has answered yet. A client adds
// texts of its own, which begin with the name of an element.
func news(items []json.RawMessage) (list []words) {
	for _, raw := range items {
		var item struct {
			Role, Type      string
			Content, Output json.RawMessage
			Parts           []struct {
				Text             string
				FunctionResponse struct{ Response struct{ Output string } }
			}
		}
		_ = json.Unmarshal(raw, &item)
		switch {
		case item.Type == "function_call_output":
			list = append(list, words{"tool", strings.Join(blocks(item.Output), "")})
		case item.Role == "tool":
			list = append(list, words{"tool", strings.Join(blocks(item.Content), "")})
		case item.Role == "user":
			var results []struct {
				Type    string
				Content json.RawMessage
			}
			_ = json.Unmarshal(item.Content, &results) // a text has none
			for _, r := range results {
				if r.Type == "tool_result" {
					// Of Claude Code
					text, _, _ := strings.Cut(strings.Join(blocks(r.Content), ""),
						"\n\n<system-reminder>")
					// What follows is of the client, as the result says: no words of a tool
					text, _, _ = strings.Cut(text, " (This tool result is internal metadata")
					list = append(list, words{"tool", text})
				}
			}
			texts := blocks(item.Content)
			for _, p := range item.Parts {
				texts = append(texts, p.Text)
				if out := p.FunctionResponse.Response.Output; out != "" {
					list = append(list, words{"tool", out})
				}
			}
			for _, text := range texts {
				if strings.Contains(text, saidTag) && !strings.HasPrefix(text, "<") {
					list = append(list, words{"user", text})
				}
			}
		}
	}
	return list
}

// blocks are the texts of a content, which is a text or a list of blocks.
func blocks(raw json.RawMessage) (texts []string) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var list []struct{ Text string }
	_ = json.Unmarshal(raw, &list) // what has no texts has none
	for _, b := range list {
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return texts
}

func (s *actingServer) anthropic(w http.ResponseWriter, t turn, body string) {
	content := []any{map[string]any{"type": "text", "text": t.text}}
	stop := "end_turn"
	if t.call {
		stop = "tool_use"
		name, args := "Bash", map[string]string{"command": t.command, "description": "Read the note"}
		if t.dir != "" {
			name = "Write"
			args = map[string]string{"file_path": t.dir + writeFile, "content": "open"}
		}
		content = append(content, map[string]any{"type": "tool_use",
			"id": fmt.Sprintf("toolu_%d", t.number), "name": name, "input": args})
	}
	if t.task {
		stop = "tool_use"
		content = append(content, map[string]any{"type": "tool_use",
			"id": fmt.Sprintf("toolu_%d", t.number), "name": "Agent",
			"input": map[string]string{"description": "Read the note",
				"subagent_type": "general-purpose",
				"prompt":        saidTag + "task: read the note. " + runTool + " " + ownTask}})
	}
	message := map[string]any{"id": fmt.Sprintf("msg_%d", t.number), "type": "message",
		"role": "assistant", "model": "claude-sonnet-4-5",
		"content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": map[string]int{"input_tokens": t.tokens, "output_tokens": 20}}
	if !strings.Contains(body, `"stream":true`) {
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	message["content"], message["stop_reason"] = []any{}, nil
	list := []string{marshal(map[string]any{"type": "message_start", "message": message})}
	for i, c := range content {
		block := c.(map[string]any)
		start, delta := map[string]any{"type": "text", "text": ""},
			map[string]any{"type": "text_delta", "text": t.text}
		if block["type"] == "tool_use" {
			start = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"],
				"input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta",
				"partial_json": marshal(block["input"])}
		}
		list = append(list,
			marshal(map[string]any{"type": "content_block_start", "index": i,
				"content_block": start}),
			marshal(map[string]any{"type": "content_block_delta", "index": i, "delta": delta}),
			marshal(map[string]any{"type": "content_block_stop", "index": i}))
	}
	list = append(list,
		marshal(map[string]any{"type": "message_delta",
			"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
			"usage": map[string]int{"output_tokens": 20}}), `{"type":"message_stop"}`)
	events(w, true, list...)
}

func (s *actingServer) responses(w http.ResponseWriter, t turn, body string) {
	items := []any{map[string]any{"type": "message", "role": "assistant",
		"id": fmt.Sprintf("msg_%d", t.number), "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": t.text,
			"annotations": []any{}}}}}
	if t.call {
		name, args := "shell", map[string]any{"command": strings.Fields(t.command)}
		for tool, form := range map[string]map[string]any{"exec_command": {"cmd": t.command},
			"shell_command": {"command": t.command}} {
			if strings.Contains(body, `"name":"`+tool+`"`) {
				name, args = tool, form
			}
		}
		items = append(items, map[string]any{"type": "function_call",
			"id": fmt.Sprintf("fc_%d", t.number), "call_id": fmt.Sprintf("call_%d", t.number),
			"name": name, "arguments": marshal(args), "status": "completed"})
	}
	response := map[string]any{"id": fmt.Sprintf("resp_%d", t.number), "object": "response",
		"status": "in_progress", "output": []any{}}
	list := []string{marshal(map[string]any{"type": "response.created", "response": response})}
	for i, item := range items {
		list = append(list,
			marshal(map[string]any{"type": "response.output_item.done", "output_index": i,
				"item": item}))
	}
	response["status"], response["output"] = "completed", items
	response["usage"] = map[string]any{"input_tokens": t.tokens,
		"input_tokens_details": map[string]int{"cached_tokens": 0},
		"output_tokens":        20, "output_tokens_details": map[string]int{"reasoning_tokens": 0},
		"total_tokens": t.tokens + 20}
	events(w, true,
		append(list,
			marshal(map[string]any{"type": "response.completed", "response": response}))...)
}

func (s *actingServer) chat(w http.ResponseWriter, t turn, body string) {
	chunk := func(delta map[string]any, finish any) string {
		return marshal(map[string]any{"id": fmt.Sprintf("chat-%d", t.number),
			"object": "chat.completion.chunk", "created": 1, "model": "fake-model",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	if !strings.Contains(body, `"stream":true`) {
		fmt.Fprint(w,
			`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Title"},"finish_reason":"stop"}],`+
				`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`)
		return
	}
	list := []string{chunk(map[string]any{"role": "assistant", "content": t.text}, nil)}
	finish := "stop"
	if t.call {
		finish = "tool_calls"
		list = append(list,
			chunk(
				map[string]any{"tool_calls": []any{map[string]any{"index": 0,
					"id": fmt.Sprintf("call_%d", t.number), "type": "function",
					"function": map[string]any{"name": "bash",
						"arguments": marshal(map[string]string{"command": toolCall,
							"description": "Read the note"})}}}}, nil))
	}
	list = append(list, chunk(map[string]any{}, finish),
		fmt.Sprintf(
			`{"id":"c","object":"chat.completion.chunk","created":1,"model":"fake-model","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":10,"total_tokens":%d}}`,
			t.tokens, t.tokens+10), "[DONE]")
	events(w, false, list...)
}

func (s *actingServer) gemini(w http.ResponseWriter, t turn) {
	parts := []any{map[string]string{"text": t.text}}
	if t.call {
		parts = append(
			parts, map[string]any{"functionCall": map[string]any{"name": "run_shell_command",
				"args": map[string]string{"command": toolCall, "description": "Read the note"}}})
	}
	events(w, false, marshal(map[string]any{
		"candidates": []any{map[string]any{
			"content":      map[string]any{"role": "model", "parts": parts},
			"finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": map[string]int{"promptTokenCount": t.tokens, "candidatesTokenCount": 10,
			"totalTokenCount": t.tokens + 10}}))
}

func marshal(v any) string {
	b, _ := json.Marshal(v) // maps of strings, numbers and lists can always be printed
	return string(b)
}
