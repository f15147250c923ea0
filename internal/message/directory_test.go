package message

import "testing"

func TestBranch(t *testing.T) {
	for parts, want := range map[string]string{
		`[{"claude-code":{"cwd":"/a","gitBranch":"fix/a"},"thought":true}]`:             "fix/a",
		`[{"claude-code":{"gitBranch":"HEAD"},"thought":true}]`:                         "",
		`[{"codex":{"payload":{"git":{"sha":"1","branch":"fix/b"}}},"thought":true}]`:   "fix/b",
		`[{"codex":{"payload":{"git":{"branch":7}}},"thought":true}]`:                   "",
		`[{"text":"\"gitBranch\":\"fix/a\""}]`:                                          "",
		`[{"text":"a"},{"codex":{"payload":{"git":{"branch":"HEAD"}}},"thought":true}]`: "",
	} {
		list, err := Parse([]byte(parts))
		if err != nil {
			t.Fatal(err)
		}
		if got := Branch(list); got != want {
			t.Errorf("%s: %q, want %q", parts, got, want)
		}
	}
}
