package summarize

import "unicode/utf8"

// Tokens estimates the tokens of s as the Gemini CLI does (calculateTokens in utils/tokenCalculation.ts): up to 100,000
// UTF-16 units, a quarter for each unit of ASCII and one and a half for each other; beyond, a quarter of the number of
// units; rounded down. A byte that is not UTF-8 counts as one unit that is not ASCII.
func Tokens(s string) int {
	units, q := measure(s)
	if units > 100_000 {
		return units / 4
	}
	return q / 4
}

// measure returns the number of UTF-16 units of s and the estimate of its tokens in quarters, not rounded, at any length.
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

// room is what is left for sentences and the newlines between them.
type room struct {
	quarters, bytes int
}

// roomFor returns the room of maxTokens, or of the texts of src where that is less.
func roomFor(src []Source, maxTokens int) room {
	var r room
	for _, s := range src {
		_, q := measure(s.Text)
		r.quarters, r.bytes = r.quarters+q+1, r.bytes+len(s.Text)+1
	}
	r.quarters = min(r.quarters, 4*min(max(maxTokens, 0), 1<<28)+1) // the last sentence has no newline behind it
	return r
}

// take makes the room smaller by text and a newline, or reports false where they do not fit.
func (r *room) take(c *candidate) bool {
	if c.quarters+1 > r.quarters || len(c.text)+1 > r.bytes {
		return false
	}
	r.quarters, r.bytes = r.quarters-c.quarters-1, r.bytes-len(c.text)-1
	return true
}
