package summarize

import (
	"slices"
	"strings"
)

// urgent is added to the weight of sentences that come before all others: the user's corrections
// and last requests in a conversation with a model. It exceeds every value that terms can give.
const urgent = 1 << 40

// urgentShare is the divisor of the budget that urgent sentences may use before they compete with
// all others. With a half, talks of short messages lose a fifth of their facts at a tenth of the
// size, and no set gains.
const urgentShare = 3

// lastRequests is the number of the user's last messages that count as requests.
const lastRequests = 3

// nodWords is the number of words from which a message is no acknowledgement any more. A longer
// message of filler words is a request: "and the other one too".
const nodWords = 3

// maxUrgent is the size, in quarters of a token, of the longest urgent message. A longer one is a
// text to work on.
const maxUrgent = 4 * 60

// setUrgent marks urgent messages, with all their sentences. Sentences are in reading order.
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
		if message := list[start:end]; message[0].role == "user" &&
			quartersOf(message) <= maxUrgent {
			if Corrects(strings.ToLower(textOf(message))) {
				setFirst(message)
			} else if requests < lastRequests && !isShortNod(message) {
				setFirst(message)
				requests++
			}
		}
		end = start
	}
}

// textOf returns the known sentences of a message on one line.
func textOf(message []valued) string {
	var b strings.Builder
	for i := range message {
		b.WriteString(message[i].text + " ")
	}
	return strings.TrimSpace(b.String())
}

// isShortNod reports whether a message is an acknowledgement of fewer than nodWords words.
func isShortNod(message []valued) bool {
	return len(message) == 1 && message[0].factor == fillerFactor &&
		strings.Count(message[0].text, " ") < nodWords
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

// Corrects reports whether a text corrects something, forbids it or insists on it. It depends on
// the form of the text and not on its subject: a sentence begins with a negation; a part of it
// denies one thing beside another, as in "use this, not that"; a "but" follows an acknowledgement;
// or a word allows no exception. A single question counts only if it begins with a negation.
func Corrects(lower string) bool {
	asks := strings.HasSuffix(lower, "?") && !strings.Contains(lower, ". ")
	raw, before, first := "", "", false // of the word before, and whether that began a sentence
	i := 0
	for w := range strings.FieldsSeq(lower) {
		word := bare(w)
		if first && before == "do" && word == "not" {
			return true
		}
		if first = i == 0 || endsSentence(raw); first && negates(word) {
			return true
		}
		if !asks && (insists(word) || i > 0 && sets(raw, before, word) ||
			word == "but" && 0 < i && i < nodWords) {
			return true
		}
		raw, before = w, word
		i++
	}
	return false
}

// bare returns a word without the punctuation marks that surround it.
func bare(word string) string { return strings.Trim(word, ".,;:!?\"'()-") }

func endsSentence(word string) bool {
	last := word[len(word)-1]
	return last == '.' || last == '!' || last == '?'
}

// negates reports whether a sentence that begins with a word denies or forbids something. So does
// one that begins with "do not".
func negates(word string) bool {
	return slices.Contains([]string{"no", "nope", "not", "never", "don't", "dont", "stop", "leave",
		"wait", "wrong", "actually"}, word)
}

// insists reports whether a word denies something or allows no exception.
func insists(word string) bool {
	return slices.Contains([]string{"instead", "wrong", "never", "don't", "dont", "always", "every",
		"must", "only"}, word)
}

// sets reports whether a word contrasts two things, given the word before it. raw is the word
// before with its punctuation.
func sets(raw, before, word string) bool {
	switch word {
	case "not":
		return strings.HasSuffix(raw, ",") || before == "but" || before == "and" || before == "do"
	case "than":
		return before == "rather"
	case "longer":
		return before == "no"
	case "meant":
		return before == "i"
	}
	return false
}

// hedged reports whether a text has words of a guess.
func hedged(lower string) bool {
	return hasAny(lower, []string{"my guess", "my first thought", "my first suspicion", "i suspect",
		"i think", "i guess", "i thought", "i assume", "assumption", "probably", "maybe", "perhaps",
		"might be", "could be", "may be", "looks like", "seems to"})
}
