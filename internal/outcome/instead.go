package outcome

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// wrongs are words of the failures of commands that are wrong themselves, whatever the work is
// like: a program that is not there, an option that it does not have. Shells, package managers and
// the libraries that read options print them.
var wrongs = [...]string{"command not found", "not recognized as", "no such command",
	"missing script", "unknown command", "unknown flag", "unknown option", "unknown shorthand flag",
	"unrecognized option", "unrecognized argument", "invalid option", "illegal option",
	"no such option", "no rule to make target", "don't know how to make", "no such subcommand",
	"unknown subcommand", "no such task", "unknown task", "no task ", "invalid choice",
	"is not a git command", "does not contain recipe", "not found in root project",
	"don't know how to build", "error command \"", "task: task \"", "unexpected argument", "flag provided but not defined", "no module named"}

// maxInstead is how many commands after a wrong one are looked at for the one that was right.
const maxInstead = 8

// leastShared is the share of a wrong command's words that the right one has.
const leastShared = 0.6

// Instead returns the newest run of a command, and the run that passed in place of it if the
// command itself was wrong; nil for no run, and for nothing that passed in its place. Scripts that
// differ alone in the directory and in what filters the output are one command.
func (s *Session) Instead(command string) (last, right *digest.Fact) {
	key := keyOf(command)
	at := len(s.Facts) - 1
	for ; at >= 0; at-- {
		if f := &s.Facts[at]; f.Kind == digest.Command && f.Key == key {
			break
		}
	}
	if at < 0 || key == "" {
		return nil, nil
	}
	last = &s.Facts[at]
	if !s.isWrong(at) {
		return last, nil
	}
	acts := 0
	for i := at + 1; i < len(s.Facts) && acts < maxInstead; i++ {
		f := &s.Facts[i]
		if f.Kind != digest.Command {
			continue
		}
		acts++
		if f.State == digest.Passed && f.Key != key && sharedWithRight(last, f) >= leastShared {
			return last, f
		}
	}
	return last, nil
}

// isWrong reports whether the command at a place failed because it is wrong.
func (s *Session) isWrong(at int) bool {
	run := &s.Facts[at]
	if run.State != digest.Failed {
		return false
	}
	if strings.HasSuffix(run.Text, " 127") || strings.HasSuffix(run.Text, " 126") {
		return true // a shell's exit status: not found, and not to be run
	}
	for i := at + 1; i < len(s.Facts) && s.Facts[i].Kind != digest.Command; i++ {
		f := &s.Facts[i]
		if f.Kind == digest.Failure && f.Key == run.Key {
			text := strings.ToLower(f.Text)
			for _, words := range wrongs {
				if strings.Contains(text, words) {
					return true
				}
			}
		}
	}
	return false
}

// keyOf returns the key of the command that a script runs; "" for a script that runs none.
func keyOf(command string) string {
	for _, f := range ran(command, "") {
		if f.Kind == digest.Command {
			return f.Key
		}
	}
	return ""
}

// sharedWithRight returns the share of the words of a wrong command's program that the most like
// program of another one has, with or without the number of a version.
func sharedWithRight(wrong, other *digest.Fact) float64 {
	return mostLike(wrong, other, func(mine, theirs []string) float64 {
		mine, theirs = roughly(mine), roughly(theirs)
		return float64(sharedWords(mine, theirs)) / float64(len(mine))
	})
}

// roughly returns the parts of words without the number of a version and the s of a plural, and
// with their letters in order: what was typed wrong is often the same.
func roughly(words []string) []string {
	parts := strings.FieldsFunc(strings.Join(words, " "),
		func(r rune) bool { return strings.ContainsRune(" -_", r) })
	return lists.Map(parts, func(w string) string {
		letters := []rune(strings.TrimSuffix(strings.TrimRight(w, "0123456789"), "s"))
		slices.Sort(letters)
		return string(letters)
	})
}
