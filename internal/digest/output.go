package digest

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/prose"
)

// failures adds the lines of an output that look like errors, or if there are none, the first line.
func (d *Digester) failures(key, output string) {
	if d.errors(key, output) > 0 {
		return
	}
	eachLine(output, func(line string) bool {
		if isHead(line) || prose.IsNumbered(line) || isPackage(line) || !prose.HasWord(line) {
			return true
		}
		d.add(Fact{Kind: Failure, Key: key, Text: WithoutMiddle(line, maxLine)})
		return false
	})
}

// errors adds the lines of an output that look like errors, and returns their number.
func (d *Digester) errors(key, output string) (n int) {
	seen := map[string]bool{}
	eachLine(output, func(line string) bool {
		if IsError(line) && prose.HasWord(line) && !seen[line] {
			seen[line] = true
			d.add(Fact{Kind: Failure, Key: key, Text: WithoutMiddle(line, maxLine)})
			n++
		}
		return n < maxFailures
	})
	return n
}

// WithoutMiddle returns a line of at most bytes, with an ellipsis in its middle, cut between words:
// what failed stands at the beginning, and why at the end.
func WithoutMiddle(line string, most int) string {
	if len(line) <= most {
		return line
	}
	at := len(line) - most/3
	for at < len(line) && !utf8.RuneStart(line[at]) {
		at++
	}
	last := line[at:]
	if i := strings.IndexByte(last, ' '); i >= 0 {
		last = last[i+1:]
	}
	return strings.TrimSpace(prose.Cut(line, most*2/3) + " " + last)
}

// IsError reports whether a line has words with which compilers, shells and runtimes report errors.
func IsError(line string) bool {
	// A line that ends with a brace is code
	if isHead(line) || prose.IsNumbered(line) || strings.HasSuffix(line, "{") || isPackage(line) {
		return false
	}
	lower := strings.ToLower(line)
	return prose.HasAny(lower, []string{"error:", "error ", "panic:", "fatal:", "exception",
		"undefined", "cannot ", "can't ", "not found", "no such file", "denied", "expected ",
		"failed", "--- fail", "refused", "timed out", "conflict", "invalid ", "unexpected ",
		"unknown ", "does not exist", "is not ", "no rule to make", "don't know how to build"})
}

// isPackage reports whether a line only names the package that does not build, as Go does, or
// counts files of tests, as jest and vitest do: the tests are counted in the next one.
func isPackage(line string) bool {
	return prose.HasLead(line, []string{"# ", "Test Suites:", "Test Files "})
}

// slips are words with which a client refuses a call that the model then makes again, better.
var slips = [...]string{"File does not exist", "File has not been read yet",
	"File has been modified since read", "String to replace not found",
	"Found 2 matches of the string"}

// IsSlip reports whether a failure is one of a call that a client refused for how it was made.
func IsSlip(text string) bool { return prose.HasLead(text, slips[:]) }

// maxFound is the largest number of files in the fact of a search.
const maxFound = 6

// found adds to the fact of a search the files in which it found something.
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
		return len(names) <= maxFound
	})
	if len(names) == 0 {
		return
	}
	f.Text += ": " + strings.Join(names[:min(len(names), maxFound)], ", ")
	if len(names) > maxFound {
		f.Text += ", …"
	}
}

// fileOf returns the base name of the file at the start of a line of a listing or of a search
// result.
func fileOf(line string) string {
	name, _, _ := strings.Cut(line, " ")
	name, _, _ = strings.Cut(name, ":")
	for i := 0; i < len(name); i++ { // file-12-text, as grep prints the lines around a match
		if name[i] == '-' && i+1 < len(name) && name[i+1] >= '0' && name[i+1] <= '9' &&
			looksLikePath(name[:i]) {
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

// shortOutput is the largest number of lines of a result whose lines all become facts.
const shortOutput = 12

// short adds the lines of a short output. A longer output is a listing, which `expand` shows.
func (d *Digester) short(output string) {
	var list []string
	eachLine(output, func(line string) bool {
		if !isHead(line) && !prose.IsNumbered(line) && prose.HasWord(line) &&
			strings.Contains(line, " ") {
			list = append(list, line)
		}
		return len(list) <= shortOutput
	})
	if len(list) > shortOutput {
		return
	}
	for _, line := range list {
		d.add(Fact{Kind: Output, Text: prose.Cut(line, maxLine)})
	}
}

// Plain returns the lines of a tool's output that are neither numbered nor blank, with single
// spaces.
func Plain(output string) string {
	var kept []string
	eachLine(output, func(line string) bool {
		if !prose.IsNumbered(line) && !isHead(line) {
			kept = append(kept, line)
		}
		return true
	})
	return strings.Join(kept, "\n")
}

// eachLine calls yield for the non-empty lines of an output, with single spaces, until yield
// returns false. Of an output longer than maxOutput it uses the first and the last half.
func eachLine(output string, yield func(string) bool) {
	if len(output) > maxOutput {
		output = output[:maxOutput/2] + "\n" + output[len(output)-maxOutput/2:]
	}
	for line := range strings.SplitSeq(output, "\n") {
		if isListed(line) {
			continue
		}
		if line = prose.OneLine(line); line != "" && !yield(line) {
			return
		}
	}
}

// isListed reports whether a line begins with a number and a tab, like the output of cat -n.
func isListed(line string) bool {
	line = strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(line, "0123456789")
	return len(rest) < len(line) && strings.HasPrefix(rest, "\t")
}
