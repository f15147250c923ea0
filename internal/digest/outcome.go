package digest

import (
	"encoding/json"
	"strings"
)

// outcome is a result, taken apart.
type outcome struct {
	output  string // what was printed, without the lines that the agent puts around it
	exit    int    // the exit status; -1 where the result does not tell
	failed  bool
	running string // the name under which a command goes on in the background; "" for one that ended
}

// outcomeOf reads a result in the form of any known agent: an object with "output" and "metadata", as
// Codex had it; lines such as "Process exited with code 1" before "Output:", as Codex has it now;
// "Exit code 1" first, as in Claude Code; "Exit Code: 1" last, as in Gemini CLI.
func outcomeOf(r *Result) outcome {
	var wrapped struct {
		Output   *string `json:"output"`
		Metadata struct {
			Exit *int `json:"exit_code"`
		} `json:"metadata"`
	}
	text := r.Output
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &wrapped) == nil && wrapped.Output != nil {
		o := outcome{output: *wrapped.Output, exit: -1, failed: r.Failed}
		if e := wrapped.Metadata.Exit; e != nil {
			o.exit, o.failed = *e, *e != 0
		}
		return o
	}
	head, output := parts(text)
	o := outcome{output: output, exit: exitStatus(head), running: backgroundName(head)}
	if o.exit < 0 {
		o.exit = exitStatus(lastLines(output))
	}
	o.failed = r.Failed || o.exit > 0
	return o
}

// Bounds of where a result tells of itself, in bytes.
const (
	maxHead = 4 << 10 // Codex repeats the command, which may be long
	maxFoot = 200
)

// parts cuts a result into the lines that the agent puts before the output, and the output. Without
// such lines the head is the first line.
func parts(text string) (head, output string) {
	front := text[:min(len(text), maxHead)]
	if i := strings.Index(front, "\nOutput:\n"); i >= 0 && isHead(front) {
		return text[:i], text[i+len("\nOutput:\n"):]
	}
	text = strings.TrimPrefix(text, "<tool_use_error>")
	if output, ok := strings.CutPrefix(text, "Output: "); ok {
		return "", output
	}
	head, _, _ = strings.Cut(text, "\n")
	return head, strings.TrimSuffix(text, "</tool_use_error>")
}

// lastLines returns the whole lines within the last bytes of an output.
func lastLines(output string) string {
	if len(output) <= maxFoot {
		return output
	}
	_, lines, _ := strings.Cut(output[len(output)-maxFoot:], "\n")
	return lines
}

// exitMarks stand before an exit status at the front of a line, in lower case.
var exitMarks = [...]string{"process exited with code ", "exited with code ", "exit code: ", "exit code ",
	"exit status ", "exit_code: "}

// exitStatus reads an exit status from the lines of a text; -1 where there is none.
func exitStatus(text string) int {
	for line := range strings.SplitSeq(strings.ToLower(text), "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "error: ")
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

// backgroundName returns the name of a command that goes on in the background.
func backgroundName(head string) string {
	for _, mark := range [...]string{"Process running with session ID ", "Command running in background with ID: "} {
		if _, rest, ok := strings.Cut(head, mark); ok {
			name, _, _ := strings.Cut(rest, "\n")
			name, _, _ = strings.Cut(name, " ")
			return strings.TrimRight(name, ".")
		}
	}
	return ""
}

// leadingNumber reads the digits at the front of s, at most nine.
func leadingNumber(s string) (n int, ok bool) {
	for i := 0; i < len(s) && i < 9 && s[i] >= '0' && s[i] <= '9'; i++ {
		n, ok = n*10+int(s[i]-'0'), true
	}
	return n, ok
}

// isHead knows the lines that agents print around the output of a command.
func isHead(line string) bool {
	for _, h := range [...]string{"Exit code", "Exit Code:", "Command:", "Chunk ID:", "Wall time:", "Process exited",
		"Process running", "Output:", "Original token count:", "Directory:", "Stdout:", "Stderr:", "Error: (none)",
		"Signal:", "Background PIDs:", "Process Group PGID:", "<tool_use_error>Exit"} {
		if strings.HasPrefix(line, h) {
			return true
		}
	}
	return false
}
