package transcript_test

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

var table = transcript.Voices{
	Elements: []string{"system-reminder", "tick"},
	Leads:    []transcript.Lead{{"[Interrupted", "]"}, {"Caveat: ", ""}},
	After:    []string{"If you need details from before"},
	Whole:    []string{"Please continue."},
	Spans:    []transcript.Lead{{"--- Files ---", "--- End ---"}},
}

// shown prints the pieces of a text; the client's stand in braces.
func shown(text string) string {
	var b strings.Builder
	for _, p := range table.Pieces(text) {
		if p.Client {
			b.WriteString("{" + p.Text + "}")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// consider ends the head of the template of a command.
const consider = "You **MUST** consider the user input before proceeding (if not empty).\n\nDo it."

func filled(head, words string) string {
	return head + "## User Input\n\n```text\n" + words + "\n```\n\n" + consider
}

func TestPieces(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" \n", "{ \n}"},
		{"paint it", "paint it"},
		{"<system-reminder>x</system-reminder>", "{<system-reminder>x</system-reminder>}"},
		{"paint it\n<system-reminder>\nx\n</system-reminder>\n",
			"paint it{\n<system-reminder>\nx\n</system-reminder>\n}"},
		{"<system-reminder>x</system-reminder>\n\npaint it",
			"{<system-reminder>x</system-reminder>\n\n}paint it"},
		{"a\n<tick>1</tick>\nb", "a{\n<tick>1</tick>\n}b"},
		{"<tick at=\"3\">1</tick> go", "{<tick at=\"3\">1</tick> }go"},
		{"<tick/>\ngo", "{<tick/>\n}go"},
		{"<ticket>7</ticket>", "<ticket>7</ticket>"},
		{"what is <system-reminder>x</system-reminder>?",
			"what is <system-reminder>x</system-reminder>?"},
		{"why?\n```\n<system-reminder>x</system-reminder>\n```",
			"why?\n```\n<system-reminder>x</system-reminder>\n```"},
		{filled("", "paint it\nred"), "{## User Input\n\n```text\n}paint it\nred{\n```\n\n" + consider + "}"},
		{filled("---\ndescription: x\n---\n\n", "paint it"),
			"{---\ndescription: x\n---\n\n## User Input\n\n```text\n}paint it{\n```\n\n" + consider + "}"},
		{filled("", "$ARGUMENTS"), "{## User Input\n\n```text\n$ARGUMENTS\n```\n\n" +
			strings.TrimSuffix(consider, "Do it.") + "}Do it."},
		{strings.TrimSuffix(filled("", ""), "\n\nDo it."),
			strings.TrimSuffix(filled("", ""), "\n\nDo it.")},
		{filled("What is this?\n", "x"), filled("What is this?\n", "x")},
		{"<system-reminder> cut off", "{<system-reminder> cut off}"},
		{"[Interrupted by user]", "{[Interrupted by user]}"},
		{"[Interrupted by user]\nno, blue", "{[Interrupted by user]\n}no, blue"},
		{"Caveat: below are commands.\nmore", "{Caveat: below are commands.\nmore}"},
		{"I read: Caveat: x", "I read: Caveat: x"},
		{"The plan.\n\nIf you need details from before, read x.\nGo on.",
			"The plan.{\n\nIf you need details from before, read x.\nGo on.}"},
		{"see @a\n--- Files ---\n\nUser: run it\n--- End ---", "see @a{\n--- Files ---\n\nUser: run it\n--- End ---}"},
		{"--- Files ---\nx --- End ---\n--- End ---\nand paint it",
			"{--- Files ---\nx --- End ---\n--- End ---\n}and paint it"},
		{"what is --- Files --- for?", "what is --- Files --- for?"},
		// Elements that the table does not have
		{"<task-over>\n<id>1</id>\n</task-over>", "{<task-over>\n<id>1</id>\n</task-over>}"},
		{"<a_b>1</a_b>\n<c-d>2</c-d>", "{<a_b>1</a_b>\n<c-d>2</c-d>}"},
		{"<a_b>1</a_b> why?", "<a_b>1</a_b> why?"},
		{"<div>x</div>", "<div>x</div>"},
		{"<my-button>", "<my-button>"},
		// What a hook says, and texts that are the client's as a whole
		{"Stop hook feedback:\n- run it", "{Stop hook feedback:\n- run it}"},
		{"PostToolUse:Edit hook additional context: gofmt",
			"{PostToolUse:Edit hook additional context: gofmt}"},
		{"SubagentStop hook blocking error from command",
			"{SubagentStop hook blocking error from command}"},
		{"why does the Stop hook feedback: it says x", "why does the Stop hook feedback: it says x"},
		{"the hook success: why?", "the hook success: why?"},
		{"Please continue.\n", "{Please continue.\n}"},
		{"Please continue. And paint it", "Please continue. And paint it"},
	} {
		if got := shown(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
		all   bool
	}{
		{nil, "", false},
		{[]string{"see @a", "\n--- Files ---", "\nFile a:\n", "User: run it", "\n--- End ---", "now"},
			"see @a|{\n--- Files ---}|{\nFile a:\n}|{User: run it}|{\n--- End ---}|now|", false},
		{[]string{"--- Files ---", "User: run it", "--- End ---"},
			"{--- Files ---}|{User: run it}|{--- End ---}|", true},
		{[]string{"--- Files ---", "User: run it"}, "{--- Files ---}|{User: run it}|", true},
		{[]string{"--- Files ---", "x\n--- End ---\npaint it"},
			"{--- Files ---}|{x\n--- End ---}\npaint it|", false},
		{[]string{"<tick/>", " "}, "{<tick/>}|{ }|", true},
		{[]string{" "}, "{ }|", false},
	} {
		list, all := table.Texts(c.texts)
		var b strings.Builder
		for _, pieces := range list {
			for _, p := range pieces {
				if p.Client {
					b.WriteString("{" + p.Text + "}")
				} else {
					b.WriteString(p.Text)
				}
			}
			b.WriteString("|")
		}
		if b.String() != c.want || all != c.all {
			t.Errorf("%q: %q, %v, want %q, %v", c.texts, b.String(), all, c.want, c.all)
		}
	}
}

// The pieces are all of the text, and dividing a piece of the person again changes nothing.
func FuzzPieces(f *testing.F) {
	for _, s := range []string{"a\n<tick>1</tick>\nb", "Caveat: x", "<a-b></a-b> ", "```\n<tick/>",
		"[Interrupted] [Interrupted]", "<tick>\n<tick>x</tick>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all, last := "", false
		for i, p := range table.Pieces(s) {
			if p.Text == "" || i > 0 && p.Client == last || !p.Client &&
				strings.TrimSpace(p.Text) == "" {
				t.Errorf("%q: %v", s, table.Pieces(s))
			}
			all, last = all+p.Text, p.Client
		}
		if all != s {
			t.Errorf("%q became %q", s, all)
		}
	})
}
