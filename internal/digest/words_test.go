package digest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/pasted"
	"github.com/gemini-ctx/ctx/internal/prose"
)

func TestPrompts(t *testing.T) {
	log := strings.Repeat("2026-01-02T10:00:00Z worker sealed\n", 5)
	tests := []struct{ name, text, want string }{
		{"sentences", "Mend the parser. It loses the last token.",
			"prompt: Mend the parser.\nprompt: It loses the last token."},
		{"short", "continue", "prompt: continue"},
		{"longer than a line", strings.Repeat("mend it ", 40), "prompt: " +
			strings.Repeat("mend it ", 30) + "…\nprompt: " +
			strings.TrimSpace(strings.Repeat("mend it ", 10))},
		{"a number", "1", "prompt: 1"},
		{"a letter", "b", "prompt: b"},
		{"a list", "- Mend it.\n* Test it.\n## Print it.",
			"prompt: Mend it.\nprompt: Test it.\nprompt: Print it."},
		{"a pasted command",
			"Is this right?\n\n❯ mirror sync \\\n  --protocol v2 \\\n  --stats all\n\nIt stopped.",
			"prompt: Is this right?\ncode: ❯ mirror sync \\\ncode: --protocol v2 \\\n" +
				"code: --stats all\nprompt: It stopped."},
		{"a block of the client",
			"<system-reminder>\nYou may use tools.\n</system-reminder>\nMend the parser.",
			"prompt: Mend the parser."},
		{"several blocks",
			"Mend the " +
				"parser.\n<ide_selection>a.go</ide_selection>\n<local-command-caveat>none</local-command-caveat>", "prompt: Mend the parser."},
		{"a block that is open", "<system-reminder>\nYou may use tools now.",
			"prompt: <system-reminder>\nprompt: You may use tools now."},
		{"tags of HTML stay", "<b>Mend</b> the parser now.", "prompt: <b>Mend</b> the parser now."},
		{"a command",
			"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the parser first</command-args>",
			"prompt: /review the parser first"},
		{"a command alone", "<command-name>/exit</command-name>\n<command-args></command-args>",
			"prompt: /exit"},
		{"interrupted", "[Request interrupted by user]", ""},
		{"interrupted, then words",
			"[Request interrupted by user for tool use] Use the other parser.",
			"prompt: Use the other parser."},
		{"fenced code", "Mend this:\n```go\nx := parse(a, b, c)\n}\n```\n",
			"prompt: Mend this:\ncode: x := parse(a, b, c)"},
		{"a command in a sentence",
			"i want to be able to run \n\n ./lamp plan --branch main near far\n\nor something like that",
			"prompt: i want to be able to run `./lamp plan --branch main near far` or something like that"},
		{"a command behind a colon", "Please run this instead:\n```sh\nmake lint\n```\nIt is quick.",
			"prompt: Please run this instead: `make lint`\nprompt: It is quick."},
		{"a dash between words", "We have two ways here\n\nthe first - a quick one\n\nand another",
			"prompt: We have two ways here\nprompt: the first - a quick one\nprompt: and another"},
		{"many empty lines", "a lamp" + strings.Repeat("\n", 200_000) + "b lamp",
			"prompt: a lamp\nprompt: b lamp"},
		{"a command, and what it printed", "Is it so?\n\n$ make lamp -v\nno lamp\n",
			"prompt: Is it so?\ncode: $ make lamp -v\nprompt: no lamp"},
		{"a log", "Mend the parser.\n" + log, "prompt: Mend the parser.\nprompt: [5 lines of a log]"},
		{"two lines of a log",
			"Is it so?\ntime=2026-04-14T14:00:01Z level=WARN msg=\"never use http\"\nIt stopped.",
			"prompt: Is it so?\ncode: time=2026-04-14T14:00:01Z level=WARN msg=\"never use http\"\n" +
				"prompt: It stopped."},
		{"a rule that a command printed",
			"$ cat RULES\nNever use floats for money.\n\nNever push by hand.",
			"code: $ cat RULES\ncode: Never use floats for money.\nprompt: Never push by hand."},
		{"words below a command", "$ make\nPlease mend it", "code: $ make\nprompt: Please mend it"},
		{"a warning is no log", "WARNING: never use http.", "prompt: WARNING: never use http."},
		{"a template with what was typed",
			"## User Input\n\n```text\nAdd a lamp\n```\n\nYou **MUST** consider the input.",
			"prompt: Add a lamp"},
		{"a template without", "## User Input\n\n```text\n\n```\n\nConsider the input.",
			"prompt: User Input\nprompt: Consider the input."},
		{"the template of /init of Crush", "Create or update **AGENTS.md** to help future agents " +
			"work in this codebase.\n\nFirst: check.\n\n**Include**: commands.\n", "prompt: /init"},
		{"the template of /init of opencode", "Please analyze this codebase and create an AGENTS.md " +
			"file containing:\n1. Build commands\n2. Style\n3. Never more than 20 lines", "prompt: /init"},
		{"the words of one", "Please analyze this codebase and create a map of it.",
			"prompt: Please analyze this codebase and create a map of it."},
		{"a short trace", "It stops:\nTypeError: x is undefined\n    at run (/p/a.js:1:3)\n" +
			"    at main (/p/a.js:9:3)\nWhy?",
			"prompt: It stops:\nprompt: TypeError: x is undefined\nprompt: [2 lines of a stack trace]\n" +
				"prompt: Why?"},
		{"a plan in Cursor", "Lamps and tide\n\nImplement the plan as specified, it is attached for " +
			"your reference. Do NOT edit the plan file itself.\n\nDon't stop.", "prompt: Lamps and tide"},
		{"words that lead to a log", "It still stops:\n" + log + "Why?",
			"prompt: It still stops: [5 lines of a log]\nprompt: Why?"},
		{"a log behind words", "It still stops: " + log, "prompt: It still stops: [5 lines of a log]"},
		{"numbered lines", "Look here please:\n12: x := parse(a)\n13→ y := 2\n1,234\n",
			"prompt: Look here please:"},
		{"Markdown", "# The parser is broken\n\n- **It** loses the last token\n> said somebody",
			"prompt: The parser is broken\nprompt: It loses the last token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.TrimSuffix(showAll(Of(numbered(asked(tt.text)))), "\n")
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestAnswerEndsTurn(t *testing.T) {
	check(t, []Message{
		asked("Mend the parser."),
		said("The scanner seems to be at fault."), called("", "bash", `{"command":"make"}`),
		said("The scanner kept one token too few."),
		asked("And the printer?"),
		said("The printer is sound and needs nothing."),
	}, "prompt: Mend the parser.", "said: The scanner seems to be at fault.", "command: ran make",
		"answer: The scanner kept one token too few.", "prompt: And the printer?",
		"answer: The printer is sound and needs nothing.")
}

// TestHowAnswersBegin keeps the yes and the no of an answer, takes what stands for a filler word's
// pause, and knows a heading.
func TestHowAnswersBegin(t *testing.T) {
	for text, want := range map[string]string{
		"Yes, the parser keeps the last token.":            "answer: Yes, the parser keeps the last token.",
		"No. The parser loses the last token.":             "answer: No. The parser loses the last token.",
		"- `a` before `b`? **No** (it is later)":           "answer: `a` before `b`? No (it is later)",
		"- **Is `a` read?**\n  It is read last.":           "answer: Is `a` read? It is read last.",
		"Is `a` read?\n1. It is read last.":                "answer: Is `a` read?\nanswer: 1. It is read last.",
		"It is in [a.go](/p/a.go:3), see [why](#x) [b":     "answer: It is in /p/a.go:3, see [why](#x) [b",
		"It is [/p/a.go](/p/a.go)\n::git-push{cwd=\"/p\"}": "answer: It is /p/a.go",
		"OK — the parser keeps the last token.":            "answer: the parser keeps the last token.",

		"The parser loses tokens.\ncourt\n<invoke name=\"Edit\">\n<parameter name=\"new_string\">- It " +
			"keeps them.</parameter>\n</invoke>\nIt is mended.": "answer: The parser loses tokens.\n" +
			"answer: It is mended.",
		"It writes `<invoke name=\"Edit\">` as words.": "answer: It writes `<invoke name=\"Edit\">` as words.",
	} {
		got := showAll(Of([]Message{asked("Does it?"), said(text)}))
		if want = "prompt: Does it?\n" + want + "\n"; got != want {
			t.Errorf("%q: got\n%swant\n%s", text, got, want)
		}
	}
	facts := Of([]Message{asked("Why?"), said("## What the parser loses\n\nIt loses the last token.")})
	if facts[1].Key != Title || facts[2].Key == Title {
		t.Errorf("got %+v", facts[1:])
	}
}

func TestRecap(t *testing.T) {
	const text = "This session is being continued from a previous conversation that ran out of context. The parser was mended."
	if !IsRecap(text) || IsRecap("The parser was mended.") {
		t.Error("a recap is not told from an answer")
	}
	for _, role := range []string{"user", "model", "system", "tool"} {
		m := Message{Role: role, Text: text, Recap: true}
		for _, f := range Of(numbered(m)) {
			if f.Kind != Recap {
				t.Errorf("%s: %s", role, show(f))
			}
		}
	}
}

// What a summary says of the work at hand holds for a while only.
func TestRecapOfNow(t *testing.T) {
	facts := Of(numbered(Message{Role: "user", Recap: true, Text: "Summary:\n" +
		"1. Primary Request:\n   The parser is to keep the last token.\n\n8. Current Work:\n   " +
		"The printer of trees does not build.\n\n9. Optional Next Step:\n   Mend the printer."}))
	for _, f := range facts {
		if now := strings.Contains(f.Text, "printer"); now != (f.Key == Current) && !f.Slight {
			t.Errorf("%q has the key %q", f.Text, f.Key)
		}
	}
	if len(facts) < 4 {
		t.Errorf("%d facts", len(facts))
	}
}

// A summary says its draft again, and the store has the user's own words.
func TestRecapWithoutDraft(t *testing.T) {
	const lead = "This session is being continued from a previous conversation.\n\n"
	const draft = "Analysis:\n1. The user asked for a parser.\n\n"
	const rest = "7. Pending Tasks:\n   - Mend the printer of trees.\n"
	check(t, []Message{{Role: "user", Recap: true, Text: lead + draft +
		"Summary:\n1. Request:\n   Mend the parser of lines.\n\n6. All user messages:\n" +
		"   - \"Mend the parser, please.\"\n\n" + rest}},
		"recap: This session is being continued from a previous conversation.",
		"recap: 1. Request:", "recap: Mend the parser of lines.", "recap: 7. Pending Tasks:",
		"recap: Mend the printer of trees.")
	for _, text := range []string{lead + draft + rest, lead + "Summary:\n" + rest} {
		if got := withoutDraft(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestWritten(t *testing.T) {
	t.Run("a document", func(t *testing.T) {
		check(t,
			[]Message{called("", "Write",
				`{"file_path":"a.md","content":"# Heading\n\nThe parser keeps the last token of every line that\nit reads.\n\nToo short.\n"}`)},
			"edit: wrote a.md: Heading",
			"written: The parser keeps the last token of every line that it reads.")
	})
	t.Run("comments", func(t *testing.T) {
		check(
			t,
			[]Message{called("", "Edit",
				`{"file_path":"a.go","old_string":"// The old words of this comment.\n",
			"new_string":"// The old words of this comment.\n// Parse reads each line once. It keeps the last token, because\n// the printer asks for it.\nfunc Parse() {}\n"}`)},
			"edit: edited a.go: Parse",
			"written: It keeps the last token, because the printer asks for it.")
	})
	t.Run("a comment that is replaced", func(t *testing.T) {
		const change = `{"file_path":"a.go","old_string":"%s","new_string":"%s"}`
		first, then := "// Never cache it, the server asks.\\n", "// It is cached, so that nobody waits.\\n"
		check(t, []Message{called("", "Edit", fmt.Sprintf(change, "", first)),
			called("", "Edit", fmt.Sprintf(change, first, then))},
			"edit: edited a.go", "written[dropped]: Never cache it, the server asks.",
			"edit: edited a.go", "written: It is cached, so that nobody waits.")
	})
	t.Run("bounded", func(t *testing.T) {
		facts := Of(
			numbered(
				called("", "Write",
					`{"file_path":"a.md","content":"`+
						strings.Repeat(`The parser keeps the last token.\n\n`, 500)+`"}`)))
		if len(facts) != 1+maxWritten {
			t.Errorf("%d facts", len(facts))
		}
	})
}

func TestSlight(t *testing.T) {
	slight := []string{"Options:", "Review Summary", "2. Key Concepts:", "Check | Result",
		"File | Usage | Verdict", "Changes Made"}
	telling := []string{"Found it!", "Fix — client-side batching", "`ExtractModifiedFiles`",
		"3 failed", "parse.go", "Step 4",
		"`a.go` | 297 | `Parse`", "The parser loses the last token"}
	for _, s := range slight {
		if !prose.IsSlight(s) {
			t.Errorf("%q is not slight", s)
		}
	}
	for _, s := range telling {
		if prose.IsSlight(s) {
			t.Errorf("%q is slight", s)
		}
	}
	facts := Of(numbered(asked("Summary"), said("Summary\n\nThe parser loses the last token.")))
	if facts[0].Slight || !facts[1].Slight || facts[2].Slight {
		t.Error(showAll(facts))
	}
}

func TestPlain(t *testing.T) {
	if got, want := Plain("Exit code 1\n  a   b\n\n12→c\n 3\td\ne"), "a b\ne"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTextOf(t *testing.T) {
	for args, want := range map[string]string{
		`{"old_string":"a","new_string":"b"}`: "b", `{"content":"c"}`: "c",
		`{"old_string":"a\nb","new_string":"a\n c\nb"}`:                   " c\n",
		`{"input":"*** Begin Patch\n*** Update File: a\n@@\n-b\n+c\n d"}`: "c\n", `{"command":["bash","-lc","ls"]}`: "ls",
		`{"prompt":"d"}`: "d", `{}`: "", `[`: "",
	} {
		if got := TextOf([]byte(args)); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}

// TestListsAndCode checks which sentences of an answer are items of a list, and which lead to code:
// without the code, those that say little by themselves tell nothing.
func TestListsAndCode(t *testing.T) {
	text := "The parser keeps tokens now.\n- It reads the header once.\n\nNow run:\n```\ngo run .\n" +
		"```\nThe printer of tables writes `out.txt` into directories with six random letters for each run like:\n```\n/tmp/x\n" +
		"```\nThat is all."
	got := ""
	for _, f := range Of([]Message{asked("Mend it."), said(text)}) {
		if f.Kind == Answer && !f.Slight {
			got += f.Key + "|" + f.Text + "\n"
		}
	}
	want := "|The parser keeps tokens now.\nitem|It reads the header once.\n" +
		"|The printer of tables writes `out.txt` into directories with six random letters for each run like: …\n|That is all.\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestFrames has a summary of a client: the client's sentences and bare headings are slight, the
// rest is not.
func TestFrames(t *testing.T) {
	text :=
		`This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:

1. Key Technical Concepts:
2. Files of internal/brief:
The parser loses the last token of a file.

If you need specific details from before compaction (like exact code snippets), read the full transcript at: /p/x.jsonl`
	want := map[string]bool{"The parser loses the last token of a file.": true,
		"2. Files of internal/brief:": true}
	told := 0
	for _, f := range Of(numbered(asked(text))) {
		if f.Kind != Recap || f.Slight == want[f.Text] {
			t.Errorf("%s %q, slight %v", f.Kind, f.Text, f.Slight)
		}
		if !f.Slight {
			told++
		}
	}
	if told != len(want) {
		t.Errorf("%d lines tell something, want %d", told, len(want))
	}
}

// TestHeadings checks below which headings the sentences of a text stand.
func TestHeadings(t *testing.T) {
	text := "The tests are in good order.\n\n**Strengths:**\n- Design of tables - small and plain\n" +
		"- Names of the parser say it. They are short.\n\n## What to drop\n\n1. The borders of tables\n" +
		"   * The corners of the borders\n\nThe rest of them stays as it is.\n- A loose item of the list\n" +
		"This one is a sentence that goes on for far too long to be a heading:\n- The last of the items\n" +
		"It is all merged by now. Conflicts of it:\n- The port keeps its name\n" +
		"Let me look at it:\n- The gate of the port\n" +
		"Plan:\n```\n- no item of a list here, at all\n```\n- The item after the code of it"
	got := ""
	for _, f := range Of([]Message{asked("Review the tables."), said(text)}) {
		if f.Kind == Said || f.Kind == Answer {
			got += f.Heading + "|" + f.Text + "\n"
		}
	}
	want := `|The tests are in good order.
|Strengths:
Strengths|Design of tables - small and plain
Strengths|Names of the parser say it.
Strengths|They are short.
|What to drop
What to drop|1. The borders of tables
What to drop|The corners of the borders
|The rest of them stays as it is.
|A loose item of the list
|This one is a sentence that goes on for far too long to be a heading:
|The last of the items
|It is all merged by now.
|Conflicts of it:
Conflicts of it|The port keeps its name
|Let me look at it:
|The gate of the port
|Plan: …
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A remark about what a tool said is no answer beside the heading of one.
func TestRemark(t *testing.T) {
	for text, want := range map[string]bool{
		"Good, the port is not found.\n\n---\n\n## Review\n\nThe change is small.": true,
		"Good, the port is not found. The change is small.":                        false,
		"The port is not found.\n\n## Review\n\nThe change is small.":              false,
	} {
		facts := Of([]Message{asked("Review the port."), said(text)})
		i := slices.IndexFunc(facts, func(f Fact) bool { return f.Kind == Answer })
		if got := facts[i].Slight; got != want || want && Opens(&facts[i]) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestGivesReason checks which sentences of comments say what the code does not.
func TestGivesReason(t *testing.T) {
	for line, want := range map[string]bool{
		"The regular expressions of Go don't support backreferences.":      true,
		"The suffix stays because servers key off it.":                     true,
		"Blobs are never rewritten during conversion.":                     true,
		"It closes the file first, otherwise Windows keeps it.":            true,
		"ReadCommitted reads the summary of a checkpoint by its ID.":       false,
		"(e.g., \"Claude Code\", \"Cursor\")":                              false,
		"Load the content of the newest session (for transcript, prompts)": false,
		"Returns 0 if the file is empty.":                                  false,
	} {
		if givesReason(line) != want {
			t.Errorf("givesReason(%q) = %t", line, !want)
		}
	}
}

// A question is not joined with what the model does about it.
func TestQuestionBeforeAnnouncement(t *testing.T) {
	check(t, []Message{said("Nine matches of lastToken, but no files? " +
		"Let me look at the scanner of internal/lexer."), called("a", "list", `{"path":"/p"}`)},
		"said: Nine matches of lastToken, but no files?",
		"said: Let me look at the scanner of internal/lexer.", "search: listed /p")
}

// TestUnquoted has prompts that quote what they are about, and what the user says in them.
func TestUnquoted(t *testing.T) {
	for text, want := range map[string]string{
		"> Shall I drop it?\n\nNo, keep it.":              "\nNo, keep it.",
		"Keep it.\n> drop\n>\n> it\nAnd paint it.":        "Keep it.\nAnd paint it.",
		"> only a quote\n> of two lines":                  "> only a quote\n> of two lines",
		"> a\n> b\n> c\n> d\nsay why":                     "> a\n> b\n> c\n> d\nsay why",
		"use this:\n```\n> a\n```\nas it is":              "use this:\n```\n> a\n```\nas it is",
		"a > b is wrong":                                  "a > b is wrong",
		">>> import shop\nwhy does this fail":             ">>> import shop\nwhy does this fail",
		"<user-memory-input>use pnpm</user-memory-input>": "use pnpm",
	} {
		if got := pasted.Unquoted(ownWords(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestWithdraw has prompts that stand for the one before, and one that only says ignore.
func TestWithdraw(t *testing.T) {
	for again, want := range map[string]string{
		"Ignore the last message, I meant: paint the boat.": "prompt[dropped]: Sell the boat.",
		"disregard my previous message":                     "prompt[dropped]: Sell the boat.",
		"Ignore the last migration.":                        "prompt: Sell the boat.",
	} {
		check(t, []Message{asked("Mend the sail."), said("It is mended and dry."),
			asked("Sell the boat."), asked(again)},
			"prompt: Mend the sail.", "answer: It is mended and dry.", want, "prompt: "+again)
	}
}

func TestOpens(t *testing.T) {
	for line, want := range map[string]bool{
		"Yes, it could help.": true, "No": true, "Nothing": false, "Changes made": false,
		"The parser loses the last token of each line.": true,
		"Let me look at the parser of internal/lexer.":  false,
		"Three kinds of tables:":                        false,
		"I moved the parser of tables to `lexer.go`, committed it, pushed the branch and opened the PR:": true,
	} {
		if f := (Fact{Kind: Said, Text: line}); Opens(&f) != want {
			t.Errorf("Opens(%q) = %t", line, !want)
		}
	}
	if f := (Fact{Kind: Said, Text: "What the parser of internal/lexer loses", Key: Title}); Opens(&f) {
		t.Error("a heading opens an answer")
	}
}

func TestIsForClient(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "/compact": true, "/compact keep the plan": true, "exit": true, "/exit": true,
		"<command-name>/exit</command-name>\n<command-args></command-args>":                true,
		"<local-command-stdout>See ya!</local-command-stdout>":                             true,
		"<command-name>/review</command-name>\n<command-args>internal/view</command-args>": false,
		"exit with 1 if there is no store":                                                 false,
		"/simplify":                                                                        false,
		"/src/parse.go fails":                                                              false,
		"go on":                                                                            false,
	} {
		if IsForClient(text) != want {
			t.Errorf("IsForClient(%q) = %t", text, !want)
		}
	}
}
