package prose

import "testing"

// A heading leads to what stands below it, unless it is numbered and says it: then it is what a
// report found.
func TestHeadingsOf(t *testing.T) {
	h := HeadingsOf("## Key findings\n\n**1. The save scales with the number of files**\n" +
		"- 38 ms for ten files\n\n*Skipped without a change\n\n*really* slow\n\n**Next steps:**\n" +
		"- Read it once\n\n**2. Costs**\n- one each\n")
	for _, c := range []struct {
		sentence, heading string
		isHeading, isItem bool
	}{
		{"Key findings", "", true, false},
		{"The save scales with the number of files", "", false, false},
		{"38 ms for ten files", "The save scales with the number of files", false, true},
		{"Skipped without a change", "", true, false},
		{"slow", "", false, false},
		{"Next steps", "", true, false},
		{"Read it once", "Next steps", false, true},
		{"Costs", "", true, false},
		{"one each", "Costs", false, true},
	} {
		heading, isHeading, isItem := h.Of(c.sentence)
		if heading != c.heading || isHeading != c.isHeading || isItem != c.isItem {
			t.Errorf("%s: got %q, %v, %v", c.sentence, heading, isHeading, isItem)
		}
	}
}
