package score

// The signs that a score is the weighted sum of. All are numbers in 256ths; what is yes or no is 1 or 0.
const (
	// A new cluster, in talk between people.
	openAlways        = iota
	openNewAuthor     // the author has said nothing yet
	openGreeting      // hello
	openQuestionPlain // a question to nobody by name
	openAck           // nothing but yes, no or thanks
	openAddressed     // it speaks to somebody by name
	openAhead         // somebody soon speaks to the author by name
	openGap           // log2 of the minutes of silence before
	openCalm          // how few people talk

	// A cluster that is there, in talk between people.
	joinAuthor          // the author has spoken in it
	joinAuthorCrowd     // the same, where many talk
	joinAuthorLong      // the same, times joinLong
	joinAuthorLastPlain // the author spoke in it last, and speaks to nobody by name now
	joinSelf            // its last message is the author's
	joinTo              // the person spoken to has spoken in it
	joinToAbsent        // the person spoken to has not
	joinReply           // its last message was to the author
	joinOthers          // it is between others
	joinSince           // log2 of the messages since its last
	joinMinutes         // log2 of the minutes since
	joinLong            // by how much that is above half an hour
	joinSize            // log2 of its messages
	joinWordsCrowd      // how much it is alike in words, where many talk
	joinAheadWords      // the same, with what the author says next and what is said to the author
	joinAheadTo         // the person whom the author speaks to next spoke in it last
	joinAheadBy         // the person who speaks to the author next spoke in it last

	// The same where a model takes part.
	openModel
	openModelNovel      // share of the words that no cluster has
	joinExchangeWords   // how much of the words it has
	joinExchangeVote    // how much of them it has that others do not have
	joinExchangePrompt  // how much of the prompt's words it has
	joinExchangeLast    // it is that of the exchange before
	joinExchangeLastAck // the same, and the prompt is nothing but yes, no or go on
	joinExchangeSize    // log2 of its units

	numSigns
)

// w turns hundredths into 256ths.
func w(hundredths int) int { return hundredths * one / 100 }

// weights are the same for all talk; see the package comment for how they were found.
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
