package score

import "math/bits"

// The signs, whose weighted sum is a score. All are numbers in 256ths; a sign that is true or false
// is 1 or 0.
const (
	// A new cluster, in talk between people.
	openAlways        = iota
	openNewAuthor     // the author is new
	openGreeting      // the text greets
	openQuestionPlain // a question that addresses nobody by name
	openAck           // only words such as yes, no or thanks
	openAddressed     // the text addresses somebody by name
	openAhead         // somebody soon addresses the author
	openGap           // log2 of the minutes of silence before
	openCalm          // how few people talk

	// An existing cluster, in talk between people.
	joinAuthor          // the author has spoken in it
	joinAuthorCrowd     // joinAuthor, in a crowd
	joinAuthorLong      // joinAuthor times joinLong
	joinAuthorLastPlain // the author last spoke in it, and addresses nobody by name now
	joinSelf            // its last message is by the author
	joinTo              // the addressee has spoken in it
	joinToAbsent        // the addressee has not spoken in it
	joinReply           // its last message addresses the author
	joinOthers          // it is a dialogue of other people
	joinSince           // log2 of the messages since its last one
	joinMinutes         // log2 of the minutes since its last message
	joinLong            // joinMinutes above half an hour
	joinSize            // log2 of its number of units
	joinWordsCrowd      // similarity of words, in a crowd
	joinAheadWords      // similarity of the words ahead too, see scene
	joinAheadTo         // the person whom the author addresses next last spoke in it
	joinAheadBy         // the person who addresses the author next last spoke in it

	// The signs of an exchange, in which a model takes part.
	openModel
	openModelNovel      // share of the words that no cluster has
	joinExchangeWords   // share of the words that it has
	joinExchangeVote    // share of the votes of the words
	joinExchangePrompt  // share of the prompt's words that it has
	joinExchangeLast    // it is the cluster of the previous exchange
	joinExchangeLastAck // joinExchangeLast, and the prompt is only yes, no or go on
	joinExchangeSize    // log2 of its number of units

	numSigns
)

// weights are the same for all talk, as hundredths in 256ths. The package comment says how they
// were found. The compiler works them out: a call for each would run at the start of every program.
var weights = vector{
	openAlways:          10 * one / 100,
	openNewAuthor:       125 * one / 100,
	openGreeting:        250 * one / 100,
	openQuestionPlain:   75 * one / 100,
	openAck:             -50 * one / 100,
	openAddressed:       -50 * one / 100,
	openAhead:           50 * one / 100,
	openGap:             -10 * one / 100,
	openCalm:            -250 * one / 100,
	joinAuthor:          40 * one / 100,
	joinAuthorCrowd:     175 * one / 100,
	joinAuthorLong:      30 * one / 100,
	joinAuthorLastPlain: 40 * one / 100,
	joinSelf:            20 * one / 100,
	joinTo:              250 * one / 100,
	joinToAbsent:        -150 * one / 100,
	joinReply:           75 * one / 100,
	joinOthers:          -40 * one / 100,
	joinSince:           -40 * one / 100,
	joinMinutes:         -30 * one / 100,
	joinLong:            -75 * one / 100,
	joinSize:            -20 * one / 100,
	joinWordsCrowd:      475 * one / 100,
	joinAheadWords:      100 * one / 100,
	joinAheadTo:         50 * one / 100,
	joinAheadBy:         40 * one / 100,
	openModel:           10 * one / 100,
	openModelNovel:      200 * one / 100,
	joinExchangeWords:   775 * one / 100,
	joinExchangeVote:    150 * one / 100,
	joinExchangePrompt:  25 * one / 100,
	joinExchangeLast:    20 * one / 100,
	joinExchangeLastAck: 200 * one / 100,
	joinExchangeSize:    -25 * one / 100,
}

// one is 1 in the fixed-point numbers of this package, which are integers that count 256ths. All
// decisions are computed in them, so that they are the same on every platform.
const one = 1 << 8

// lg returns log2(x) in 256ths, and 0 for x <= 0. It is exact at the powers of two and linear
// between them, so at most 0.09 too small.
func lg(x int) int {
	if x <= 0 {
		return 0
	}
	exp := bits.Len(uint(x)) - 1
	frac := x - 1<<exp // below 2^exp
	if exp > 8 {
		frac >>= exp - 8
	} else {
		frac <<= 8 - exp
	}
	return exp*one + frac
}

// logit returns ln(p / (1 - p)) in 256ths for p from 0 to 1. Near 0 and 1 the result is beyond
// every score.
func logit(p float64) int {
	const scale, far = 1 << 20, 1 << 30
	n := int(p * scale)
	switch {
	case !(p > 0) || n <= 0:
		return -far
	case n >= scale:
		return far
	}
	return (lg(n) - lg(scale-n)) * 177 / one // ln 2 is 177.4 256ths
}
