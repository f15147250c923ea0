package summarize

import (
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/format"
)

// What a sentence's worth is multiplied by, in thousandths. Beside the words these were counted: in a planted conversation of a user, a model
// and its tools, how many facts stand in sentences of a kind for what such sentences are worth by their terms; then they were changed
// one at a time as long as facts were gained in six sets together, four of chat, meetings and threads.
const (
	fillerFactor   = 200  // thanks, greetings and nods
	questionFactor = 300  // questions
	firstFactor    = 2000 // the first sentence of a message
	changeFactor   = 1500 // what is new or different from now on
	hedgeFactor    = 500  // guesses
	emphasisFactor = 1500 // what is set in bold
	plainFactor    = 850  // no number and no name, in talk with a model
	userFactor     = 2600 // what a user says to a model
	modelFactor    = 1100 // what a model says to a user

	outputFactor  = 600  // a line that a tool printed
	failureFactor = 1500 // one that tells of an error or an exit
	passFactor    = 250  // one that says that all is well
	settingFactor = 1400 // one with a name and its value
	commandFactor = 600  // a command, a call of a tool
	codeFactor    = 600  // other code
	addedFactor   = 2400 // a line of a change that it brings in
	removedFactor = 200  // one that it takes away
	singleFactor  = 400  // a tool's only line: it says that all went well
	longFactor    = 300  // a line of a long output

	// By how many words with digits it has: one is a fact, a row of them a table.
	oneNumber  = 1600
	manyNumber = 300 // four or more
)

// longOutput is how many lines make an output long.
const longOutput = 32

// setFactors gives every sentence its factor.
func setFactors(list []valued) {
	agent := false
	for i := range list {
		agent = agent || list[i].role == "model" || list[i].role == "tool"
	}
	same := shapes(list)
	size := sizes(list)
	for i := range list {
		v := &list[i]
		v.factor = kindFactor(v, agent, size[v.entry])
		if n := same[i]; n > rows {
			v.factor = v.factor * 1000 / (1000 + repeated*(n-rows))
		}
	}
}

// Of lines of one entry that look alike the first rows are worth what they say, and each more of them makes all worth less by so much, in
// thousandths.
const (
	rows     = 4
	repeated = 250
)

// sizes returns how many sentences each entry has, as far as is known.
func sizes(list []valued) map[format.ID]int64 {
	size := map[format.ID]int64{}
	for i := range list {
		size[list[i].entry] = max(size[list[i].entry], int64(list[i].pos+1))
	}
	return size
}

// kindFactor returns the factor of a sentence of an entry that has size of them. agent says that a model takes part.
func kindFactor(v *valued, agent bool, size int64) int64 {
	lower := strings.ToLower(v.text)
	f := int64(1000)
	switch n := numbers(v.text); {
	case n == 1:
		f = oneNumber
	case n > 3:
		f = manyNumber
	}
	if v.line || v.role == "tool" || agent && v.role == "model" && isCode(v.text) {
		return f * codeKind(v, lower, size) / 1000
	}
	switch {
	case v.nods:
		return fillerFactor
	case strings.HasSuffix(strings.TrimRight(lower, "\"')]*_ "), "?") || strings.HasSuffix(lower, "？"):
		f = f * questionFactor / 1000
	}
	if v.pos == 0 {
		f = f * firstFactor / 1000
	}
	if changes(lower) {
		f = f * changeFactor / 1000
	}
	if hedged(lower) {
		f = f * hedgeFactor / 1000
	}
	if strings.Contains(v.text, "**") {
		f = f * emphasisFactor / 1000
	}
	if agent && !hasTelling(v.shares) {
		f = f * plainFactor / 1000
	}
	if agent && v.role == "user" {
		f = f * userFactor / 1000
	} else if agent {
		f = f * modelFactor / 1000
	}
	return f
}

// codeKind returns the factor of a line of code or output.
func codeKind(v *valued, lower string, size int64) int64 {
	switch {
	case v.role != "tool" && strings.HasPrefix(v.text, "+ "):
		return addedFactor
	case v.role != "tool" && strings.HasPrefix(v.text, "- "):
		return removedFactor
	case isCommand(lower):
		return commandFactor
	}
	f := int64(outputFactor)
	switch {
	case tellsSuccess(lower):
		f = passFactor
	case tellsFailure(lower):
		f = failureFactor
	case isSetting(v.text):
		f = settingFactor
	case v.role != "tool":
		f = codeFactor
	}
	switch {
	case v.role == "tool" && size == 1:
		f = f * singleFactor / 1000
	case size > longOutput:
		f = f * longFactor / 1000
	}
	return f
}

