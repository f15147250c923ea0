package prose

import (
	"slices"
	"strings"
	"unicode"
)

// The smallest numbers of telling words of a line that stands by itself.
const (
	minBare  = 5 // in a line without names
	minNamed = 4 // names and numbers included
	minLead  = 9 // in a line that leads to a list, likewise
)

// IsBare reports whether a line of prose tells nothing to a reader who does not see the lines
// around it: a remark, a heading, an announcement of what follows, a question, or a line of code.
// It is stricter than IsSlight, for a reader who has room for a few lines only.
func IsBare(line string) bool {
	text := strings.TrimRight(WithoutMark(line), "*_ ")
	switch {
	case text == "", strings.ContainsAny(text[len(text)-1:], ":?{(,;|"),
		strings.Contains(text, " | "):
		return true
	case looksLikeCode(text), Announces(text), strings.HasPrefix(text, PlanFrame):
		return true
	}
	c := contentOf(text)
	if c.names > 0 {
		return c.words < 2 || c.words+c.names+c.numbers < minNamed
	}
	isItem := len(WithoutMark(line)) < len(line) // it says little without its list
	return isItem || c.words < minBare
}

// Opens reports whether an answer may begin with a line that is no heading: it tells something by
// itself. "Yes" says it all, and what leads to a list may say what was done.
func Opens(line string) bool {
	text := strings.TrimRight(line, ":")
	c := contentOf(text)
	return Agrees(line) || !IsBare(text) &&
		(len(text) == len(line) || c.words+c.names+c.numbers >= minLead)
}

// Agrees reports whether a line begins with yes or no.
func Agrees(line string) bool {
	word, _, _ := strings.Cut(strings.ToLower(line), " ")
	return slices.Contains([]string{"yes", "yep", "yeah", "no", "nope", "ja", "nein", "oui", "non",
		"sí", "sim", "não", "nee", "да", "нет", "はい", "いいえ", "네", "아니요", "好", "好的", "是的"},
		strings.TrimRight(word, ",.!:;—–-，。、！"))
}

// Chooses reports whether a line is nothing but marks of items of a list: "2 and 3", "b)".
func Chooses(line string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool {
		return strings.ContainsRune(" ,.;:()[]#+&、，。", r)
	})
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
		isMark := len(w) == 1 || strings.Trim(w, "0123456789") == ""
		return !isMark && !slices.Contains([]string{"and", "or", "und", "et", "和", "と"}, w)
	})
}

// IsThin reports whether a line has so few telling words that it is understood only with the lines
// before it, as "yes, go on".
func IsThin(line string) bool {
	c := contentOf(line)
	least := minWords
	if strings.HasSuffix(line, "?") {
		least--
	}
	return c.words+c.names+c.numbers < least
}

// acknowledging are the words of an answer that only says that it was heard, or done.
const acknowledging = " ok okay understood got it noted sure will do i'll i that this so is " +
	"it's all done finished right alright perfect great good fine thanks thank you of course certainly " +
	"absolutely ready verstanden erledigt fertig alles klar gut mache ich gemacht gern notiert " +
	"d'accord compris entendu noté parfait c'est fait bien entendido hecho listo vale claro de " +
	"acuerdo perfecto feito certo anotado capito fatto perfetto va bene begrepen klaar gedaan " +
	"понял понятно готово сделано хорошо принято " +
	"好 好的 明白 明白了 完成 完成了 已完成 收到 了解 知道了 好的已完成 好的明白 " +
	"了解です 了解しました 承知しました 承知いたしました 分かりました わかりました 完了 完了しました はい " +
	"알겠습니다 완료 완료했습니다 완료되었습니다 네 "

// Acknowledges reports whether an answer only says that it was heard, or done.
func Acknowledges(line string) bool {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(line, "’", "'")),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	return len(words) > 0 && !slices.ContainsFunc(words,
		func(w string) bool { return !strings.Contains(acknowledging, " "+w+" ") })
}

// PlanFrame begins the sentence that Claude Code adds to a plan.
const PlanFrame = "If you need specific details from before exiting plan mode"

// IsOffer reports whether a line of an answer is a choice that the user is given, or a lead that
// the model means to follow. When the user has chosen, or the lead was followed, it misleads.
func IsOffer(line string) bool {
	line = strings.ToLower(strings.TrimLeft(line, "*_ "))
	name, isOption := strings.CutPrefix(line, "option ")
	mark, _, _ := strings.Cut(name, " ")
	return isOption && len(strings.TrimRight(mark, ":.)*_")) == 1 ||
		HasAny(line, []string{" worth checking", " worth looking", " worth exploring",
			"if you want", "unless you want", "want me to ", "would you like", "if you'd like"})
}

