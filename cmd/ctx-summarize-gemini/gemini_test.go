package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/summarizer"
	"github.com/gemini-ctx/ctx/internal/summarizer/model"
)

const key = "AIzaTestKey0123456789"

// TestMain makes the test binary play Gemini CLI if a variable says so.
func TestMain(m *testing.M) {
	if answer := os.Getenv("PLAYED_ANSWER"); answer != "" {
		fmt.Print(answer)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Without a key the installed Gemini CLI is asked; with a key it is not.
func TestGeminiInstalled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "gemini")); err != nil ||
		runtime.GOOS == "windows" {
		t.Skip("SKIPPED: no symbolic link to a program: ", err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("PLAYED_ANSWER",
		`{"response":"Port 5433.","stats":{"models":{"g-flash":{"tokens":{"candidates":3}}}}}`)
	if a := told(t, nil); a.Text != "Port 5433." || a.Model != "g-flash" {
		t.Errorf("without a key: %+v", a)
	}
	if a := told(t,
		map[string]string{"GEMINI_API_KEY": key,
			"GEMINI_BASE_URL": "http://gemini.example"}); a.Error == nil ||
		!strings.Contains(a.Error.Message, "not https") {
		t.Errorf("with a key: %+v", a)
	}
}

// told runs the helper for one request and returns its answer.
func told(t *testing.T, vars map[string]string, args ...string) summarizer.WireAnswer {
	t.Helper()
	b, err := json.Marshal(summarizer.WireRequest{V: 1, Claim: strings.Repeat("ab", 32), Tokens: 40,
		Words: 20, Prompt: "the prompt",
		Inputs: []summarizer.WireInput{{Kind: "entry", Role: "user",
			Text: "PostgreSQL runs on port 5433."}}})
	if err != nil {
		t.Fatal(err)
	}
	s := model.Settings{Getenv: func(name string) string { return vars[name] }, Now: time.Now,
		Jitter: func() float64 { return 0.5 },
		Sleep:  func(context.Context, time.Duration) error { return nil }}
	var out, errs bytes.Buffer
	if code := program().Run(t.Context(), args, s, bytes.NewReader(append(b, '\n')), &out,
		&errs); code != 0 {
		t.Fatalf("%d: %s", code, errs.String())
	}
	if all := out.String() + errs.String(); strings.Contains(all, key) {
		t.Errorf("the key is in %s", all)
	}
	first, second, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(first, `{"ctx":"summarizer","v":1,"name":"ctx-summarize-gemini"`) {
		t.Fatalf("first line: %s", first)
	}
	var a summarizer.WireAnswer
	if err := json.Unmarshal([]byte(second), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestGemini(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		var in request
		if err := json.Unmarshal(b, &in); err != nil {
			t.Error(err)
		}
		if r.URL.String() != "/v1beta/models/gemini-x:generateContent" ||
			r.Header.Get("x-goog-api-key") != key || r.Header.Get("Authorization") != "" {
			t.Errorf("asked %s %v", r.URL, r.Header)
		}
		if in.SystemInstruction.Parts[0].Text != "the prompt" ||
			!strings.Contains(in.Contents[0].Parts[0].Text, "port 5433") ||
			in.GenerationConfig.MaxOutputTokens != 80+thinking ||
			in.GenerationConfig.Temperature != 0 || strings.Contains(string(b), key) {
			t.Errorf("asked %s", b)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"Port "},{"text":"5433."}],"role":"model"},"finishReason":"STOP"}],"modelVersion":"gemini-x-001"}`)
	}))
	defer server.Close()
	want := summarizer.WireAnswer{V: 1, Claim: strings.Repeat("ab", 32), Text: "Port 5433.",
		Model: "gemini-x-001"}
	for _, c := range []struct {
		vars map[string]string
		args []string
	}{
		{map[string]string{"GEMINI_API_KEY": key, "GEMINI_BASE_URL": server.URL + "/",
			"CTX_GEMINI_MODEL": "gemini-x"}, nil},
		{map[string]string{"GOOGLE_API_KEY": key, "GOOGLE_GEMINI_BASE_URL": server.URL,
			"CTX_GEMINI_MODEL": "models/gemini-x"}, nil},
		{map[string]string{"GEMINI_API_KEY": key, "GOOGLE_API_KEY": "other",
			"GEMINI_BASE_URL": server.URL}, []string{"--model", "gemini-x"}},
	} {
		if got := told(t, c.vars, c.args...); got != want {
			t.Errorf("got %+v", got)
		}
	}
}

// TestGeminiAnswers has answers of the model without a summary.
func TestGeminiAnswers(t *testing.T) {
	for body, want := range map[string]string{
		`{"candidates":[]}`: "refused: the model gave no candidate",
		`{}`:                "refused: the model gave no candidate",
		`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`:                                 "refused: the model blocked the inputs: PROHIBITED_CONTENT",
		`{"candidates":[{"finishReason":"SAFETY"}]}`:                                              "refused: the model stopped: SAFETY",
		`{"candidates":[{"content":{"parts":[{"text":"Po"}]},"finishReason":"RECITATION"}]}`:      "refused: the model stopped: RECITATION",
		`{"candidates":[{"content":{"parts":[]},"finishReason":"MAX_TOKENS"}]}`:                   `refused: the model wrote no text (finish reason "MAX_TOKENS")`,
		`{"candidates":[{"content":{"parts":[{"text":" \n"}]},"finishReason":"STOP"}]}`:           `refused: the model wrote no text (finish reason "STOP")`,
		`{"candidates":[{"content":{"parts":[{"text":"One. Tw"}]},"finishReason":"MAX_TOKENS"}]}`: "One.",
		`{"candidates":3}`: "transient: ",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		}))
		a := told(t, map[string]string{"GEMINI_API_KEY": key, "GEMINI_BASE_URL": server.URL})
		got := a.Text
		if a.Error != nil {
			got = fmt.Sprintf("%s: %s", a.Error.Kind, a.Error.Message)
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q", body, got)
		}
		server.Close()
	}
}

// TestGeminiSettings has invalid settings: the answer to every claim is the error.
func TestGeminiSettings(t *testing.T) {
	t.Setenv("PATH", "") // no Gemini CLI
	for _, c := range []struct {
		vars map[string]string
		say  string
	}{
		{nil, "set GEMINI_API_KEY"},
		{map[string]string{"GEMINI_API_KEY": key, "GEMINI_BASE_URL": "http://gemini.example"},
			"not https"},
		{map[string]string{"GEMINI_API_KEY": key, "CTX_GEMINI_MAX_INPUT": "lots"},
			"CTX_GEMINI_MAX_INPUT"},
		{map[string]string{"GEMINI_API_KEY": key + "\nX: y"}, "characters"},
	} {
		a := told(t, c.vars)
		if a.Error == nil || a.Error.Kind != summarizer.Terminal ||
			!strings.Contains(a.Error.Message, c.say) {
			t.Errorf("%v: got %+v", c.vars, a.Error)
		}
	}
}
