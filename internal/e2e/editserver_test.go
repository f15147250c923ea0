package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// toolUse is a call that a model makes: a tool, and its arguments, or a text for a tool that takes
// one.
type toolUse struct {
	name string
	args map[string]any
	text string
}

// editServer is a model that makes the calls of a job, one after the other, where a prompt names
// it, as in "job-7: ...". It answers everything else in words.
type editServer struct {
	mu     sync.Mutex
	jobs   map[string][]toolUse
	said   int
	tools  map[string]bool // all that clients have offered
	failed []string        // requests for a tool that was not offered
}

var jobTag = regexp.MustCompile(`job-[0-9]+`)

// ServeHTTP implements http.Handler.
func (s *editServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		s.anthropic(w, s.next(body, "messages", `"tool_result"`))
	case strings.HasSuffix(path, "/responses"):
		s.responses(w, s.next(body, "input", `_call_output"`))
	case strings.HasSuffix(path, "/chat/completions"):
		s.chat(w, s.next(body, "messages", `"role":"tool"`), body)
	case strings.Contains(path, "enerateContent"):
		s.gemini(w, s.next(body, "contents", `"functionResponse"`))
	default:
		fmt.Fprint(w, "{}")
	}
}

// reply is an answer of the model: words, and a call unless it is nil.
type reply struct {
	number int
	call   *toolUse
}

// next decides on the answer: the call after as many as have results since the prompt of a job.
func (s *editServer) next(body, list, result string) reply {
	var request map[string]json.RawMessage
	_ = json.Unmarshal([]byte(body), &request) // what is no JSON asks for nothing
	var items []json.RawMessage
	_ = json.Unmarshal(request[list], &items)
	job, done := "", 0
	for _, raw := range items {
		text := strings.ReplaceAll(string(raw), `": "`, `":"`)
		var item struct{ Role string }
		_ = json.Unmarshal(raw, &item)
		switch {
		case strings.Contains(text, result):
			done += strings.Count(text, result)
		case item.Role == "user":
			if tag := jobTag.FindString(text); tag != "" {
				job, done = tag, 0
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range regexp.MustCompile(`"name":\s?"([A-Za-z_]+)"`).FindAllStringSubmatch(
		string(request["tools"]), -1) {
		s.tools[m[1]] = true
	}
	s.said++
	a := reply{number: s.said}
	if calls := s.jobs[job]; done < len(calls) {
		if strings.Contains(string(request["tools"]), `"`+calls[done].name+`"`) {
			a.call = &calls[done]
		} else if len(request["tools"]) > 0 {
			s.failed = append(s.failed, job+" wants "+calls[done].name)
		}
	}
	return a
}

func (a reply) text() string { return fmt.Sprintf("Step %d.", a.number) }

func (s *editServer) anthropic(w http.ResponseWriter, a reply) {
	content := []any{map[string]any{"type": "text", "text": a.text()}}
	stop := "end_turn"
	list := []string{marshal(map[string]any{"type": "message_start",
		"message": map[string]any{"id": fmt.Sprintf("msg_%d", a.number), "type": "message",
			"role": "assistant", "model": "claude-sonnet-4-5", "content": []any{},
			"stop_reason":   nil,
			"stop_sequence": nil,
			"usage":         map[string]int{"input_tokens": 1000, "output_tokens": 20}}})}
	if a.call != nil {
		stop = "tool_use"
		content = append(content,
			map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", a.number),
				"name": a.call.name, "input": a.call.args})
	}
	for i, c := range content {
		block := c.(map[string]any)
		start, delta := map[string]any{"type": "text", "text": ""},
			map[string]any{"type": "text_delta", "text": block["text"]}
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
	events(w, true,
		append(list,
			marshal(map[string]any{"type": "message_delta",
				"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
				"usage": map[string]int{"output_tokens": 20}}), `{"type":"message_stop"}`)...)
}

func (s *editServer) responses(w http.ResponseWriter, a reply) {
	items := []any{map[string]any{"type": "message", "role": "assistant",
		"id": fmt.Sprintf("msg_%d", a.number), "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": a.text(),
			"annotations": []any{}}}}}
	switch {
	case a.call == nil:
	case a.call.text != "":
		items = append(items, map[string]any{"type": "custom_tool_call",
			"id": fmt.Sprintf("ctc_%d", a.number), "call_id": fmt.Sprintf("call_%d", a.number),
			"name": a.call.name, "input": a.call.text, "status": "completed"})
	default:
		items = append(items, map[string]any{"type": "function_call",
			"id": fmt.Sprintf("fc_%d", a.number), "call_id": fmt.Sprintf("call_%d", a.number),
			"name": a.call.name, "arguments": marshal(a.call.args), "status": "completed"})
	}
	response := map[string]any{"id": fmt.Sprintf("resp_%d", a.number), "object": "response",
		"status": "in_progress", "output": []any{}}
	list := []string{marshal(map[string]any{"type": "response.created", "response": response})}
	for i, item := range items {
		list = append(list,
			marshal(map[string]any{"type": "response.output_item.done", "output_index": i,
				"item": item}))
	}
	response["status"], response["output"] = "completed", items
	response["usage"] = map[string]any{"input_tokens": 100,
		"input_tokens_details": map[string]int{"cached_tokens": 0},
		"output_tokens":        20, "output_tokens_details": map[string]int{"reasoning_tokens": 0},
		"total_tokens": 120}
	events(w, true,
		append(list,
			marshal(map[string]any{"type": "response.completed", "response": response}))...)
}

func (s *editServer) chat(w http.ResponseWriter, a reply, body string) {
	if !strings.Contains(body, `"stream":true`) {
		fmt.Fprint(w,
			`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Title"},"finish_reason":"stop"}],`+
				`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`)
		return
	}
	chunk := func(delta map[string]any, finish any) string {
		return marshal(map[string]any{"id": fmt.Sprintf("chat-%d", a.number),
			"object": "chat.completion.chunk", "created": 1, "model": "fake-model",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	list := []string{chunk(map[string]any{"role": "assistant", "content": a.text()}, nil)}
	finish := "stop"
	if a.call != nil {
		finish = "tool_calls"
		list = append(list,
			chunk(
				map[string]any{"tool_calls": []any{map[string]any{"index": 0,
					"id": fmt.Sprintf("call_%d", a.number), "type": "function",
					"function": map[string]any{"name": a.call.name,
						"arguments": marshal(a.call.args)}}}},
				nil))
	}
	events(w, false, append(list, chunk(map[string]any{}, finish),
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"fake-model","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`, "[DONE]")...)
}

func (s *editServer) gemini(w http.ResponseWriter, a reply) {
	parts := []any{map[string]string{"text": a.text()}}
	if a.call != nil {
		parts = append(parts,
			map[string]any{"functionCall": map[string]any{"name": a.call.name,
				"args": a.call.args}})
	}
	events(w, false, marshal(map[string]any{
		"candidates": []any{map[string]any{
			"content":      map[string]any{"role": "model", "parts": parts},
			"finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": map[string]int{"promptTokenCount": 100, "candidatesTokenCount": 10,
			"totalTokenCount": 110}}))
}
