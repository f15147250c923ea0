package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
)

func TestCutText(t *testing.T) {
	text :=
		"The parser is mended. It kept no last token.\n\n1. Read the table\n2. Write the " +
			"table\n\nThe scanner stays as it is. All tests pass."
	mark := func(n int) string {
		return fmt.Sprintf("[… %d tokens cut, ctx show %s]\n", n, id("m").Short(12))
	}
	for _, c := range []struct {
		most, head int
		want       string
	}{
		{len(text), 0, text},
		{len(text), 50, text},
		{20, 0, mark(27) + "is. All tests pass."},
		{60, 40, "The parser is mended.\n" + mark(18) + "stays as it is. All tests pass."},
		{90, 70,
			"The parser is mended. It kept no last token.\n\n1. Read the table\n" + mark(12) +
				"All tests pass."},
	} {
		if got := cutText(text, c.most, c.head, id("m")); got != c.want {
			t.Errorf("%d, %d: got\n%s\nwant\n%s", c.most, c.head, got, c.want)
		}
	}
}

// agentSession is an agent's session with six changed files, three of them after the prefix, and
// with a long answer at the end.
func agentSession() Input {
	long := "The limit is 64 MB now. " +
		strings.Repeat("A detail of no great interest follows here. ", 120) + "Shall I push it?"
	said := []struct{ role, text string }{
		{"user", "Make the relay faster for large files."}, {"model", ""}, {"tool", "ok"},
		{"model", "The relay is fast."},
		{"user", "Raise the limit of uploads to 64 MB, but leave the staging proxy alone."},
		{"model", ""}, {"tool", "ok"}, {"model", long},
	}
	in := Input{Session: "work", Branch: "main", Through: 4, Work: &Work{}}
	fact := func(i int, f digest.Fact) {
		f.Entry, f.Seq, f.Pos = id(fmt.Sprint("m", i)), uint64(i+1), len(in.Work.Whole)
		in.Work.Whole = append(in.Work.Whole, f)
		if i < int(in.Through) {
			in.Work.Facts = append(in.Work.Facts, f)
		} else {
			in.Work.Tail = append(in.Work.Tail, f)
		}
	}
	for i, m := range said {
		message := Message{ID: id(fmt.Sprint("m", i)), Seq: uint64(i + 1),
			Role: m.role, Text: m.text}
		call := fmt.Sprint("c", i/4)
		switch m.role {
		case "user":
			fact(i, digest.Fact{Kind: digest.Prompt, Text: m.text})
		case "tool":
			message.Results = []string{call}
		case "model":
			if m.text != "" {
				fact(i, digest.Fact{Kind: digest.Answer, Text: m.text})
				break
			}
			message.Calls = []format.Call{{ID: call, Tool: "edit"}}
			for k := range 3 {
				path := fmt.Sprintf("/p/pkg%d/file%d.go", i/4, k)
				fact(i,
					digest.Fact{Kind: digest.Edit, Path: path, Text: "edited " + path, Added: 1})
			}
			fact(i,
				digest.Fact{Kind: digest.Command, Key: "go test ./...", Test: true,
					State: digest.Passed, Text: fmt.Sprintf("ran go test ./...: %d passed", i)})
		}
		if i >= int(in.Through) {
			in.Tail = append(in.Tail, message)
		}
	}
	return in
}

// TestShortWork checks what a short rendering of an agent's work has, in every format.
func TestShortWork(t *testing.T) {
	for _, f := range formats {
		for _, budget := range []int{400, 600, 999} {
			out := render(t, agentSession(), Options{Format: f, Budget: budget})
			s := string(out.Bytes)
			for _, want := range []string{
				"leave the staging proxy alone.",
				"pkg1/: file2.go, file1.go, file0.go; pkg0/: file2.go, file1.go, file0.go",
				"go test ./...: 5 passed", "The limit is 64 MB now.", " tokens cut, ctx show ",
				"Shall I push it?",
			} {
				if !strings.Contains(s, want) {
					t.Errorf("%s, %d: got\n%.2000s\nwithout %q", f, budget, s, want)
				}
			}
			for _, no := range []string{"1 passed", "quoted in part"} {
				if strings.Contains(s, no) {
					t.Errorf("%s, %d: got\n%.2000s\nwith %q", f, budget, s, no)
				}
			}
			if strings.Count(s, "leave the staging proxy alone.") != 1 {
				t.Errorf("%s, %d: the prompt is printed twice:\n%.2000s", f, budget, s)
			}
			if out.Tokens > budget || f == JSON && !json.Valid(out.Bytes) {
				t.Errorf("%s, %d: %d tokens\n%s", f, budget, out.Tokens, s)
			}
		}
	}
}

// TestShortTail checks that the block repeats nothing of a tail that is printed whole, and
// says nothing older than it.
func TestShortTail(t *testing.T) {
	in := agentSession()
	in.Tail[len(in.Tail)-1].Text = "The limit is 64 MB now."
	for _, f := range formats {
		s := string(render(t, in, Options{Format: f, Budget: 900}).Bytes)
		if strings.Count(s, "leave the staging proxy alone.") != 1 ||
			strings.Contains(s, "1 passed") {
			t.Errorf("%s: got\n%s", f, s)
		}
	}
}

// TestPrefixOfWork checks that the prefix of an agent's work knows the tail if that is not printed
// whole, and otherwise says nothing that the tail says anew.
func TestPrefixOfWork(t *testing.T) {
	for budget, want := range map[int]string{0: "1 passed", 1000: "5 passed", 100_000: ""} {
		out := render(t, agentSession(), Options{Budget: budget})
		prefix := string(out.Bytes[:out.Prefix])
		for _, state := range []string{"1 passed", "5 passed"} {
			if strings.Contains(prefix, state) != (state == want) {
				t.Errorf("%d tokens: got\n%s", budget, prefix)
			}
		}
	}
}

// TestShortNewest checks that a short rendering ends with the newest message that says something.
func TestShortNewest(t *testing.T) {
	in := agentSession()
	in.Tail = append(in.Tail,
		Message{ID: id("exit"), Seq: 9, Role: "user", Text: "<command-name>/exit</command-name>"})
	if s := string(render(t, in, Options{Budget: 400}).Bytes); !strings.HasSuffix(s,
		"Shall I push it?\n") {
		t.Errorf("got\n%s", s)
	}
}
