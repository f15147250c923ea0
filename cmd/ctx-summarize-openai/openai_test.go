package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/summarizer"
	"github.com/gemini-ctx/ctx/internal/summarizer/model"
)

const key = "sk-test-0123456789abcdef"

// TestMain makes the test binary act as the helper if its first argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "helper" {
		os.Args = append(os.Args[:1], os.Args[2:]...)
		main()
	}
	os.Exit(m.Run())
}

// told asks the helper, as a process, for a summary.
func told(t *testing.T, base string, vars ...string) (summarize.Response, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"OPENAI_API_KEY", "CTX_OPENAI_MODEL", "CTX_OPENAI_MAX_INPUT"} {
		t.Setenv(name, "")
	}
	t.Setenv("OPENAI_BASE_URL", base)
	for i := 0; i+1 < len(vars); i += 2 {
		t.Setenv(vars[i], vars[i+1])
	}
	h := &summarizer.Helper{Name: "openai", Command: []string{self, "helper"}, Start: time.Minute,
		Answer: time.Minute}
	defer h.Close()
	told, err := h.Summarize(t.Context(), summarize.Request{Claim: format.ID{1}, Tokens: 40,
		Inputs: []summarize.Input{
			{ID: format.ID{2}, Role: "user",
				Text: "PostgreSQL runs on port 5433. " +
					strings.Repeat("It was moved there. ", 10)}}})
	if err != nil && strings.Contains(err.Error(), key) {
		t.Errorf("the key is in %v", err)
	}
	return told, err
}

func answer(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

func TestOpenAI(t *testing.T) {
	for _, withKey := range []string{key, ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var in request
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
				t.Error(err)
			}
			auth := ""
			if withKey != "" {
				auth = "Bearer " + withKey
			}
			if r.URL.String() != "/v1/chat/completions" || r.Header.Get("Authorization") != auth ||
				in.Model != "qwen3:8b" || in.Stream ||
				in.Messages[0] != (message{"system", summarizer.PromptOn("")}) ||
				!strings.Contains(in.Messages[1].Content, "port 5433") {
				t.Errorf("asked %s %v %+v", r.URL, r.Header, in)
			}
			answer(w,
				`{"model":"qwen3:8b","choices":[{"message":{"role":"assistant","content":"<think>\nwell\n</think>\n\nPort 5433."},"finish_reason":"stop"}]}`)
		}))
		got, err := told(t, server.URL+"/v1", "OPENAI_API_KEY", withKey,
			"CTX_OPENAI_MODEL", "qwen3:8b")
		if err != nil || got.Text != "Port 5433." || got.Summarizer != "openai" ||
			got.Prompt != summarizer.PromptID("") ||
			!strings.HasPrefix(got.Version, "qwen3:8b@ctx-summarize-openai/") {
			t.Errorf("got %+v, %v", got, err)
		}
		server.Close()
	}
}

// A model that accepts no temperature is asked without one.
func TestOpenAITemperature(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in request
		_ = json.NewDecoder(r.Body).Decode(&in)
		if in.Temperature != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			_, _ = io.WriteString(w,
				`{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","code":"unsupported_value"}}`)
			return
		}
		answer(w, `{"choices":[{"message":{"content":"Port 5433."}}]}`)
	}))
	defer server.Close()
	if got, err := told(t, server.URL, "CTX_OPENAI_MODEL", "o9"); err != nil ||
		got.Text != "Port 5433." || !strings.HasPrefix(got.Version, "o9@") {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestOpenAIAnswers(t *testing.T) {
	for body, want := range map[string]summarizer.Kind{
		`{"choices":[]}`: summarizer.Refused,
		`{"choices":[{"message":{"content":null,"refusal":"I cannot"}}]}`:               summarizer.Refused,
		`{"choices":[{"message":{"content":"Po"},"finish_reason":"content_filter"}]}`:   summarizer.Refused,
		`{"choices":[{"message":{"content":""},"finish_reason":"length"}]}`:             summarizer.Refused,
		`{"choices":[{"message":{"content":"<think>still"},"finish_reason":"length"}]}`: summarizer.Refused,
		`{"choices":[{"message":{"content":"` + strings.Repeat("on and on ", 200) +
			`"}}]}`: summarizer.Longer,
		`{"choices":[{"message":{"content":"Port 5433. And it w"},"finish_reason":"length"}]}`: "",
		`{"choices":[{"message":{"content":"Port 5433. ` +
			strings.Repeat("More words. ", 50) + `"}}]}`: "",
	} {
		server := httptest.NewServer(
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w, body) }))
		got, err := told(t, server.URL, "CTX_OPENAI_MODEL", "m")
		if kindOf(err) != want ||
			err == nil && !strings.HasPrefix(got.Text, "Port 5433.") {
			t.Errorf("%.80s: got %+v, %v", body, got, err)
		}
		server.Close()
	}
}

func TestOpenAIErrors(t *testing.T) {
	for code, want := range map[int]summarizer.Kind{401: summarizer.Terminal,
		404: summarizer.Terminal, 402: summarizer.Quota, 413: summarizer.Refused} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, `{"error":{"message":"no: `+key+`"}}`)
		}))
		if _, err := told(t, server.URL, "CTX_OPENAI_MODEL", "m", "OPENAI_API_KEY",
			key); kindOf(err) != want || !strings.Contains(err.Error(), "no: [key]") {
			t.Errorf("%d: got %v", code, err)
		}
		server.Close()
	}
}

func TestOpenAISettings(t *testing.T) {
	for _, c := range []struct {
		base string
		vars []string
		say  string
	}{
		{"http://localhost:1/v1", nil, "set CTX_OPENAI_MODEL"},
		{"", []string{"CTX_OPENAI_MODEL", "m"}, "set OPENAI_API_KEY"},
		{"http://ollama.example/v1", []string{"CTX_OPENAI_MODEL", "m"}, "not https"},
		{"http://localhost:1/v1", []string{"CTX_OPENAI_MODEL", "m", "CTX_OPENAI_MAX_INPUT", "-1"},
			"CTX_OPENAI_MAX_INPUT"},
	} {
		if _, err := told(t, c.base, c.vars...); kindOf(err) != summarizer.Terminal ||
			!strings.Contains(err.Error(), c.say) {
			t.Errorf("%q %q: got %v", c.base, c.vars, err)
		}
	}
}

func TestOpenAILimits(t *testing.T) {
	for base, want := range map[string]int{"http://localhost:11434/v1": localInput,
		"https://api.example/v1": defaultInput} {
		vars := map[string]string{"OPENAI_BASE_URL": base, "CTX_OPENAI_MODEL": "m"}
		_, most, err := open(model.Settings{Getenv: func(name string) string { return vars[name] },
			Sleep: func(context.Context, time.Duration) error { return errors.New("no") }})
		if err != nil || most != want {
			t.Errorf("%s: %d, %v", base, most, err)
		}
	}
}

// kindOf returns the kind of a failure, or "".
func kindOf(err error) summarizer.Kind {
	var r interface{ Reason() string }
	if errors.As(err, &r) {
		return summarizer.Kind(r.Reason())
	}
	return ""
}
