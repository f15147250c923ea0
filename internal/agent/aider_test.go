package agent

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// Each line of a history is in one message, once, in the order of the lines: nothing is lost and
// nothing doubled, but for what aider wrote twice itself.
func TestAiderLosesNothing(t *testing.T) {
	text := markdownFixture(t, "aider.md")
	kit := markdowns["aider.md"]
	steps, _, stats := kit.Steps(t, []byte(text))
	var got, want []string
	for _, st := range steps {
		for line := range strings.Lines(allWords(&st.Message)) {
			if line = strings.TrimSpace(line); line != "" {
				got = append(got, line)
			}
		}
	}
	ours := regexp.MustCompile(`^(?:####? ?|> ?)(.*)  $|^# (aider)|^</?think>$`)
	twice := regexp.MustCompile(`^#### (why is|paint the|Paint it)`)
	for block := range strings.SplitSeq(text, "\n\n") {
		if twice.MatchString(block) {
			continue
		}
		for line := range strings.Lines(block) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "> Approximate") { // the first line of several
				line += "  "
			}
			if line = strings.TrimSpace(ours.ReplaceAllString(line, "$1$2")); line != "" {
				want = append(want, line)
			}
		}
	}
	if !slices.Equal(got, want) || stats.Passed["copy of a message"] != 3 {
		t.Errorf("got\n%q\nwant\n%q\n%v", got, want, stats.Passed)
	}
}

// Without spaces at the "  " of lines, which some tools remove, all that begins as a prompt is one.
func TestAiderTrimmed(t *testing.T) {
	kit := markdowns["aider.md"]
	text := strings.ReplaceAll(markdownFixture(t, "aider.md"), "  "+"\n", "\n")
	steps, _, _ := kit.Steps(t, []byte(text))
	prompts := 0
	for _, st := range steps {
		if st.Message.Role == transcript.RoleUser {
			prompts++
		}
	}
	if prompts != 7 {
		t.Errorf("%d prompts:\n%s", prompts, Trace(steps))
	}
}

// The lines of code in the map of a repository end as they do in their files: with spaces, too.
func TestAiderMap(t *testing.T) {
	kit := markdowns["aider.md"]
	steps, _, _ := kit.Steps(t, []byte("# aider chat started at "+
		"2026-02-03 08:00:00\n\n> Aider v0.86.1  \n> Here are summaries of some files.\n\na.ts:\n⋮\n"+
		"│export namespace a {\n│    \n│    class B {\n⋮  \n\n#### /chat-mode  \n> Chat mode:  \n"))
	for _, st := range steps {
		if st.Message.Role == transcript.RoleModel {
			t.Errorf("the model said %s", Trace(steps))
		}
	}
}
