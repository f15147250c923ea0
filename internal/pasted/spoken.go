package pasted

import (
	"slices"
	"strings"
	"unicode"
)

// maxSpoken is the most bytes of a line of code that is part of a sentence.
const maxSpoken = 160

// Spoken returns a prompt in which a line of code by itself is part of the sentence that it stands
// in, or that leads to it: of "I want to run", a command, and "or the like" it is what is wanted.
func Spoken(text string) string {
	lines := strings.Split(text, "\n")
	out := lines[:0:0]
	for i := 0; i < len(lines); i++ {
		before := strings.TrimSpace(lines[i])
		code, after := "", 0
		if strings.Contains(before, " ") && !IsCommand(before) &&
			!strings.ContainsAny(before[len(before)-1:], ".!?;)`") {
			code, after = codeBehind(lines[i+1:])
		}
		if code == "" {
			out = append(out, lines[i])
			continue
		}
		line := before + " `" + code + "`"
		i += after
		if i+1 < len(lines) && lines[i+1] != "" && lines[i+1][0] >= 'a' && lines[i+1][0] <= 'z' {
			i++
			line += " " + lines[i]
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// codeBehind returns a line of code, if lines begin with one by itself, between fences or empty
// lines, and how many of the lines that takes; "" if they do not.
func codeBehind(lines []string) (code string, taken int) {
	at := 0
	blank := func() (n int) {
		for ; at < len(lines) && strings.TrimSpace(lines[at]) == ""; at++ {
			n++
		}
		return n
	}
	apart := blank() > 0
	fenced := at < len(lines) && isFence(lines[at])
	if fenced {
		at++
	}
	if at == len(lines) || len(lines[at]) > maxSpoken {
		return "", 0
	}
	code = strings.TrimSpace(lines[at])
	at++
	if fenced {
		if at == len(lines) || !isFence(lines[at]) {
			return "", 0
		}
		at++
	} else if !apart ||
		!hasFlag(code) && !strings.HasPrefix(code, "./") && !IsCommand(code) {
		return "", 0
	}
	if blank() == 0 && at < len(lines) && !fenced {
		return "", 0
	}
	return strings.Trim(strings.TrimPrefix(code, "$ "), "`"), at
}

// hasFlag reports whether a line has a flag behind its first word, as -v and --all are.
func hasFlag(line string) bool {
	words := strings.Fields(line)
	return len(words) > 1 && !strings.HasPrefix(words[0], "-") &&
		slices.ContainsFunc(words[1:], func(w string) bool {
			w, is := strings.CutPrefix(w, "-")
			w = strings.TrimPrefix(w, "-")
			return is && w != "" && unicode.IsLetter(rune(w[0]))
		})
}

// maxQuote is the largest number of lines of a quote that says only what an answer is to. A longer
// one is told as pasted.
const maxQuote = 3

// Unquoted returns a prompt without short quotes, as in "> shall I?" before what the user says to
// it: their words are somebody else's. Where nothing else is said they stay.
func Unquoted(text string) string {
	isQuote := func(line string) bool {
		bare := strings.TrimSpace(line)
		return (bare == ">" || strings.HasPrefix(line, "> ")) && !IsCommand(bare)
	}
	var said []string
	own, fenced := false, false
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && !fenced && isQuote(lines[end]) {
			end++
		}
		if n := end - i; n > 0 && n <= maxQuote {
			i = end
			continue
		}
		end = max(end, i+1)
		for _, line := range lines[i:end] {
			bare := strings.TrimSpace(line)
			fenced = fenced != strings.HasPrefix(bare, "```")
			own = own || bare != "" && !isQuote(line)
		}
		said, i = append(said, lines[i:end]...), end
	}
	if !own {
		return text
	}
	return strings.Join(said, "")
}
