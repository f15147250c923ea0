package summarize

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// did makes sources with a role, one for each text.
func did(role string, texts ...string) []Source {
	list := said(texts...)
	for i := range list {
		list[i].Role = role
	}
	return list
}

func TestLabels(t *testing.T) {
	edits := did("model", "edited /home/ann/app/upload/retry.go: backoffDelay, maxAttempts",
		"read /home/ann/app/README.md")
	for _, tt := range []struct {
		name   string
		topics []Topic
		want   []string
	}{
		{"goal and changed files",
			[]Topic{{Goal: "Make the upload retry on 503.", Said: edits,
				Changed: []string{"/home/ann/app/upload/retry.go"}}},
			[]string{"Make the upload retry on 503 · upload/retry.go, app/README.md"}},
		{"goal alone", []Topic{{Goal: "ok so, why is the sky   blue?\nTell me."}},
			[]string{"why is the sky blue? Tell me"}},
		{"a long goal is cut at a word",
			[]Topic{{Goal: "Please look at all the places that still use the old agent names " +
				"and replace them"}},
			[]string{"Please look at all the places that still use the old agent names and…"}},
		{"a long goal leaves room for names",
			[]Topic{{Goal: "Please look at all the places that still use the old agent names",
				Said: edits}},
			[]string{"Please look at all the places that still use the… · upload/retry.go"}},
		{"a name of the goal is not said twice",
			[]Topic{{Goal: "Fix retry.go", Said: edits, Changed: []string{"retry.go"}}},
			[]string{"Fix retry.go · app/README.md, backoffDelay, maxAttempts"}},
		{"output of tools counts for nothing",
			[]Topic{{Goal: "Run it",
				Said: did("tool", "limit: 200 offset: 509 secretName server/port.go")}},
			[]string{"Run it"}},
		{"nothing", []Topic{{}, {}, {Goal: "…"}},
			[]string{"(nothing said)", "(nothing said) (2)", "(nothing said) (3)"}},
		{"words where there is neither goal nor name",
			[]Topic{{Said: said("the parser fails on empty tokens")}},
			[]string{"parser, fails, empty, tokens"}},
		{"the same goal, other files", []Topic{
			{Goal: "Go on with the plan", Said: did("model", "edited a/one.go", "read common.go")},
			{Goal: "Go on with the plan", Said: did("model", "edited b/two.go", "read common.go")},
		},
			[]string{"Go on with the plan · a/one.go, common.go",
				"Go on with the plan · b/two.go, common.go"}},
		{"the same goal and files", []Topic{
			{Goal: "Go on with the plan", Said: edits}, {Goal: "Go on with the plan", Said: edits},
			{Goal: "Go on with the plan", Said: edits[1:]},
		}, []string{
			"Go on with the plan · upload/retry.go, app/README.md, backoffDelay",
			"Go on with the plan · app/README.md, backoffDelay, maxAttempts",
			"Go on with the plan · app/README.md",
		}},
		{"a list's number, a heading and a command of a client", []Topic{
			{Goal: "4. Add a test of the worktree", Said: did("user", "/clear /compact .body")},
			{Goal: "## `Parser` **fails**"},
		}, []string{"Add a test of the worktree", "`Parser` fails"}},
	} {
		got := Labels(tt.topics)
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

func TestLabelAmongOthers(t *testing.T) {
	var others Others
	for range 9 {
		others.AddLine("Fix the build · upload/retry.go, tools/build.sh (3 messages, 2026-11-20)")
	}
	got := others.Label(
		Topic{Goal: "Fix it", Said: did("model", "edited tools/build.sh", "edited lexer/scan.go")})
	if want := "Fix it · lexer/scan.go, tools/build.sh"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzLabels(f *testing.F) {
	f.Add("Make the upload retry.", "edited upload/retry.go: backoffDelay")
	f.Add("漢字かな"+strings.Repeat("漢", 90), "/a /b\\c .d --e "+strings.Repeat("x/", 60)+"y.go")
	f.Add("evil\u202E\u0007name\x1b[31m\xff", "")
	f.Fuzz(func(t *testing.T, goal, text string) {
		topics := []Topic{
			{Goal: goal, Said: did("model", text)}, {Goal: goal, Said: did("tool", text)},
			{Goal: goal, Said: did("user", text)},
			{Said: did("model", text), Changed: strings.Fields(text)}, {Goal: goal},
		}
		seen := map[string]bool{}
		for _, l := range Labels(topics) {
			if seen[l] || l == "" || utf8.RuneCountInString(l) > LabelColumns ||
				!utf8.ValidString(l) ||
				strings.ContainsFunc(l, func(r rune) bool { return unicode.IsControl(r) }) {
				t.Errorf("%q and %q: label %q", goal, text, l)
			}
			seen[l] = true
		}
	})
}

func TestTellsGoal(t *testing.T) {
	for text, want := range map[string]bool{
		"Make the upload retry on 503.": true, "Fix parser.go": true, "why is the sky blue": true,
		"": false, "ok": false,
		"yes, thanks": false, "/clear": false, "continue": false,
	} {
		if got := TellsGoal(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
