package outcome

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// leavesOut reports whether a check does not run what failed in the tests at a place: it runs no
// tests, or with the same program those of another name or package alone.
func (s *Session) leavesOut(at int, f *digest.Fact) bool {
	run := &s.Facts[at]
	if !run.Test || !f.Checks() {
		return false
	}
	if !f.Test {
		return true
	}
	failed := LineOf(run.Text).words
	for i := range s.Facts[at:] {
		if e := &s.Facts[at+i]; e.Kind == digest.Failure && e.Key == run.Key {
			failed = append(failed, LineOf(e.Text).words...)
		}
	}
	mine, same := argumentsOf(programOf(programs(run.Command()), run.Key)), false
	for _, p := range programs(f.Command()) {
		theirs := argumentsOf(p)
		if len(mine) == 0 || len(theirs) == 0 || theirs[0] != mine[0] {
			continue
		}
		if same = true; covers(mine, theirs, failed) {
			return false
		}
	}
	return same
}

// covers reports whether tests with some arguments include those that failed: each argument is one
// of the run that failed or names what failed, or is a path beside all of that run's.
func covers(mine, theirs, failed []string) bool {
	known, named, more := wordsIn(mine), false, false
	for _, arg := range mine {
		named = named || strings.Contains(arg, "/") && len(wordsIn([]string{arg})) > 0
	}
	isKnown := func(w string) bool { return slices.Contains(known, w) }
	isPart := func(w string) bool { // as TestLamp of TestLampOil
		has := func(one string) bool { return strings.Contains(one, w) }
		return slices.ContainsFunc(known, has) || slices.ContainsFunc(failed, has)
	}
	for _, arg := range theirs {
		words, isPath := wordsIn([]string{arg}), strings.Contains(arg, "/")
		isOther := slices.ContainsFunc(words, func(w string) bool { return !isPart(w) })
		if isOther && !isPath && !slices.ContainsFunc(words, isKnown) { // no target as test:ci
			return false
		}
		more = more || isOther && isPath
	}
	return !more || named && sharedWords(known, wordsIn(theirs)) == len(known)
}

// argumentsOf returns the fields of a command without options, settings of the environment and
// redirections. The value of an option is an argument.
func argumentsOf(command string) (args []string) {
	for _, field := range strings.Fields(command) {
		if strings.HasPrefix(field, "-") {
			_, field, _ = strings.Cut(field, "=")
		}
		if field != "" && !strings.ContainsAny(field, "<>") &&
			(len(args) > 0 || !strings.Contains(field, "=")) {
			args = append(args, field)
		}
	}
	return args
}

// wordsIn returns the words of arguments, of a path the last one.
func wordsIn(args []string) (words []string) {
	for _, arg := range args {
		words = append(words, LineOf(arg).words...)
	}
	return words
}
