package summarize

import "strings"

// urgent is added to the weight of what comes before everything else: the user's corrections and last requests, in a conversation with a
// model. No sentence is worth as much by its terms.
const urgent = 1 << 40

// urgentShare is the part of all that is taken, as a divisor, which may go to what is urgent before it
// has to stand its own against the rest. With a half, talks of short messages lose a fifth of their
// facts at a tenth of the size, and no set gains.
const urgentShare = 3

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
			if corrects(strings.ToLower(textOf(message))) {
				setFirst(message)
			} else if requests < lastRequests && !isShortNod(message) {
				setFirst(message)
				requests++
			}
		}
		end = start
	}
}

// textOf is what is known of a message, on one line.
func textOf(message []valued) string {
	var b strings.Builder
	for i := range message {
		b.WriteString(message[i].text + " ")
	}
	return strings.TrimSpace(b.String())
}

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

// corrects reports whether a text puts something right, forbids it or insists on it. It goes by how
// such a text is built, and not by what it is about: a sentence begins with a negation; a part of it
// denies one thing beside another, as in "use this, not that"; a "but" follows a nod; or a word says that
// something holds without exception. A single question does none of this but by how it begins.
func corrects(lower string) bool {
	words := strings.Fields(lower)
	asks := strings.HasSuffix(lower, "?") && !strings.Contains(lower, ". ")
	before := ""
	for i, w := range words {
		word := strings.Trim(w, trimmed)
		if i == 0 || endsSentence(words[i-1]) {
			next := ""
			if i+1 < len(words) {
				next = strings.Trim(words[i+1], trimmed)
			}
			if negates(word, next) {
				return true
			}
		}
		if !asks && (insists(word) || i > 0 && sets(words[i-1], before, word) || word == "but" && 0 < i && i < nodWords) {
			return true
		}
		before = word
	}
	return false
}

// trimmed are the marks that may stand around a word.
const trimmed = ".,;:!?\"'()-"

func endsSentence(word string) bool { return strings.ContainsAny(word[len(word)-1:], ".!?") }

// negates reports whether a sentence that begins with these two words denies or forbids something.
func negates(word, next string) bool {
	switch word {
	case "no", "nope", "not", "never", "don't", "dont", "stop", "leave", "wait", "wrong", "actually":
		return true
	}
	return word == "do" && next == "not"
}

// insists knows the words that deny, or allow no exception.
func insists(word string) bool {
	switch word {
	case "instead", "wrong", "never", "don't", "dont", "always", "every", "must", "only":
		return true
	}
	return false
}

// sets reports whether a word sets two things against each other, by the word before it: raw is that
// word with its marks.
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
