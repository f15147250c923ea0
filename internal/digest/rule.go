package digest

import (
	"slices"
	"strings"
)

// IsRule reports whether a sentence of a user tells what to do, or not to do, from then on, or what
// is not so. A clause of it has the form of an order that allows no exception, of a ban, or of a
// permission. A question is no rule, nor is an order for one occasion, or one whose object stands
// in a sentence before.
func IsRule(line string) bool {
	c := contentOf(line)
	if strings.HasSuffix(line, "?") || c.words+c.names+c.numbers < 2 || pointsBack(line) {
		return false
	}
	lower := strings.ToLower(strings.ReplaceAll(line, "\u2019", "'"))
	if hasLead(lower, requests[:]) || hasAny(lower, occasions[:]) {
		return false
	}
	if hasAny(lower, lasting[:]) || hasLead(lower, denials[:]) {
		return true
	}
	for _, clause := range clausesOf(lower) {
		if isDirective(clause) {
			return true
		}
	}
	return false
}

var (
	// requests begin a request, whatever comes after it.
	requests = [...]string{"can you ", "could you ", "would you ", "will you ", "why ", "no wait",
		"/"}
	// occasions name the one occasion that an order is for.
	occasions = [...]string{" for now", " the next ", " this time", " today", " tonight",
		" the same day", " tomorrow", " yet", " this once", " just this"}
	// lasting say that an order holds for good, or what is so instead of something else.
	lasting = [...]string{"from now on", "in future", "in the future", "at all times",
		"under no circumstances", " must not ", " must never ", " should never ", " may not ",
		" shall not ", " has to ask", " want you to ask",
		", not "}
	// denials begin a correction.
	denials = [...]string{"no, ", "no ", "nope", "not ", "wrong", "actually"}
	// orders begin a clause that allows no exception, forbids, insists or permits.
	orders = [...]string{"never ", "always ", "don't ", "dont ", "do not ", "avoid ", "only ",
		"make sure ", "be sure ", "remember ", "prefer ", "stop ", "leave ", "keep ", "ask me ",
		"ask before ", "we don't want ", "we do not want ", "i don't want ", "i dont want ",
		"i do not want ", "you may ", "you must ", "we must ", "feel free "}
	// openers of clauses that say nothing of their own.
	clauseOpeners = [...]string{"please ", "also ", "and ", "but ", "so ", "then ", "ok ", "okay ",
		"yes ", "well ", "just "}
)

// isDirective reports whether a clause is an order for good. "keep going" is none.
func isDirective(clause string) bool {
	for again := true; again; {
		again = false
		for _, o := range clauseOpeners {
			if rest, ok := strings.CutPrefix(clause, o); ok {
				clause, again = strings.TrimLeft(rest, " "), true
			}
		}
	}
	for _, o := range orders {
		if rest, ok := strings.CutPrefix(clause, o); ok {
			next, _, _ := strings.Cut(rest, " ")
			isBan := o == "stop " || o == "avoid "
			return next != "" && next != "out" && (isBan || !strings.HasSuffix(next, "ing"))
		}
	}
	contrasts := hasAny(clause, []string{" not ", " instead of ", " rather than ", " never "})
	return strings.HasPrefix(clause, "use ") && contrasts
}

// clausesOf splits a sentence at the marks between its clauses and before "but". What follows a
// clause that begins with "use" stays with it, because it says what not to use.
func clausesOf(line string) []string {
	var list []string
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(line, " but ", ", but "),
		func(r rune) bool { return strings.ContainsRune(",;:.!", r) }) {
		part = strings.TrimSpace(part)
		n := len(list) - 1
		if n >= 0 && strings.HasPrefix(list[n], "use ") && strings.HasPrefix(part, "not ") {
			list[n] += " " + part
			continue
		}
		list = append(list, part)
	}
	return list
}

func hasLead(s string, leads []string) bool {
	return slices.ContainsFunc(leads, func(l string) bool { return strings.HasPrefix(s, l) })
}

func hasAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// pointsBack reports whether the object of an order stands in a sentence before: "teach that to the
// checker", "do it".
func pointsBack(line string) bool {
	words := strings.Fields(strings.ToLower(line))
	if len(words) < 2 {
		return true
	}
	isPronoun := slices.Contains([]string{"that", "this", "it", "those", "these", "them"}, words[1])
	return isPronoun && (len(words) == 2 || slices.Contains([]string{"to", "in", "into", "for",
		"with", "as", "on", "at", "and", "from", "by"}, words[2]))
}
