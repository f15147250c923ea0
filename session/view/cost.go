package view

import (
	"math"
)

// Costs are counted in quarters of a token, so that they are whole numbers and those of pieces add up to that of the whole:
// Gemini's estimate is a quarter of a token for an ASCII character and one and a half for any other UTF-16 unit, floored once
// at the end. Past 100,000 units it is a quarter for every unit; the sum of quarters is then an upper bound.
const (
	perToken    = 4
	perNonASCII = 6
)

// cost returns the cost of s. A byte that is not UTF-8 counts as one replacement character.
func cost(s string) int {
	n := 0
	for _, r := range s {
		n += runeCost(r)
	}
	return n
}

func runeCost(r rune) int {
	switch {
	case r < 0x80:
		return 1
	case r > 0xFFFF: // two units
		return 2 * perNonASCII
	}
	return perNonASCII
}

// room is a cost that may be spent.
type room int

// prefixShare is what the prefix may have of a budget, in parts of 32. With three quarters of it, in place of seven eighths, a quarter
// of the length keeps 2 to 7 points less of what was said; what the prefix leaves is the tail's in any case.
const prefixShare = 28

// agentShare is prefixShare where the prefix is made of facts. The newest messages then need more room:
// what was done last is what is gone on with.
const agentShare = 24

func (in *Input) prefixShare() int {
	if in.Work != nil {
		return agentShare
	}
	return prefixShare
}

const endless room = math.MaxInt

func (r room) holds(n int) bool { return room(n) <= r }

// budgetRoom is what a budget of so many tokens buys. The estimate is floored, so three quarters of a token more are free.
func budgetRoom(tokens int) room {
	if tokens == 0 || tokens > math.MaxInt/(2*perToken) {
		return endless
	}
	return room(perToken*tokens + perToken - 1)
}

// prefixRoom is what the prefix may cost: its share of the budget, and never so much that the document cannot be closed.
// It knows nothing of the tail.
func prefixRoom(p printer, tokens, share int, worst tally) room {
	total := budgetRoom(tokens)
	if total == endless {
		return endless
	}
	return min(room(perToken*tokens*share/32), total-room(cost(p.rest(rest{drops: worst}))))
}
