package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
)

// Where the tail tells of newer checks, an older failure is not there without its run: alone it
// would stand as if it still failed.
func TestWithTailLeavesNoFailureAlone(t *testing.T) {
	run := func(state digest.State) digest.Fact {
		return digest.Fact{Kind: digest.Command, Key: "go build ./...", State: state,
			Text: "ran go build ./..."}
	}
	tail := run(digest.Passed)
	tail.Entry = format.ID{1}
	before := []digest.Fact{run(digest.Failed),
		{Kind: digest.Failure, Key: "go build ./...", Text: "a.go:3: undefined: open"},
		{Kind: digest.Failure, Key: "cp a b", Text: "cp: a: No such file"}}
	w := &Work{Facts: before, Tail: []digest.Fact{tail}, Whole: append(before, tail)}
	all := w.withTail(map[format.ID]bool{tail.Entry: true}, false)
	if len(all.Facts) != 1 || all.Facts[0].Key != "cp a b" {
		t.Errorf("%+v", all.Facts)
	}
}

// A message that only announces what the model does is left out, unless it has the newest words.
func TestAnnouncements(t *testing.T) {
	said := func(id byte, text string) messageItems {
		return messageItems{Message: Message{ID: format.ID{id}, Role: "model"},
			items: []item{textOf(text)}}
	}
	call := messageItems{Message: Message{ID: format.ID{9}, Role: "model"},
		items: []item{{kind: callItem, id: "c"}}}
	search := digest.Fact{Kind: digest.Search, Entry: format.ID{9},
		Text: "searched laneSpacing in view.go"}
	for text, want := range map[string]int{
		"Let me look at this now:":                   1,
		"Let me see where `laneSpacing` is used:":    1,
		"Let me see where `laneWidth` is used:":      1,
		"The reader of view.go loses the last line.": 2,
	} {
		fact := digest.Fact{Kind: digest.Said, Entry: format.ID{1}, Text: text}
		w := &Work{Whole: []digest.Fact{fact, search}}
		list := []messageItems{said(1, text), call, said(2, "It is used by the printer alone.")}
		if n := len(w.compact(list, room(4000), actSizes)) - 1; n != want {
			t.Errorf("%q: %d messages, want %d", text, n, want)
		}
		if n := len(w.compact(list[:2], room(4000), actSizes)); n != 2 {
			t.Errorf("%q, the newest words: %d messages, want 2", text, n)
		}
	}
}

// That a file was read says nothing beside a later change of it.
func TestReadBeforeChange(t *testing.T) {
	for _, path := range []string{"/p/a.go", "/p/b.go"} {
		var list []messageItems
		w := &Work{Whole: []digest.Fact{
			{Kind: digest.Read, Path: "/p/a.go", Text: "read /p/a.go"},
			{Kind: digest.Edit, Path: path, Text: "edited " + path}}}
		for i := range w.Whole {
			w.Whole[i].Entry, w.Whole[i].Seq = format.ID{byte(i + 1)}, uint64(i)
			list = append(list, messageItems{Message: Message{ID: w.Whole[i].Entry, Role: "model",
				Seq: uint64(i)}, items: []item{{kind: callItem, id: path}}})
		}
		want := 2
		if path == "/p/a.go" {
			want = 1
		}
		if n := len(w.compact(list, room(4000), actSizes)); n != want {
			t.Errorf("an edit of %s: %d messages, want %d", path, n, want)
		}
	}
}

