package prose

import (
	"slices"
	"strings"
	"unicode"
)

// HoldsForNow reports whether a rule says itself until when it holds: "not before the tests ran".
func HoldsForNow(rule string) bool {
	return HasAny(" "+strings.ToLower(rule)+" ", []string{" not before ", " until ", " yet ",
		" not now ", " first ", " wait ", " for now ", " noch nicht ", " erst ", " pas encore ",
		" avant ", " todavía ", " ainda ", " пока ", "先", "まだ"})
}

// IsRule reports whether a sentence of a user tells what to do, or not to do, from then on, or what
// is not so. A clause of it has the form of an order that allows no exception, of a ban, or of a
// permission. A question is no rule, nor is an order for one occasion, or one whose object stands
// in a sentence before.
func IsRule(line string) bool {
	line = withoutPlace(withoutPasted(line))
	if before, after, ok := strings.Cut(line, "; "); ok && !strings.HasSuffix(line, "?") {
		return IsRule(before) || IsRule(after)
	}
	lower := strings.ToLower(strings.ReplaceAll(line, "\u2019", "'"))
	if isRuleElsewhere(lower) {
		return true
	}
	if strings.HasSuffix(line, "?") {
		return false
	}
	if HasLead(lower, requests[:]) || HasAny(lower, occasions[:]) || HasAny(lower, reports[:]) {
		return false
	}
	if HasAny(lower, unasked[:]) || HasLead(lower, bans[:]) {
		return true
	}
	c := contentOf(line)
	content := c.words + c.names + c.numbers
	if content > 0 && HasLead(lower, forGood[:]) && !pointsBack(line) {
		return true
	}
	if content < 2 {
		return false
	}
	if !pointsBack(line) && (HasAny(lower, lasting[:]) || HasLead(lower, denials[:]) ||
		HasLead(lower, heads[:]) || strings.HasSuffix(strings.TrimRight(lower, ".!"), " only") ||
		isStyle(lower) || isPrecaution(lower) ||
		HasLead(lower, each[:]) && HasAny(lower, duties[:])) {
		return true
	}
	return slices.ContainsFunc(strings.Split(line, ", "), func(clause string) bool {
		return strings.HasSuffix(clause, " only") && HasName(clause)
	}) || slices.ContainsFunc(clausesOf(lower), func(clause string) bool {
		return !pointsBack(clause) && isDirective(clause)
	})
}

var (
	// requests begin a request, whatever comes after it.
	requests = [...]string{"can you ", "could you ", "would you ", "will you ", "why ", "no wait",
		"/"}
	// occasions name the one occasion that an order is for.
	occasions = [...]string{" for now", " the next ", " this time", " today", " tonight",
		" the same day", " tomorrow", " yet", " this once", " just this", "never mind"}
	// lasting say that an order holds for good, or what is so instead of something else.
	lasting = [...]string{"from now on", "in future", "in the future", "at all times",
		"under no circumstances", " must not ", " must never ", " should never ", " may not ",
		" shall not ", " has to ask", " want you to ask", " after each ", " after every ",
		" before each ", " before every ", " should stick to ", " not subject to ", ", not ",
		" must stay", " must remain", " has to stay", " have to stay", " must be kept",
		"told you not to ", "told you to ", "asked you not to ", "asked you to "}
	// forGood begin an order that holds from then on, with a single telling word.
	forGood = [...]string{"from now on ", "from now on, ", "going forward ", "going forward, "}
	// each begin a sentence about all of a kind, which is an order with one of duties.
	each   = [...]string{"every ", "each "}
	duties = [...]string{" has to ", " have to ", " must ", " needs to ", " need to "}
	// reports lead words of others, which order nothing here.
	reports = [...]string{" error: ", " say: ", " says: ", " said: ", " reads: ", " write: ",
		" writes: ", " wrote: ", " suggests: ", " recommends: "}
	// unasked deny that something was asked for.
	unasked = [...]string{"i did not say", "i didn't say", "i did not ask", "i didn't ask",
		"i never said", "i never asked"}
	// bans hold with a single telling word: "do not make changes".
	bans = [...]string{"do not make ", "don't make ", "let's not ", "we don't use ", "we do not use "}
	// assurances are orders if they say what must not be, or when. Else they are for one occasion.
	assurances = [...]string{"make sure ", "be sure "}
	conditions = [...]string{" not ", "n't ", " never ", " always ", " only ", " should ", " must ",
		" before ", " after ", " when ", " every ", " each "}
	// denials begin a correction. What else begins with "no" says what there is not.
	denials = [...]string{"no, ", "nope", "not ", "wrong", "actually", "no it ", "no it's ",
		"no that ", "no this ", "no they", "no the ", "no i ", "no we ", "no you ", "no don't ",
		"no dont ", "no do not ", "no never ", "no use ", "no new ", "no more "}
	// heads announce what holds for good.
	heads = [...]string{"remember: ", "remember that ", "rule: ", "house rule: ", "important: "}
	// places are where a ban of a kind of words or things holds.
	places = [...]string{"output", "code", "comments", "commits", "commit messages", "answers",
		"responses", "tests", "docs", "documentation", "names", "logs", "replies", "messages"}
	// wholly says of what is removed that it stays away.
	wholly = [...]string{" completely", " entirely", " altogether", " for good"}
	// orders begin a clause that allows no exception, forbids, insists or permits.
	orders = [...]string{"never ", "always ", "don't ", "dont ", "do not ", "avoid ", "only ",
		"remember ", "prefer ", "stop ", "leave ", "keep ", "ask me ", "ask before ",
		"we don't want ", "we do not want ", "i don't want ", "i dont want ", "i do not want ",
		"i don't think i want ", "i dont think i want ", "you may ", "you must ", "we must ",
		"feel free ", "we never ", "we always "}
	// openers of clauses that say nothing of their own.
	clauseOpeners = [...]string{"please ", "also ", "and ", "but ", "so ", "then ", "ok ", "okay ",
		"yes ", "well ", "just ", "i want you to ", "i'd like you to ", "i would like you to "}
)

