package hooks

import "testing"

func TestVersionIn(t *testing.T) {
	for text, want := range map[string]string{
		"2.1.197 (Claude Code)\n":                           "2.1.197",
		"codex-cli 0.169.0\n":                               "0.169.0",
		"GitHub Copilot CLI 1.0.102.\nRun 'copilot update'": "1.0.102",
		"v1.2.3-rc.1":                                       "1.2.3-rc.1",
		"a tool of example.org, in 3 parts":                 "",
		"":                                                  "",
	} {
		if got := versionIn(text); got != want {
			t.Errorf("versionIn(%q) = %q, not %q", text, got, want)
		}
	}
}