// looksLikeCode reports whether a line begins like a comment or a declaration.
func looksLikeCode(line string) bool {
	for _, lead := range [...]string{"//", "/*", "func ", "type ", "const ", "import ", "return ",
		"if (", "$ ", "<", "| "} {
		if strings.HasPrefix(line, lead) {
			return true
		}
	}
	isCall := strings.HasSuffix(line, ")") && strings.Contains(line, "(") &&
		!strings.Contains(line, " ")
	return isCall || strings.HasSuffix(line, "}")
}

// announcements begin the sentences with which a model says what it does next, in lower case and
// with a plain apostrophe.
var announcements = [...]string{"let me", "let's", "i'll ", "i will ", "i need to", "i'm going to",
	"i am going to", "i want to", "i should ", "we need to", "we should ", "time to ", "looking at",
	"looks good", "going to ", "continue with", "need to ", "waiting for ", "i also need to",
	"after that i'll ", "the user wants", "the user asked", "here's ", "here is ", "here are ",
	"i have a ", "i now have ", "i have all", "i have enough", "i have the "}

// openers are words that may come before an announcement.
var openers = [...]string{"now", "next", "first", "then", "also", "ok", "okay", "so", "good",
	"great", "perfect", "excellent", "right", "yes", "alright", "sure", "finally", "and", "but",
	"actually"}

// steps are the openers behind which a verb or a thing alone says what is done next.
var steps = [...]string{"now", "next", "first", "then", "finally"}

// verbs are what a model tells itself to do, in a step of its work or of a plan.
var verbs = [...]string{"add", "apply", "build", "bump", "change", "check", "clean", "commit",
	"compute", "confirm", "convert", "create", "define", "delete", "drop", "edit", "ensure",
	"extract", "fetch", "find", "fix", "format", "handle", "implement", "insert", "install", "lint",
	"look", "make", "merge", "move", "open", "post", "push", "re-fetch", "re-run", "read", "rebase",
	"rebuild", "refactor", "register", "remove", "rename", "replace", "reply", "rerun", "resolve",
	"retry", "review", "rewrite", "run", "see", "set", "spawn", "stage", "start", "test", "trace",
	"try", "update", "use", "verify", "wire", "wrap", "write"}

// predicates are words of which a sentence has one that says how something is.
var predicates = [...]string{" is ", " are ", " was ", " were ", " has ", " have ", " will ",
	" can ", " should ", " would ", " does ", " gets ", " uses ", " shows ", " works ", " returns ",
	" passes ", " matches ", " needs ", " takes ", " runs ", " goes ", " fails "}

// IsStep reports whether a line tells somebody what to do, as an item of a plan, also behind the
// name of a file. When the work is done, it says less than what was done.
func IsStep(line string) bool {
	line = strings.ToLower(WithoutMark(line))
	name, rest, named := strings.Cut(line, ": ")
	name = strings.TrimRight(name, "0123456789 ") // Task 2: add the parser
	return commands(line) || named && !strings.Contains(name, " ") && commands(rest)
}

// commands reports whether a line in lower case begins with a verb that tells what to do. "run will
// show" does not.
func commands(line string) bool {
	verb, rest, _ := strings.Cut(line, " ")
	object, _, _ := strings.Cut(rest, " ")
	return isVerb(strings.TrimRight(verb, ",")) &&
		!slices.Contains(predicates[:], " "+object+" ")
}

// namesAlone reports whether a line in lower case has a thing and says nothing of it.
func namesAlone(line string) bool {
	return HasLead(line, []string{"the ", "a ", "an ", "`"}) && !HasAny(line, predicates[:])
}

// reasons begin a clause that says why the model does what it announces.
var reasons = [...]string{"rather than", "instead of", "since", "because", "given", "before", "to ",
	"while "}

// Announces reports whether a line says what the model does next.
func Announces(line string) bool {
	line = strings.ReplaceAll(strings.ToLower(line), "’", "'")
	for {
		first, rest, ok := strings.Cut(line, " ")
		first = strings.TrimRight(first, ",.!:-")
		if !ok || !slices.Contains(openers[:], first) {
			break
		}
		line = strings.TrimLeft(rest, "-– ")
		if slices.Contains(steps[:], first) && (commands(line) || namesAlone(line)) {
			return true
		}
	}
	if HasLead(line, reasons[:]) {
		if _, rest, ok := strings.Cut(line, ", "); ok && goesOn(rest) {
			return true
		}
	}
	return goesOn(line)
}

// goesOn reports whether a line in lower case begins with what the model does next.
func goesOn(line string) bool {
	doing, ok := strings.CutPrefix(line, "i'm ")
	verb, _, _ := strings.Cut(doing, " ")
	stem, ing := strings.CutSuffix(verb, "ing")
	return HasLead(line, announcements[:]) || ing && (ok || !HasAny(line, predicates[:]) &&
		(isVerb(stem) || isVerb(stem+"e") || isVerb(stem[:max(len(stem)-1, 0)])))
}

// isVerb reports whether a word is one with which a model tells itself what to do.
func isVerb(word string) bool { return slices.Contains(verbs[:], word) }
