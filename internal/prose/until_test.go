package prose

import "testing"

// TestHoldsUntil has a line of each kind of state, and of what looks like one.
func TestHoldsUntil(t *testing.T) {
	for _, c := range []struct {
		line string
		want Until
	}{
		{"Both the integration tests and the conversion are running.", Spoken},
		{"I'm waiting for the reviewers of the parser.", Spoken},
		{"I’m going to read the pages of the parser next, then the code.", Spoken},
		{"Now let me delete the helper `readOld` since no caller has it.", Ever},
		{"Should I remove `StageFiles()` from common.go?", Answered},
		{"If you want, I can next mend the lexer.", Answered},
		{"**Which of them do you prefer?**", Answered},
		{"This shell has no Go, so I couldn’t run the test suite.", Checked},
		{"Both tests fail as expected.", Checked},
		{"There are compilation errors from the other changes.", Checked},
		{"New tests hold the errors of the lexer.", Ever},
		{"`formatOutput` still needs to take the summary.", Mended},
		{"No test of the lexer exists: coverage of it is missing.", Mended},
		{"The change of clean.go is not pushed, and not yet reviewed.", Mended},
		{"Update `auto_commit.go` for the new signature.", Mended},
		{"`discardSession` lost its idempotency: that is a bug.", Changed},
		{"The `limit` field has already been added to the lexer.", Mended},
		{"The change is there, but it was not pushed yet.", Mended},
		{"The lexer might read one token ahead.", Settled},
		{"If the lexer read ahead, the parser would see it twice.", Settled},
		{"Wait, the lexer reads ahead.", Settled},
		{"Should the lexer read ahead? …", Answered},
		{"The lexer reads one token ahead.", Ever},
		{"On `main`, with two new commits.", Moved},
		{"I’m on `fix/lexer` and switch to another branch.", Moved},
		{"The indentation is in tabs, which makes the edit fail.", Spoken},
		{"The captures show all four are progressing through the checks.", Spoken},
		{"Building the pages of the harbour and their actions.", Spoken},
		{"Building the pages is slow on the harbour.", Ever},
		{"`core.hooksPath` is not set, so git takes its own hooks.", Mended},
		{"git http-backend rejects chunked bodies.", Ever},
	} {
		if got := HoldsUntil(c.line); got != c.want {
			t.Errorf("%q: got %d, want %d", c.line, got, c.want)
		}
	}
}

func TestWithoutNext(t *testing.T) {
	for in, want := range map[string]string{
		"It is pinned to Go 1.26, so I’m checking the tool setup next.": "It is pinned to Go 1.26.",
		"The output was cut — let me read all of it.":                   "The output was cut.",
		"It fails, so it stays.":                                        "It fails, so it stays.",
		"All tests, lint, and formatting pass cleanly.":                 "All tests, lint, and formatting pass cleanly.",
	} {
		if got := WithoutNext(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestAccepts(t *testing.T) {
	for line, want := range map[string]bool{
		"yes please": true, "can you fix all 5": true, "go ahead": true, "fix both then": true,
		"yes, but not the lexer": false, "no": false, "why is it both slow and wrong?": false,
	} {
		if got := Accepts(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}
