package search

import "github.com/gemini-ctx/ctx/internal/terms"

// The weights of a score. They were chosen together, one setting for all data, on eight meetings
// (QMSum: 39 questions whose answers are runs of 9 to 311 of about 800 turns) and on the planted
// conversation (168 questions whose answers are mostly one of 842 messages), and then rounded;
// docs/compaction.md has the figures. The weights of classes of messages were chosen on five
// sessions of a coding agent (50 questions), under the condition that the older sets lose nothing.
const (
	// Weights of words of a query that belong to the asking, and of words that are common in all
	// talk.
	askWeight    = 0.35
	commonWeight = 0.5
	// The weight of the words of a named author's name: the query asks for what the author said,
	// not for messages about the author.
	nameWeight = 0.4

	// Saturation and length, as in BM25.
	k1          = 0.5
	lengthPart  = 0.8
	usualLength = 40.0

	// The terms of messages near a message count for it too, less and less over window messages.
	// ownCounts is the share of the message's own value of a term that is subtracted from the value
	// near it.
	nearWeight = 0.7
	window     = 16
	ownCounts  = 0.8

	// The share of a score that depends on how much of the query the message itself has.
	coverPart = 0.6

	// A message of few words answers nothing. Up to enough words, longer messages score more.
	short     = 9.0
	shortLoss = 0.8
	enough    = 60.0
	longGain  = 0.6

	authorGain   = 0.8  // the query names its author
	userGain     = 0.15 // a user said it
	wantGain     = 0.3  // it has a number or a time, and the query asks for one
	questionLoss = 0.3  // it is a question itself

	// The gain of a user's message if the query asks what the user said. The more words over
	// saidLength it has, the more of it was pasted.
	askerGain  = 4.0
	saidLength = 20.0

	// The gain of a message that contains the whole query word for word, if the query has
	// phraseFull words or more.
	phraseGain = 2.0
	phraseFull = 6
)

// The class of a message determines how much it counts, and how much it and the messages near it
// count for each other. Tool traffic of more than bulkLength words counts less the longer it is,
// down to these factors.
const (
	modelFactor = 1.1 // a model said it in its own words
	// About the conversation, such as an agent's own summary, which mentions everything
	noteFactor = 0.8
	// Somebody wanted it remembered. It was not said beside the messages near it
	keptFactor = 3

	bulkLength   = 50.0
	callFactor   = 0.35
	callNear     = 0.7
	outputFactor = 0.45
	outputGives  = 0.1
	outputHears  = 0.35
)

// pieceWeight is the weight of a piece of a word of a script without spaces. Such words often have
// no more in common.
const pieceWeight = 0.6

// kindWeight is the weight of a term of a query by its kind.
var kindWeight = [...]float64{terms.Word: 1, terms.Name: 1.5, terms.Number: 1, terms.Part: 0.25}
