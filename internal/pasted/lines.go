package pasted

import (
	"slices"
	"strings"
	"unicode"
)

// kindOf returns what a line is by its form, "" for none. mode is what the line before it in the
// block was: some lines are clear only there.
func kindOf(s string, mode Kind) Kind {
	t := strings.TrimSpace(s)
	if t == "" {
		return ""
	}
	switch {
	case isDiff(s, mode):
		return Diff
	case isTrace(s, t, mode):
		return Trace
	case isLog(t), mode != "" && hasAny(t, "exit status "): // of what printed the block
		return Log
	case isCheck(s, t, mode):
		return Check
	case isTerminal(t):
		return Terminal
	case isRow(t):
		return Table
	case isMember(s, t):
		return JSON
	}
	return ""
}

// hasAny reports whether a text begins with one of some beginnings.
func hasAny(s string, begins ...string) bool {
	return slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(s, b) })
}

// holdsAny reports whether one of words stands in a text.
func holdsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// digits returns how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// isDiff reports whether a line is one of a diff. The changed lines are only behind its head.
func isDiff(s string, mode Kind) bool {
	if hasAny(s, "diff --git ", "@@ -", "--- a/", "+++ b/", "rename from ", "rename to ",
		"new file mode ", "deleted file mode ", "similarity index ", "Index: ") {
		return true
	}
	if rest, ok := strings.CutPrefix(s, "index "); ok && strings.Contains(rest, "..") {
		return true
	}
	return mode == Diff && (s[0] == '+' || s[0] == '-' || s[0] == ' ' || s[0] == '\t' ||
		s[0] == '\\')
}

// isTrace reports whether a line is one of a stack trace.
func isTrace(s, t string, mode Kind) bool {
	switch {
	case hasAny(t, "Traceback (most recent call", "Caused by: ", "Exception in thread ",
		"panic: ", "During handling of the above", "thread '", "stack backtrace:",
		"note: run with `RUST_BACKTRACE"):
		return true
	case strings.HasPrefix(t, "goroutine ") && strings.HasSuffix(t, "]:"):
		return true
	case strings.HasPrefix(t, `File "`) && strings.Contains(t, `", line `):
		return true
	case strings.HasPrefix(t, "at ") && strings.HasSuffix(t, ")") && strings.Contains(t, "("),
		strings.HasPrefix(t, "at ") && place(t[len("at "):]), // of Node, without a function
		strings.HasPrefix(t, "... ") && strings.HasSuffix(t, " more"):
		return true
	}
	if mode != Trace {
		return false
	}
	// Behind the head of a trace: code under a frame, a frame of Go or Rust, the error itself.
	name, _, ok := strings.Cut(t, ": ")
	return s[0] == ' ' || s[0] == '\t' || place(t) || hasAny(t, "created by ") ||
		strings.HasSuffix(t, ")") && strings.Contains(t, "(") && !strings.Contains(t, " ") ||
		!strings.Contains(name, " ") && (ok && namesError(name) || strings.HasSuffix(name, "Error"))
}

// isLog reports whether a line is one of a log: a time or a level in front, members behind equals
// signs, or how far something is.
func isLog(t string) bool {
	return IsLog(t) || level(t) || progress(t) ||
		hasAny(t, "remote: ", "npm ERR! ", "npm WARN ", "npm error ", "npm warn ")
}

// IsLog reports whether a line, however few there are, is one of a log: a time stands in front, or
// there are members behind equals signs.
func IsLog(t string) bool {
	return timed(strings.TrimLeft(t, "[( ")) || members(t) >= 3 ||
		members(t) == 2 && hasAny(t, "time=", "ts=", "level=", "msg=")
}

// timed reports whether a line begins with a time of the clock.
func timed(t string) bool {
	if n := digits(t); n == 4 && len(t) > len("2006-01-02T15:04") && (t[4] == '-' || t[4] == '/') &&
		digits(t[5:]) == 2 && digits(t[8:]) == 2 && strings.IndexByte("T ", t[10]) >= 0 {
		return clock(t[11:], false)
	}
	if clock(t, true) {
		return true
	}
	// Nov 27 10:11:12
	if len(t) > len("Nov 27 10:11:12") && isLetter(t[0]) && isLetter(t[2]) && t[3] == ' ' {
		day := strings.TrimLeft(t[4:], " ")
		n := digits(day)
		return n > 0 && n < len(day) && day[n] == ' ' && clock(day[n+1:], true)
	}
	// 1764208000.123, or seconds since the machine began
	n := digits(t)
	if n == 0 || n > 10 || len(t) < n+5 || t[n] != '.' || digits(t[n+1:]) < 3 {
		return false
	}
	after := t[n+1+digits(t[n+1:]):]
	return hasAny(after, "] ", " ", ": ")
}

// clock reports whether a text begins with a time of the clock, with seconds if they must be.
func clock(t string, seconds bool) bool {
	if len(t) < 5 || digits(t) != 2 || t[2] != ':' || digits(t[3:]) != 2 {
		return false
	}
	return !seconds || len(t) >= 8 && t[5] == ':' && digits(t[6:]) == 2
}

