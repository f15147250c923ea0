package message

import "testing"

// TestEnded has outputs as clients write them for calls that were refused or stopped, and outputs
// of tools that only look like these.
func TestEnded(t *testing.T) {
	for _, c := range []struct {
		output string
		how    Ending
		words  string
	}{
		{"", Ran, ""},
		{"The file was edited.", Ran, ""},
		{"The user doesn't want to proceed with this tool use. The tool use was rejected. " +
			"To tell you how to proceed, the user said:\nuse blue", Refused, "use blue"},
		{"The user rejected this tool call. User feedback: use blue", Refused, "use blue"},
		{"The user rejected permission to use this specific tool call with the following " +
			"feedback: use blue", Refused, "use blue"},
		{"The user denied this operation and provided the following feedback:\n<feedback>\n" +
			"use blue\n</feedback>", Refused, "use blue"},
		{"The user denied this operation.", Refused, ""},
		{"Error: User rejected the edit", Refused, ""},
		{"User declined to run this tool", Refused, ""},
		{"Edit was rejected by the user.", Refused, ""},
		{"Permission denied by user", Refused, ""},
		{"Interrupted by user", Refused, ""},
		{"[Operation Cancelled] Reason: User did not allow tool call", Refused, ""},
		{"The agent proposed a plan that was rejected by the user. The user chose to stay in plan " +
			"mode.\n\nRejected plan:\n# Plan\nAsk for feedback: always push", Refused, ""},
		{"Operation aborted", Stopped, ""},
		{"Tool execution was interrupted.", Stopped, ""},
		{"Permission denied", Ran, ""},
		{"User declined to answer questions", Ran, ""},
		{"the user denied payment 7", Ran, ""},
		{"user cancelled\tbob", Ran, ""},
		{"Aborted\ncore dumped", Ran, ""},
		{"users were interrupted: 3", Ran, ""},
		{"connection aborted", Ran, ""},
	} {
		if how, _, words := Ended(c.output); how != c.how || words != c.words {
			t.Errorf("%q: %v %q, want %v %q", c.output, how, words, c.how, c.words)
		}
	}
}

// TestFeedback has outputs with and without words of a person.
func TestFeedback(t *testing.T) {
	for _, c := range []struct{ output, head, words string }{
		{"Running.\nThe user provided the following feedback:\n<feedback>\nstop\n</feedback>\n\nx",
			"Running.\nThe user provided the following feedback:", "stop"},
		{"a file with\n<feedback>\nx\n</feedback>", "", ""},
		{"The user says:\n<feedback> without an end", "", ""},
		{"<feedback>x</feedback>", "", ""},
	} {
		head, words, ok := Feedback(c.output)
		if c.words == "" {
			c.head = c.output
		}
		if head != c.head || words != c.words || ok != (c.words != "") {
			t.Errorf("%q: %q, %q, %v", c.output, head, words, ok)
		}
	}
}
