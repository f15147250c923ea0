package summarize

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest/terms"
)

// share is a term of a sentence, by its number in the vocabulary, and what it is worth there before anything is covered.
type share struct {
	term  int32
	value int64
}

// What the look of a term multiplies its worth by, in tenths.
const (
	plain       = 10
	unit        = 15
	capitalised = 18
	named       = 25
	digit       = 30
)

// What a sentence's worth is multiplied by, in thousandths.
const (
	fillerFactor   = 250
	questionFactor = 300
	firstFactor    = 1600
	outputFactor   = 600  // a line that a tool printed
	failureFactor  = 2000 // one that tells of an error or an exit
	commandFactor  = 1500 // one that shows a command
)

// valued is a candidate with its terms, in ascending order, and its factor.
type valued struct {
	*candidate
	shares []share
	factor int64
}

// value weighs all candidates against each other and returns them with the size of the vocabulary.
func value(src []Source, list []candidate) (out []valued, vocabulary int) {
	number := make(map[uint64]int32)
	var frequency []int64 // by number of the term: sentences that have it
	numberOf := func(term uint64) int32 {
		n, ok := number[term]
		if !ok {
			n = int32(len(number))
			number[term] = n
			frequency = append(frequency, 0)
		}
		return n
	}
	out = make([]valued, len(list))
	for i := range list {
		c := &list[i]
		shares := looks(c.text, numberOf)
		for _, s := range shares {
			frequency[s.term]++
		}
		out[i] = valued{candidate: c, shares: shares}
	}
	names := authors(src, numberOf)
	for i := range out {
		for k, s := range out[i].shares {
			if names[s.term] {
				out[i].shares[k].value = 0
				continue
			}
			out[i].shares[k].value = s.value * rarity(int64(len(list)), frequency[s.term]) / 10
		}
	}
	setFactors(src, out)
	return out, len(number)
}

// authors returns the terms that are the names of those who speak: in chat most messages begin with one, and it says nothing.
func authors(src []Source, number func(uint64) int32) map[int32]bool {
	names := make(map[int32]bool)
	last := ""
	for _, s := range src {
		if s.Author != last {
			last = s.Author
			terms.Scan(last, func(t terms.Token) { names[number(t.Term)] = true })
		}
	}
	return names
}

// looks returns the distinct terms of a sentence with their multipliers, in tenths.
func looks(text string, number func(uint64) int32) []share {
	var list []share
	afterNumber := false
	terms.Scan(text, func(t terms.Token) {
		if t.Kind == terms.Part {
			return
		}
		list = append(list, share{term: number(t.Term), value: look(text, t, afterNumber)})
		afterNumber = t.Kind == terms.Number
	})
	slices.SortFunc(list, func(a, b share) int { return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(b.value, a.value)) })
	return slices.CompactFunc(list, func(a, b share) bool { return a.term == b.term })
}

func look(text string, t terms.Token, afterNumber bool) int64 {
	s := text[t.Start:t.End]
	first, _ := utf8.DecodeRuneInString(s)
	switch {
	case strings.ContainsAny(s, "0123456789"):
		return digit
	case t.Kind == terms.Name:
		return named
	case unicode.IsUpper(first) && strings.ContainsFunc(text[:t.Start], readable):
		return capitalised
	case afterNumber && isUnit(strings.ToLower(s)):
		return unit
	}
	return plain
}

func isUnit(w string) bool {
	switch w {
	case "ms", "us", "ns", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "hour", "hours", "day", "days",
		"week", "weeks", "month", "months", "year", "years", "byte", "bytes", "kb", "mb", "gb", "tb", "kib", "mib", "gib",
		"percent", "hz", "khz", "mhz", "ghz", "px", "pt", "mm", "cm", "km", "kg", "usd", "eur", "dollars", "euros", "times",
		"requests", "connections", "retries", "workers", "threads", "rows", "lines", "users", "people":
		return true
	}
	return false
}

// rarity returns log2(1 + n/df) in thousandths, between its neighbours at powers of two by a straight line. It is integers
// throughout, so that it is the same everywhere.
func rarity(n, df int64) int64 {
	x := uint64((n+df)<<10) / uint64(df) // 1 + n/df with ten binary places; at least 2
	whole := bits.Len64(x) - 1
	rest := (x - 1<<whole) * 1000 >> whole
	return int64(whole-10)*1000 + int64(rest)
}

// setFactors gives every sentence its factor. Sentences of a source stand together, in order.
func setFactors(src []Source, list []valued) {
	spoken := -1 // the last source that said something
	for i := range list {
		v := &list[i]
		v.factor = kindFactor(v.candidate, src[v.src].Role == "tool", len(v.shares))
		if !v.line && v.factor != fillerFactor && v.src != spoken {
			spoken = v.src
			v.factor = v.factor * firstFactor / 1000
		}
	}
}

func kindFactor(c *candidate, output bool, distinct int) int64 {
	lower := strings.ToLower(c.text)
	switch {
	case c.line && tellsFailure(lower):
		return failureFactor
	case c.line && strings.HasPrefix(lower, "$ "):
		return commandFactor
	case output:
		return outputFactor
	case isFiller(lower, distinct):
		return fillerFactor
	case strings.HasSuffix(strings.TrimRight(lower, "\"')]*_ "), "?") || strings.HasSuffix(lower, "？"):
		return questionFactor
	}
	return 1000
}

// tellsFailure knows the words that compilers, shells and test runners use for trouble.
func tellsFailure(lower string) bool {
	for _, w := range [...]string{"error", "fail", "panic", "fatal", "exception", "exit code", "exit status", "denied",
		"not found", "no such", "cannot", "undefined", "timed out", "refused"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// isFiller reports whether a sentence is thanks, a greeting or a nod: nothing but such words beside stop words.
func isFiller(text string, distinct int) bool {
	if distinct > 5 {
		return false
	}
	filler := true
	terms.Scan(text, func(t terms.Token) {
		if t.Kind != terms.Part && !isNod(strings.ToLower(text[t.Start:t.End])) {
			filler = false
		}
	})
	return filler
}

func isNod(w string) bool {
	switch w {
	case "great", "cool", "nice", "perfect", "awesome", "good", "fine", "sounds", "sure", "right", "alright", "exactly", "agreed",
		"agree", "lgtm", "done", "welcome", "cheers", "morning", "evening", "night", "bye", "lol", "haha", "hehe", "wow", "sorry",
		"worries", "problem", "works", "makes", "sense", "understood", "absolutely", "definitely", "course", "hm", "ah",
		"interesting", "true", "correct", "yup", "happy", "help", "glad", "hear", "luck", "everyone", "guys":
		return true
	}
	return false
}
