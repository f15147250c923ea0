package digest

import (
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
)

// typed is the id of the call that stands for a command that a person ran beside the model.
const typed = "typed"

// ranLead begins what Gemini CLI and Qwen Code note of such a command, in fences of Markdown.
const ranLead = "I ran the following shell command:"

// IsTypedRun reports whether a text of a client tells of a command that a person ran beside the
// model, as with ! in Claude Code, or what it printed.
func IsTypedRun(text string) bool {
	return prose.HasLead(strings.TrimSpace(text), []string{"<bash-input>", "<bash-stdout>",
		"<user_shell_command>", ranLead})
}

// typedRun reads such a text: a command and its output, or one of both. What was run counts as if
// the model had run it: a check that the person ran is the newest one.
func (d *Digester) typedRun(text string) {
	script, began := between(text, "<bash-input>", "</bash-input>")
	output, ended := between(text, "<bash-stdout>", "</bash-stdout>")
	errors, _ := between(text, "<bash-stderr>", "</bash-stderr>")
	if run, ok := between(text, "<user_shell_command>", "</user_shell_command>"); ok {
		script, began = between(run, "<command>", "</command>")
		output, ended = between(run, "<result>", "</result>")
	} else if blocks := strings.Split(text, "```"); len(blocks) > 3 &&
		strings.HasPrefix(strings.TrimSpace(text), ranLead) {
		script, began = strings.TrimSpace(strings.TrimPrefix(blocks[1], "sh")), true
		output, ended = strings.TrimSpace(blocks[3]), true
	}
	if began && script != "" {
		args, _ := json.Marshal(map[string]string{"command": script})
		d.call(&Call{ID: typed, Name: "bash", Args: args})
	}
	if ended {
		d.result(&Result{ID: typed, Output: strings.TrimSpace(output + "\n" + errors)})
	}
}
