package score

import (
	"hash/fnv"
	"strings"
	"time"
)

// Message is what placing looks at.
type Message struct {
	Conversation string // messages of one conversation follow each other; several may come interleaved
	Role         string // of format: user, model, tool, system
	Author       string // empty where the role alone tells
	Time         time.Time
	Text         string
	Calls        []string // names of the tools it calls
}

// Features is a message reduced to what placing needs. It is a value: nobody changes one that exists.
type Features struct {
	conv   uint64
	author uint32 // 0 if there is none
	role   role
	flags  flags
	time   int64  // seconds since 1970, 0 if unknown
	words  uint16 // of the text, up to the largest value
	to     []uint32
	names  []uint32
	terms  bag
}

// maxToolTerms bounds what a tool's output counts with: its most frequent artifacts. The words of a listing or a log say nothing about the topic and would
// outweigh what the user and the model say.
const maxToolTerms = 64

type role uint8

const (
	people role = iota // user, and every role that is not known
	model
	tool
)

type flags uint8

const (
	question flags = 1 << iota
	greeting
	ack      // nothing but yes, no, thanks, ok
	turn     // names another item of business, as who leads a meeting does
	allFlags = 1<<4 - 1
)

// Of returns the features of a message, in time bounded by a constant, however long it is.
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

// wordsIn counts the words of a text. Two characters of a script without spaces are one.
func wordsIn(text string) int {
	n := len(strings.Fields(text))
	wide := 0
	for _, r := range text {
		if r >= 0x2E80 {
			wide++
		}
	}
	return n + wide/2
}

// acknowledges knows the words with which people nod in chat in English, and some of other languages that are as frequent there.
func acknowledges(word string) bool {
	switch word {
	case "yes", "yeah", "yep", "yup", "ya", "yea", "ye", "no", "nope", "nah", "ok", "okay", "okey", "k", "kk", "thanks", "thank",
		"thx", "ty", "tnx", "cheers", "np", "you", "welcome", "sure", "right", "true", "cool", "nice", "great", "good", "perfect",
		"awesome", "excellent", "lol", "haha", "hehe", "heh", "hmm", "hm", "mhm", "uh", "um", "oh", "ah", "ahh", "ohh", "i", "see",
		"got", "it", "done", "exactly", "agreed", "indeed", "very", "much", "man", "all", "that", "works", "worked", "the", "ja",
		"nein", "danke", "oui", "non", "merci", "si", "gracias", "da", "spasibo", "好", "好的", "谢谢", "はい", "ありがとう", "네":
		return true
	}
	return false
}

// greets knows the words with which people come in.
func greets(word string) bool {
	switch word {
	case "hi", "hello", "hey", "hiya", "hallo", "hola", "howdy", "greetings", "morning", "gday", "yo", "evening", "everyone", "你好",
		"こんにちは":
		return true
	}
	return false
}

// asks knows the words that begin a question.
func asks(word string) bool {
	switch word {
	case "how", "what", "why", "where", "when", "who", "which", "can", "could", "does", "do", "is", "are", "anyone", "anybody",
		"someone", "has", "have", "did", "should", "would", "whats", "hows":
		return true
	}
	return false
}

// turns are words with which a meeting goes on to something else.
var turns = [...]string{"agenda", "next item", "next topic", "next thing", "next point", "next question", "move on", "moving on", "anything else",
	"last item", "another topic", "another item", "another thing"}

// flagsOf says what kind of thing a text says, from its words alone.
func flagsOf(text string) flags {
	lower := strings.ToLower(text)
	words := strings.FieldsFunc(lower, func(r rune) bool { return strings.ContainsRune(" \t\n\r,.!?;:)(\"~", r) })
	var f flags
	if strings.Contains(text, "?") || strings.Contains(text, "？") {
		f |= question
	}
	nods := 0
	for i, w := range words {
		if i < 3 && greets(w) {
			f |= greeting
		}
		if acknowledges(w) {
			nods++
		}
		if i < 2 && asks(w) && len(words) > 3 {
			f |= question
		}
	}
	// One word more may be the name of the person who is answered.
	if nods > 0 && nods+1 >= len(words) && f&question == 0 {
		f |= ack
	}
	for _, t := range turns {
		if strings.Contains(lower, t) {
			f |= turn
		}
	}
	return f
}
