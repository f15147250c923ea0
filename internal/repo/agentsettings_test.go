package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAgentStrategy(t *testing.T) {
	for _, tt := range []struct{ name, in, want, err string }{
		{"nothing", `{}`, "", ""},
		{"other settings", `{"coreTools":{"compression":{}},"model":{"name":"x"}}`, "", ""},
		{"flat", `{"coreTools":{"compression":{"strategy":"flat"}}}`, "flat", ""},
		{"union-find", `{"coreTools":{"compression":{"strategy":"union-find"}}}`, "union-find", ""},
		{"comments",
			"// one\n{/* two\n*/\"coreTools\":{\"compression\":{\"strategy\":\"flat\"}}}// three",
			"flat", ""},
		{"what looks like comments in strings",
			`{"a":"http://x/*","b":"\"//","coreTools":{"compression":{"strategy":"flat"}},"c":"*/"}`, "flat", ""},
		{"another word", `{"coreTools":{"compression":{"strategy":"round"}}}`, "",
			"not \"union-find\" or \"flat\""},
		{"no string", `{"coreTools":{"compression":{"strategy":1}}}`, "",
			"not \"union-find\" or \"flat\""},
		{"null", `{"coreTools":{"compression":{"strategy":null}}}`, "",
			"not \"union-find\" or \"flat\""},
		{"other shape", `{"coreTools":[]}`, "", "coreTools"},
		{"no JSON", `{"coreTools":`, "", "JSON"},
		{"an open comment", `{} /*`, "", "comment"},
		{"an open string", `{"`, "", "JSON"},
		{"empty", ``, "", "JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := agentStrategy([]byte(tt.in))
			if got != tt.want || (err == nil) != (tt.err == "") ||
				err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestAgentStrategyIsOfTheProject(t *testing.T) {
	project := t.TempDir()
	dir := filepath.Join(project, ".gemini", "context")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := &Repo{Dir: dir}
	path := filepath.Join(project, ".gemini", "settings.json")
	ask := func(want, fault string) {
		t.Helper()
		got, _, err := r.AgentStrategy()
		if got != want || (err == nil) != (fault == "") ||
			err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%q, %v; want %q, %q", got, err, want, fault)
		}
	}
	ask("", "")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"coreTools":{"compression":{"strategy":"flat"}}}`)
	ask("flat", "")
	write(strings.Repeat(" ", maxAgentSettings+1))
	ask("", "too large")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	ask("", "is not a file")
	r.Dir = project // a store elsewhere has no agent beside it
	ask("", "")
}

func FuzzAgentStrategy(f *testing.F) {
	f.Add([]byte(`{"coreTools":{"compression":{"strategy":"flat"}}} // yes`))
	f.Add([]byte(`{/*"\`))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := string(b)
		got, err := agentStrategy(b)
		if err != nil && got != "" || got != "" && got != "flat" && got != "union-find" {
			t.Errorf("%q, %v", got, err)
		}
		if string(b) != before {
			t.Error("the input was changed")
		}
	})
}
