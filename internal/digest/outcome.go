package digest

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// outcome is a parsed result.
type outcome struct {
	output  string // the printed text, without the lines that the agent puts around it
	exit    int    // the exit status; -1 if the result does not give it
	exits   []int  // those of the commands of a script, where they differ
	failed  bool
	running string // the name of a command that continues in the background; "" if it ended
	stopped bool   // somebody ended what ran in the background
	untold  bool   // the result does not tell how its commands ended
}

// outcomeOf parses a result in the form of any known agent: an object with "output" and "metadata"
// (older Codex), lines such as "Process exited with code 1" before "Output:" (Codex), "Exit code 1"
// in the first line (Claude Code), or "Exit Code: 1" in the last line (Gemini CLI).
func outcomeOf(r *Result) outcome {
	text := r.Output
	if label, rest, ok := strings.Cut(text, "] Result:\n"); ok && // of Cline
		strings.HasPrefix(label, "[") && !strings.Contains(label, "\n") {
		text = rest
	}
	if printed, exits, ok := message.Unwrap(text); ok {
		o := outcome{output: printed, exit: -1, failed: r.Failed}
		if len(exits) == 1 {
			o.exit, o.failed = exits[0], exits[0] != 0
		} else {
			o.exits, o.untold = exits, exits != nil
		}
		if returned, _, ok := ofScript(printed); ok {
			o.output = returned
		}
		return o
	}
	if printed, exit, ok := ofScript(text); ok {
		if exit != nil {
			return outcome{output: printed, exit: *exit, failed: r.Failed || *exit != 0}
		}
		return outcome{output: printed, exit: -1, failed: r.Failed, untold: true}
	}
	if o, ok := taskOutcome(text); ok {
		return o
	}
	head, output := parts(text)
	o := outcome{output: output, exit: exitStatus(head),
		running: backgroundName(text[:min(len(text), maxHead)])}
	if o.exit < 0 {
		o.exit = exitStatus(lastLines(output))
	}
	o.failed = r.Failed || o.exit > 0 || o.exit < 0 && prose.HasLead(text, neverRan[:])
	return o
}

// how says how a command failed.
func (o *outcome) how() string {
	head := strings.ToLower(o.output[:min(len(o.output), maxFoot)])
	switch {
	case strings.Contains(head, timedOut+" after "):
		return timedOut
	case o.exit > 0:
		return "exit status " + number(o.exit)
	}
	return "failed"
}

const timedOut = "timed out"

// ofScript returns what a script of Codex that ended has printed, and the exit status of a command
// whose result it has printed as it is; nil if that is not told.
func ofScript(text string) (printed string, exit *int, ok bool) {
	if !strings.HasPrefix(text, "Script completed\n") {
		return "", nil, false
	}
	_, printed = parts(text)
	if inner, exits, ok := message.Unwrap(strings.TrimSpace(printed)); ok && len(exits) == 1 {
		return inner, &exits[0], true
	}
	return printed, nil, true
}

// neverRan begin what Codex and others print in place of the output of a command that did not run,
// or that they ended.
var neverRan = [...]string{"aborted by user after ", "failed in sandbox: ", "execution error: Io(",
	"command timed out after ", "exec_command failed", "approval policy is ",
	"apply_patch verification failed", "The tool execution failed with", "error: Failed to find ",
	"Script failed\n"}

// The limits, in bytes, of the parts of a result that agents put around the output.
const (
	maxHead = 4 << 10 // Codex repeats the command, which may be long
	maxFoot = 200
)

// parts splits a result into the lines that the agent puts before the output, and the output.
// Without such lines, head is the first line.
func parts(text string) (head, output string) {
	front := text[:min(len(text), maxHead)]
	if i := strings.Index(front, "\nOutput:\n"); i >= 0 && isHead(front) {
		return text[:i], text[i+len("\nOutput:\n"):]
	}
	text = strings.TrimPrefix(text, "<tool_use_error>")
	if output, ok := strings.CutPrefix(text, "Output: "); ok {
		return "", output
	}
	if strings.HasPrefix(text, "Command: ") { // Gemini CLI, older versions
		for _, label := range [...]string{"\nOutput: ", "\nStdout: "} {
			if i := strings.Index(front, label); i >= 0 {
				return "", text[i+len(label):]
			}
		}
	}
	head, _, _ = strings.Cut(text, "\n")
	return head, strings.TrimSuffix(text, "</tool_use_error>")
}

// lastLines returns the whole lines within the last maxFoot bytes of an output.
func lastLines(output string) string {
	if len(output) <= maxFoot {
		return output
	}
	_, lines, _ := strings.Cut(output[len(output)-maxFoot:], "\n")
	return lines
}

// exitMarks precede an exit status at the start of a line, in lower case.
var exitMarks = [...]string{"process exited with code ", "exited with code ",
	"<exited with exit code ", "exited with exit code ", "exit code: ", "exit code ",
	"exit status ", "exit_code: "}

// exitStatus returns the exit status that a line of a text gives, or -1.
func exitStatus(text string) int {
	for line := range strings.SplitSeq(strings.ToLower(text), "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "error: ")
		if strings.HasPrefix(line, "command ") { // of Cline and Zed, which may name it
			_, line, _ = strings.Cut(line, " with ")
		}
		for _, mark := range exitMarks {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				if n, ok := leadingNumber(rest); ok {
					return n
				}
			}
		}
	}
	return -1
}

// backgroundName returns the name of a command or subagent that continues in the background, or "".
func backgroundName(head string) string {
	for _, mark := range [...]string{"Process running with session ID ",
		"Script running with cell ID ",
		"Command running in background with ID: ",
		"Async agent launched successfully.\nagentId: "} {
		if _, rest, ok := strings.Cut(head, mark); ok {
			name, _, _ := strings.Cut(rest, "\n")
			name, _, _ = strings.Cut(name, " ")
			return strings.TrimRight(name, ".")
		}
	}
	return ""
}

// leadingNumber parses the digits at the start of s, at most nine.
func leadingNumber(s string) (n int, ok bool) {
	for i := 0; i < len(s) && i < 9 && s[i] >= '0' && s[i] <= '9'; i++ {
		n, ok = n*10+int(s[i]-'0'), true
	}
	return n, ok
}

// isHead reports whether a line is one that agents print around the output of a command.
func isHead(line string) bool {
	return prose.HasLead(line, []string{"Exit code", "Exit Code:", "Script completed",
		"Script failed", "Script running", "Command:", "Chunk ID:", "Wall time:", "Wall time ",
		"Command executed ", "Command failed ", "Process exited", "Process running", "Output:",
		"Original token count:", "Directory:", "Stdout:", "Stderr:", "Error: (none)", "Signal:",
		"Background PIDs:", "Process Group PGID:", "<tool_use_error>Exit",
		"(Bash completed with no output)", "Shell cwd was reset to ", "Launching skill: "})
}

// Printed returns what a command printed, without the lines that agents put around it.
func (r *Result) Printed() string {
	var lines []string
	for line := range strings.SplitSeq(outcomeOf(r).output, "\n") {
		said, ok := strings.CutPrefix(line, "Output: ")
		if ok || !isHead(line) {
			lines = append(lines, said)
		}
	}
	return strings.Join(lines, "\n")
}

// Outcome returns the exit status that a result gives, or -1, and whether the call failed.
func (r *Result) Outcome() (exit int, failed bool) {
	o := outcomeOf(r)
	return o.exit, o.failed
}
