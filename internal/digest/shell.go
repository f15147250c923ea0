package digest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/prose"
	"github.com/gemini-ctx/ctx/internal/script"
)

// command adds the facts of a shell command: the patch that it applies, or the files that it
// writes, and what it is beside that. dir is where the call says that it runs.
func (d *Digester) command(text, why, dir string) {
	text = strings.TrimSpace(text)
	if strings.Contains(text, patchLead) {
		d.patch(text)
		return
	}
	before := len(d.Made)
	d.writes(text)
	if len(d.Made) == before || !onlyWrites(text) {
		d.runs(text, why, dir)
	}
}

// runs adds the files that a script reads, the search that it makes, the commit that it makes, or
// the command itself.
func (d *Digester) runs(text, why, begins string) {
	all := commandsOf(text)
	dir, work := directory(all)
	if len(work) == 0 {
		if line := prose.Squeeze(text); line != "" {
			d.ran(Fact{Key: line}, line, why)
		}
		return
	}
	if files := filesRead(work); len(files) > 0 {
		for _, f := range files {
			d.readFile(script.Join(dir, f))
		}
		return
	}
	begins = cmp.Or(begins, prose.Valid(d.at.Dir))
	if begins != "" && !d.isBeside(d.place(begins)) {
		begins = ""
	}
	messages, elsewhere := d.gitWork(text, begins)
	for _, message := range messages {
		d.committed(message)
	}
	key, title := opens(work)
	if key != "" {
		d.open(key, title)
	}
	if len(messages) > 0 || key != "" {
		return
	}
	line := script.Line(text)
	if slices.IndexFunc(work,
		func(c script.Command) bool { return !c.Piped && !searches(c.Words[0]) }) < 0 {
		d.add(Fact{Kind: Search, Key: commandKey(work[0]),
			Text: "ran " + prose.Cut(line, maxCommand) + because(why)})
		return
	}
	test := slices.IndexFunc(work, runsTests)
	run := max(test, 0)
	if test < 0 {
		check := func(c script.Command) bool { return isCheck(strings.Fields(commandKey(c))) }
		run = max(slices.IndexFunc(work, check), 0)
	}
	d.ran(Fact{Key: commandKey(work[run]), Test: test >= 0, Elsewhere: elsewhere}, line, why)
}

// The limits of what is read of a script.
const (
	maxScript   = 64 << 10 // bytes
	maxCommands = 64
)

// commandsOf returns the commands of a script that have words. The end of a group is none.
func commandsOf(text string) []script.Command {
	all := slices.DeleteFunc(script.Read(text[:min(len(text), maxScript)]),
		func(c script.Command) bool {
			return len(c.Words) == 0 || c.Words[0] == ")" || c.Words[0] == "}"
		})
	return all[:min(len(all), maxCommands)]
}

func (d *Digester) ran(f Fact, line, why string) {
	f.Kind, f.Text = Command, "ran "+prose.Cut(line, maxCommand)+because(why)
	d.add(f)
}

func (d *Digester) committed(message string) {
	title := prose.FirstLine(message, maxTitle)
	d.add(Fact{Kind: Commit, Key: "commit", Text: titled(committing, title)})
	_, body, _ := strings.Cut(strings.TrimSpace(message), "\n")
	var said strings.Builder
	for line := range strings.Lines(body) {
		if !isTrailer(line) {
			said.WriteString(line)
		}
	}
	d.sentences(Written, said.String())
}

// isTrailer reports whether a line of a commit's message says who made it, for programs:
// "Signed-off-by: …", "🤖 Generated with …".
func isTrailer(line string) bool {
	key, _, ok := strings.Cut(strings.TrimSpace(line), ": ")
	return ok && strings.Contains(key, "-") && !strings.ContainsAny(key, " `.") ||
		strings.Contains(line, "Generated with [")
}

// Tried begins the text of a commit or a pull request that nobody knows to have been made.
const Tried = "tried to "

// committing begins the text of a commit until its result says that it was made.
const committing = Tried + "commit"

// isTemporary reports whether a directory is one that a system clears.
func isTemporary(dir string) bool {
	for _, lead := range [...]string{"/tmp", "/private/tmp", "/var/tmp", "/var/folders",
		"/private/var/folders", "/dev/shm", "$TMPDIR", "${TMPDIR", "$(mktemp", "`mktemp"} {
		if rest, ok := strings.CutPrefix(dir, lead); ok &&
			(rest == "" || strings.IndexByte("/}: -", rest[0]) >= 0) {
			return true
		}
	}
	return false
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " # " + prose.Short(why, maxPattern)
}

// directory splits a script into the directory that its first commands change to, and the other
// commands.
func directory(all []script.Command) (dir string, work []script.Command) {
	place := script.From("", script.Join)
	for i, c := range all {
		if i > 3 || !place.Go(c.Words) {
			return place.Dir, all[i:]
		}
	}
	return place.Dir, nil
}

// keyWords is the number of words that identify a command: enough for `go test ./... -run`, too few
// for the name of a test, so that a run of all tests replaces a run of a single test.
const keyWords = 4

// commandKey returns the key that all runs of a command share.
func commandKey(c script.Command) string {
	words := c.Words
	for len(words) > 1 && wraps(words[0]) {
		words = words[1:]
		for len(words) > 1 &&
			(strings.HasPrefix(words[0], "-") || words[0][0] >= '0' && words[0][0] <= '9') {
			words = words[1:]
		}
	}
	return prose.Squeeze(strings.Join(words[:min(len(words), keyWords)], " "))
}

// wraps reports whether a program runs the command in its arguments.
func wraps(program string) bool {
	return slices.Contains([]string{"sudo", "time", "nice", "timeout", "env", "command"}, program)
}

// reads reports whether a program prints files.
func reads(program string) bool {
	return slices.Contains([]string{"cat", "sed", "head", "tail", "nl", "bat", "less"}, program)
}

// searches reports whether a program prints names of files, or matching lines.
func searches(program string) bool {
	return slices.Contains([]string{"rg", "grep", "egrep", "fgrep", "ag", "find", "fd", "ls",
		"tree"}, program)
}

// filesRead returns the files that a script prints, or nil if it does anything else.
func filesRead(work []script.Command) []string {
	var files []string
	for _, c := range work {
		if c.Piped || c.Words[0] == "echo" || c.Words[0] == "printf" {
			continue
		}
		n := len(files)
		if c.Input == nil && reads(c.Words[0]) && !(c.Words[0] == "sed" && inPlace(c.Words)) {
			for _, w := range c.Words[1:] {
				if looksLikePath(w) && !isScriptOfSed(w) {
					files = append(files, w)
				}
			}
		}
		if len(files) == n {
			return nil
		}
	}
	return files
}

func inPlace(words []string) bool {
	return slices.ContainsFunc(words,
		func(w string) bool { return strings.HasPrefix(w, "-i") || w == "--in-place" })
}

// isScriptOfSed reports whether a word is a script for sed: s/a/b/, /a/p, /a/,/b/p.
func isScriptOfSed(w string) bool {
	return strings.HasPrefix(w, "s/") || strings.HasPrefix(w, "/") && strings.HasSuffix(w, "/p")
}

// looksLikePath reports whether a word names a file: it has a slash or an extension, and neither
// wildcards nor variables.
func looksLikePath(w string) bool {
	if w == "" || strings.ContainsAny(w, "*?$`{}()=,'\"\n") || strings.HasPrefix(w, "-") {
		return false
	}
	dot := strings.LastIndexByte(w, '.')
	return strings.Contains(w, "/") || dot > 0 && dot < len(w)-1 && len(w)-dot <= 6
}
