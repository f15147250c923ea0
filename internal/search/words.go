package search

import (
	_ "embed" // the forms
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/tamil"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// scan yields the tokens of text as they are indexed. Irregular forms of a word, which have no
// common stem, get the term of their base form, and words of other alphabets that of their stem.
func scan(s *terms.Scanner, text string, yield func(t terms.Token, word string)) {
	s.Scan(text, func(t terms.Token) {
		word := ""
		if t.Kind == terms.Word || t.Kind == terms.Part {
			word = strings.ToLower(text[t.Start:t.End])
			base := irregular.get()[word]
			if base == "" {
				base = otherStem(word)
			}
			if base != "" {
				terms.Scan(base, func(b terms.Token) { t.Term = b.Term })
			}
		}
		yield(t, word)
		if t.Kind == terms.Word && runsOn(word) {
			pieces(text, t, yield)
		}
	})
}

// otherStem returns the stem of a lower-case word of another alphabet, or "" if its endings are not
// known here. A language whose letters are Latin cannot be told by a word.
func otherStem(word string) string {
	r, size := utf8.DecodeRuneInString(word)
	if size < 2 || len(word) > 60 {
		return ""
	}
	switch {
	case unicode.Is(unicode.Greek, r):
		return greekStem(word)
	case unicode.Is(unicode.Hebrew, r):
		return hebrewStem(word)
	case unicode.Is(unicode.Arabic, r):
		return arabicStem(word)
	}
	env := snowballstem.NewEnv(word)
	switch {
	case unicode.Is(unicode.Cyrillic, r):
		russian.Stem(env)
	case unicode.Is(unicode.Tamil, r):
		tamil.Stem(env)
	default:
		return ""
	}
	return env.Current()
}

// runsOn reports whether a word is of a script that writes its words without spaces between, or
// with endings: katakana and Hangul. The characters of the other such scripts (Han, hiragana, Thai,
// Lao, Khmer) are tokens of their own.
func runsOn(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return size < len(word) && (unicode.In(r, unicode.Katakana, unicode.Hangul) || r == 'ー')
}

// pieces yields what parts of such a word may be asked for: every two neighboring characters, and
// the first one, because a noun of one syllable has its ending behind it.
func pieces(text string, whole terms.Token, yield func(t terms.Token, word string)) {
	add := func(i, j int) {
		piece := text[i:j]
		terms.Scan(piece, func(t terms.Token) {
			if t.Kind == terms.Word && t.End-t.Start == len(piece) {
				yield(terms.Token{Term: t.Term, Kind: terms.Part, Start: i, End: j}, piece)
			}
		})
	}
	before := whole.Start
	for i := range text[whole.Start:whole.End] {
		at := whole.Start + i
		_, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case at == whole.Start:
			add(at, at+size)
		case before > whole.Start || at+size < whole.End: // the whole word is there already
			add(before, at+size)
		}
		before = at
	}
}

// irregularForms has a line for each word: its irregular forms, and its base form.
//
//go:embed irregular.txt
var irregularForms string

// irregular maps irregular forms of English words, which a stemmer does not unite, to their base
// forms.
var irregular = madeOnce[string]{make: func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(irregularForms) {
		words := strings.Fields(line)
		base := words[len(words)-1]
		for _, w := range words[:len(words)-1] {
			m[w] = base
		}
	}
	return m
}}

// tellsTime reports whether a lower-case word expresses a time.
func tellsTime(word string) bool {
	switch word {
	case "yesterday", "today", "tonight", "tomorrow", "ago", "last", "next", "week", "weekend",
		"weeks", "month", "months", "year", "years", "day", "days",
		"hour", "hours", "minute", "minutes", "morning", "afternoon", "evening", "night",
		"recently", "soon", "earlier", "later",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january",
		"february", "march", "april", "june", "july",
		"august", "september", "october", "november", "december", "spring", "summer", "autumn",
		"fall", "winter":
		return true
	}
	return false
}

// asks reports whether a lower-case word belongs to the asking and not to the subject of a
// question.
func asks(word string) bool {
	switch word {
	case "summarize", "summarise", "summary", "describe", "description", "explain", "discuss",
		"discussed", "discussion", "discussions",
		"talk", "talked", "mention", "mentioned", "tell", "told", "opinion", "opinions", "thought",
		"thoughts", "contribute",
		"conclude", "concluded", "conclusion", "happen", "happened", "feel", "find", "show", "list",
		"give", "ask", "asked",
		"answer", "question", "issue", "regarding", "concerning", "kind", "type", "way", "people",
		"team", "group":
		return true
	}
	return false
}

// isCommon reports whether a lower-case word is common in all talk. The frequencies of a short
// conversation do not show this.
func isCommon(word string) bool {
	switch word {
	case "take", "took", "taken", "takes", "new", "long", "time", "work", "works", "worked",
		"working", "first", "last", "good", "look", "looked",
		"come", "came", "gave", "given", "found", "seem", "try", "tried", "leave", "left", "call",
		"called", "put", "mean", "keep", "kept", "begin",
		"help", "turn", "start", "started", "run", "runs", "ran", "move", "live", "bring", "write",
		"wrote", "provide", "meet", "include", "continue",
		"set", "learn", "change", "changed", "changes", "lead", "understand", "follow", "stop",
		"create", "add", "spend", "grow", "open", "wait", "send",
		"expect", "build", "stay", "fall", "cut", "reach", "remain", "great", "little", "old",
		"right", "big", "high", "different", "small", "large", "next",
		"early", "important", "bad", "able", "part", "place", "case", "point", "week", "company",
		"number", "problem", "fact", "hand", "man", "woman",
		"day", "year", "world", "life", "general", "much", "short", "full", "true", "best",
		"better", "always", "often", "sometimes", "exactly", "currently",
		"actually", "future", "progress", "approach", "direction", "main", "current", "certain",
		"several", "various":
		return true
	}
	return false
}
