package view

import (
	"math"
)

// Costs are counted in quarters of a token, so that they are whole numbers and the cost of a text
// is the sum of the costs of its pieces. Gemini's estimate is a quarter of a token for an ASCII
// character and one and a half for any other UTF-16 unit, floored once at the end. Past 100,000
// units it is a quarter for every unit, and the sum is an upper bound.
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

const endless room = math.MaxInt

func (r room) holds(n int) bool { return room(n) <= r }

// prefixShare is the part of a budget, in thirty-seconds, that the prefix may take. With three
// quarters instead of seven eighths, a quarter of the length keeps 2 to 7 points less of the
// messages. Room that the prefix does not use belongs to the tail.
const prefixShare = 28

// agentShare is prefixShare for a prefix made of facts. The newest messages then need more room,
// because the next step continues them.
const agentShare = 24

// budgetRoom returns the room that a budget gives. The estimate is floored, so three quarters of a
// token more are free.
func budgetRoom(tokens int) room {
	if tokens == 0 || tokens > math.MaxInt/(2*perToken) {
		return endless
	}
	return room(perToken*tokens + perToken - 1)
}

// prefixRoom returns the largest cost of the prefix: its share of the budget, but never so much
// that the document cannot be closed. It does not depend on the tail.
func prefixRoom(p printer, tokens, share int, worst tally) room {
	total := budgetRoom(tokens)
	if total == endless {
		return endless
	}
	return min(room(perToken*tokens*share/32), total-room(cost(p.suffix(suffix{drops: worst}))))
}