// Of what the model said and ran, what is true no more is left out: a check that passes by another
// command later, with its output, and a sentence that says that it cannot run.
func TestOverruled(t *testing.T) {
	id := func(n byte) format.ID { return format.ID{n} }
	fact := func(n byte, kind digest.Kind, text string) digest.Fact {
		return digest.Fact{Kind: kind, Entry: id(n), Seq: uint64(n), Key: text, Text: text}
	}
	run := func(n byte, text string, state digest.State) digest.Fact {
		f := fact(n, digest.Command, "ran "+text)
		f.Key, f.State, f.Test = text, state, true
		return f
	}
	w := &Work{Whole: []digest.Fact{run(1, "go test ./...", digest.Failed),
		fact(2, digest.Failure, "sh: go: not found"),
		fact(3, digest.Said, "So I couldn't run the tests."),
		fact(3, digest.Said, "The project pins Go 1.26.2 in mise.toml for each shell of it."),
		run(4, "mise exec -- go", digest.Passed), fact(6, digest.Answer, "All tests pass.")}}
	message := func(n byte, role string, it item) messageItems {
		return messageItems{Message: Message{ID: id(n), Seq: uint64(n), Role: role},
			items: []item{it}}
	}
	call := func(id string) item { return item{kind: callItem, id: id, name: "bash"} }
	got := ""
	for _, m := range w.compact([]messageItems{message(1, "model", call("a")),
		message(2, "tool", item{kind: resultItem, id: "a", text: "sh: go: not found"}),
		message(3, "model", textOf("So I **couldn't** run the tests. The project pins Go "+
			"1.26.2 in mise.toml for each shell of it.")),
		message(4, "model", call("b")),
		message(5, "tool", item{kind: resultItem, id: "b", text: "ok"}),
		message(6, "model", textOf("All tests pass."))}, room(4000), actSizes) {
		got += messageText(m, true)
	}
	want := "[model 03000000] The project pins Go 1.26.2 in mise.toml for each shell of it.\n" +
		"[model 04000000] ran mise exec -- go: passed\n" +
		"[model 06000000] All tests pass.\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The newest two turns are printed, and the newest that changed something: lines tell the others.
func TestNewestTurns(t *testing.T) {
	var all []messageItems
	for i := range 8 { // four prompts, each with an answer
		role := "user"
		if i%2 > 0 {
			role = "model"
		}
		all = append(all, messageItems{Message: Message{Role: role, Seq: uint64(i + 1)}})
	}
	for seq, want := range map[uint64]int{0: 0, 4: 2, 6: 4, 8: 4} {
		w := &Work{Whole: []digest.Fact{{Kind: digest.Edit, Seq: seq}}}
		if got := w.newestTurns(all); got != want {
			t.Errorf("changed in %d: from %d, want %d", seq, got, want)
		}
	}
}

// A line is left out if its message is printed, but not the prompt above lines of its turn.
func TestLeaveOut(t *testing.T) {
	id := func(n byte) format.ID { return format.ID{n} }
	b := block{brief: []brief.Line{
		{Section: brief.Wanted, Entry: id(1), Turn: 2},
		{Section: brief.Concluded, Entry: id(2), Turn: 2},
		{Section: brief.Wanted, Entry: id(3), Turn: 1},
		{Section: brief.Concluded, Entry: id(4), Turn: 1},
		{Section: brief.Changed, Entry: id(4)}}}
	b.leaveOut(map[format.ID]bool{id(1): true, id(3): true, id(4): true})
	got := ""
	for _, l := range b.brief {
		got += string(l.Section) + l.Entry.Short(1)[:2] + " "
	}
	if want := "wanted01 concluded02 changed04 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a tool printed of a file that was read can be read again, and the line of a call stands for
// its words unless it was cut.
func TestDescribesCalls(t *testing.T) {
	for _, c := range []struct{ fact, script, printed, want string }{
		{"read a.yml", "sed -n 1,9p a.yml", "name: Tests", "read a.yml"},
		{"ran go vet ./...", "go vet ./... 2>&1 | head -20", "", "ran go vet ./..."},
		{"ran go vet ./a …", "go vet ./a ./b ./c ./d", "", "ran go vet ./a ./b ./c ./d"},
		{"ran go vet ./a … # Look", "go vet ./a ./b ./c ./d ./e", "",
			"ran go vet ./a ./b ./c ./d ./e # Look"},
		{"ran the vet of …", "go vet ./a ./b ./c ./d", "", "ran the vet of …\ngo vet ./a ./b ./c ./d"},
		{"committed: Mend it", "git add -A && git commit -m 'Mend it'", "", "committed: Mend it"},
		{"ran ps", "ps", "1 init", "ran ps\n1 init"},
	} {
		f := digest.Fact{Kind: digest.Command, Entry: format.ID{1}, Text: c.fact}
		if strings.HasPrefix(c.fact, "read ") {
			f.Kind = digest.Read
		} else if strings.HasPrefix(c.fact, "committed") {
			f.Kind = digest.Commit
		}
		w := &Work{Whole: []digest.Fact{f}}
		args := json.RawMessage(`{"command":"` + c.script + `"}`)
		list := []messageItems{{Message: Message{ID: format.ID{1}, Role: "model"},
			items: []item{{kind: callItem, id: "c", name: "bash", args: args}}},
			{Message: Message{ID: format.ID{2}, Role: "tool"},
				items: []item{{kind: resultItem, id: "c", text: c.printed}}}}
		got := ""
		for _, m := range w.compact(list, room(4000), actSizes) {
			for _, it := range m.items {
				got += it.text + "\n"
			}
		}
		if got != c.want+"\n" {
			t.Errorf("%s: got %q, want %q", c.script, got, c.want)
		}
	}
}

// TestDescribesChanges checks how the newest messages tell an edit, a command of the client, a
// table, and the results of calls that were made at the same time.
func TestDescribesChanges(t *testing.T) {
	call := func(id, name, args string) item {
		return item{kind: callItem, id: id, name: name, args: json.RawMessage(args)}
	}
	result := func(id, text string) item { return item{kind: resultItem, id: id, text: text} }
	fact := func(n byte, kind digest.Kind, text string) digest.Fact {
		return digest.Fact{Kind: kind, Entry: format.ID{n}, Seq: uint64(n), Text: text}
	}
	const edit = `{"file_path":"a.go","old_string":"a\nlog(1)\nz","new_string":"a\nlog(2)\nlog(3)\nz"}`
	w := &Work{Whole: []digest.Fact{fact(2, digest.Edit, "edited a.go"),
		fact(4, digest.Command, "ran one"), fact(5, digest.Command, "ran two"),
		fact(8, digest.Answer, "Is it whole?")}}
	list := []messageItems{
		{items: []item{textOf("<command-name>/plan</command-name>\n<command-args>a test first" +
			"</command-args>")}, Message: Message{Role: "user"}},
		{items: []item{call("e", "Edit", edit)}, Message: Message{Role: "model"}},
		{items: []item{result("e", "done")}, Message: Message{Role: "tool"}},
		{items: []item{call("one", "Bash", `{"command":"one"}`)}, Message: Message{Role: "model"}},
		{items: []item{call("two", "Bash", `{"command":"two"}`)}, Message: Message{Role: "model"}},
		{items: []item{result("one", "first")}, Message: Message{Role: "tool"}},
		{items: []item{result("two", "second")}, Message: Message{Role: "tool"}},
		{items: []item{textOf("| Part | Is it whole? |\n|---|---|\n| wire | no |\n")},
			Message: Message{Role: "model"}},
	}
	for i := range list {
		list[i].ID, list[i].Seq = format.ID{byte(i + 1)}, uint64(i+1)
	}
	pair(list)
	got := ""
	for _, m := range w.compact(list, room(4000), actSizes) {
		for _, it := range m.items {
			got += it.text + "\n"
		}
	}
	want := "/plan a test first\nedited a.go\n- log(1)\n+ log(2)\n+ log(3)\n" +
		"ran one\nfirst\nran two\nsecond\n| Part | Is it whole? |\n|---|---|\n| wire | no |\n\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
