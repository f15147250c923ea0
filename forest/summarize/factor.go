package summarize

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/format"
)

// The factors that the value of a sentence is multiplied by, in thousandths. Except for those of
// chosen words, they were first estimated from planted conversations of a user, a model and its
// tools: the number of facts in sentences of a kind, relative to the value of such sentences by
// their terms. Then they were changed one at a time as long as six sets together, four of them
// chat, meetings and threads, gained facts.
const (
	fillerFactor   = 200  // thanks, greetings and acknowledgements
	questionFactor = 300  // questions
	firstFactor    = 2000 // the first sentence of a message
	changeFactor   = 1500 // statements of something new or different
	hedgeFactor    = 500  // guesses
	emphasisFactor = 1500 // bold text
	plainFactor    = 850  // no number and no name, in talk with a model
	userFactor     = 2600 // a sentence of the user to a model
	modelFactor    = 1100 // a sentence of the model

	outputFactor  = 600  // a line of a tool's output
	failureFactor = 1500 // an output line that reports an error or an exit
	passFactor    = 250  // an output line that reports success
	settingFactor = 1400 // a line with a name and its value
	commandFactor = 600  // a command, or a call of a tool
	codeFactor    = 600  // other code
	addedFactor   = 2400 // an added line of a diff
	removedFactor = 200  // a removed line of a diff
	singleFactor  = 400  // the only line of an output, which usually reports success
	longFactor    = 300  // a line of a long output

	// By the number of words with digits: one is a fact, a row of them is a table.
	oneNumber  = 1600
	manyNumber = 300 // four or more
)

// longOutput is the number of lines above which an output is long.
const longOutput = 32

// setFactors sets the factor of every sentence.
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

// Of similar lines of one entry, the first rows keep their value. Each further line divides the
// value of all of them by another repeated thousandths.
const (
	rows     = 4
	repeated = 250
)

// sizes returns the number of sentences of each entry, as far as they are known.
func sizes(list []valued) map[format.ID]int64 {
	size := map[format.ID]int64{}
	for i := range list {
		size[list[i].entry] = max(size[list[i].entry], int64(list[i].pos+1))
	}
	return size
}

// kindFactor returns the factor of a sentence. agent says that a model takes part; size is the
// number of sentences of the entry.
func kindFactor(v *valued, agent bool, size int64) int64 {
	lower := v.lower
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
	case strings.HasSuffix(strings.TrimRight(lower, "\"')]*_ "), "?") ||
		strings.HasSuffix(lower, "？"):
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

// isCommand reports whether a line shows a command or a call.
func isCommand(lower string) bool {
	return hasLead(lower, []string{"$ ", "> ", "[call ", "run_shell_command ", "read_file ",
		"replace ", "write_file ", "list_directory ", "search_file_content ", "glob "})
}

// numbers counts the words that contain a digit.
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

// changes reports whether a text has a word that announces something new.
func changes(lower string) bool {
	return hasAny(lower, []string{" now", "changed", "moved", " new ", "raise", "lower", "since "})
}

// isSetting reports whether a line consists of a name and its value.
func isSetting(s string) bool {
	s = strings.TrimLeft(s, "+-| ")
	n := strings.IndexAny(s, ":=")
	if n < 2 || n+1 >= len(s) {
		return false
	}
	return strings.Count(s[:n], " ") < 3 && strings.Count(s[n+1:], " ") < 5
}

// codeShare is the share of brackets, operators and similar characters, in hundredths of a
// sentence's bytes, from which the sentence counts as code.
const codeShare = 5

// isCode reports whether a sentence looks like code.
func isCode(s string) bool {
	n := 0
	for i := range len(s) {
		switch s[i] {
		case '(', ')', '{', '}', '[', ']', ';', '=', '<', '>', '|', '&', '$', '"', '\\', '+', '#',
			'_', '*', '%':
			n++
		}
	}
	return int64(n)*100 >= codeShare*int64(len(s))
}

// shapes returns, for each sentence, the number of sentences of its entry that differ from it only
// in words and numbers, such as the rows of a table or the frames of a stack. The number is 1 for
// prose.
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
			out[i] = 1 // the sentence was not counted
		}
	}
	return out
}

// maxShape is the number of bytes of a shape that are compared.
const maxShape = 24

// minShape is the length in bytes of the shortest shape that counts: a name with a value alone is
// no row.
const minShape = 5

// shape replaces each run of words by a and each run of digits by 0, and keeps all other ASCII
// characters.
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

// tellsFailure reports whether a line has a word with which compilers, shells and test runners
// report a problem.
func tellsFailure(lower string) bool {
	return hasAny(lower, []string{"error", "fail", "panic", "fatal", "exception", "exit code",
		"exit status", "denied",
		"not found", "no such", "cannot", "undefined", "timed out", "refused"})
}

// tellsSuccess reports whether a line begins with a word with which such programs report success.
func tellsSuccess(lower string) bool {
	return hasLead(lower, []string{"ok ", "pass", "success", "done", "exit code: 0",
		"exit status 0", "✓"})
}

// isNod reports whether a word belongs to thanks, greetings or acknowledgements and is no stop
// word.
func isNod(w string) bool {
	switch w {
	case "great", "cool", "nice", "perfect", "awesome", "good", "fine", "sounds", "sure", "right",
		"alright", "exactly", "agreed", "agree", "lgtm", "done", "welcome", "cheers", "morning",
		"evening", "night", "bye", "lol", "haha", "hehe", "wow", "sorry", "worries", "problem",
		"works", "makes", "sense", "understood", "absolutely", "definitely", "course", "hm", "ah",
		"interesting", "true", "correct", "yup", "happy", "help", "glad", "hear", "luck",
		"everyone", "guys":
		return true
	}
	return false
}

func hasTelling(shares []share) bool {
	return slices.ContainsFunc(shares, func(s share) bool { return s.telling })
}

// hasLead reports whether a text begins with one of leads.
func hasLead(s string, leads []string) bool {
	return slices.ContainsFunc(leads, func(l string) bool { return strings.HasPrefix(s, l) })
}

// hasAny reports whether one of words stands in a text.
func hasAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
