package brief

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// prompts makes the facts of prompts, each of sentences with "; " between them. What follows "!"
// the model says.
func prompts(texts ...string) (list []digest.Fact) {
	for i, text := range texts {
		kind := digest.Prompt
		if rest, ok := strings.CutPrefix(text, "!"); ok {
			kind, text = digest.Answer, rest
		}
		for j, sentence := range strings.Split(text, "; ") {
			list = append(list, digest.Fact{Kind: kind, Text: sentence, Seq: uint64(i + 1), Pos: j})
		}
	}
	return list
}

// TestTemplates says of prompts which sentences are somebody's wish.
func TestTemplates(t *testing.T) {
	const form = "Consider the user input; Load the spec; Fill in the plan; Mark the checklist; Report back; "
	for _, c := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"none", nil, ""},
		{"a command with arguments, three times",
			[]string{form + "the harbour", form + "the lamps", form + "the boats"},
			"the harbour; the lamps; the boats"},
		{"a command without arguments, three times", []string{form + "Go", form + "Go", form + "Go"}, ""},
		{"twice: somebody says it again", []string{form + "the harbour", form + "the lamps"},
			form + "the harbour; " + form + "the lamps"},
		{"go on, and yes, ten times", []string{"go on", "yes", "go on", "yes", "go on", "yes", "go on",
			"yes", "go on", "yes"}, "go on; yes; go on; yes; go on; yes; go on; yes; go on; yes"},
		{"a typed prompt three times", []string{"Run the tests again; Then push",
			"Run the tests again; Then push", "Run the tests again; Then push"},
			"Run the tests again; Then push; Run the tests again; Then push; Run the tests again; Then push"},
		{"a typed prompt with a sentence of the template",
			[]string{form + "a", form + "b", form + "c", "Report back"}, "a; b; c; Report back"},
		{"what the model says three times",
			[]string{"!" + form + "a", "!" + form + "b", "!" + form + "c"},
			form + "a; " + form + "b; " + form + "c"},
		{"three times in one prompt", []string{"Go; Go; Go; left; right; up; down"},
			"Go; Go; Go; left; right; up; down"},
	} {
		var left []string
		for _, f := range withoutTemplates(prompts(c.texts...)) {
			left = append(left, f.Text)
		}
		if got := strings.Join(left, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestTemplateWithCode has a template that sets its arguments as code: they are the wish.
func TestTemplateWithCode(t *testing.T) {
	const form = "Consider the user input; Load the spec; Fill in the plan; Mark the list; Report; Stop; "
	facts := prompts(form+"the harbour", form+"the lamps", form+"the boats")
	for i := range facts {
		if facts[i].Pos == 6 {
			facts[i].Kind = digest.Code
		}
	}
	for _, f := range withoutTemplates(facts) {
		if f.Kind != digest.Prompt {
			t.Errorf("%s: %s", f.Kind, f.Text)
		}
	}
}
