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
	runTool  = "RUNTOOL" // in a prompt: the model asks for one shell command first
	looking  = "I will look at the file first."
	noteFile = "note.txt"
	noteText = "lighthouse-42" // only the file has it
	toolCall = "cat " + noteFile
)

// actingServer is a model that asks for a shell command where a prompt has runTool, and answers
// everything else in words. It speaks the languages of four providers, and keeps what it was asked.
type actingServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // bodies of requests
	said  int      // answers so far
}

func newActingServer(t *testing.T) *actingServer {
	t.Helper()
	s := &actingServer{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// lastWith returns the newest request that holds a text; "" if there is none.
func (s *actingServer) lastWith(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range slices.Backward(s.asked) {
		if strings.Contains(body, text) {
			return body
		}
	}
	return ""
}

// turn is what the model answers: words, and a call where it asks for one.
type turn struct {
	number int
	call   bool
	text   string
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
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		fmt.Fprint(w, `{"input_tokens":100}`)
	case strings.Contains(path, "countTokens"):
		fmt.Fprint(w, `{"totalTokens":100}`)
	case strings.HasSuffix(path, "/messages"):
		s.anthropic(w, s.next(body, "messages", `"tool_result"`, `"Bash"`), body)
	case strings.HasSuffix(path, "/responses"):
		s.responses(w, s.next(body, "input", `"function_call_output"`, `"tools"`), body)
	case strings.HasSuffix(path, "/chat/completions"):
		s.chat(w, s.next(body, "messages", `"role":"tool"`, `"bash"`), body)
	case strings.Contains(path, "enerateContent"):
		s.gemini(w, s.next(body, "contents", `"functionResponse"`, `"run_shell_command"`))
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
	s.asked = append(s.asked, body)
	s.said++
	t := turn{number: s.said}
	s.mu.Unlock()
	prompt, last := "", ""
	for _, raw := range items {
		var item struct{ Role, Type string }
		_ = json.Unmarshal(raw, &item)
		last = strings.ReplaceAll(string(raw), `": "`, `":"`)
		if item.Role == "user" && !strings.Contains(last, result) {
			prompt = last
		}
	}
	t.call = strings.Contains(prompt, runTool) && !strings.Contains(last, result) && strings.Contains(body, tool)
	t.text = fmt.Sprintf("Answer %d: the note says %s.", t.number, noteText)
	if t.call {
		t.text = looking
	}
	return t
}

func (s *actingServer) anthropic(w http.ResponseWriter, t turn, body string) {
	content := []any{map[string]any{"type": "text", "text": t.text}}
	stop := "end_turn"
	if t.call {
		stop = "tool_use"
		content = append(content, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", t.number), "name": "Bash",
			"input": map[string]string{"command": toolCall, "description": "Read the note"}})
	}
	message := map[string]any{"id": fmt.Sprintf("msg_%d", t.number), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": map[string]int{"input_tokens": 1000, "output_tokens": 20}}
	if !strings.Contains(body, `"stream":true`) {
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	message["content"], message["stop_reason"] = []any{}, nil
	list := []string{marshal(map[string]any{"type": "message_start", "message": message})}
	for i, c := range content {
		block := c.(map[string]any)
		start, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": t.text}
		if block["type"] == "tool_use" {
			start = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": marshal(block["input"])}
		}
		list = append(list, marshal(map[string]any{"type": "content_block_start", "index": i, "content_block": start}),
			marshal(map[string]any{"type": "content_block_delta", "index": i, "delta": delta}),
			marshal(map[string]any{"type": "content_block_stop", "index": i}))
	}
	list = append(list, marshal(map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": map[string]int{"output_tokens": 20}}), `{"type":"message_stop"}`)
	events(w, true, list...)
}

func (s *actingServer) responses(w http.ResponseWriter, t turn, body string) {
	items := []any{map[string]any{"type": "message", "role": "assistant", "id": fmt.Sprintf("msg_%d", t.number), "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": t.text, "annotations": []any{}}}}}
	if t.call {
		name, args := "shell", map[string]any{"command": []string{"cat", noteFile}}
		for tool, form := range map[string]map[string]any{"exec_command": {"cmd": toolCall}, "shell_command": {"command": toolCall}} {
			if strings.Contains(body, `"name":"`+tool+`"`) {
				name, args = tool, form
			}
		}
		items = append(items, map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d", t.number), "call_id": fmt.Sprintf("call_%d", t.number),
			"name": name, "arguments": marshal(args), "status": "completed"})
	}
	response := map[string]any{"id": fmt.Sprintf("resp_%d", t.number), "object": "response", "status": "in_progress", "output": []any{}}
	list := []string{marshal(map[string]any{"type": "response.created", "response": response})}
	for i, item := range items {
		list = append(list, marshal(map[string]any{"type": "response.output_item.done", "output_index": i, "item": item}))
	}
	response["status"], response["output"] = "completed", items
	response["usage"] = map[string]any{"input_tokens": 100, "input_tokens_details": map[string]int{"cached_tokens": 0},
		"output_tokens": 20, "output_tokens_details": map[string]int{"reasoning_tokens": 0}, "total_tokens": 120}
	events(w, true, append(list, marshal(map[string]any{"type": "response.completed", "response": response}))...)
}

func (s *actingServer) chat(w http.ResponseWriter, t turn, body string) {
	chunk := func(delta map[string]any, finish any) string {
		return marshal(map[string]any{"id": fmt.Sprintf("chat-%d", t.number), "object": "chat.completion.chunk", "created": 1, "model": "fake-model",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	if !strings.Contains(body, `"stream":true`) {
		fmt.Fprint(w, `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Title"},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`)
		return
	}
	list := []string{chunk(map[string]any{"role": "assistant", "content": t.text}, nil)}
	finish := "stop"
	if t.call {
		finish = "tool_calls"
		list = append(list, chunk(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": fmt.Sprintf("call_%d", t.number), "type": "function",
			"function": map[string]any{"name": "bash", "arguments": marshal(map[string]string{"command": toolCall, "description": "Read the note"})}}}}, nil))
	}
	list = append(list, chunk(map[string]any{}, finish),
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"fake-model","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`, "[DONE]")
	events(w, false, list...)
}

func (s *actingServer) gemini(w http.ResponseWriter, t turn) {
	parts := []any{map[string]string{"text": t.text}}
	if t.call {
		parts = append(parts, map[string]any{"functionCall": map[string]any{"name": "run_shell_command",
			"args": map[string]string{"command": toolCall, "description": "Read the note"}}})
	}
	events(w, false, marshal(map[string]any{
		"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]int{"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}}))
}

func marshal(v any) string {
	b, _ := json.Marshal(v) // maps of strings, numbers and lists can always be printed
	return string(b)
}
