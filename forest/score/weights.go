package score

// The signs that a score is made of.
const (
	// A new cluster.
	openAlways = iota
	openNewAuthor
	openGreeting
	openQuestion
	openAddressed
	openGap
	openQuiet
	openAhead
	openAck
	openModel
	// An old one, in talk between people.
	joinAuthor
	joinAuthorLast
	joinAuthorLastPlain
	joinTo
	joinToAbsent
	joinToLast
	joinPending
	joinSpokenTo
	joinWords
	joinSince
	joinMinutes
	joinOthers
	joinLast
	joinLastAck
	joinAsked
	joinAheadTo
	joinAheadToLast
	joinAheadBy
	joinAheadWords
	// Where a model takes part.
	joinExchangeWords
	joinExchangeMarks
	joinExchangeLast
	joinExchangeSince
	numSigns
)

// w turns hundredths into 256ths.
func w(hundredths int) int { return hundredths * one / 100 }

var weights = vector{
	openAlways:    w(-50),
	openNewAuthor: w(140),
	openGreeting:  w(230),
	openQuestion:  w(50),
	openAddressed: w(0),
	openGap:       w(30),
	openQuiet:     w(20),
	openAhead:     w(50),
	openAck:       w(-100),
	openModel:     w(0),

	joinAuthor:          w(300),
	joinAuthorLast:      w(80),
	joinAuthorLastPlain: w(110),
	joinTo:              w(50),
	joinToAbsent:        w(-300),
	joinToLast:          w(220),
	joinPending:         w(100),
	joinSpokenTo:        w(100),
	joinWords:           w(250),
	joinSince:           w(-60),
	joinMinutes:         w(-30),
	joinOthers:          w(-120),
	joinLast:            w(20),
	joinLastAck:         w(50),
	joinAsked:           w(50),
	joinAheadTo:         w(100),
	joinAheadToLast:     w(50),
	joinAheadBy:         w(50),
	joinAheadWords:      w(50),

	joinExchangeWords: w(300),
	joinExchangeMarks: w(300),
	joinExchangeLast:  w(100),
	joinExchangeSince: w(-10),
}
