package summarize

import "strings"

// urgent is added to the weight of what comes before everything else: the user's corrections and last requests, in a conversation with a
// model. No sentence is worth as much by its terms.
const urgent = 1 << 40

// urgentShare is the part of all that is taken which may go to what is urgent before it has to stand its own against the rest.
const urgentShare = 2

// lastRequests is how many of the user's last messages count as such.
const lastRequests = 3

// nodWords is how many words a nod has less than: with more, words that say nothing by themselves are a request, "and the other one too".
const nodWords = 3

// maxUrgent is the longest message, in quarters of a token, that is. What is longer is a text to work on.
const maxUrgent = 4 * 60

// setUrgent marks what comes first. Sentences are in order.
func setUrgent(list []valued) {
	agent := false
	for i := range list {
		agent = agent || list[i].role == "model" || list[i].role == "tool"
	}
	if !agent {
		return
	}
	requests := 0
	for i := len(list) - 1; i >= 0; i-- {
		v := &list[i]
		if v.role != "user" || v.quarters > maxUrgent {
			continue
		}
		if corrects(strings.ToLower(v.text)) {
			v.first = urgent
		} else if requests < lastRequests && !(v.factor == fillerFactor && strings.Count(v.text, " ") < nodWords) {
			v.first = urgent
			requests++
		}
	}
}

// corrects knows how people correct, forbid and insist.
func corrects(lower string) bool {
	for _, w := range [...]string{"no", "nope", "not", "actually", "wait", "stop", "wrong", "don't", "do not", "never", "always", "leave", "sorry", "undo", "revert"} {
		if rest, ok := strings.CutPrefix(lower, w); ok && (rest == "" || !readable(rune(rest[0]))) {
			return true
		}
	}
	for _, w := range [...]string{"don't ", "dont ", "do not ", "never ", "always ", "must ", "instead", "rather than ", "i meant", "i mean ", "no longer", "wrong",
		", not ", " but not ", "not yet", " only ", "leave ", "stays ", "on purpose", "is now ", "new date", " no wait", "listens on ", "from now on", "should be "} {
		if strings.Contains(lower, w) {
			return !strings.HasSuffix(lower, "?") || strings.Contains(lower, ". ")
		}
	}
	return false
}

// hedged knows the words of those who guess.
func hedged(lower string) bool {
	for _, w := range [...]string{"my guess", "my first thought", "my first suspicion", "i suspect", "i think", "i guess", "i thought", "i assume", "assumption", "probably", "maybe", "perhaps",
		"might be", "could be", "may be", "looks like", "seems to"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}
