package digest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// conversation makes messages of a fuzzer's words: a text, a call, its result, and another text.
func conversation(text, tool, args, output string, flags uint8) []Message {
	split := len(text) / 2
	return numbered(
		asked(text),
		Message{Role: "model", Text: text[:split],
			Calls: []Call{{ID: "a", Name: tool, Args: json.RawMessage(args)},
				{ID: "b", Name: "bash", Args: json.RawMessage(args)}},
			Recap: flags&1 != 0},
		asked(text[split:]),
		Message{Role: "tool",
			Results: []Result{{"a", tool, output, flags&2 != 0}, {"b", "", text, flags&4 != 0}}},
		called("c", "TaskCreate", args), answered("c", output),
		called("d", tool, args), failedWith("d", output),
		Message{Role: "model", Text: output, Recap: flags&8 != 0},
	)
}

// FuzzDigest checks that facts are lines of valid UTF-8, and that a conversation gives the same
// facts when it is continued from the stored form of a Digester.
func FuzzDigest(f *testing.F) {
	f.Add("Mend the parser.\n\n```\nx := 1 + 2 + 3\n```", "Bash",
		`{"command":"cd /p && go test ./... | tail"}`, "--- FAIL: TestA (0.1s)\nFAIL\nExit code 1",
		uint8(2), uint8(3))
	f.Add("<system-reminder>x</system-reminder>a", "apply_patch",
		`"*** Begin Patch\n*** Update File: a\n+x"`, `{"output":"x","metadata":{"exit_code":1}}`,
		uint8(0), uint8(4))
	f.Add("\xff\xfe a b c", "TodoWrite", `{"todos":[{"content":"\ud800","status":1}]}`,
		"\xff: failed\r\nerror \x85", uint8(7), uint8(2))
	f.Add("a | b", "AskUserQuestion", `{"questions":[{"question":"a"}]}`, `"a"="b", "c"="`,
		uint8(15), uint8(6))
	f.Add("", "exec_command", `{"cmd":"git commit -m \"$(cat <<'E'\nx\nE\n)\" <<A <<B >"}`,
		"Process running with session ID 4", uint8(1), uint8(5))
	f.Add("", "mcp__a__b", `{"path":["a\u0000"],"session_id":4}`,
		"The user doesn't want to proceed with this tool use the user said:\n.", uint8(4), uint8(0))
	f.Fuzz(func(t *testing.T, text, tool, args, output string, flags, at uint8) {
		messages := conversation(text, tool, args, output, flags)
		whole := Of(messages)
		for _, fact := range whole {
			if fact.Text == "" || strings.ContainsAny(fact.Text, "\n\r\u2028\u0085") ||
				!utf8.ValidString(fact.Text+fact.Path+fact.Key) {
				t.Errorf("the text of a fact is %q", fact.Text)
			}
		}
		var first, second Digester
		cut := int(at) % (len(messages) + 1)
		first.Add(messages[:cut])
		if err := varint.Decode(varint.Append(nil, first.Code), second.Code); err != nil {
			t.Fatal(err)
		}
		second.Add(messages[cut:])
		if got := second.Facts(); !reflect.DeepEqual(got, whole) && len(got)+len(whole) > 0 {
			t.Errorf("cut after message %d: got\n%swant\n%s", cut, showAll(got), showAll(whole))
		}
	})
}

// FuzzBinary checks that malformed bytes are refused, and that accepted bytes encode to the same
// facts again.
func FuzzBinary(f *testing.F) {
	var d Digester
	d.Add(conversation("Mend the parser", "Bash", `{"command":"go test"}`, "FAIL", 3))
	seed := varint.Append(nil, d.Code)
	f.Add(seed)
	f.Add(seed[:len(seed)/2])
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, second Digester
		if varint.Decode(b, first.Code) != nil {
			return
		}
		err := varint.Decode(varint.Append(nil, first.Code), second.Code)
		if err != nil || !reflect.DeepEqual(first, second) {
			t.Errorf("%v: got\n%swant\n%s", err, showAll(second.Facts()), showAll(first.Facts()))
		}
	})
}
