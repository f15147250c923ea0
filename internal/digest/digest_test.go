package digest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// called makes a message with one call.
func called(id, name, args string) Message {
	return Message{Role: "model", Calls: []Call{{ID: id, Name: name, Args: json.RawMessage(args)}}}
}

// answered makes a message with the result of a call.
func answered(id, output string) Message {
	return Message{Role: "tool", Results: []Result{{ID: id, Output: output}}}
}

// failedWith makes a message with the result of a call that the client marked as failed.
func failedWith(id, output string) Message {
	return Message{Role: "tool", Results: []Result{{ID: id, Output: output, Failed: true}}}
}

func asked(text string) Message { return Message{Role: "user", Text: text} }
func said(text string) Message  { return Message{Role: "model", Text: text} }

// numbered numbers messages from 1.
func numbered(messages ...Message) []Message {
	for i := range messages {
		messages[i].Seq = uint64(i + 1)
	}
	return messages
}

// show formats a fact as KIND[STATE]: TEXT.
func show(f Fact) string {
	state := ""
	if f.State != "" {
		state = "[" + string(f.State) + "]"
	}
	return string(f.Kind) + state + ": " + f.Text
}

func showAll(facts []Fact) string {
	var b strings.Builder
	for _, f := range facts {
		b.WriteString(show(f) + "\n")
	}
	return b.String()
}

// check compares the facts of messages with lines in the format of show.
func check(t *testing.T, messages []Message, want ...string) {
	t.Helper()
	got := showAll(Of(numbered(messages...)))
	if all := strings.Join(append(want, ""), "\n"); got != all {
		t.Errorf("got\n%swant\n%s", got, all)
	}
}

func TestFactsNameTheirMessage(t *testing.T) {
	facts := Of(numbered(
		asked("Please mend the parser in parse.go. It loses the last token."),
		called("a", "Read", `{"file_path":"/p/parse.go"}`)))
	got := ""
	for _, f := range facts {
		got += fmt.Sprintf("%d.%d %s %s\n", f.Seq, f.Pos, f.Kind, f.Path)
	}
	want := "1.0 prompt \n1.1 prompt \n2.0 read /p/parse.go\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNothing(t *testing.T) {
	for _, m := range []Message{{}, {Role: "user"}, {Role: "model"}, {Role: "tool"},
		{Role: "model", Text: " \n\t"},
		{Role: "model", Calls: []Call{{}}}, {Role: "tool", Results: []Result{{}}},
		answered("unknown", "error: nobody asked"),
		called("a", "Bash", `{"command":"  "}`),
		called("a", "TodoWrite", `{"todos":[{"content":""}]}`),
		called("a", "AskUserQuestion", `{"questions":[{"question":""}]}`)} {
		if facts := Of([]Message{m}); len(facts) != 0 {
			t.Errorf("%+v: %s", m, showAll(facts))
		}
	}
}

// A session that begins with a long text of the model carries out a plan, whether or not its record
// names a branch.
func TestPlan(t *testing.T) {
	plan := "# Plan: Print the tables without borders\n\nThe printer draws them.\n" +
		strings.Repeat("- It draws the line of a table twice, as the parser has it.\n", 9)
	for _, branch := range []string{"", "main"} {
		facts := Of([]Message{{Role: "model", Text: plan, Branch: branch}})
		i := slices.IndexFunc(facts, func(f Fact) bool { return f.Key == Plan })
		if i < 0 || facts[i].Text !=
			"to implement the plan: Print the tables without borders" {
			t.Errorf("branch %q: %+v", branch, facts)
		}
	}
	facts := Of([]Message{asked("Mend it."), {Role: "model", Text: plan}})
	if slices.ContainsFunc(facts, func(f Fact) bool { return f.Key == Plan }) {
		t.Errorf("an answer is a plan: %+v", facts)
	}
}

// A note that supersedes another names it by the id that it has, or had in another store.
func TestSupersededNotes(t *testing.T) {
	facts := Of(numbered(
		Message{Role: "user", Text: "port 5432", Note: "decision", Origin: "old"},
		Message{Role: "user", Text: "port 5433", Note: "decision", Supersedes: "old"},
		Message{Role: "user", Text: "port 80", Note: "decision"}))
	if len(facts) != 3 || facts[0].Was == 0 || facts[1].Now != facts[0].Was ||
		facts[1].Path != "old" || facts[2].Was != 0 || facts[2].Now != 0 {
		t.Errorf("facts %+v", facts)
	}
}
