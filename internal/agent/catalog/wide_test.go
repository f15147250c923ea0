package catalog

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"
)

// TestWideBegan holds that a transcript as PowerShell writes it says where its session began.
func TestWideBegan(t *testing.T) {
	for _, c := range []struct{ agent, text string }{
		{"pi", `{"type":"session","version":3,"id":"p1","cwd":"/src/quay"}` + "\n"},
		{"claude-code", `{"type":"user","uuid":"a","parentUuid":null,"cwd":"/src/quay"}` + "\n"},
		{"continue", `{"sessionId":"c1","workspaceDirectory":"/src/quay","history":[]}`},
		{"cline", `[{"role":"user","content":[{"type":"text","text":` +
			`"# Current Working Directory (/src/quay) Files\na.go"}]}]`},
		{"goose", `{"working_dir":"/src/quay","description":"Lamps"}` + "\n"},
	} {
		text := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(c.text)) {
			text = append(text, byte(u), byte(u>>8))
		}
		file := filepath.Join(t.TempDir(), "a.jsonl")
		for _, b := range [][]byte{text, []byte("\xef\xbb\xbf" + c.text)} {
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			agent, _ := Named(c.agent)
			if dir := agent.Began(file).Dir; dir != "/src/quay" {
				t.Errorf("%s: a session of /src/quay began in %q", c.agent, dir)
			}
		}
	}
}
