package prose

import "testing"

func TestAcknowledges(t *testing.T) {
	for line, want := range map[string]bool{
		"Understood.": true, "Got it, will do!": true, "Okay — done.": true, "Alles klar.": true,
		"D’accord.": true, "好的。": true, "了解しました。": true, "Готово.": true, "Done 👍": true,
		"Perfect! Done.": true, "": false, "No.": false, "Yes.": false, "Done: 3 files.": false,
		"Pushed.": false, "All tests pass.": false, "...": false,
	} {
		if Acknowledges(line) != want {
			t.Errorf("%q: %t", line, !want)
		}
	}
}

func TestIsBare(t *testing.T) {
	for _, line := range []string{
		"", "that's a good point.", "Good catch!", "Ah!", "Perfect! All green.", "Options:",
		"Here is what I found:",
		"Let me read more of auto_commit.go to see the task checkpoint creation.",
		"Now let me run the tests of internal/store again.",
		"I'll add a test for Parse in parse_test.go first.",
		"Good, now I'll look at the store in internal/store.",
		"I’m running the linter of cmd/ctx next, because it checks names.",
		"Rather than changing Parse in parse.go, let me add a function for each agent of internal.",
		"Would Parse in parse.go have helped in this scenario?",
		"2. Read the whole list of items below", "Changes made", "type CheckpointInfo struct {",
		"func (s *Store) Get(id string) error",
		"// Parse reads the tokens of internal/lexer.",
		"Name | Value sent | Trade-off of internal/agent", "`parse.go`", "Update `Parse`",
		"If you need specific details from before exiting plan mode, read the full transcript " +
			"at: /tmp/a.jsonl",
		"Now update `store.go`, so that Put and Get of internal/store share the lock.",
		"Now the docs of `convert`: Quick Start, flags table, and a Sharp Edge.",
		"Next, `internal/client.go` and the two mappings of the configuration.",
		"Need to add `strings` and remove `plumbing` from the imports of internal/store.",
		"Reviewing the changes of internal/lexer first, then I’ll look at the tests of them.",
		"While that finishes, I’m checking whether the errors of internal/lexer are wrapped.",
		"Waiting for the subagent of internal/lexer before the fixes are applied there.",
		"Actually, since the lexer of internal/lexer keeps bytes, let me see who reads them.",
		"Now I also need to see what `Parse` and `Scan` of internal/lexer give back.",
		"After that I’ll amend the commit of internal/lexer with the docs of it.",
	} {
		if !IsBare(line) {
			t.Errorf("%q tells something", line)
		}
	}
	for _, line := range []string{
		"The parser loses the last token of each line.",
		"Added `Agent` to the metadata of `entire/sessions`.",
		"1. Medium: `pkg/types.go` changes the JSON shape of exported types.",
		"Windows builds stay skipped, as the user decided.",
		"The remotes are proxies, so `git fetch` needs a token.",
		"Since the lexer of internal/lexer keeps bytes, Parse reads each line of them once.",
		"Letters of the parser are read twice when a line ends.",
		"Next run will show which index file of `.git/worktrees` is changed.",
		"Now the parser of internal/lexer is twice as fast.",
		"Update the parser of internal/lexer before the release of version 2.",
		"While the parser of internal/lexer runs, the scanner reads the next line.",
		"After that the server of internal/lexer closes each connection.",
		"The workaround of internal/lexer is no longer needed, as version 4 mends it.",
	} {
		if IsBare(line) {
			t.Errorf("%q tells nothing", line)
		}
	}
}

func TestIsTitle(t *testing.T) {
	for line, want := range map[string]bool{
		"## Key design of the parser": true, "**Key design of the parser**": true,
		"**Key design:**": true, "**Key design**:": true,
		"**The parser is not read twice.**": false, "**The parser** is read twice": false,
		"The parser": false, "**": false, "****": false, "": false,
	} {
		if isTitle(line) != want {
			t.Errorf("isTitle(%q) = %t", line, !want)
		}
	}
}

func TestIsStep(t *testing.T) {
	for line, want := range map[string]bool{
		"Update the parser of internal/lexer": true, "3. Delete unused types": true,
		"Commit, push, and reply to the threads.": true,
		"4. `a/types.go`: Rename the field":       true, "The cause of it: Add is slow": false,
		"Bug 2: Add a helper for branches": true, "Bug 2: The helper is slow": false,
		"Tests of the parser fail": false, "Run will show the file": false,
		"The parser needs an update": false, "": false,
	} {
		if IsStep(line) != want {
			t.Errorf("IsStep(%q) = %t", line, !want)
		}
	}
}

func TestIsThin(t *testing.T) {
	for line, want := range map[string]bool{
		"yes": true, "ok, go on": true, "yep": true, "": true,
		"fix parse.go on Windows": false, "is 241 really still a problem?": false,
		"Raise the limit to 64 MB.": false,
	} {
		if IsThin(line) != want {
			t.Errorf("IsThin(%q) = %t", line, !want)
		}
	}
}

// TestConcedes checks by which words a model says that it was wrong.
func TestConcedes(t *testing.T) {
	for line, want := range map[string]bool{
		"You’re right, the gauge was read before.":      true,
		"You are absolutely right - that is simpler":    true,
		"Ah, I was wrong: the pipe removes the files.":  true,
		"Let me correct my understanding of the gauge.": true,
		"The right side of the gauge is cut off.":       false,
		"Good catch.": false,
	} {
		if Concedes(line) != want {
			t.Errorf("Concedes(%q) = %t", line, !want)
		}
	}
}

// TestStanding checks which sentences say that something before them is past.
func TestStanding(t *testing.T) {
	for _, c := range []struct {
		line                   string
		offer, doubts, removes bool
	}{
		{"**Option B:** Rename the package of gauges", true, false, false},
		{"There are two features worth checking more closely: `tide` and `ebb`.", true, false, false},
		{"I leave the gauge alone unless you want it gone.", true, false, false},
		{"If you want, I can cut the ebb out next.", true, false, false},
		{"Want me to mend the gauge?", true, false, false},
		{"Option types of the parser are pointers", false, false, false},
		{"The tide wants a gauge of its own.", false, false, false},
		{"no, the gauge was read before", false, true, false},
		{"the outcome of this was clearly stored in 72a7142", false, true, false},
		{"now print the tables without borders", false, false, false},
		{"Removed `isEbb` - the rule of ratios is gone.", false, false, true},
		{"The gauge removes its own file.", false, false, false},
	} {
		if IsOffer(c.line) != c.offer || Doubts(c.line) != c.doubts ||
			Removes(c.line) != c.removes {
			t.Errorf("%q: an offer %t, doubts %t, removes %t", c.line, IsOffer(c.line),
				Doubts(c.line), Removes(c.line))
		}
	}
}

// What is nothing but marks of a list says nothing without the list.
func TestChooses(t *testing.T) {
	for line, want := range map[string]bool{"2": true, "2 and 3": true, "b)": true, "1、3": true,
		"#12, #14": true, "A & C.": true, "yes": false, "2 weeks": false, "": false} {
		if Chooses(line) != want {
			t.Errorf("Chooses(%q) = %t", line, !want)
		}
	}
}