// level reports whether one of the first words of a line is a level as logs write it.
func level(t string) bool {
	for range 2 {
		word, rest, ok := strings.Cut(t, " ")
		if !ok {
			return false
		}
		switch strings.Trim(word, "[]:()") {
		case "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "TRACE", "FATAL", "CRITICAL", "NOTICE":
			// In prose such a word has no mark, and ends no name in brackets
			return word != strings.Trim(word, "[]:()") || strings.ContainsAny(rest, "=:/[") ||
				strings.Contains(rest, "  ")
		}
		t = strings.TrimLeft(rest, " ")
	}
	return false
}

// members counts words such as level=INFO.
func members(t string) int {
	n := 0
	for word := range strings.FieldsSeq(t) {
		name, value, ok := strings.Cut(word, "=")
		if ok && name != "" && value != "" && isLetter(name[0]) &&
			!strings.ContainsAny(name, "(:+-<>!") {
			n++
		}
	}
	return n
}

// progress reports whether a line says how far something is: a percentage with a count or a bar,
// or a step of a build.
func progress(t string) bool {
	if i := strings.IndexByte(t, '%'); i > 0 && isDigit(t[i-1]) {
		rest := strings.TrimLeft(t[i+1:], " ")
		if strings.HasPrefix(rest, "(") && strings.Contains(rest, "/") ||
			strings.HasPrefix(rest, "|") || strings.ContainsAny(t, "█▓━") ||
			strings.Contains(t, "===") || strings.Contains(t, "[##") {
			return true
		}
	}
	if n := digits(strings.TrimPrefix(t, "#")); t[0] == '#' && n > 0 && len(t) > n+2 &&
		t[n+1] == ' ' { // #12 [3/5] RUN make, #12 0.312 text
		rest := t[n+2:]
		return rest[0] == '[' || digits(rest) > 0 && strings.Contains(rest, ".") ||
			hasAny(rest, "DONE", "CACHED", "sha256:", "transferring", "extracting", "ERROR")
	}
	if hasAny(t, "=> ") { // => [2/4] RUN make 0.3s
		return strings.HasSuffix(t, "s") && isDigit(t[len(t)-2])
	}
	step, ok := strings.CutPrefix(t, "Step ")
	return ok && digits(step) > 0 && step[digits(step)] == '/' ||
		hasAny(t, "Downloading ", "Collecting ", "Downloaded ", "Compiling ", "Pulling from ",
			"Installing collected ", "Requirement already satisfied")
}

// isCheck reports whether a line is one of a compiler, a linter or a run of tests.
func isCheck(s, t string, mode Kind) bool {
	if hasAny(t, "=== RUN", "=== PAUSE", "=== CONT", "--- FAIL: ", "--- PASS: ", "--- SKIP: ",
		"error[", "error: ", "fatal: ", "warning: ", "make: *** ", "make[", "FAIL\t", "ok  \t",
		"FAIL ", "PASS ", "FAILED ", "PASSED ", "✓ ", "✗ ", "✘ ", "✕ ", "--> ", "= note: ",
		"= help: ", "not ok ", "ok ") {
		rest, ok := strings.CutPrefix(t, "ok ")
		return !ok || digits(rest) > 0 || strings.HasPrefix(rest, " \t")
	}
	if place(t) || mode == Check && (t == "FAIL" || t == "PASS" || t == "ok") {
		return true
	}
	n := digits(t) // the gutter of Rust, and its carets
	gutter := strings.TrimLeft(t[n:], " ")
	return strings.HasPrefix(gutter, "| ") && n > 0 || strings.Trim(t, "|^~- ") == "" &&
		strings.Contains(t, "^") || mode == Check && (s[0] == ' ' || s[0] == '\t')
}

