package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// modelServer answers every prompt with one text, in the languages of four providers, and keeps
// what it was asked.
type modelServer struct {
	*httptest.Server
	text string

	mu    sync.Mutex
	asked []modelRequest
}

// modelRequest is what the agents ask, as far as the tests look at it.
type modelRequest struct {
	Path  string
	Body  string
	Tools []json.RawMessage `json:"tools"`
}

func newModelServer(t *testing.T, text string) *modelServer {
	t.Helper()
	m := &modelServer{text: text}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// ServeHTTP implements http.Handler.
func (m *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost {
		fmt.Fprint(w, `{"data":[],"models":[]}`)
		return
	}
	in := modelRequest{Path: r.URL.Path, Body: string(body)}
	_ = json.Unmarshal(body, &in)
	m.mu.Lock()
	m.asked = append(m.asked, in)
	m.mu.Unlock()
	text := quoted(m.text)
	switch {
	case strings.HasSuffix(in.Path, "/count_tokens"):
		fmt.Fprint(w, `{"input_tokens":100}`)
	case strings.HasSuffix(in.Path, "/messages"):
		events(w, true,
			`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":100,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+text+
				`}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}`, `{"type":"message_stop"}`)
	case strings.HasSuffix(in.Path, "/responses"):
		item :=
			`{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":` + text + `,"annotations":[]}]}`
		events(w, true,
			`{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}`,
			`{"type":"response.output_item.done","output_index":0,"item":`+item+`}`,
			`{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","output":[`+item+`],`+
				`"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":0},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":120}}}`)
	case strings.HasSuffix(in.Path, "/chat/completions"):
		events(w, false,
			`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":`+text+`}}]}`,
			`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
	case strings.Contains(in.Path, "enerateContent"):
		events(w, false,
			`{"candidates":[{"content":{"role":"model","parts":[{"text":`+text+
				`}]},"finishReason":"STOP","index":0}],`+
				`"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":10,"totalTokenCount":110}}`)
	default:
		fmt.Fprint(w, "{}")
	}
}

// events writes server-sent events, with their types as names where the provider does.
func events(w http.ResponseWriter, named bool, list ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range list {
		var e struct{ Type string }
		if _ = json.Unmarshal([]byte(data), &e); named {
			fmt.Fprintf(w, "event: %s\n", e.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// requests are those that ask the model for something, and that hold a text.
func (m *modelServer) requests(text string) []modelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []modelRequest
	for _, r := range m.asked {
		if strings.Contains(r.Body, text) {
			list = append(list, r)
		}
	}
	return list
}
