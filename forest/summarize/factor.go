package summarize

import (
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/forest/terms"
)

// What a sentence's worth is multiplied by, in thousandths.
var (
	fillerFactor   = int64(250)
	questionFactor = int64(300)
	firstFactor    = int64(1600)
	outputFactor   = int64(600)  // a line that a tool printed
	failureFactor  = int64(2000) // one that tells of an error or an exit
	commandFactor  = int64(1500) // one that shows a command
	codeFactor     = int64(500)
	userFactor     = int64(2000) // what a user says to a model
	modelFactor    = int64(1000)
	decideFactor   = int64(1300)
)

// setFactors gives every sentence its factor.
func setFactors(list []valued) {
	agent := false
	for i := range list {
		agent = agent || list[i].role == "model" || list[i].role == "tool"
	}
	same := shapes(list)
	for i := range list {
		v := &list[i]
		v.factor = kindFactor(v, agent)
		if n := same[i]; n > 1 {
			v.factor = v.factor * (1000 + repeated) / (1000 + repeated*n)
		}
	}
}

var repeated = int64(500)

func kindFactor(v *valued, agent bool) int64 {
	lower := strings.ToLower(v.text)
	f := int64(1000)
	switch {
	case v.line && tellsFailure(lower):
		return failureFactor
	case v.line && strings.HasPrefix(lower, "$ "):
		return commandFactor
	case v.role == "tool":
		return outputFactor
	case v.line || isCode(v.text):
		return codeFactor
	case isFiller(lower, len(v.shares)):
		return fillerFactor
	case strings.HasSuffix(strings.TrimRight(lower, "\"')]*_ "), "?") || strings.HasSuffix(lower, "？"):
		f = questionFactor
	}
	if v.pos == 0 {
		f = f * firstFactor / 1000
	}
	if decides(lower) {
		f = f * decideFactor / 1000
	}
	if agent && v.role == "user" {
		f = f * userFactor / 1000
	} else if agent {
		f = f * modelFactor / 1000
	}
	return f
}

// codeShare is the part of a sentence's characters, in hundredths, that are brackets, operators and the like from which on it is code.
var codeShare = int64(10)

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

func decides(lower string) bool {
	for _, w := range [...]string{"decided", "let's use", "let's go with", "we use", "we'll use", "must ", "only ", "never ", "always ", "agreed", "don't ", "do not ", "instead", "because", "turns out", "the reason", "root cause", "limit", "default"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// shapes returns how many sentences of the same entry look like each one but for their words and numbers, as the rows of a table and the
// frames of a stack do; 1 for prose.
func shapes(list []valued) []int64 {
	type key struct {
		src   int
		shape string
	}
	count := map[key]int64{}
	keys := make([]key, len(list))
	for i := range list {
		if list[i].line || list[i].role == "model" && isCode(list[i].text) {
			keys[i] = key{list[i].src, shape(list[i].text)}
			count[keys[i]]++
		}
	}
	out := make([]int64, len(list))
	for i := range out {
		out[i] = max(1, count[keys[i]])
	}
	return out
}

// maxShape is how much of a shape is compared.
const maxShape = 24

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

// isFiller reports whether a sentence is thanks, a greeting or a nod: nothing but such words beside stop words.
func isFiller(text string, distinct int) bool {
	if distinct > 5 {
		return false
	}
	filler := true
	terms.Scan(text, func(t terms.Token) {
		if t.Kind != terms.Part && !isNod(strings.ToLower(text[t.Start:t.End])) {
			filler = false
		}
	})
	return filler
}

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