// withoutPasted returns a line without the mark of what was pasted behind it, "[6 lines of a log:
// …]": whose words these are nobody knows.
func withoutPasted(line string) string {
	for i := range line {
		if count := strings.TrimLeft(line[i+1:], "0123456789"); line[i] == '[' &&
			len(count) < len(line)-i-1 && strings.HasPrefix(count, " line") {
			return strings.TrimRight(line[:i], " ")
		}
	}
	return line
}

// withoutPlace returns a line without the file for which it orders something: "in lamp.go, never",
// "lamp.go 里不要".
func withoutPlace(line string) string {
	rest := line
	for _, lead := range [...]string{"In ", "in ", "For ", "for ", "Dans ", "dans ", "En ", "en "} {
		rest = strings.TrimPrefix(rest, lead)
	}
	rest = strings.TrimPrefix(rest, "`")
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r > unicode.MaxLatin1 || r < '.' && r != '-' || strings.ContainsRune("`,:;", r)
	})
	if end < 3 || !strings.ContainsAny(rest[1:end-1], "./") {
		return line
	}
	after := strings.TrimLeft(rest[end:], ",:` ")
	for _, tail := range [...]string{"里", "裡", "中", "内", "では", "には", "에서는", "에서"} {
		if cut, ok := strings.CutPrefix(after, tail); ok {
			return strings.TrimLeft(cut, ",，、 ")
		}
	}
	if rest == line {
		return line // the file is what something is said of
	}
	return after
}

// Lifts reports whether a sentence of a user takes back an order for good, or allows what one
// forbids.
func Lifts(line string) bool {
	lower := strings.ToLower(strings.ReplaceAll(line, "\u2019", "'"))
	last := strings.TrimRight(lower, ".! ")
	now := strings.HasSuffix(last, " now") || strings.HasSuffix(last, " again")
	return !strings.HasSuffix(line, "?") && (HasLead(lower, []string{"ignore the rule",
		"ignore what i said", "forget what i said", "forget the rule", "forget about the rule",
		"never mind the rule", "never mind what i said", "nevermind the rule", "drop the ",
		"scrap the rule", "you may ", "you can ", "you are allowed to ", "feel free to ", "no need to ",
		"it is fine to ",
		"it's fine to ", "it is ok to ", "it's ok to ", "it is okay to ", "it's okay to "}) ||
		HasAny(lower, tongueLifts[:]) || now && HasAny(lower, []string{" may be ", " can be ",
		" is allowed", " are allowed", " is fine", " are fine"}) ||
		HasAny(lower, []string{" may now ", " can now ", " no longer need", " don't need to ",
			" do not need to ", " no longer applies", " forget what i said", " is lifted"}))
}

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
			if pointsBack(rest) && len(strings.Fields(rest)) == 2 {
				return false
			}
			return next != "" && next != "out" && (isBan || !strings.HasSuffix(next, "ing"))
		}
	}
	if clause == "ask me" || clause == "ask first" {
		return true
	}
	if HasLead(clause, assurances[:]) {
		return HasAny(clause, conditions[:])
	}
	contrasts := HasAny(clause, []string{" not ", " instead of ", " rather than ", " never "})
	removes := HasLead(clause, []string{"remove ", "drop ", "delete ", "get rid of "})
	return strings.HasPrefix(clause, "use ") && contrasts || removes && HasAny(clause, wholly[:])
}

// isPrecaution reports whether a sentence says what always comes before something: "before editing
// on the server always make a backup".
func isPrecaution(lower string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(lower, "please "), "before ")
	verb, _, _ := strings.Cut(rest, " ")
	return ok && strings.HasSuffix(verb, "ing") && HasAny(lower, []string{" always ", " never "})
}

// isStyle reports whether a sentence bans a kind of words or things: "no emojis in commits".
func isStyle(lower string) bool {
	what, where, ok := strings.Cut(strings.TrimRight(strings.TrimPrefix(lower, "please "), ".!"),
		" in ")
	where = strings.TrimPrefix(strings.TrimPrefix(where, "the "), "your ")
	return ok && strings.HasPrefix(what, "no ") && strings.Count(what, " ") <= 2 &&
		slices.Contains(places[:], where)
}

// clausesOf splits a sentence at the marks between its clauses, before "but", and before "and" with
// the word of an order. What follows a
// clause that begins with "use" stays with it, because it says what not to use.
func clausesOf(line string) []string {
	var list []string
	for _, word := range [...]string{"never ", "always ", "don't ", "do not ", "only "} {
		line = strings.ReplaceAll(line, " and "+word, ", "+word)
	}
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
