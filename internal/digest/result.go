package digest

import (
	"encoding/json"
	"path"
	"strings"
)

// Bounds of what is read of a result.
const (
	maxOutput   = 64 << 10 // bytes looked at: the first and the last half
	maxFailures = 4        // lines that say how an act failed
	maxFailed   = 8        // names of tests that failed
	maxLine     = 300      // bytes of a line that becomes a fact
)

// result closes the facts of the call that it answers.
func (d *Digester) result(r *Result) {
	facts := d.Open[r.ID]
	delete(d.Open, r.ID)
	output, exit, failed := outcome(r)
	if len(facts) == 0 {
		return
	}
	f := d.Made[facts[0]]
	switch f.Kind {
	case Command, Commit:
		d.ended(facts[0], output, exit, failed)
	case Question:
		d.chosen(output)
	case Todo, Said:
	case Search:
		if failed {
			d.failedAct(facts, output)
		} else {
			d.found(facts[0], output)
		}
	default:
		if failed {
			d.failedAct(facts, output)
			return
		}
		if strings.HasPrefix(f.Text, "asked a subagent") {
			d.sentences(Report, output)
		} else if f.Kind == Act {
			d.short(output)
		}
	}
}

// outcome takes a result apart: what was printed, the exit status (-1 where there is none), and
// whether the call failed.
func outcome(r *Result) (output string, exit int, failed bool) {
	output = r.Output
	var wrapped struct {
		Output   *string `json:"output"`
		Metadata struct {
			Exit *int `json:"exit_code"`
		} `json:"metadata"`
	}
	if strings.HasPrefix(output, "{") && json.Unmarshal([]byte(output), &wrapped) == nil && wrapped.Output != nil {
		output = *wrapped.Output
		if e := wrapped.Metadata.Exit; e != nil {
			return output, *e, *e != 0
		}
	}
	exit = exitStatus(output)
	return output, exit, r.Failed || exit > 0
}

// exitMarks stand before an exit status, in lower case, in the results of the known agents.
var exitMarks = [...]string{"exited with code ", "exit code: ", "exit code ", "exit status ", "exit_code: "}

// exitStatus reads an exit status from the head of a result, or from its last lines.
func exitStatus(output string) int {
	head := output[:min(len(output), 400)]
	tail := output[max(0, len(output)-200):]
	for _, part := range [...]string{head, tail} {
		lower := strings.ToLower(part)
		for _, mark := range exitMarks {
			i := strings.Index(lower, mark)
			if i < 0 || part == tail && i > 0 && lower[i-1] != '\n' && lower[i-1] != ' ' {
				continue
			}
			if n, ok := leadingNumber(lower[i+len(mark):]); ok {
				return n
			}
		}
	}
	return -1
}

func leadingNumber(s string) (n int, ok bool) {
	for i := 0; i < len(s) && i < 4 && s[i] >= '0' && s[i] <= '9'; i++ {
		n, ok = n*10+int(s[i]-'0'), true
	}
	return n, ok
}

// ended says how a command ended.
func (d *Digester) ended(i int, output string, exit int, failed bool) {
	f := &d.Made[i]
	t := readTests(output)
	if f.Test && t.seen {
		failed = failed || t.failed > 0 || len(t.names) > 0
		f.State = Passed
		if failed {
			f.State = Failed
		}
		f.Text += ": " + t.String()
		if failed && len(t.names) == 0 {
			d.failures(f.Key, output)
		}
		return
	}
	if !failed {
		f.State = Passed
		if f.Kind == Command {
			d.branchShown(output)
			d.short(output)
		}
		return
	}
	f.State = Failed
	f.Text += ": failed"
	if exit > 0 {
		f.Text = strings.TrimSuffix(f.Text, "failed") + "exit status " + number(exit)
	}
	d.failures(f.Key, output)
}

// failedAct marks facts of a call that failed. A file that could not be read or changed was neither.
func (d *Digester) failedAct(facts []int, output string) {
	for _, i := range facts {
		d.Made[i].State = Failed
		d.Made[i].Text += ": failed"
	}
	d.failures(d.Made[facts[0]].Text, output)
}

// failures adds the lines of an output that say what went wrong: those that look like errors, or else
// the first line.
func (d *Digester) failures(key, output string) {
	n := 0
	seen := map[string]bool{}
	eachLine(output, func(line string) bool {
		if isError(line) && tells(line) && !seen[line] {
			seen[line] = true
			d.add(Fact{Kind: Failure, Key: key, Text: cut(line, maxLine)})
			n++
		}
		return n < maxFailures
	})
	if n > 0 {
		return
	}
	eachLine(output, func(line string) bool {
		if isHead(line) {
			return true
		}
		d.add(Fact{Kind: Failure, Key: key, Text: cut(line, maxLine)})
		return false
	})
}

