package prose

import "strings"

// Until is what ends a state that a line of a model tells of. Then the line was true, and is not.
type Until uint8

// What ends a state. A line of none holds for good, as far as its words tell.
const (
	Ever     Until = iota
	Spoken         // the next words of the model: something runs, or is waited for
	Answered       // the next words of the user: a question, an offer
	Checked        // a check that passes: tests fail, or cannot run
	Changed        // a change of the file or the name that it tells of: a bug
	Mended         // likewise, or words that say so: a lack, a step that is to be done
	Settled        // the answer that it led to: a guess, a condition
	Moved          // another branch: which one is checked out
)

// waits are words of a model that waits for something.
var waits = [...]string{" are running", " is running", "still running", "progressing ", "in flight", "waiting on ",
	"waiting for ", "i'll wait", "i'm waiting", "in the meantime", "while they work", "agents done",
	"let me wait", "let me check whether", "get notified"}

// lacks are words of which a line has one that says what is not there yet, or is to be done. A
// cause and a diagnosis are none: they are true also after the change that they led to.
var lacks = [...]string{" missing", " lacks ", " lack ", " remaining ", "not yet", " unused",
	" stale", "dead code", "need to ", "needs to ", "needs update", "need update", "needs a ", "still need",
	"to fix", "untested", "under-tested", "not covered", "uncovered", "no test", "no coverage",
	"there's no ", "there is no ", "there are no ", "don't exist", "doesn't exist",
	"does not exist", " exists", "not implemented", "isn't implemented", "not wired", "not being ",
	"undefined", "uncommitted", "not committed", "not pushed", "unpushed", "unstaged",
	"lint warning", "still marks", "still uses", "no callers", "already imported", "already exist",
	"already has ", "already have ", "already been ", "already there", "already uses",
	"should use ", "should be ", "valid point", " exposed a ", " surfaced ", " would fail ",
	" is not set", "ahead by ", "behind by ",
	" tree is clean"}

// whereabouts begin the lines that say which branch is checked out.
var whereabouts = [...]string{"on `", "i'm on `", "we're on `", "now on `", "still on `"}

// guesses are words of which a line has one that says what may be so.
var guesses = [...]string{" appear to ", " appears to ", " seems to ", " might ", " may ",
	" likely ", " probably ", "i notice ", "should keep ", "should now "}

// HoldsUntil returns what ends the state that a line of a model tells of.
func HoldsUntil(line string) Until {
	lower := strings.ReplaceAll(strings.ToLower(line), "’", "'")
	switch {
	case strings.HasSuffix(strings.TrimRight(lower, "*_`)\"'” …"), "?"), IsOffer(line):
		return Answered
	case HasAny(lower, waits[:]) || HasAny(lower, []string{"match to fail", "indentation is "}):
		return Spoken
	case HasLead(lower, whereabouts[:]):
		return Moved
	case HasAny(" "+lower, guesses[:]) || HasLead(lower, []string{"wait", "hmm", "maybe "}) ||
		strings.Contains(" "+lower, " if ") && strings.Contains(lower, " would "):
		return Settled
	case HasAny(" "+lower, []string{" test", " lint", " build", " compil"}) && HasAny(lower,
		[]string{" fail", "couldn't ", "could not ", "can't ", "cannot ", "lint issue"}) ||
		HasAny(lower, []string{"lint error", "build error", "compilation error", "compiler error"}):
		return Checked
	case HasAny(" "+lower, lacks[:]) || IsStep(line) || strings.HasPrefix(lower, "fix: "):
		return Mended
	case HasAny(" "+lower, []string{" bug", "incorrect", " lost ", "mismatch", " wrong"}):
		return Changed
	case Announces(line) && !HasAny(lower, []string{" since ", "because", " so that "}):
		return Spoken
	}
	return Ever
}

// IsLack reports whether a line of a model says what is not there yet, or fails.
func IsLack(line string) bool {
	until := HoldsUntil(line)
	return until == Checked || until == Mended
}

// WithoutNext returns a line of a model without what it says at its end that it does next.
func WithoutNext(line string) string {
	for _, sep := range [...]string{", so ", ", but ", ", and ", " — ", " – ", "; "} {
		i := strings.LastIndex(line, sep)
		if i > 0 && Announces(line[i+len(sep):]) && !(sep == ", and " && isRow(line[:i])) {
			return line[:i] + "."
		}
	}
	return line
}

// isRow reports whether a text ends with a word behind a comma: "tests, lint", of a row that goes
// on with ", and".
func isRow(text string) bool {
	i := strings.LastIndex(text, ", ")
	return i >= 0 && !strings.Contains(text[i+2:], " ")
}