// place reports whether a text begins with a place in a file: a/b.go:12:3:, a.ts(4,2):, a.py:12:
func place(t string) bool {
	name := t
	if i := strings.IndexAny(t, " \t"); i >= 0 {
		name = t[:i]
	}
	if i := strings.IndexByte(name, '('); i > 0 && digits(name[i+1:]) > 0 {
		return strings.Contains(name[:i], ".") && strings.Contains(name[i:], ",")
	}
	i := strings.IndexByte(name, ':')
	for i >= 0 && i+1 < len(name) && digits(name[i+1:]) == 0 { // C:\a.go:1, https://
		next := strings.IndexByte(name[i+1:], ':')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	if i <= 0 || i+1 >= len(name) || !strings.Contains(name[:i], ".") ||
		strings.Contains(name[:i], "://") {
		return false
	}
	after := name[i+1+digits(name[i+1:]):]
	return hasAny(after, ":") || after == "" && strings.HasPrefix(t[len(name):], " +0x")
}

// isTerminal reports whether a line is one that a terminal shows: behind a prompt, of a listing, or
// of an agent's own screen.
func isTerminal(t string) bool {
	if IsCommand(t) || hasAny(t, "⏺ ", "⎿ ", "● ", "❯ ", "╭─", "╰─", "│ ") {
		return true
	}
	// -rw-r--r-- 1 root
	return len(t) > 11 && strings.IndexByte("-dl", t[0]) >= 0 &&
		strings.Trim(t[1:10], "rwxsStT-") == "" && strings.IndexByte(" .+@", t[10]) >= 0
}

// IsCommand reports whether a line is a command behind the prompt of a shell, as the shells show
// it that nobody has set up: bash, zsh, fish, PowerShell, cmd, Python.
func IsCommand(t string) bool {
	if hasAny(t, "$ ", "% ", "❯ ", "➜ ", "PS> ", ">>> ") {
		return true
	}
	if strings.HasPrefix(t, "(") { // (venv) mia@host:~$ make
		if _, rest, ok := strings.Cut(t, ") "); ok {
			t = rest
		}
	}
	// C:\shop>dir, PS C:\shop> dir
	d := strings.TrimPrefix(t, "PS ")
	if len(d) > 3 && isLetter(d[0]) && hasAny(d[1:], `:\`) {
		_, rest, ok := strings.Cut(d, ">")
		return ok && strings.TrimSpace(rest) != ""
	}
	// mia@host:~/shop$ make, mia@host shop % make, [mia@host shop]$ make, mia@host ~/shop> make
	user, rest, ok := strings.Cut(strings.TrimPrefix(t, "["), "@")
	if !ok || user == "" || strings.Contains(user, " ") {
		return false
	}
	words := strings.Fields(rest)
	for i, w := range words[:min(len(words), 3)] {
		if strings.IndexByte("$#%>", w[len(w)-1]) >= 0 {
			return i+1 < len(words) && (len(w) == 1 || strings.ContainsAny(w, ":~/]"))
		}
	}
	return false
}

// isRow reports whether a line is a row of a table.
func isRow(t string) bool {
	if strings.HasPrefix(t, "|") && strings.HasSuffix(t, "|") && strings.Count(t, "|") > 2 {
		return true
	}
	return strings.HasPrefix(t, "+-") && strings.HasSuffix(t, "-+") ||
		hasAny(t, "┌─", "├─", "└─") && strings.ContainsAny(t, "┬┼┴┐┤┘") ||
		strings.HasPrefix(t, "│") && strings.HasSuffix(t, "│")
}

// isMember reports whether a line is a member in the middle of JSON.
func isMember(s, t string) bool {
	if t[0] != '"' || s[0] != ' ' && s[0] != '\t' {
		return false
	}
	name, value, ok := strings.Cut(t[1:], `":`)
	if !ok || strings.Contains(name, `"`) {
		return false
	}
	value = strings.TrimSpace(value)
	return value != "" && (strings.ContainsAny(value[len(value)-1:], `,{["}]`) ||
		isDigit(value[len(value)-1]) || hasAny(value, "true", "false", "null"))
}

// asks reports whether a line has words of the person: it is a question, or a sentence.
func asks(s string) bool {
	t := strings.TrimSpace(s)
	if t == "" {
		return false
	}
	switch t[len(t)-1] {
	case '?':
		return true
	case '.', '!': // nothing but words
		marked := strings.ContainsFunc(t, func(r rune) bool {
			return !unicode.IsLetter(r) && !strings.ContainsRune(" ,.!'-", r)
		})
		if !marked && isLetter(t[0]) {
			return true
		}
	}
	words, small, foreign, letters := 0, 0, 0, 0
	for word := range strings.FieldsSeq(strings.ToLower(t)) {
		words++
		if isSmall(strings.Trim(word, ".,:;!()\"'")) {
			small++
		}
	}
	for _, r := range t {
		if r >= 0x80 && !(r >= 0x2000 && r < 0x2e80) { // no marks and boxes
			foreign++
		} else if r < 0x80 && isLetter(byte(r)) {
			letters++
		}
	}
	if foreign > 0 && 3*foreign >= letters {
		return true
	}
	return words >= 3 && small >= 2 && 5*small >= words && isLetter(t[0])
}

// isSmall reports whether a word is one of those that hold sentences together, or that ask.
func isSmall(w string) bool {
	switch w {
	case "the", "a", "an", "is", "are", "was", "to", "and", "or", "but", "not", "do", "does",
		"did", "can", "could", "should", "would", "please", "we", "i", "you", "it", "this", "that",
		"these", "why", "how", "what", "when", "where", "which", "with", "for", "in", "on", "at",
		"my", "our", "be", "have", "has", "there", "so", "if", "then", "now", "don't", "i'm",
		"it's", "let's", "still", "same", "see", "der", "die", "das", "und", "ist", "nicht", "bitte", "ich",
		"wir", "le", "la", "les", "et", "est", "pas", "je", "el", "los", "y", "es", "no", "que",
		"por", "of", "from", "as", "after", "before":
		return true
	}
	return false
}
