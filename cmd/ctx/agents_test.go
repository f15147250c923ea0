package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gemini-ctx/ctx/agent/transcript"
)

// Every package that reads an agent's records says whose they are, and the traits of that agent are known: nothing else asks which agent it is.
func TestEveryAgentHasTraits(t *testing.T) {
	files, err := filepath.Glob("../../agent/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^\s*(?:const )?Agent\s*=\s*"([^"]+)"`)
	found := map[string]bool{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(source, -1) {
			found[string(m[1])] = true
		}
	}
	if len(found) < 6 {
		t.Errorf("%v", found)
	}
	for agent := range found {
		if _, ok := transcript.TraitsOf(agent); !ok {
			t.Errorf("agent %q has no traits in agent/transcript/agents.go", agent)
		}
	}
	for _, f := range append([]agentForm{geminiForm("")}, agentForms()...) {
		if !found[f.source] {
			t.Errorf("form %q: no package under agent/ is of %q", f.name, f.source)
		}
		if _, err := os.Stat("../../docs/agents/" + f.name + ".md"); err != nil {
			t.Errorf("form %q has no page: %v", f.name, err)
		}
		if f.write == nil || f.id == nil || f.isID == nil {
			t.Errorf("form %q is not whole", f.name)
		}
		if f.command != nil && (f.root == nil || f.file == nil) {
			t.Errorf("form %q has a command, and no place for its file", f.name)
		}
	}
}
