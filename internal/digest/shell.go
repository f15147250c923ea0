package digest

import (
	"path"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/script"
)

// command adds the facts of a shell command: the patch that it applies, or the files that it
// writes, and what it is beside that.
func (d *Digester) command(text, why string) {
	text = strings.TrimSpace(text)
	if strings.Contains(text, patchLead) {
		d.patch(text)
		return
	}
	before := len(d.Made)
	d.writes(text)
	if len(d.Made) == before || !onlyWrites(text) {
		d.runs(text, why)
	}
}

// runs adds the files that a script reads, the search that it makes, the commit that it makes, or
// the command itself.
func (d *Digester) runs(text, why string) {
	all := commandsOf(text)
	dir, work := directory(all)
	if len(work) == 0 {
		if line := squeeze(text); line != "" {
			d.ran(Fact{Key: line}, line, why)
		}
		return
	}
	if files := filesRead(work); len(files) > 0 {
		for _, f := range files {
			d.readFile(inDirectory(dir, f))
		}
		return
	}
	message, commits, elsewhere := d.gitWork(text)
	if commits {
		d.committed(message)
	}
	key, title := opens(work)
	if key != "" {
		d.open(key, title)
	}
	if commits || key != "" {
		return
	}
	line := shown(text)
	if slices.IndexFunc(work,
		func(c script.Command) bool { return !c.Piped && !searches(c.Words[0]) }) < 0 {
		d.add(Fact{Kind: Search, Key: commandKey(work[0]),
			Text: "ran " + Cut(line, maxCommand) + because(why)})
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
	f.Kind, f.Text = Command, "ran "+Cut(line, maxCommand)+because(why)
	d.add(f)
}

func (d *Digester) committed(message string) {
	d.add(Fact{Kind: Commit, Key: "commit", Text: titled(committing, firstLine(message, maxTitle))})
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
	return " # " + Cut(squeeze(why), maxPattern)
}

// directory splits a script into the directory that its first commands change to, and the other
// commands.
func directory(all []script.Command) (dir string, work []script.Command) {
	for i, c := range all {
		if c.Words[0] != "cd" || i > 3 {
			return dir, all[i:]
		}
		if len(c.Words) > 1 {
			dir = inDirectory(dir, c.Words[1])
		}
	}
	return dir, nil
}

func inDirectory(dir, file string) string {
	if dir == "" || path.IsAbs(file) {
		return file
	}
	return path.Join(dir, file)
}

// shown returns a script as the text of a fact: one line, without changes of directory at its
// start, without here-documents and banners, and without ends that only shorten the output or
// redirect errors into it.
func shown(script string) string {
	line := squeeze(onOneLine(strings.ReplaceAll(withoutHeredoc(script), "\\\n", " ")))
	for strings.HasPrefix(line, "cd ") {
		_, rest, _ := strings.Cut(line, "&& ")
		if _, next, _ := strings.Cut(line, "; "); len(next) > len(rest) {
			rest = next // what comes first leaves more
		}
		if rest == "" {
			break
		}
		line = rest
	}
	return essence(line)
}

// essence leaves out of the commands of a line what only shortens their output or redirects errors
// into it, and commands that only print a text of their own, as `echo "=== tests ==="` does. A line
// of nothing else stays.
func essence(line string) string {
	kept, between := "", ""
	for rest := line; rest != ""; {
		n, after := simple(rest)
		if one := rest[:n]; !isBanner(one) {
			kept += between + whole(one)
			between = ""
		}
		if kept != "" {
			between = after
		}
		rest = rest[n+len(after):]
	}
	if kept == "" {
		return line
	}
	return kept
}

// whole returns a command without an end that only shortens its output.
func whole(command string) string {
	if i := strings.LastIndex(command, "| "); i > 0 {
		if last := strings.Fields(command[i+2:]); len(last) > 0 && len(last) <= 3 &&
			(last[0] == "tail" || last[0] == "head") {
			command = strings.TrimSpace(command[:i])
		}
	}
	return strings.TrimSuffix(command, " 2>&1")
}

// simple returns the length of the first command of a line, and what divides it from the next: "; "
// or " && ", outside of quotes and groups.
func simple(line string) (n int, after string) {
	quote, groups := byte(0), 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(' || c == '{':
			groups++
		case c == ')' || c == '}':
			groups--
		case groups > 0:
		case strings.HasPrefix(line[i:], "; "):
			return i, "; "
		case strings.HasPrefix(line[i:], " && "):
			return i, " && "
		}
	}
	return len(line), ""
}

// isBanner reports whether a command prints a text that is written in it, and nothing else.
func isBanner(command string) bool {
	text, ok := strings.CutPrefix(command, "echo ")
	if !ok {
		return false
	}
	marks := "\"'$`|<>&;"
	if text[0] == text[len(text)-1] && strings.IndexByte(`"'`, text[0]) >= 0 && len(text) > 1 {
		text = text[1 : len(text)-1]
		marks = "\"$`"
	}
	return !strings.ContainsAny(text, marks)
}

// onOneLine puts the commands of a script on one line, without comments on lines of their own. A
// line break inside quotes is a space.
func onOneLine(script string) string {
	var b strings.Builder
	quoted := false
	for line := range strings.SplitSeq(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' && !quoted {
			continue
		}
		if before := b.String(); before != "" {
			goesOn := quoted || strings.ContainsAny(before[len(before)-1:], "&|;({") ||
				slices.ContainsFunc([]string{" do", " then", " else"},
					func(word string) bool { return strings.HasSuffix(before, word) })
			if !goesOn {
				b.WriteByte(';')
			}
			b.WriteByte(' ')
		}
		b.WriteString(line)
		if strings.Count(line, `"`)%2 == 1 {
			quoted = !quoted
		}
	}
	return b.String()
}

// withoutHeredoc removes the texts of here-documents from a script.
func withoutHeredoc(script string) string {
	var out strings.Builder
	ends := "" // the line that ends the document
	for line := range strings.Lines(script) {
		switch {
		case ends != "":
			if strings.TrimSpace(line) == ends {
				ends = ""
			}
			continue
		case strings.Contains(line, "<<") && !strings.Contains(line, "<<<"):
			_, word, _ := strings.Cut(line, "<<")
			word = strings.TrimLeft(strings.TrimPrefix(word, "-"), " ")
			word = word[:strings.IndexFunc(word+"\n", func(r rune) bool {
				return strings.ContainsRune(" \n;|&>)", r)
			})]
			ends = strings.Trim(word, `"'\`)
		}
		out.WriteString(line)
	}
	return out.String()
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
	return squeeze(strings.Join(words[:min(len(words), keyWords)], " "))
}

// wraps reports whether a program runs the command in its arguments.
func wraps(program string) bool {
	switch program {
	case "sudo", "time", "nice", "timeout", "env", "command":
		return true
	}
	return false
}

// reads reports whether a program prints files.
func reads(program string) bool {
	switch program {
	case "cat", "sed", "head", "tail", "nl", "bat", "less":
		return true
	}
	return false
}

// searches reports whether a program prints names of files, or matching lines.
func searches(program string) bool {
	switch program {
	case "rg", "grep", "egrep", "fgrep", "ag", "find", "fd", "ls", "tree":
		return true
	}
	return false
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
