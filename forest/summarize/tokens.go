package summarize

import "unicode/utf8"

// Tokens estimates the number of tokens of s as the Gemini CLI does (calculateTokens in
// utils/tokenCalculation.ts). Up to 100,000 UTF-16 units, each ASCII unit counts a quarter and each
// other unit one and a half. Beyond that, every unit counts a quarter. The result is rounded down.
// A byte that is not UTF-8 counts as one unit outside ASCII.
func Tokens(s string) int {
	units, q := measure(s)
	if units > 100_000 {
		return units / 4
	}
	return q / 4
}

// measure returns the number of UTF-16 units of s and the estimate of its tokens in quarters,
// without rounding and without the rule for long texts.
func measure(s string) (units, quarters int) {
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			units, quarters = units+1, quarters+1
		case r < 0x10000:
			units, quarters = units+1, quarters+6
		default:
			units, quarters = units+2, quarters+12
		}
	}
	return units, quarters
}

// room is the remaining space for sentences and the newlines between them.
type room struct {
	quarters, bytes int
}

// roomFor returns the room of maxTokens, or of the texts of src if that is less.
func roomFor(src []Source, maxTokens int) room {
	var r room
	for _, s := range src {
		_, q := measure(s.Text)
		r.quarters, r.bytes = r.quarters+q+1, r.bytes+len(s.Text)+1
	}
	// The last sentence needs no newline
	r.quarters = min(r.quarters, 4*min(max(maxTokens, 0), 1<<28)+1)
	return r
}

// take subtracts a text and a newline. It returns false and changes nothing if they do not fit.
func (r *room) take(c *candidate) bool {
	if c.quarters+1 > r.quarters || len(c.text)+1 > r.bytes {
		return false
	}
	r.quarters, r.bytes = r.quarters-c.quarters-1, r.bytes-len(c.text)-1
	return true
}
