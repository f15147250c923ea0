package digest

import "testing"

// TestTypedRuns has commands that the person ran beside the model, as four clients tell of them.
func TestTypedRuns(t *testing.T) {
	note := func(text string) Message { return Message{Role: "system", Text: text} }
	failed := []Message{called("a", "bash", `{"command":"go test ./..."}`),
		failedWith("a", "--- FAIL: TestZ (0.00s)\nFAIL")}
	for _, c := range []struct {
		name  string
		notes []Message
		want  State
	}{
		{"Claude Code", []Message{note("<bash-input>go test ./...</bash-input>"),
			note("<bash-stdout>ok  \tshop\t0.1s</bash-stdout><bash-stderr></bash-stderr>")}, Passed},
		{"Claude Code, failed", []Message{note("<bash-input>go test ./...</bash-input>"),
			note("<bash-stdout>--- FAIL: TestZ (0.0s)\nFAIL\nFAIL\tshop\t0.1s</bash-stdout>" +
				"<bash-stderr></bash-stderr>")}, Failed},
		{"Codex", []Message{note("<user_shell_command>\n<command>\ngo test ./...\n</command>\n" +
			"<result>\nExit code: 0\nDuration: 0.1 seconds\nOutput:\nok\n</result>\n" +
			"</user_shell_command>")}, Passed},
		{"Codex, failed", []Message{note("<user_shell_command>\n<command>\ngo test ./...\n" +
			"</command>\n<result>\nExit code: 1\nDuration: 0.1 seconds\nOutput:\nno\n</result>\n" +
			"</user_shell_command>")}, Failed},
		{"Gemini CLI", []Message{note("I ran the following shell command:\n```sh\ngo test ./...\n" +
			"```\n\nThis produced the following result:\n```\nok  \tshop\t0.1s\n```")}, Passed},
		{"something else", []Message{note("<bash-input></bash-input>"), note("ran nothing")}, Failed},
	} {
		facts := Of(numbered(append(append([]Message{asked("Fix it.")}, failed...), c.notes...)...))
		var last Fact
		for _, f := range facts {
			if f.Checks() {
				last = f
			}
			if f.Kind == Prompt && f.Text != "Fix it." {
				t.Errorf("%s: the person said %q", c.name, f.Text)
			}
		}
		if last.State != c.want {
			t.Errorf("%s: the newest check %s, want %s: %+v", c.name, last.State, c.want, last)
		}
	}
}
