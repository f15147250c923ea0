package search

import "github.com/gemini-ctx/ctx/forest/terms"

// The weights of a score. They were chosen together, one setting for all, on eight meetings (QMSum: 39 questions whose answers are runs of 9 to 311 of some 800
// turns) and on the planted conversation (168 questions whose answers are mostly one of 842 messages), and rounded; docs/compaction.md has the figures.
// Those of classes of messages were chosen on five sessions of a coding agent (50 questions), with the old sets as a bound.
const (
	// Of a query's words: those that belong to the asking, and those that are in most talk whatever it is about.
	askWeight    = 0.35
	commonWeight = 0.5
	// Of the words of an author's name, where the query names one: what she said counts, and not who speaks of her.
	nameWeight = 0.4

	// Saturation and length, as in BM25.
	k1          = 0.5
	lengthPart  = 0.8
	usualLength = 40.0

	// What is said near a message counts as said in it, less and less over so many messages; what the message says itself is taken off by ownCounts.
	nearWeight = 0.7
	window     = 16
	ownCounts  = 0.8

	// So much of a score depends on how much of the query the message has itself.
	coverPart = 0.6

	// A message that says next to nothing answers nothing; up to enough words, more of them say more.
	short     = 9.0
	shortLoss = 0.8
	enough    = 60.0
	longGain  = 0.6

	authorGain   = 0.8  // somebody whom the query names said it
	userGain     = 0.15 // a user said it
	wantGain     = 0.3  // it has a number or a time, and the query asks for one
	questionLoss = 0.3  // it asks itself

	// So many of the best messages are looked beside for silent ones, so far, and these must reach so much of the best score.
	lookBeside  = 64
	beside      = 2
	silentLeast = 0.3

	// A message that has the whole query word for word scores so much more, where the query has phraseFull words or more.
	phraseGain = 2.0
	phraseFull = 6
)

// What a message is says how much it counts, and how much it and what is near it say of each other. Tool traffic longer than bulkLength words counts less, the
// longer it is; the least is what the factors say.
const (
	modelFactor = 1.1 // a model said it in its own words
	noteFactor  = 0.8 // about the conversation, as an agent's own summary of it, which has a word of everything

	bulkLength   = 50.0
	callFactor   = 0.35
	callNear     = 0.7
	outputFactor = 0.45
	outputGives  = 0.1
	outputHears  = 0.35
)

// kindWeight is how much a term of a query counts by what it looks like.
var kindWeight = [...]float64{terms.Word: 1, terms.Name: 1.5, terms.Number: 1, terms.Part: 0.25}
