package digest

import (
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/pasted"
)

// maxSpoken is the most bytes of a line of code that is part of a sentence.
const maxSpoken = 160

// spoken returns a prompt in which a line of code by itself is part of the sentence that it stands
// in, or that leads to it: of "I want to run", a command, and "or the like" it is what is wanted.
func spoken(text string) string {
	lines := strings.Split(text, "\n")
	out := lines[:0:0]
	for i := 0; i < len(lines); i++ {
		before := strings.TrimSpace(lines[i])
		code, after := "", 0
		if strings.Contains(before, " ") && !pasted.IsCommand(before) &&
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
	fenced := at < len(lines) && summarize.IsFence(strings.TrimSpace(lines[at]))
	if fenced {
		at++
	}
	if at == len(lines) || len(lines[at]) > maxSpoken {
		return "", 0
	}
	code = strings.TrimSpace(lines[at])
	at++
	if fenced {
		if at == len(lines) || !summarize.IsFence(strings.TrimSpace(lines[at])) {
			return "", 0
		}
		at++
	} else if !apart ||
		!hasFlag(code) && !strings.HasPrefix(code, "./") && !pasted.IsCommand(code) {
		return "", 0
	}
	if blank() == 0 && at < len(lines) && !fenced {
		return "", 0
	}
	return strings.Trim(strings.TrimPrefix(code, "$ "), "`"), at
}
