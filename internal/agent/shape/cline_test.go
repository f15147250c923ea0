package shape

import (
	"strings"
	"testing"
)

// TestClineWritten has texts of models of older versions of Cline and Roo Code, which call tools by
// elements.
func TestClineWritten(t *testing.T) {
	for text, want := range map[string]string{
		"Only words.": `{"type":"text","text":"Only words."}`,
		"<thinking>hm</thinking>\n\nI look.\n<read_file>\n<path>a.go</path>\n</read_file>": `{"type":"thinking","thinking":"hm"} ` +
			`"I look." {"type":"tool_use","id":"*","name":"read_file","input":{"path":"a.go"}}`,
		"<write_to_file>\n<path>a.html</path>\n<content>\n<b><path>x</path></b>\n</content>\n</write_to_file>": `{"type":"tool_use","id":"*","name":"write_to_file",` +
			`"input":{"content":"<b><path>x</path></b>","path":"a.html"}}`,
		"<execute_command>\n<command>ls <a</command>\n</execute_command>\n<list_files>\n</list_files>": `{"type":"tool_use","id":"*","name":"execute_command",` +
			`"input":{"command":"ls <a"}} {"type":"tool_use","id":"*","name":"list_files","input":{}}`,
		"The element <read_file> is one of ours.":    `{"type":"text","text":"The element <read_file> is one of ours."}`,
		"<read_file>\n<path>a.go</path>\n":           `{"type":"text","text":"<read_file>\n<path>a.go</path>\n"}`,
		"I call\n<unknown_tool>\n</unknown_tool>\n.": `{"type":"text","text":"I call\n<unknown_tool>\n</unknown_tool>\n."}`,
	} {
		raw := `{"type":"text","text":"` + strings.ReplaceAll(text, "\n", `\n`) + `"}`
		var got []string
		for _, block := range clineWritten([]byte(raw)) {
			b := string(block)
			if _, rest, ok := strings.Cut(b, `"id":"text_`); ok {
				id, _, _ := strings.Cut(rest, `"`)
				b = strings.Replace(b, "text_"+id, "*", 1)
			}
			got = append(got, b)
		}
		want = strings.ReplaceAll(want, "\n", `\n`)
		if all := strings.Join(got, " "); !sameMembers(all, want) {
			t.Errorf("%q:\n%s, want\n%s", text, all, want)
		}
	}
}

// sameMembers compares JSON texts but for the order of members.
func sameMembers(a, b string) bool {
	count := func(s string) map[rune]int {
		n := map[rune]int{}
		for _, r := range strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(s) {
			n[r]++
		}
		return n
	}
	x, y := count(a), count(b)
	for r, n := range x {
		if y[r] != n {
			return false
		}
	}
	return len(x) == len(y)
}
