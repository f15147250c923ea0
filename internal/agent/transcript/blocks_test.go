package transcript

import "testing"

// TestOutput has results as clients write them, and how much of each is the tool's.
func TestOutput(t *testing.T) {
	const note = "<system-reminder>\nUse the list.\n</system-reminder>"
	for _, c := range []struct{ name, tool, text, want string }{
		{"nothing", "Bash", "", ""},
		{"an output", "Bash", "3 files\n", "3 files\n"},
		{"a reminder behind it", "Bash", "3 files\n\n" + note + "\n", "3 files"},
		{"two", "Read", "1\tpackage a\n" + note + "\n\n" + note, "1\tpackage a"},
		{"a reminder alone", "Read", note, ""},
		{"one that the tool printed in the middle", "Bash", "a\n" + note + "\nb", "a\n" + note + "\nb"},
		{"one on a line of the output", "Bash", "grep: " + note, "grep: " + note},
		{"one without an end", "Bash", "a\n<system-reminder>\nb", "a\n<system-reminder>\nb"},
		{"an end without one", "Bash", "a\n</system-reminder>", "a\n</system-reminder>"},
		{"a receipt of a subagent", "Agent",
			"Async agent launched successfully. Do not duplicate its work.\nagentId: a1",
			"Async agent launched successfully."},
		{"a receipt in lines", "Task", "Spawned successfully\nagent_id: a1\nYou will be told.",
			"Spawned successfully"},
		{"a receipt of a list", "TodoWrite",
			"Todos have been modified successfully. Ensure that you continue to use the list.",
			"Todos have been modified successfully."},
		{"a receipt of a command", "Bash",
			"Command running in background with ID: b1. Output is being written to: /tmp/b1.",
			"Command running in background with ID: b1."},
		{"an output that begins like another tool's receipt", "Bash",
			"Todos have been modified. Go on.", "Todos have been modified. Go on."},
		{"the answer of a subagent", "Task", "Walls are thin.\nagentId: a1 (for resuming)",
			"Walls are thin."},
		{"the same line of another tool", "Bash", "x\nagentId: a1", "x\nagentId: a1"},
	} {
		if got := c.text[:OutputEnd(c.tool, c.text)]; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
