package score

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

// w converts hundredths to 256ths.
func w(hundredths int) int { return hundredths * one / 100 }

// weights are the same for all talk. The package comment says how they were found.
var weights = vector{
	openAlways:          w(10),
	openNewAuthor:       w(125),
	openGreeting:        w(250),
	openQuestionPlain:   w(75),
	openAck:             w(-50),
	openAddressed:       w(-50),
	openAhead:           w(50),
	openGap:             w(-10),
	openCalm:            w(-250),
	joinAuthor:          w(40),
	joinAuthorCrowd:     w(175),
	joinAuthorLong:      w(30),
	joinAuthorLastPlain: w(40),
	joinSelf:            w(20),
	joinTo:              w(250),
	joinToAbsent:        w(-150),
	joinReply:           w(75),
	joinOthers:          w(-40),
	joinSince:           w(-40),
	joinMinutes:         w(-30),
	joinLong:            w(-75),
	joinSize:            w(-20),
	joinWordsCrowd:      w(475),
	joinAheadWords:      w(100),
	joinAheadTo:         w(50),
	joinAheadBy:         w(40),
	openModel:           w(10),
	openModelNovel:      w(200),
	joinExchangeWords:   w(775),
	joinExchangeVote:    w(150),
	joinExchangePrompt:  w(25),
	joinExchangeLast:    w(20),
	joinExchangeLastAck: w(200),
	joinExchangeSize:    w(-25),
}