// isCommand knows lines that show a command or a call.
func isCommand(lower string) bool {
	for _, w := range [...]string{"$ ", "> ", "[call ", "run_shell_command ", "read_file ", "replace ", "write_file ", "list_directory ", "search_file_content ", "glob "} {
		if strings.HasPrefix(lower, w) {
			return true
		}
	}
	return false
}

// numbers counts the words with a digit in them.
func numbers(s string) int {
	n, in := 0, false
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			in = false
		case c >= '0' && c <= '9' && !in:
			n, in = n+1, true
		}
	}
	return n
}

// changes knows the words by which people say that something is new.
func changes(lower string) bool {
	for _, w := range [...]string{" now", "changed", "moved", " new ", "raise", "lower", "since "} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// isSetting reports whether a line is a name and its value.
func isSetting(s string) bool {
	s = strings.TrimLeft(s, "+-| ")
	n := strings.IndexAny(s, ":=")
	if n < 2 || n+1 >= len(s) {
		return false
	}
	return strings.Count(s[:n], " ") < 3 && strings.Count(s[n+1:], " ") < 5
}

// codeShare is the part of a sentence's characters, in hundredths, that are brackets, operators and the like from which on it is code.
const codeShare = 5

// isCode reports whether a sentence looks like code.
func isCode(s string) bool {
	n := 0
	for i := range len(s) {
		switch s[i] {
		case '(', ')', '{', '}', '[', ']', ';', '=', '<', '>', '|', '&', '$', '"', '\\', '+', '#', '_', '*', '%':
			n++
		}
	}
	return int64(n)*100 >= codeShare*int64(len(s))
}

// shapes returns how many sentences of the same entry look like each one but for their words and numbers, as the rows of a table and the
// frames of a stack do; 1 for prose.
func shapes(list []valued) []int64 {
	type key struct {
		entry format.ID
		shape string
	}
	count := map[key]int64{}
	keys := make([]key, len(list))
	for i := range list {
		if list[i].line || list[i].role == "model" && isCode(list[i].text) {
			if sh := shape(list[i].text); len(sh) >= minShape {
				keys[i] = key{list[i].entry, sh}
				count[keys[i]]++
			}
		}
	}
	out := make([]int64, len(list))
	for i := range out {
		out[i] = max(1, count[keys[i]])
		if keys[i].shape == "" {
			out[i] = 1 // it is none of those that were counted
		}
	}
	return out
}

// maxShape is how much of a shape is compared.
const maxShape = 24

// minShape is the shortest shape that says something: a name and a value alone are not a row.
const minShape = 5

// shape writes a run of letters as a, one of digits as 0, and everything else as it is; words in a row are one.
func shape(s string) string {
	out := make([]byte, 0, maxShape)
	for _, r := range s {
		c := byte('?')
		switch {
		case unicode.IsLetter(r):
			c = 'a'
		case unicode.IsDigit(r):
			c = '0'
		case r == ' ':
			continue
		case r < 0x80:
			c = byte(r)
		}
		if n := len(out); n > 0 && out[n-1] == c && (c == 'a' || c == '0') {
			continue
		}
		if out = append(out, c); len(out) == maxShape {
			break
		}
	}
	return string(out)
}

// tellsFailure knows the words that compilers, shells and test runners use for trouble.
func tellsFailure(lower string) bool {
	for _, w := range [...]string{"error", "fail", "panic", "fatal", "exception", "exit code", "exit status", "denied",
		"not found", "no such", "cannot", "undefined", "timed out", "refused"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// tellsSuccess knows how they begin a line when there is none.
func tellsSuccess(lower string) bool {
	for _, w := range [...]string{"ok ", "pass", "success", "done", "exit code: 0", "exit status 0", "✓"} {
		if strings.HasPrefix(lower, w) {
			return true
		}
	}
	return false
}

// isNod knows the words of thanks, greetings and nods, beside stop words.
func isNod(w string) bool {
	switch w {
	case "great", "cool", "nice", "perfect", "awesome", "good", "fine", "sounds", "sure", "right", "alright", "exactly", "agreed",
		"agree", "lgtm", "done", "welcome", "cheers", "morning", "evening", "night", "bye", "lol", "haha", "hehe", "wow", "sorry",
		"worries", "problem", "works", "makes", "sense", "understood", "absolutely", "definitely", "course", "hm", "ah",
		"interesting", "true", "correct", "yup", "happy", "help", "glad", "hear", "luck", "everyone", "guys":
		return true
	}
	return false
}