// maxFound is how many files the fact of a search names.
const maxFound = 6

// found says in which files a search found something.
func (d *Digester) found(i int, output string) {
	f := &d.Made[i]
	var names []string
	seen := map[string]bool{}
	eachLine(output, func(line string) bool {
		name := fileOf(line)
		if name != "" && !seen[name] && !strings.HasSuffix(f.Text, name) {
			seen[name] = true
			names = append(names, name)
		}
		return len(names) < 4*maxFound
	})
	if len(names) == 0 {
		return
	}
	f.Text += ": " + strings.Join(names[:min(len(names), maxFound)], ", ")
	if n := len(names) - maxFound; n > 0 {
		f.Text += ", …"
	}
}

// fileOf returns the base name of the file that a line of a listing or of a search's answer begins with.
func fileOf(line string) string {
	name, _, _ := strings.Cut(line, " ")
	name, _, _ = strings.Cut(name, ":")
	for i := 0; i < len(name); i++ { // file-12-text, as grep prints what stands beside a match
		if name[i] == '-' && i+1 < len(name) && name[i+1] >= '0' && name[i+1] <= '9' && looksLikePath(name[:i]) {
			name = name[:i]
			break
		}
	}
	if !looksLikePath(name) {
		return ""
	}
	base := path.Base(name)
	if dot := strings.LastIndexByte(base, '.'); dot <= 0 || dot == len(base)-1 {
		return ""
	}
	return base
}

// isHead knows the lines that agents print before the output of a command.
func isHead(line string) bool {
	for _, h := range [...]string{"Exit code", "Command:", "Chunk ID:", "Wall time:", "Process exited", "Output:",
		"Original token count:", "Directory:", "Stdout:", "Stderr:", "Error: (none)", "Signal:", "<tool_use_error>Exit"} {
		if strings.HasPrefix(line, h) {
			return true
		}
	}
	return false
}

// isError knows lines that say what went wrong: in the words of compilers, shells and runtimes.
func isError(line string) bool {
	if isHead(line) || isNumbered(line) {
		return false
	}
	lower := strings.ToLower(line)
	for _, w := range [...]string{"error:", "error ", "panic:", "fatal:", "exception", "undefined", "cannot ", "can't ",
		"not found", "no such file", "denied", "expected ", "failed", "--- fail", "refused", "timed out", "conflict",
		"invalid ", "unexpected ", "unknown ", "does not exist", "is not "} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// eachLine gives the lines of an output with something in them, white space squeezed, until yield
// returns false. Of a long output it gives the first and the last part.
func eachLine(output string, yield func(string) bool) {
	if len(output) > maxOutput {
		output = output[:maxOutput/2] + "\n" + output[len(output)-maxOutput/2:]
	}
	for line := range strings.SplitSeq(output, "\n") {
		if line = squeeze(strings.ToValidUTF8(line, "\uFFFD")); line != "" && !yield(line) {
			return
		}
	}
}

// chosen adds what the user answered to a tool that asked.
func (d *Digester) chosen(output string) {
	if line := squeeze(output); line != "" {
		d.add(Fact{Kind: Decision, Text: cut(line, maxTitle)})
	}
}

// branchShown notes the branch that an output of git names.
func (d *Digester) branchShown(output string) {
	eachLine(output[:min(len(output), 600)], func(line string) bool {
		for _, lead := range [...]string{"On branch ", "Switched to a new branch '", "Switched to branch '"} {
			if name, ok := strings.CutPrefix(line, lead); ok {
				name = strings.Trim(strings.Fields(name)[0], "'")
				d.add(Fact{Kind: Branch, Key: "branch", Text: "on branch " + name})
				return false
			}
		}
		return true
	})
}

// shortOutput is how many lines a result has at most of which each is worth a fact of its own.
const shortOutput = 12

// short adds the lines of a short output. A longer one is a listing, and is left to `expand`.
func (d *Digester) short(output string) {
	var list []string
	eachLine(output, func(line string) bool {
		if !isHead(line) && !isNumbered(line) && tells(line) {
			list = append(list, line)
		}
		return len(list) <= shortOutput
	})
	if len(list) > shortOutput {
		return
	}
	for _, line := range list {
		d.add(Fact{Kind: Output, Text: cut(line, maxLine)})
	}
}

// tells reports whether a line has anything to say: a word of three letters that is not the name of a
// number alone.
func tells(line string) bool {
	if name, value, ok := strings.Cut(line, ":"); ok && !strings.Contains(name, " ") && !strings.ContainsFunc(value, isLetter) {
		return false
	}
	run := 0
	for _, r := range line {
		if run++; !isLetter(r) {
			run = 0
		}
		if run == 3 {
			return true
		}
	}
	return false
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7F }
