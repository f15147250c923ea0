package digest

import (
	"strings"
)

// command adds the facts of a shell command: the files that it reads, the branch or commit that it
// makes, or the command itself.
func (d *Digester) command(script, why string) {
	script = strings.TrimSpace(script)
	if script == "" {
		return
	}
	if path, ok := fileReadBy(script); ok {
		d.add(Fact{Kind: Read, Path: path, Text: "read " + path})
		return
	}
	words := strings.Fields(withoutHeredoc(script))
	line := strings.Join(words, " ")
	if message, ok := commitMessage(script); ok {
		d.add(Fact{Kind: Commit, Key: "commit", Text: "committed: " + cut(message, maxTitle)})
		if _, body, ok := strings.Cut(script, message); ok {
			body, _, _ = strings.Cut(body, "\nEOF")
			d.sentences(Written, body)
		}
		return
	}
	f := Fact{Kind: Command, Key: commandKey(line), Text: "ran " + cut(line, maxCommand) + because(why), Test: runsTests(line)}
	d.add(f)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " # " + cut(squeeze(why), maxPattern)
}

// commandKey is what two runs of one command have in common: its words without what is piped behind
// them, without a change of directory before them, and without redirections.
func commandKey(line string) string {
	line = lastCommand(line)
	if i := strings.IndexAny(line, "|>"); i > 0 {
		line = line[:i]
	}
	words := strings.Fields(line)
	return strings.Join(words[:min(len(words), 4)], " ")
}

// lastCommand returns the part of a line after `cd DIR &&`.
func lastCommand(line string) string {
	for strings.HasPrefix(line, "cd ") {
		_, rest, ok := strings.Cut(line, "&&")
		if !ok {
			return line
		}
		line = strings.TrimSpace(rest)
	}
	return line
}

// withoutHeredoc cuts the text that a script passes to a command as a here-document.
func withoutHeredoc(script string) string {
	if i := strings.Index(script, "<<"); i >= 0 {
		if end := strings.IndexByte(script[i:], '\n'); end >= 0 {
			return script[:i+end]
		}
	}
	return script
}

// readers are commands that print files.
var readers = map[string]bool{"cat": true, "sed": true, "head": true, "tail": true, "nl": true, "bat": true, "less": true}

// fileReadBy returns the file that a single command prints.
func fileReadBy(script string) (path string, ok bool) {
	if strings.ContainsAny(script, "\n;&<>") {
		return "", false
	}
	script, _, _ = strings.Cut(script, "|")
	words := strings.Fields(script)
	if len(words) < 2 || !readers[words[0]] || words[0] == "sed" && strings.HasPrefix(words[1], "-i") {
		return "", false
	}
	last := strings.Trim(words[len(words)-1], `'"`)
	return last, looksLikePath(last)
}

// looksLikePath reports whether a word names a file: it has a slash or an extension, and neither
// wildcards nor variables.
func looksLikePath(w string) bool {
	if w == "" || strings.ContainsAny(w, "*?$`{}()=,'\"") || strings.HasPrefix(w, "-") {
		return false
	}
	dot := strings.LastIndexByte(w, '.')
	return strings.Contains(w, "/") || dot > 0 && dot < len(w)-1 && len(w)-dot <= 6
}

// commitMessage returns the subject of the commit that a script makes.
func commitMessage(script string) (string, bool) {
	i := strings.Index(script, "git commit")
	if i < 0 {
		return "", false
	}
	rest := script[i:]
	m := strings.Index(rest, "-m ")
	if m < 0 {
		if strings.Contains(rest, "--amend") {
			return "amended the last commit", true
		}
		return "", false
	}
	text := strings.TrimLeft(rest[m+3:], " \"'")
	if here, ok := strings.CutPrefix(text, "$(cat <<"); ok {
		_, text, _ = strings.Cut(here, "\n")
	}
	subject := strings.TrimRight(firstLine(text, maxTitle), "\"'")
	if end := strings.IndexAny(subject, "\""); end > 0 {
		subject = subject[:end]
	}
	return subject, subject != ""
}

// runners are the words by which a command line runs tests, in lower case.
var runners = [...]string{"go test", "pytest", "npm test", "npm run test", "pnpm test", "pnpm run test", "yarn test",
	"bun test", "cargo test", "cargo nextest", "jest", "vitest", "mocha", "mvn test", "gradle test", "gradlew test",
	"rspec", "phpunit", "ctest", "tox", "unittest", "make test", "make check", "mise run test", "dotnet test",
	"swift test", "mix test", "deno test", "node --test", "playwright test"}

func runsTests(line string) bool {
	lower := strings.ToLower(line)
	for _, r := range runners {
		if i := strings.Index(lower, r); i >= 0 && (i == 0 || !isIdentifier(lower[i-1]) && lower[i-1] != '-') {
			return true
		}
	}
	return false
}
