package outcome

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/script"
)

// Line is a line of an error as every run prints it: numbers, times, addresses and the directories
// of paths are folded.
type Line struct {
	Text  string   // the words as they are written, to search for
	words []string // in small letters
	error bool     // it says that something failed
}

// The most lines of an error that are looked for, and how many bytes of a line are read.
const (
	maxLines = 6
	maxLine  = 1000
)

// Lines returns the lines of a text that tell how something failed, or if there are none, all that
// tell something, or else those that only name what failed.
func Lines(text string) (list []Line) {
	var others, names []Line
	for line := range strings.Lines(text) {
		l := LineOf(line)
		if !l.tells() && l.names() {
			names = append(names, l)
		}
		if !l.tells() || slices.ContainsFunc(list, func(o Line) bool { return o.Text == l.Text }) {
			continue
		}
		if l.error {
			list = append(list, l)
		} else {
			others = append(others, l)
		}
	}
	if len(list) == 0 {
		list = others
	}
	if len(list) == 0 {
		list = names
	}
	return list[:min(len(list), maxLines)]
}

// LineOf folds a line.
func LineOf(line string) (l Line) {
	line = strings.TrimSpace(line[:min(len(line), maxLine)])
	line = strings.TrimPrefix(line, "Output: ") // Gemini CLI's, before the first line of an output
	l.error = digest.IsError(line)
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_/.\\", r)
	}) {
		word = strings.Trim(word[strings.LastIndexAny(word, `/\`)+1:], ".")
		if folded := fold(word); folded != "" {
			l.words, l.Text = append(l.words, folded), strings.TrimSpace(l.Text+" "+word)
		}
	}
	return l
}

// fold returns a word in small letters; "" for a number, the rest of a time, and an address or a
// digest.
func fold(word string) string {
	if isCode(word) {
		return strings.ToLower(word)
	}
	digits, hex := 0, 0
	for _, r := range word {
		if unicode.IsDigit(r) {
			digits++
		}
		if unicode.Is(unicode.ASCII_Hex_Digit, r) {
			hex++
		}
	}
	if n := len(word); digits*2 > n || digits > 0 && hex == n && n >= 6 || hex == n && n >= 16 {
		return ""
	}
	return strings.ToLower(word)
}

// isCode reports whether a word is the code of an error, as E0382, TS2304 and ORA00942.
func isCode(word string) bool {
	digits := strings.TrimLeft(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	letters := len(word) - len(digits)
	return letters > 0 && letters < 6 && len(digits) > 2 && len(digits) < 6 &&
		strings.Trim(digits, "0123456789") == ""
}

// tells reports whether a line has enough words to know an error by, or the code of one.
func (l Line) tells() bool {
	return weight(l.words, l.words) >= 12 && len(l.words) > 1 ||
		slices.ContainsFunc(strings.Fields(l.Text), isCode)
}

// names reports whether a line says that something failed, and what, as a test with a short name.
func (l Line) names() bool {
	return l.error && weight(l.words, l.words)-weight(l.words, failing) >= 4
}

// failing are words that lines of any failure have.
var failing = []string{"error", "fail", "failed", "failure", "fatal", "panic", "exception", "not",
	"found", "npm", "err", "exit", "status", "code", "command", "denied", "refused", "invalid"}

// weight is how much those of some words tell that others have, too: long ones, up to a limit,
// more.
func weight(words, others []string) (sum float64) {
	const most = 12
	for i, w := range words {
		if !slices.Contains(words[:i], w) && slices.Contains(others, w) {
			sum += float64(min(len(w), most))
		}
	}
	return sum
}

// Like returns how much of an error a line has, from 0 to 1. A line that says much else is another
// one, unless it has all words of the error in one piece: somebody asks for the end of a long line.
func (l Line) Like(line string) float64 {
	other := LineOf(line)
	all := weight(l.words, l.words)
	if l.error && !other.error { // as one that says that the same test passed
		return 0
	}
	if weight(other.words, other.words) > 3*all+20 && !contains(other.words, l.words) {
		return 0
	}
	return weight(l.words, other.words) / all
}

// contains reports whether a list has the words of another one in one piece.
func contains(list, piece []string) bool {
	for ; len(list) >= len(piece); list = list[1:] {
		if slices.Equal(list[:len(piece)], piece) {
			return true
		}
	}
	return false
}

// How much a line has to be like an error to be the same, and to be so for sure.
const (
	Least = 0.75
	Sure  = 0.9
)

// Share returns how much of an error's lines a text has, from 0 to 1, each as a line that is at
// least so much like it, and the line of the text that is most like one of them.
func Share(lines []Line, text string, least float64) (share float64, most string) {
	sum, best := 0.0, 0.0
	like := make([]float64, len(lines))
	for line := range strings.Lines(text) {
		for i, l := range lines {
			n := l.Like(line)
			if n < least {
				continue
			}
			if like[i] = max(like[i], n); n > best {
				best, most = n, strings.TrimSpace(line)
			}
		}
	}
	for i, l := range lines {
		w := weight(l.words, l.words)
		share, sum = share+w*like[i], sum+w
	}
	return share / max(sum, 1), most
}

// SameProgram reports whether two scripts run the same program, beside those that only change the
// directory or print.
func SameProgram(a, b string) bool {
	names := func(script string) (list []string) {
		for _, p := range programs(script) {
			words := wordsOf([]string{p}, "")
			if len(words) > 0 && words[0] != "cd" && words[0] != "echo" {
				list = append(list, words[0])
			}
		}
		return list
	}
	other := names(b)
	return slices.ContainsFunc(names(a), func(n string) bool { return slices.Contains(other, n) })
}

// IsTold reports whether a fact is of what a person said, such as an error that was pasted.
func IsTold(f *digest.Fact) bool { return f.Kind == digest.Prompt || f.Kind == digest.Code }

// Ended is how a failure was mended.
type Ended struct {
	// Of the same command, or one much like it, that passed; else the next check that passed after an
	// edit, in the same turn; else a run of the command that failed, but not so.
	Run   *digest.Fact
	Edits []string     // files that changed until then, with lines that came and went
	Said  *digest.Fact // what the agent said about it; nil for nothing
}

// maxChecks is how many acts after a failure another check tells of it.
const maxChecks = 12

// The most acts after a failure, and the least likeness of commands, between which its end is
// looked for; with enough likeness the first such run is taken.
const (
	maxActs    = 80
	leastAlike = 0.5
	alike      = 0.75
)

// Ended returns what ended the failure of the act at a place among the facts. An error that a
// person pasted ends with the next check that passed after an edit, in the same turn. stood has
// the places of acts with the same failure. It returns nil if nothing did.
func (s *Session) Ended(at int, stood map[int]bool) *Ended {
	run := &s.Facts[at]
	end, best, acts := -1, 0.0, 0
	edited, turned, check, other := false, false, -1, -1
	told := IsTold(run)
	for j := at + 1; j < len(s.Facts) && acts < maxActs; j++ {
		f := &s.Facts[j]
		if f.Kind == digest.Prompt && f.Seq > run.Seq {
			if told {
				break // whatever passes from here on may be of something else
			}
			turned = true
		}
		edited = edited || f.Kind == digest.Edit && !f.Undone()
		if f.Kind != run.Kind && f.Kind != digest.Command {
			continue
		}
		acts++
		passed := f.State == digest.Passed
		if s.leavesOut(at, f) {
			continue
		}
		if edited && run.Checks() && f.Checks() && !stood[j] && acts <= maxChecks {
			if passed && check < 0 && !turned {
				check = j
			} else if !passed && other < 0 && alikeCommands(run, f) >= alike {
				other = j
			}
		}
		if told && edited && f.Checks() && passed {
			end = j
			break
		}
		if told || f.Kind != run.Kind || stood[j] || f.Undone() ||
			run.Kind == digest.Command && f.State != digest.Passed {
			continue
		}
		like := 1.0
		if run.Kind == digest.Command {
			like = alikeCommands(run, f)
		} else if f.ActKey() != run.ActKey() {
			continue
		}
		if like >= leastAlike && like > best {
			end, best = j, like
		}
		if like >= alike {
			break
		}
	}
	if end < 0 {
		end = check
	}
	if end < 0 {
		end = other
	}
	if end < 0 {
		return nil
	}
	return &Ended{Run: &s.Facts[end], Edits: s.edits(at, end), Said: s.said(at, end)}
}

// Answered returns how the agent's answer about an error that a person pasted begins: that of its
// last message before the next prompt; nil for none.
func (s *Session) Answered(at int) (first *digest.Fact) {
	asked := s.Facts[at].Seq
	for i := at + 1; i < len(s.Facts); i++ {
		f := &s.Facts[i]
		if f.Kind == digest.Prompt && f.Seq > asked {
			break
		}
		if (f.Kind == digest.Said || f.Kind == digest.Answer) && !f.Slight &&
			(first == nil || f.Seq > first.Seq) {
			first = f
		}
	}
	return first
}

// alikeCommands returns how much two commands are alike, by the words of the program that failed
// and the most like one of the other's.
func alikeCommands(run, other *digest.Fact) float64 {
	return mostLike(run, other, func(mine, theirs []string) float64 {
		if len(theirs) == 0 || mine[0] != theirs[0] {
			return 0
		}
		shared := sharedWords(theirs, mine)
		return float64(shared) / float64(len(mine)+len(theirs)-shared)
	})
}

// mostLike compares the words of the program that failed, of which there are some, with those of
// each program of another command, and returns the highest result.
func mostLike(
	run, other *digest.Fact, like func(mine, theirs []string) float64,
) (best float64) {
	mine := wordsOf(programs(run.Command()), run.Key)
	if len(mine) == 0 {
		return 0
	}
	for _, p := range programs(other.Command()) {
		best = max(best, like(mine, wordsOf([]string{p}, "")))
	}
	return best
}

// sharedWords counts the words of a list that another one has, too.
func sharedWords(words, others []string) (n int) {
	for _, w := range words {
		if slices.Contains(others, w) {
			n++
		}
	}
	return n
}

// programs splits a script into its commands.
func programs(text string) []string { return script.Split(text, "&&", "||", ";", "|", "\n") }

// programOf returns the first command of a list that has a key, or the first one.
func programOf(list []string, key string) string {
	for _, p := range list {
		if key != "" && strings.Contains(p, key) {
			return p
		}
	}
	return list[0]
}

// wordsOf returns the words of the first program of a list that begins with a key, each once,
// without options, settings of the environment and numbers.
func wordsOf(list []string, key string) (words []string) {
	for _, field := range strings.Fields(programOf(list, key)) {
		if strings.HasPrefix(field, "-") || len(words) == 0 && strings.Contains(field, "=") ||
			strings.ContainsAny(field, "<>") {
			continue
		}
		for w := range strings.FieldsFuncSeq(field, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-", r)
		}) {
			if w = fold(w); w != "" && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	return words
}

// edits returns the files that changed between two places.
func (s *Session) edits(from, to int) []string {
	sums, order := map[string][2]int{}, []string{}
	for i := range s.Facts[from:to] {
		f := &s.Facts[from+i]
		if f.Kind != digest.Edit || f.Undone() {
			continue
		}
		sum, seen := sums[f.Path]
		if !seen {
			order = append(order, f.Path)
		}
		sums[f.Path] = [2]int{sum[0] + f.Added, sum[1] + f.Removed}
	}
	return lists.Map(order, func(path string) string {
		return digest.Changed(path, sums[path][0], sums[path][1])
	})
}

// said returns what the agent said about a failure: the sentence between two places that has most
// of what the failure says, or the first one.
func (s *Session) said(from, to int) (best *digest.Fact) {
	var lines []string
	if IsTold(&s.Facts[from]) {
		lines = LineOf(s.Facts[from].Text).words
	}
	most := 0.0
	for i := range s.Facts[from:to] {
		f := &s.Facts[from+i]
		switch {
		case f.Kind == digest.Failure && f.Key == s.Facts[from].ActKey():
			lines = append(lines, LineOf(f.Text).words...)
		case f.Kind == digest.Edit:
			lines = append(lines, LineOf(f.Path).words...)
		case (f.Kind == digest.Said || f.Kind == digest.Answer) && !f.Slight:
			if n := weight(LineOf(f.Text).words, lines) + 1; n > most {
				best, most = f, n
			}
		}
	}
	return best
}

// Failed reports whether a command failed, by what it printed alone: an agent may not say how it
// ended.
func Failed(command, output string) bool {
	return slices.ContainsFunc(ran(command, output),
		func(f digest.Fact) bool { return f.State == digest.Failed })
}

// ran returns the facts of a command that printed something.
func ran(command, output string) []digest.Fact {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return nil
	}
	return digest.Of([]digest.Message{
		{Role: "model", Calls: []digest.Call{{ID: "c", Name: "Bash", Args: args}}},
		{Role: "tool", Results: []digest.Result{{ID: "c", Output: output}}},
	})
}
