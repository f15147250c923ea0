package score

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Message is a message as Of reads it.
type Message struct {
	// Messages of one conversation are in order; several conversations may be interleaved
	Conversation string
	Role         string // a role of package format: user, model, tool, system
	Author       string // "" if only the role is known
	Time         time.Time
	Text         string
	Calls        []string // names of the called tools
}

// Features is a message reduced to what placing needs. Features are never changed after they are
// made.
type Features struct {
	conv   uint64
	author uint32 // 0 if there is none
	role   role
	flags  flags
	time   int64  // seconds since 1970; 0 if unknown
	words  uint16 // of the text, up to the largest value
	to     []uint32
	names  []uint32
	terms  bag
}

// maxToolTerms is the number of artifacts of a tool's output that count, the most frequent ones.
// The words of a listing or a log say nothing about the topic and would outweigh the user and the
// model.
const maxToolTerms = 64

type role uint8

const (
	people role = iota // user, and every unknown role
	model
	tool
)

type flags uint8

const (
	question flags = 1 << iota
	greeting
	ack      // only words such as yes, no, thanks, ok
	turn     // announces another item of business, as the chair of a meeting does
	allFlags = 1<<4 - 1
)

// Of returns the features of a message. Its cost is bounded, however long the message is.
func Of(m Message) Features {
	f := Features{author: person(m.Author), terms: bagOf(m.Text)}
	h := fnv.New64a()
	h.Write([]byte(m.Conversation))
	f.conv = h.Sum64()
	switch m.Role {
	case "model":
		f.role = model
	case "tool":
		f.role = tool
		f.terms = f.terms.artifacts().trim(maxToolTerms)
	}
	if !m.Time.IsZero() {
		f.time = max(m.Time.Unix(), 0)
	}
	for _, c := range m.Calls {
		f.terms = f.terms.plus(bagOf(c)).trim(maxTerms)
	}
	head := m.Text[:min(len(m.Text), 1<<12)]
	f.words = uint16(wordsIn(head))
	if f.role == people {
		f.to, f.names = address(m.Text)
	}
	f.flags = flagsOf(head)
	return f
}

// wordsIn counts the words of a text. In scripts without spaces, two characters count as one word.
func wordsIn(text string) int {
	n, wide, within := 0, 0, false
	for _, r := range text {
		space := r == ' ' || r <= '\r' && r >= '\t' || r > unicode.MaxASCII && unicode.IsSpace(r)
		if !space && !within {
			n++
		}
		if within = !space; r >= 0x2E80 {
			wide++
		}
	}
	return n + wide/2
}

// acknowledges reports whether a word is used for acknowledgement in English chat, or is one of the
// most frequent such words of other languages.
func acknowledges(word string) bool {
	switch word {
	case "yes", "yeah", "yep", "yup", "ya", "yea", "ye", "no", "nope", "nah", "ok", "okay", "okey",
		"k", "kk", "thanks", "thank",
		"thx", "ty", "tnx", "cheers", "np", "you", "welcome", "sure", "right", "true", "cool",
		"nice", "great", "good", "perfect",
		"awesome", "excellent", "lol", "haha", "hehe", "heh", "hmm", "hm", "mhm", "uh", "um", "oh",
		"ah", "ahh", "ohh", "i", "see",
		"got", "it", "done", "exactly", "agreed", "indeed", "very", "much", "man", "all", "that",
		"works", "worked", "the", "ja",
		"nein", "danke", "oui", "non", "merci", "si", "gracias", "da", "spasibo", "好", "好的", "谢谢",
		"はい", "ありがとう", "네":
		return true
	}
	return false
}

// greets reports whether a word is a greeting.
func greets(word string) bool {
	switch word {
	case "hi", "hello", "hey", "hiya", "hallo", "hola", "howdy", "greetings", "morning", "gday",
		"yo", "evening", "everyone", "你好",
		"こんにちは":
		return true
	}
	return false
}

// asks reports whether a word begins a question.
func asks(word string) bool {
	switch word {
	case "how", "what", "why", "where", "when", "who", "which", "can", "could", "does", "do", "is",
		"are", "anyone", "anybody",
		"someone", "has", "have", "did", "should", "would", "whats", "hows":
		return true
	}
	return false
}

// turns are phrases with which a meeting moves on to another item, each as how it begins and how it
// goes on. A text is searched once for each beginning.
var turns = [...]struct {
	begin string
	on    []string
}{
	{"agenda", []string{""}},
	{"next ", []string{"item", "topic", "thing", "point", "question"}},
	{"mov", []string{"e on", "ing on"}},
	{"anything else", []string{""}},
	{"last item", []string{""}},
	{"another ", []string{"topic", "item", "thing"}},
}

// turnsOver reports whether a text in lower case has one of turns.
func turnsOver(lower string) bool {
	for _, t := range turns {
		for _, rest, found := strings.Cut(lower, t.begin); found; _, rest, found = strings.Cut(rest,
			t.begin) {
			if slices.ContainsFunc(t.on,
				func(on string) bool { return strings.HasPrefix(rest, on) }) {
				return true
			}
		}
	}
	return false
}

// flagsOf classifies a text by its words.
func flagsOf(text string) flags {
	lower := strings.ToLower(text)
	var f flags
	if strings.Contains(text, "?") || strings.Contains(text, "？") {
		f |= question
	}
	words, nods := 0, 0
	begins := false // as a question
	for w := range strings.FieldsFuncSeq(lower, endsWord) {
		if words < 3 && greets(w) {
			f |= greeting
		}
		if words < 2 && asks(w) {
			begins = true
		}
		if acknowledges(w) {
			nods++
		}
		if words++; words > 3 && words-nods > 1 {
			break // the rest changes nothing
		}
	}
	if begins && words > 3 {
		f |= question
	}
	// One other word may be the name of the addressee.
	if nods > 0 && nods+1 >= words && f&question == 0 {
		f |= ack
	}
	if turnsOver(lower) {
		f |= turn
	}
	return f
}

func endsWord(r rune) bool { return strings.ContainsRune(" \t\n\r,.!?;:)(\"~", r) }
