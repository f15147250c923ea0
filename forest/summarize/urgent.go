package summarize

import (
	"slices"
	"strings"
)

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

// setUrgent marks what comes first: messages, with all their sentences. Sentences are in order.
func setUrgent(list []valued) {
	agent := false
	for i := range list {
		agent = agent || list[i].role == "model" || list[i].role == "tool"
	}
	if !agent {
		return
	}
	requests := 0
	for end := len(list); end > 0; {
		start := end - 1
		for start > 0 && list[start-1].entry == list[end-1].entry {
			start--
		}
		if message := list[start:end]; message[0].role == "user" && quartersOf(message) <= maxUrgent {
			if slices.ContainsFunc(message, isCorrection) {
				setFirst(message)
			} else if requests < lastRequests && !isShortNod(message) {
				setFirst(message)
				requests++
			}
		}
		end = start
	}
}

func isCorrection(v valued) bool { return corrects(strings.ToLower(v.text)) }

// isShortNod reports whether a message is a nod of fewer than nodWords words.
func isShortNod(message []valued) bool {
	return len(message) == 1 && message[0].factor == fillerFactor && strings.Count(message[0].text, " ") < nodWords
}

func setFirst(message []valued) {
	for i := range message {
		message[i].first = urgent
	}
}

func quartersOf(message []valued) int {
	sum := 0
	for i := range message {
		sum += message[i].quarters
	}
	return sum
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
