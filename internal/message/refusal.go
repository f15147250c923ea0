package message

import (
	"slices"
	"strings"
)

// Ending is how a call ended that did not run to its end.
type Ending byte

// The endings. A call that Stopped was ended by nobody who is named.
const (
	Ran Ending = iota
	Refused
	Stopped
)

// refusals begin the result of a call that the person refused, in the words of clients of which
// the sentence is none that refusedBy reads.
var refusals = [...]string{"[Request interrupted by user", "exec command rejected by user",
	"[Operation Cancelled]", "aborted by user after ",
	"The agent proposed a plan that was rejected by the user"}

// refusing are the verbs of a sentence that says that a person refused a call, and stopping those
// of one that says that a call was stopped.
var (
	refusing = []string{"rejected", "denied", "refused", "declined", "disallowed", "dismissed"}
	stopping = []string{"aborted", "cancelled", "canceled", "interrupted", "skipped"}
)

// subjects are the other words of a sentence that says that a call was refused or stopped.
var subjects = []string{
	"a", "an", "the", "this", "that", "your", "was", "were", "has", "been", "is", "by", "from",
	"tool", "call", "calls", "use", "execution", "operation", "request", "permission", "edit",
	"edits", "change", "changes", "command", "action", "write", "file", "patch", "task",
	"proposed", "model", "agent", "user", "users", "person", "to", "run", "proceed", "with",
	"and", "in", "for"}

// maxSentence is the most bytes of a sentence that says how a call ended.
const maxSentence = 300

// Ended reports whether an output says, in place of what a tool prints, that the person refused
// the call or that it was stopped. words are what the person said to it, and head is the output
// without them. Where head ends with a colon and words is "", the person's words are elsewhere.
func Ended(output string) (how Ending, head, words string) {
	line := strings.TrimPrefix(strings.TrimPrefix(output, "<tool_use_error>"), "Error: ")
	line, _, _ = strings.Cut(line[:min(len(line), maxSentence)], "\n")
	switch {
	case slices.ContainsFunc(refusals[:],
		func(lead string) bool { return strings.HasPrefix(line, lead) }), refusedBy(line):
		head, words = said(output)
		return Refused, head, words
	case strings.Contains(strings.TrimSpace(output), "\n"):
		return Ran, output, ""
	}
	return stopped(line), output, ""
}

// refusedBy reports whether a line begins with a sentence in which a user refuses a call: the user
// rejected this tool call, user declined to run it.
func refusedBy(line string) bool {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool {
		return r != '\'' && r != '-' && (r < 'a' || r > 'z')
	})
	if len(words) > 0 && words[0] == "the" {
		words = words[1:]
	}
	if len(words) < 2 || words[0] != "user" || slices.Contains(words, "answer") {
		return false // a question without an answer decides nothing
	}
	words = words[1:]
	for _, not := range []string{"doesn't want", "does not want", "did not allow", "didn't allow",
		"chose not"} {
		if strings.HasPrefix(strings.Join(words, " "), not) {
			return true
		}
	}
	if words[0] == "has" {
		words = words[1:]
	}
	return len(words) > 0 && (slices.Contains(refusing, words[0]) ||
		slices.Contains(stopping, words[0])) &&
		(len(words) == 1 || slices.Contains(subjects, words[1]))
}

// stopped reads a line of nothing but the words of such sentences: edit was rejected by the user,
// operation aborted.
func stopped(line string) Ending {
	words := strings.Fields(strings.ToLower(strings.TrimRight(strings.TrimSpace(line), ".!")))
	how, byUser := Ran, false
	for _, w := range words {
		switch {
		case w == "user":
			byUser = true
		case slices.Contains(refusing, w):
			how = Refused
		case slices.Contains(stopping, w) && how == Ran:
			how = Stopped
		case slices.Contains(stopping, w):
		case !slices.Contains(subjects, w):
			return Ran
		}
	}
	switch {
	case byUser && how != Ran:
		return Refused
	case how == Refused: // as "permission denied", which a system says
		return Ran
	}
	return how
}

// said cuts the words of a person out of an output: those in an element, or those behind a mark.
func said(output string) (head, words string) {
	if head, words, ok := Feedback(output); ok {
		return head, words
	}
	lower := strings.ToLower(output[:min(len(output), 2*maxSentence)])
	lower, _, _ = strings.Cut(lower, "\nrejected plan:") // whose words are the model's
	for _, mark := range []string{"the user said:", "feedback:", "reason given:"} {
		if i := strings.Index(lower, mark); i >= 0 && i+len(mark) <= len(output) {
			i += len(mark)
			return output[:i], strings.TrimSpace(output[i:])
		}
	}
	return output, ""
}

// Feedback cuts the words that a person typed about a call out of its output: what stands in an
// element "feedback" behind a line that says that the user provides it. head is what is before.
func Feedback(output string) (head, words string, ok bool) {
	const open, end = "\n<feedback>", "</feedback>"
	from := strings.Index(output, open)
	if from < 0 {
		return output, "", false
	}
	line := strings.ToLower(strings.TrimSpace(output[:from]))
	line = line[strings.LastIndexByte(line, '\n')+1:]
	words, _, ok = strings.Cut(output[from+len(open):], end)
	if words = strings.TrimSpace(words); !ok || len(line) > maxSentence || words == "" ||
		!strings.Contains(line, "the user ") {
		return output, "", false
	}
	return output[:from], words, true
}

// Typed cuts what a person typed about a call out of its output, refused or not. around is what
// stands before and behind these words, beside head. words is "" for none.
func Typed(output string) (head, words string, around []string) {
	how, head, words := Ended(output)
	if how != Refused {
		head, words, _ = Feedback(output)
	}
	if words == "" {
		return output, "", nil
	}
	at := len(head) + strings.Index(output[len(head):], words)
	return head, words, []string{output[len(head):at], output[at+len(words):]}
}
