package catalog

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A transcript is known by itself: each that the readers are tested with, behind a line of noise,
// and without its last line feed.
func TestWhose(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "*", "testdata", "*.[jm][sd]*"))
	if err != nil {
		t.Fatal(err)
	}
	shaped, err := filepath.Glob(filepath.Join("..", "shape", "testdata", "*", "*.[jm][sd]*"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, shaped...)
	seen := map[string]bool{}
	for _, file := range files {
		dir := filepath.Base(filepath.Dir(file))
		if dir == "testdata" {
			dir = filepath.Base(filepath.Dir(filepath.Dir(file)))
		}
		want := map[string]string{"claudecode": "claude-code", "geminicli": "gemini-cli"}[dir]
		switch {
		case dir == "markdown":
			want, _, _ = strings.Cut(strings.TrimSuffix(filepath.Base(file), ".md"), "-")
		case want == "":
			want = dir
		}
		if _, ok := Named(want); !ok || strings.HasSuffix(file, ".golden") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen[want] = true
		for _, in := range [][]byte{b, slices.Concat([]byte("npm WARN noise\n"), b),
			bytes.TrimSpace(b), slices.Concat([]byte("\ufeff"), b)} {
			if got := Whose(bytes.NewReader(in)); got != want &&
				!(strings.HasSuffix(file, ".json") && got == "") { // noise before it leaves no JSON
				t.Errorf("%s is of %q", file, got)
			}
		}
	}
	for _, name := range []string{"claude-code", "codex", "gemini-cli", "opencode", "antigravity",
		"cursor", "copilot", "qwen", "droid", "aider"} {
		if !seen[name] {
			t.Errorf("no transcript of %s was looked at", name)
		}
	}
	for _, in := range []string{"", "x", "{}", "[1]\n", `{"type":"session","version":3,"id":"p"}`,
		`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[]}}`} {
		if got := Whose(strings.NewReader(in)); got != "" {
			t.Errorf("%q is of %q", in, got)
		}
	}
	long := strings.Repeat("x", mostLooked)
	for _, in := range []string{
		`{"requests":[{"message":{"text":"` + long + `"},"response":[]}],"sessionId":"s"}`,
		`{"kind":0,"v":{"requests":[{"message":{"text":"` + long + `"},"response":[]}]}}` + "\n",
	} {
		if got := Whose(strings.NewReader(in)); got != "vscode" {
			t.Errorf("a long record of VS Code is of %q", got)
		}
	}
	if got := Whose(strings.NewReader(`{"role":"user","content":"hi"}`)); got != "jsonl" {
		t.Errorf("JSON lines are of %q", got)
	}
}
